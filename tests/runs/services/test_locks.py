"""Who waits for whom: a run beside those who delete, publish and cancel."""

import random
import threading
import time
from types import SimpleNamespace

import pytest
from django.db import connection, transaction

from glossary_site.jobs.errors import Stopped
from glossary_site.jobs.services.runs import cancel_run
from projects.access import OPERATOR
from projects.models import Document, Project
from projects.services.documents import delete_documents
from projects.services.projects import create_project, delete_project
from projects.services.terms import add_term, delete_terms
from runs.engine.terms import analyse
from runs.pipeline.data import SourceDocument
from runs.services import asking, executing, publishing
from runs.services import terms as run_terms
from runs.services.ending import jobs_of
from runs.services.publishing import publish
from runs.services.settling import settle
from runs.services.steps import extract as extract_step
from runs.services.steps import load as load_step
from tests.factories import make_document
from tests.runs.working import make_harbour, perform_job, run_to_end, start_run

pytestmark = pytest.mark.django_db(transaction=True)


on_postgres = pytest.mark.skipif("connection.vendor != 'postgresql'", reason="locks of rows")


def together(*functions, seconds=15.0):
    """Each in a thread; what each raised."""
    raised: list[BaseException] = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=guarded, args=(each,)) for each in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive()
    return raised


def deadlocks(raised):
    return [error for error in raised if "deadlock" in str(error)]


@on_postgres
class TestLocks:
    def test_deleting_a_project_while_a_step_ends(self, harbour, monkeypatch):
        """The worker holds the run and goes for its job; the other one holds the job and goes for
        the run."""
        run = start_run(harbour)
        in_the_middle, go_on = threading.Event(), threading.Event()
        real = load_step._inherit

        def slow(work):
            real(work)
            in_the_middle.set()
            go_on.wait(1.0)

        monkeypatch.setattr(load_step, "_inherit", slow)
        seen: list[BaseException] = []
        real_fail = executing.Session.fail

        def noted(session, error):
            seen.append(error)
            real_fail(session, error)

        monkeypatch.setattr(executing.Session, "fail", noted)

        def delete():
            in_the_middle.wait(5)
            delete_project(project=Project.objects.get(pk=harbour.pk), actor=OPERATOR)

        job = jobs_of(run).get()
        raised = together(lambda: perform_job(job), delete)
        assert not deadlocks([*raised, *seen])
        assert not Project.objects.filter(pk=harbour.pk).exists()

    def test_deleting_projects_at_random_instants_of_their_runs(self, monkeypatch):
        seen: list[BaseException] = []
        real_fail = executing.Session.fail

        def noted(session, error):
            seen.append(error)
            real_fail(session, error)

        monkeypatch.setattr(executing.Session, "fail", noted)
        chance = random.Random(5)
        for number in range(10):
            project = create_project(actor=OPERATOR, name=f"Harbour {number}")
            make_harbour(project)
            job = jobs_of(start_run(project)).get()

            wait = chance.uniform(0, 0.5)

            def delete(project=project, wait=wait):
                time.sleep(wait)
                delete_project(project=Project.objects.get(pk=project.pk), actor=OPERATOR)

            seen += together(lambda job=job: perform_job(job), delete)
        assert not [error for error in seen if not isinstance(error, Stopped)]
        assert not Project.objects.filter(name__startswith="Harbour ").exists()

    def test_deleting_a_term_while_a_run_takes_the_list_over(self, harbour, monkeypatch):
        add_term(project=harbour, text="lighthouse", actor=OPERATOR)
        run = start_run(harbour, "generate")
        in_the_middle = threading.Event()
        real = run_terms.insert

        def slow(rows):
            real(rows)
            in_the_middle.set()
            time.sleep(0.5)

        monkeypatch.setattr(run_terms, "insert", slow)

        def delete():
            in_the_middle.wait(5)
            ids = harbour.terms.values_list("pk", flat=True)
            delete_terms(project=harbour, ids=ids, actor=OPERATOR)

        job = jobs_of(run).get()
        assert not together(lambda: perform_job(job), delete)
        run.refresh_from_db()
        assert (run.status, run.error_message) == ("completed", "")
        assert not harbour.terms.exists()

    def test_deleting_a_project_while_a_run_is_published(self, harbour, monkeypatch):
        run = run_to_end(harbour)
        in_the_middle = threading.Event()
        real = publishing.publish_entries

        def slow(**kwargs):
            in_the_middle.set()
            threading.Event().wait(0.7)
            return real(**kwargs)

        monkeypatch.setattr(publishing, "publish_entries", slow)

        def delete():
            in_the_middle.wait(5)
            delete_project(project=Project.objects.get(pk=harbour.pk), actor=OPERATOR)

        raised = together(lambda: publish(run, actor=OPERATOR), delete)
        assert not deadlocks(raised)

    def test_deleting_documents_that_are_being_read(self, project, monkeypatch):
        """Their paths are in another order than their numbers."""
        later = make_document(project, "b.md", "# B\n")
        make_document(project, "a.md", "# A\n")
        ids = sorted(project.documents.values_list("pk", flat=True))
        held, waiting, release = threading.Event(), threading.Event(), threading.Event()
        fresh = [SourceDocument(d.pk, d.path, d.file_hash, "") for d in project.documents.all()]
        known = {pk: analyse("A berth is a place.") for pk in ids}
        rows = list(extract_step._rows(fresh, known, bool))

        def hold():
            with transaction.atomic():
                Document.objects.select_for_update().get(pk=later.pk)
                held.set()
                release.wait(5)

        def delete():
            held.wait(5)
            waiting.set()
            delete_documents(project=project, ids=ids, actor=OPERATOR)

        def remember():
            waiting.wait(5)
            time.sleep(0.3)
            threading.Timer(0.5, release.set).start()
            with transaction.atomic():
                extract_step._remember(SimpleNamespace(project=project), rows)

        assert not deadlocks(together(hold, delete, remember))

    def test_the_safety_net_and_a_worker(self, harbour, model, monkeypatch):
        """An operator cancels the job of a run while an answer is being written down."""
        run_to_end(harbour, "extract")
        run = start_run(harbour, "generate")
        in_the_middle = threading.Event()
        real = asking.note_failures

        def slow(work, failures):
            if not in_the_middle.is_set():
                in_the_middle.set()
                threading.Event().wait(0.7)
            real(work, failures)

        monkeypatch.setattr(asking, "note_failures", slow)
        seen: list[BaseException] = []
        real_fail = executing.Session.fail

        def noted(session, error):
            seen.append(error)
            real_fail(session, error)

        monkeypatch.setattr(executing.Session, "fail", noted)

        def net():
            in_the_middle.wait(5)
            cancel_run(jobs_of(run).active().get(), actor="tests")
            settle()

        job = jobs_of(run).get()
        raised = together(lambda: perform_job(job), net)
        assert not deadlocks([*raised, *seen]), (raised, seen)
