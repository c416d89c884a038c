"""What a process keeps of frequent words gives the answers that the database would give."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from indexing.choices import Mode
from indexing.lexical import keeping, search
from indexing.lexical.bm25 import Postings, Totals, numbers
from indexing.lexical.keeping import Keeper, Scope, keeper
from indexing.lexical.query import parse
from indexing.lexical.search import Found, find
from projects.services.documents import delete_documents
from tests import factories
from tests.indexing.lexical.corpus import add
from tests.indexing.working import ask, make_indexed

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def every_word_is_frequent(monkeypatch):
    monkeypatch.setattr(keeping, "FEWEST", 1)


def look(text: str, *projects) -> Found:
    ids = [project.pk for project in projects]
    return find(parse(text), project_ids=ids, documents=None, limit=50)


def postings(count: int) -> Postings:
    every = numbers(list(range(1, count + 1)))
    return Postings(every, every % 7 + 1, every % 900)


def scope(generation: int = 1) -> Scope:
    return Scope("harbour", (1,), Totals(1000, 9000, generation))


def paths(project, query: str) -> set[str]:
    return {each.document_path for each in ask(project, query, mode=Mode.LEXICAL).results}


def test_a_word_is_read_once(project):
    add(project, ("Tide", "The tide turns the buoy."), "A buoy and a bell.", "Nothing of the kind.")
    first = look("tide buoy", project)
    with CaptureQueriesContext(connection) as again:
        assert look("buoy tide", project) == first
    # How much there is in all, and no more.
    assert len(again) == 1
    assert len(first.scores) == 2


def test_a_word_beside_it_is_read_alone(project):
    both, one = add(project, "tide and buoy", "tide")
    look("tide", project)
    assert list(look("tide buoy", project).scores) == [both, one]
    assert set(look("buoy", project).scores) == {both}


def test_a_word_nearly_everywhere(project, monkeypatch):
    monkeypatch.setattr(search, "MOST_POSTINGS", 2)
    add(project, *["tide"] * 5)
    first = look("tide", project)
    assert keeper.bytes() > 0
    assert look("tide", project) == first
    assert first.total == 5


def test_of_other_projects_nothing_is_mixed_in(project, owner):
    other = factories.make_project("Quay", owner=owner)
    (here,) = add(project, "tide")
    (there,) = add(other, "tide")
    for _again in range(2):
        assert set(look("tide", project).scores) == {here}
        assert set(look("tide", other).scores) == {there}
        assert set(look("tide", project, other).scores) == {here, there}


def test_what_is_indexed_since_is_found(project):
    make_indexed(project, "a.md", "# Tide tables\n\nWhen the water comes, and when it goes.\n")
    assert paths(project, "tide") == {"a.md"}
    make_indexed(project, "b.md", "# Tide mills\n\nWheels that the water turns when it goes.\n")
    assert paths(project, "tide") == {"a.md", "b.md"}


def test_another_text_of_the_same_length_is_another_text(project):
    make_indexed(project, "a.md", "# Tide tables\n\nWhen the water comes and goes.\n")
    assert paths(project, "tide") == {"a.md"}
    make_indexed(project, "a.md", "# Moon tables\n\nWhen the water comes and goes.\n")
    assert paths(project, "tide") == set()
    assert paths(project, "moon") == {"a.md"}


def test_what_was_deleted_is_found_no_more(project, editor):
    make_indexed(project, "a.md", "# Tide tables\n\nWhen the water comes, and when it goes.\n")
    gone = make_indexed(project, "b.md", "# Tide mills\n\nWheels that the water turns.\n")
    assert paths(project, "tide") == {"a.md", "b.md"}
    delete_documents(project=project, ids=[gone.pk], actor=editor)
    assert paths(project, "tide") == {"a.md"}


def test_postings_come_back_as_they_were():
    kept, given = Keeper(), postings(300)
    kept.put(scope(), "tide", given)
    found = kept.get(scope(), "tide")
    assert found is not None
    for name in ("sections", "hits", "lengths"):
        assert getattr(found, name).tolist() == getattr(given, name).tolist()
    assert kept.count(scope(), "tide") == 300
    assert kept.get(scope(generation=2), "tide") is None
    assert kept.count(scope(generation=2), "tide") == 0


def test_there_is_one_state_of_a_word():
    kept = Keeper()
    for generation in range(5):
        kept.put(scope(generation), "tide", postings(300))
    assert kept.bytes() == 300 * 8


def test_what_was_not_used_for_longest_makes_room(settings):
    settings.WORD_CACHE_MB = 1
    kept = Keeper()
    for word in ("tide", "buoy", "bell"):
        kept.put(scope(), word, postings(40_000))
    kept.get(scope(), "tide")
    kept.put(scope(), "moon", postings(40_000))
    assert kept.bytes() <= settings.MEGABYTE
    there = {word for word in ("tide", "buoy", "bell", "moon") if kept.count(scope(), word)}
    assert there == {"tide", "bell", "moon"}


def test_what_is_larger_than_the_room_is_not_kept(settings):
    settings.WORD_CACHE_MB = 1
    kept = Keeper()
    kept.put(scope(), "tide", postings(200_000))
    assert kept.bytes() == 0


def test_rare_words_are_not_kept(monkeypatch):
    monkeypatch.setattr(keeping, "FEWEST", 256)
    kept = Keeper()
    kept.put(scope(), "tide", postings(255))
    assert kept.bytes() == 0
