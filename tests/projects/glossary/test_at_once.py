"""Several people, or a person and a run, at the same moment."""

import threading

import pytest
from django.db import connection

from glossary_site.errors import Refusal
from projects.access import OPERATOR
from projects.models import EntryRevision, GlossaryEntry
from projects.services.glossary import (
    add_entry,
    edit_entry,
    undo,
)
from tests.projects.glossary.scene import data, edit, entry, last, publish


class TestAtOnce:
    @pytest.mark.django_db(transaction=True)
    def test_of_many_edits_of_one_version_one_wins(self, project):
        publish(project, data("quay"))
        row = entry(project, "quay")
        start = threading.Barrier(6)
        won, refused = [], []

        def change(number):
            start.wait()
            try:
                edit_entry(entry=row, actor=OPERATOR, version=1, definition=f"Definition {number}.")
                won.append(f"Definition {number}.")
            except Refusal as refusal:
                refused.append((refusal.code, refusal.details["version"]))
            finally:
                connection.close()

        run_all([threading.Thread(target=change, args=[n]) for n in range(6)])
        assert [entry(project, "quay").definition] == won
        assert refused == [("entry_changed", 2)] * 5
        assert EntryRevision.objects.count() == 2

    @pytest.mark.django_db(transaction=True)
    def test_many_who_add_one_entry_make_one(self, project):
        start = threading.Barrier(5)
        outcomes = []

        def add(term):
            start.wait()
            try:
                add_entry(project=project, actor=OPERATOR, term=term, definition="A place.")
                outcomes.append("made")
            except Refusal as refusal:
                outcomes.append(refusal.code)
            finally:
                connection.close()

        names = ["quay", "Quay", "quays", "QUAY", "Quays"]
        run_all([threading.Thread(target=add, args=[name]) for name in names])
        assert sorted(outcomes) == ["entry_exists"] * 4 + ["made"]

    @pytest.mark.django_db(transaction=True)
    def test_a_run_that_publishes_beside_editors_loses_nothing_of_theirs(self, project):
        terms = [f"term {number}" for number in range(30)]
        publish(project, *(data(term) for term in terms))
        start = threading.Barrier(2)
        refused: set[str] = set()

        def write():
            start.wait()
            try:
                for term in terms[:15]:
                    while entry(project, term).definition != f"Mine of {term}.":
                        try:
                            edit(entry(project, term), OPERATOR, definition=f"Mine of {term}.")
                        except Refusal as refusal:
                            refused.add(refusal.code)
            finally:
                connection.close()

        def publish_often():
            start.wait()
            try:
                for run in range(4):
                    rows = (data(term, f"Run {run}.") for term in terms)
                    publish(project, *rows, run_id=100 + run)
            finally:
                connection.close()

        run_all([threading.Thread(target=write), threading.Thread(target=publish_often)])
        assert refused <= {"entry_changed"}
        rows = dict(GlossaryEntry.objects.values_list("term", "definition"))
        for term in terms[:15]:
            assert rows[term] == f"Mine of {term}."
        assert {rows[term] for term in terms[15:]} == {"Run 3."}
        for row in GlossaryEntry.objects.all():
            numbers = row.revisions.order_by("number").values_list("number", flat=True)
            assert list(numbers) == list(range(1, row.version + 1))

    @pytest.mark.django_db(transaction=True)
    def test_two_who_undo_one_revision_do_it_once(self, project):
        publish(project, data("quay"))
        revision = last(edit(entry(project, "quay"), OPERATOR, definition="Mine."))
        start = threading.Barrier(2)
        outcomes = []

        def take_back():
            start.wait()
            try:
                undo(revision=revision, actor=OPERATOR)
                outcomes.append("undone")
            except Refusal as refusal:
                outcomes.append(refusal.code)
            finally:
                connection.close()

        run_all([threading.Thread(target=take_back) for _ in range(2)])
        assert sorted(outcomes) == ["already_undone", "undone"]
        assert entry(project, "quay").version == 3


def run_all(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
