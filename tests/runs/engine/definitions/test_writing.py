"""Entries: definitions, examples of use, other names, what they rest on."""

import pytest
from hypothesis import given, settings

from runs.engine.definitions import ContextFinder, define
from runs.pipeline.data import Entry
from tests.runs.engine.definitions.made import a_term, contexts, documents, entry, is_offered
from tests.runs.engine.definitions.test_finder import texts


def test_what_is_known_of_a_term_goes_through() -> None:
    term = a_term("broker", category="technical", score=3.5, frequency=12)
    found = define(term, contexts(term, "A broker is a process that passes messages.\n"))
    assert (found.term, found.key, found.language) == ("broker", "broker", "en")
    assert (found.category, found.score, found.frequency) == ("technical", 3.5, 12)
    assert found.supported
    assert not found.needs_review


def test_no_definition_is_an_honest_example() -> None:
    found = entry("broker", "# Top\n\nSomebody **started** the broker by hand today.\n")
    assert found.definition == "Used in: “Somebody started the broker by hand today.”"
    assert found.confidence <= 0.3
    assert found.needs_review
    assert found.supported
    assert found.evidence[0].quote == "Somebody **started** the broker by hand today."
    found = entry("憩流", "# 海\n\n昨日の憩流は長かった。\n")
    assert found.definition == "用例：「昨日の憩流は長かった。」"


def test_an_example_is_introduced_in_its_own_language() -> None:
    """An abbreviation that is counted as Japanese may stand in an English sentence."""
    found = entry(a_term("BESS", language="ja"), "Somebody started the BESS by hand today.\n")
    assert found.definition == "Used in: “Somebody started the BESS by hand today.”"
    found = entry(a_term("BESS", language="en"), "昨日のBESSは長く止まっていた。\n")
    assert found.definition == "用例：「昨日のBESSは長く止まっていた。」"
    found = entry(
        "Grandfathers", "D1 and D2, 300 kW each, are known as the Grandfathers (じいさん).\n"
    )
    assert found.definition.startswith("Used in: “D1 and D2")
    # Nothing to tell by: as the term.
    found = entry(a_term("電圧", language="ja"), "| 名称 | 区分 |\n|---|---|\n| 電圧 | 高圧 |\n")
    assert found.definition.startswith("用例：「")


def test_a_long_example_is_cut() -> None:
    found = entry("broker", f"Somebody started the broker {'again and ' * 60}again today.\n")
    assert len(found.definition) < 300
    assert found.definition.endswith("…”")


def test_nowhere_in_the_documents() -> None:
    found = entry("broker", "Nothing here.\n")
    assert found.definition == "No passage in the documents uses this term."
    assert entry("憩流", "何もない。\n").definition.startswith("この用語を")
    # There is no sentence to go by: the project's language is that of its readers.
    assert define(a_term("broker"), [], language="ja").definition.startswith("この用語を")
    assert found.confidence == 0
    assert found.evidence == ()
    assert not found.supported
    assert found.needs_review


def test_only_where_there_are_no_sentences() -> None:
    found = entry(a_term("broker", frequency=1), "# Broker\n\nNothing here.\n")
    assert found.definition == "It stands only in headings, in code or inside longer terms."
    found = entry(a_term("憩流", frequency=1), "# 憩流\n\n何もない。\n")
    assert found.definition == "見出しかコード、またはより長い用語の中にだけ現れます。"
    assert not found.supported


def test_what_people_noted_is_better_than_an_example() -> None:
    term = a_term("broker", note="The thing in the cellar.")
    assert entry(term, "Somebody started the broker.\n").definition == "The thing in the cellar."
    assert entry(term, "Nothing here.\n").supported
    defined = entry(term, "A broker is a process that passes messages.\n")
    assert defined.definition == "A broker is a process that passes messages."


