"""The index follows the sections by itself, whatever writes them."""

import threading

import pytest
from django.db import connection, transaction

from indexing.lexical import schema
from indexing.lexical.query import parse
from indexing.lexical.search import find
from indexing.models import Section
from tests import factories
from tests.indexing.lexical.corpus import add, write

pytestmark = pytest.mark.django_db


def found(project, text: str) -> set[int]:
    return set(find(parse(text), project_ids=[project.pk], documents=None, limit=100).scores)


def test_added_and_removed(project):
    first, second = add(project, "a lighthouse", "a harbour")
    assert found(project, "lighthouse") == {first}
    Section.objects.filter(pk=first).delete()
    assert found(project, "lighthouse harbour") == {second}
    assert schema.is_in_step(connection)


def test_one_by_one_and_without_words(project):
    document = factories.make_document(project)
    empty, full = write(document, [("", "…"), ("Heading", "")])
    assert empty.words == ""
    assert found(project, "heading") == {full.pk}
    empty.delete()
    full.delete()
    assert found(project, "heading") == set()
    assert schema.is_in_step(connection)


def test_changed_words(project):
    (section,) = add(project, "a lighthouse")
    Section.objects.filter(pk=section).update(words="harbour harbour", heading_words="port")
    assert found(project, "lighthouse") == set()
    assert found(project, "harbour") == found(project, "port") == {section}
    Section.objects.filter(pk=section).update(depth=2)
    Section.objects.get(pk=section).save()
    assert found(project, "harbour") == {section}
    assert schema.is_in_step(connection)


def test_rolled_back(project):
    add(project, "a harbour")
    with transaction.atomic():
        add(project, "a lighthouse")
        assert found(project, "lighthouse")
        transaction.set_rollback(True)
    assert not found(project, "lighthouse")
    assert schema.is_in_step(connection)


def test_a_deleted_document_and_a_deleted_project(project):
    add(project, "a lighthouse")
    other = factories.make_project("Other")
    (kept,) = add(other, "a lighthouse")
    project.delete()
    assert found(other, "lighthouse") == {kept}
    assert schema.is_in_step(connection)
    Section.objects.get(pk=kept).document.delete()
    assert not found(other, "lighthouse")
    assert schema.is_in_step(connection)


def test_signs_in_words_are_kept(project):
    cpp, version, quote, name = add(project, "C++ C#", "v1.2.3", "don't o'clock", "a_b.e-d")
    assert found(project, "c++") == found(project, "c#") == {cpp}
    assert found(project, "1.2.3") == {version}
    assert found(project, "don't") == {quote}
    assert found(project, "a_b.e-d") == {name}
    assert found(project, "\"don't o'clock\"") == {quote}
    Section.objects.all().delete()
    assert not found(project, "c++ 1.2.3 don't a_b.e-d")
    assert schema.is_in_step(connection)


def test_create_and_ensure_can_be_repeated(project):
    (section,) = add(project, ("Port", "a lighthouse"))
    schema.create(connection)
    schema.ensure(connection)
    schema.rebuild(connection)
    schema.ensure(connection)
    assert found(project, "lighthouse port") == {section}
    assert schema.is_in_step(connection)


def test_lost_triggers_are_seen_and_mended(project):
    """As after a migration for which SQLite made the table of sections anew."""
    add(project, "a lighthouse")
    with connection.cursor() as cursor:
        on = "" if connection.vendor == "sqlite" else " ON indexing_section"
        cursor.execute(f"DROP TRIGGER indexing_section_added{on}")
    (missed,) = add(project, "a harbour")
    assert not found(project, "harbour")
    assert not schema.is_in_step(connection)
    schema.ensure(connection)
    assert found(project, "harbour") == {missed}
    assert schema.is_in_step(connection)


def test_missing_sections_are_seen(project):
    (section,) = add(project, "a lighthouse")
    table = "indexing_word" if connection.vendor == "sqlite" else "indexing_posting"
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute(f"INSERT INTO {table} ({table}) VALUES ('delete-all')")
        else:
            cursor.execute(f"DELETE FROM {table}")
    assert not schema.is_in_step(connection)
    schema.ensure(connection)
    assert found(project, "lighthouse") == {section}


def test_drop_and_create(project):
    (section,) = add(project, "a lighthouse")
    schema.drop(connection)
    assert not schema.is_in_step(connection)
    Section.objects.filter(pk=section).update(words="harbour")
    schema.create(connection)
    assert found(project, "harbour") == {section}
    assert schema.is_in_step(connection)


@pytest.mark.django_db(transaction=True)
def test_many_writers_at_once(project):
    """Totals and postings come out right, and nobody waits for another's commit for ever."""
    documents = [factories.make_document(project) for _ in range(6)]
    errors: list[BaseException] = []

    def work(document):
        try:
            for turn in range(15):
                with transaction.atomic():
                    Section.objects.filter(document=document).delete()
                    write(document, [("Common", f"word{turn} common text {n}") for n in range(3)])
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(document,)) for document in documents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert len(found(project, "common")) == 18
    assert len(found(project, "word14")) == 18
    assert not found(project, "word13")
    assert schema.is_in_step(connection)


@pytest.mark.django_db(transaction=True)
def test_the_last_sections_go_while_others_come(project):
    """When the old ones go the new ones are not to be seen yet: a project with nothing in it."""
    if connection.vendor == "sqlite":
        pytest.skip("There is one writer at a time.")
    add(project, "a lighthouse")
    written, emptied = threading.Event(), threading.Event()

    def come():
        with transaction.atomic():
            add(project, "a harbour")
            written.set()
            assert emptied.wait(10)
        connection.close()

    other = threading.Thread(target=come)
    other.start()
    assert written.wait(10)
    Section.objects.all().delete()
    emptied.set()
    other.join()
    assert len(found(project, "harbour")) == 1
    assert not found(project, "lighthouse")
    assert schema.is_in_step(connection)


@pytest.mark.django_db(transaction=True)
def test_an_emptied_table_leaves_nothing_behind():
    """Runs after others have filled and flushed the tables: nothing of theirs may be there."""
    project = factories.make_project()
    assert not found(project, "common")
    assert schema.is_in_step(connection)
