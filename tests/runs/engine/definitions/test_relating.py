"""Relations between terms."""

from runs.engine.definitions import ContextFinder, relations
from tests.runs.engine.definitions.made import a_term, documents


def related(*names: str) -> dict[str, list[str]]:
    return relations([a_term(name) for name in names])


def test_a_message_queue_is_a_queue() -> None:
    found = related("queue", "message queue", "message", "broker")
    assert found["message queue"] == ["queue", "message"]
    assert found["queue"] == ["message queue"]
    assert found["broker"] == []


def test_japanese_compounds() -> None:
    found = related("憩流", "憩流ギャップ", "憩流表", "電池", "蓄電池", "サーバー室", "サー")
    assert set(found["憩流"]) == {"憩流ギャップ", "憩流表"}
    assert found["蓄電池"] == ["電池"]
    # Part of a katakana word is no word.
    assert found["サー"] == []


def test_terms_with_one_head_are_siblings() -> None:
    found = related("自立運転", "単独運転", "連系運転", "制御室")
    assert found["自立運転"] == ["単独運転", "連系運転"]
    assert found["制御室"] == []
    many = related(*(f"{letter} system" for letter in "abcdefgh"))
    assert many["a system"] == []


def test_terms_that_stand_together() -> None:
    together = "The broker asks the worker. " * 3
    other = "The kettle hums. The house is old. The cat sleeps. The sea is cold. " * 5
    terms = [a_term(name) for name in ("broker", "worker", "kettle", "house", "cat")]
    finder = ContextFinder(documents(f"{together}\n\n{other}\n"))
    found = relations(terms, finder)
    assert found["broker"] == ["worker"]
    assert found["worker"] == ["broker"]
    assert found["kettle"] == []


def test_at_most_five_and_always_the_same() -> None:
    names = ["queue", *(f"{letter} queue" for letter in "hgfedcba")]
    found = related(*names)
    assert len(found["queue"]) == 5
    assert found == related(*names) == related(*reversed(names))