@pytest.mark.parametrize(
    ("second", "added"),
    [
        (
            "It keeps each message until it is read.",
            "A broker keeps each message until it is read.",
        ),
        ("This lets workers rest for a while.", "A broker lets workers rest for a while."),
        ("A broker keeps messages in order.", "A broker keeps messages in order."),
        ("They are often paired with queues.", "They are often paired with queues."),
        ("See the next chapter for more about it.", ""),
        ("It is shown in the figure below.", ""),
        ("Does it keep messages for a long time?", ""),
        ("Workers ask for messages now and then.", ""),
        ("It is:", ""),
    ],
)
def test_a_second_sentence_is_joined_where_it_goes_on(second: str, added: str) -> None:
    first = "A broker is a process that passes messages."
    found = entry("broker", f"{first} {second} The end is near.\n")
    assert found.definition == f"{first} {added}".strip()
    assert found.evidence[0].quote == (f"{first} {second}" if added else first)


@pytest.mark.parametrize(
    ("second", "added"),
    [
        ("これは一日に四回起こる。", "憩流は一日に四回起こる。"),
        ("憩流は一日に四回起こる。", "憩流は一日に四回起こる。"),
        ("詳しくは次の章を参照。", ""),
        ("これはなぜ起こるのか。", ""),
        ("船は港に戻る。", ""),
    ],
)
def test_a_second_japanese_sentence(second: str, added: str) -> None:
    first = "憩流とは、潮の流れが止まる状態をいう。"
    found = entry("憩流", f"{first}{second}終わりは近い。\n")
    assert found.definition == first + added
    assert found.evidence[0].quote == first + (second if added else "")


@pytest.mark.parametrize(
    ("second", "is_joined"),
    [
        ("複数のカラムを横に並べて表示できます。", True),
        ("設定は後から変えられます。", False),
        ("また、別の画面も使えます。", False),
        ("詳細は次の章を参照してください。", False),
    ],
)
def test_one_of_several_is_not_enough_alone(second: str, is_joined: bool) -> None:
    first = "デッキは利用可能なUIのひとつです。"
    found = entry("デッキ", f"# デッキ\n\n{first}{second}\n")
    assert found.definition == (first + second if is_joined else first)


def test_a_long_definition_is_enough_alone() -> None:
    first = "A broker is a process " + "that passes messages and " * 6 + "rests."
    found = entry("broker", f"{first} It keeps each message until it is read.\n")
    assert found.definition == first


def test_a_link_may_have_brackets_in_its_words() -> None:
    text = "A broker is a process that passes messages by [[RFC 5246]](#RFC5246) and [[x]][y]."
    assert entry("broker", text).definition == (
        "A broker is a process that passes messages by [RFC 5246] and [x]."
    )


def test_an_escaped_sign_is_the_sign() -> None:
    text = r"A broker is a process that speaks 3.\*.\* with **all** workers."
    assert entry("broker", text).definition == (
        "A broker is a process that speaks 3.*.* with all workers."
    )


def test_marks_are_taken_out_of_the_definition_and_stay_in_the_quote() -> None:
    raw = 'A **broker** is a [process](p.md "x") that `passes` *all*\n  messages[^1] &amp; more.'
    found = entry("broker", raw + "\n")
    assert found.definition == "A broker is a process that passes all messages & more."
    assert found.evidence[0].quote == raw


def test_the_comma_of_a_list_is_no_end() -> None:
    found = entry("broker", "# House\n\n- Brokers are a way to pass messages between workers,\n")
    assert found.definition == "Brokers are a way to pass messages between workers"


def test_templates_show_their_words() -> None:
    found = entry(
        "Pod", 'A Pod is a group of {{< tooltip text="containers" term_id="c" >}} here.\n'
    )
    assert found.definition == "A Pod is a group of containers here."


@pytest.mark.parametrize(
    ("term", "text", "aliases"),
    [
        (
            "under-frequency load shedding",
            "Under-frequency load shedding (UFLS) failed.",
            ("UFLS",),
        ),
        (
            "UFLS",
            "Under-frequency load shedding (UFLS) failed.",
            ("Under-frequency load shedding",),
        ),
        ("充電率", "充電率（SOC）を見る。", ("SOC",)),
        ("ヘッドタンク", "ヘッドタンク（head tank）を見る。", ("head tank",)),
        ("broker", "A broker, also known as a router, hums.", ("router",)),
        ("broker", "A broker (in the cellar) hums.", ()),
        ("broker", "A broker (see the next page) hums.", ()),
        ("充電率", "充電率（30 %）を見る。", ()),
        ("コンポーザブル", "コンポーザブル（composable）を使う。", ("composable",)),
        ("パスカルケース", "パスカルケース（PascalCase）で書く。", ("PascalCase",)),
        ("サーバーサイドレンダリング", "サーバーサイドレンダリング（SSR）を行う。", ("SSR",)),
        (
            "クロスサイトリクエストフォージェリ",
            "クロスサイトリクエストフォージェリ（CSRF）を防ぐ。",
            ("CSRF",),
        ),
        ("サービス品質", "サービス品質（QoS）を決める。", ("QoS",)),
        ("副作用", "副作用（side effect）がある。", ("side effect",)),
        ("海上班", "海上班（Ingrid Solheim）が出る。", ()),
        (
            "負荷遮断",
            "負荷遮断（Under Frequency Load Shedding）を行う。",
            ("Under Frequency Load Shedding",),
        ),
        # Examples.
        ("データベース", "データベース（MySQL）を使う。", ()),
        ("ノード", "ノード（vnode）を置く。", ()),
        ("フォーマット", "フォーマット（OTLP）で送る。", ()),
        ("フォーマット", "フォーマット（Prometheus）で送る。", ()),
        ("クラウドサービス", "クラウドサービス（AWS）を使う。", ()),
        ("形式", "形式（csv）を選ぶ。", ()),
        ("Kubernetesリソース", "Kubernetesリソース（Pod、Service）を見る。", ()),
        ("入力欄", "入力欄（input、select）に書く。", ()),
        # Types.
        ("ジョブID", "ジョブID（UUID）を渡す。", ()),
        ("LLMリクエスト", "LLMリクエスト（JSON）を渡す。", ()),
        ("リアルタイムOS", "リアルタイムOS（RTOS）で動く。", ("RTOS",)),
    ],
)
def test_other_names_in_the_text(term: str, text: str, aliases: tuple[str, ...]) -> None:
    assert entry(term, f"# Top\n\n{text}\n").aliases == aliases


def test_other_names_that_are_known() -> None:
    term = a_term("server", variants=("server", "Servers", "srv"), synonyms=("machine",))
    assert entry(term, "Nothing.\n").aliases == ("machine", "srv")


def test_terms_that_the_definition_uses_are_related() -> None:
    found = entry(
        "broker",
        "A broker is a process that passes messages to a worker.\n",
        known=("worker", "messages", "broker", "cess", "queue"),
    )
    assert found.related == ("messages", "worker")


@settings(max_examples=100, deadline=None)
@given(texts)
def test_an_entry_rests_on_words_of_its_document(text: str) -> None:
    finder = ContextFinder(documents(text))
    for name in ("broker", "憩流"):
        term = a_term(name)
        found: Entry = define(term, finder.contexts(term))
        assert found == define(term, finder.contexts(term))
        assert 0 <= found.confidence <= 1
        is_offered(found)
        lines = text.replace("\r\n", "\n").split("\n")
        for evidence in found.evidence:
            assert evidence.quote in text
            there = "\n".join(lines[evidence.line_start - 1 : evidence.line_end])
            assert evidence.quote.replace("\r\n", "\n") in there


def test_a_pronoun_in_the_middle_stays() -> None:
    text = "憩流とは、潮の流れが止まり、それが長く続く状態をいう。\n"
    assert entry("憩流", text).definition == text.strip()


@pytest.mark.parametrize("sign", ["\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_the_ends_of_lines_are_counted(sign):
    text = f"The quay is old.{sign} The quay is a wall{sign} that ships\nare tied to.\n"
    quote = entry("quay", text).evidence[0]
    assert (quote.line_start, quote.line_end) == (1, 2)
