"""From documents to a glossary: what each scope does, what is kept, and what is not asked twice."""

import time

import pytest
from django.utils.translation import gettext, override

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import State
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.providers import Origin, ProviderConfig, overriding
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.models import GlossaryEntry, Term
from projects.services.documents import delete_documents
from projects.services.terms import add_term, set_status, update_term
from projects.terms.keys import key_of
from runs.choices import Status, Step
from runs.engine.terms import analysis
from runs.models import DocumentTerms, Run, RunLog
from runs.services import executing
from runs.services.ending import cancel, jobs_of
from runs.services.failures import resume, retry_failures
from runs.services.publishing import publish
from runs.services.steps import extract as extract_step
from runs.services.work import Work
from tests.factories import make_document
from tests.runs.working import asked_for, perform_job, run_to_end, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)


def steps_of(run: Run) -> list[str]:
    return list(run.steps.filter(finished_at__isnull=False).values_list("step", flat=True))


class TestBuiltIn:
    def test_a_full_run_makes_a_glossary(self, harbour):
        run = run_to_end(harbour)
        assert (run.status, run.error_message) == (Status.COMPLETED, "")
        assert steps_of(run) == ["load", "extract", "generate", "review", "refine"]
        entries = {entry.key: entry for entry in run.refined.all()}
        berth = entries[key_of("berth")]
        assert "place at the quay where a ship is moored" in berth.definition
        assert berth.evidence[0]["path"] == "harbour/berths.md"
        assert berth.evidence[0]["line_start"] == 3
        assert (run.requests, run.cost_nano, run.failure_count) == (0, 0, 0)
        assert not LLMJob.objects.exists()

    def test_two_names_of_one_thing_make_one_entry(self, project):
        text = (
            "# 描画\n\nサーバーサイドレンダリング（SSR）は、サーバーでページを作る方法です。\n\n"
            "SSRは速いです。\n"
        )
        make_document(project, "rendering.md", text)
        run = run_to_end(project)
        ssr, long = key_of("SSR"), key_of("サーバーサイドレンダリング")
        assert {ssr, long} <= set(run.provisional.values_list("key", flat=True))
        (kept,) = run.refined.filter(key__in=[ssr, long])
        assert key_of(kept.term) != key_of(kept.aliases[0])
        assert {key_of(kept.term), *map(key_of, kept.aliases)} == {ssr, long}
        assert RunLog.objects.filter(run=run, message__contains="another name").count() == 1
        # Whoever wants both says so.
        for term in Term.objects.filter(project=project, key__in=[ssr, long]):
            set_status(project=project, ids=[term.pk], status=TermStatus.REQUIRED, actor=OPERATOR)
        assert run_to_end(project).refined.filter(key__in=[ssr, long]).count() == 2

    def test_everything_found_is_in_the_lists_of_the_project(self, harbour):
        run = run_to_end(harbour, "extract")
        assert steps_of(run) == ["load", "extract"]
        assert Term.objects.filter(project=harbour, key=key_of("pilot boat")).exists()
        assert not run.provisional.exists()
        assert {term.key for term in run.terms.all()} == {
            term.key for term in Term.objects.filter(project=harbour)
        }

    def test_from_terms_takes_what_people_left(self, harbour):
        run_to_end(harbour, "extract")
        listed = Term.objects.filter(project=harbour)
        set_status(
            project=harbour,
            ids=[listed.get(key=key_of("berth")).pk],
            status=TermStatus.EXCLUDED,
            actor=OPERATOR,
        )
        add_term(project=harbour, text="tide table", actor=OPERATOR, status=TermStatus.REQUIRED)
        run = run_to_end(harbour, "from_terms")
        assert steps_of(run) == ["load", "generate", "review", "refine"]
        keys = set(run.refined.values_list("key", flat=True))
        assert key_of("berth") not in keys
        assert key_of("tide table") in keys

    def test_of_the_terms_so_many_at_most_the_best_and_the_required(self, harbour):
        run_to_end(harbour, "extract")
        found = Term.objects.filter(project=harbour).in_glossary().order_by("-score", "key")
        best, worst = list(found[:2]), found.last()
        set_status(project=harbour, ids=[worst.pk], status=TermStatus.REQUIRED, actor=OPERATOR)
        run = run_to_end(harbour, "from_terms", limit=2)
        assert run.status == Status.COMPLETED
        assert list(run.refined.order_by("order").values_list("key", flat=True)) == [
            *(term.key for term in best),
            worst.key,
        ]

    @pytest.mark.parametrize("scope", ["full", "extract"])
    def test_a_limit_cuts_no_list_of_the_project(self, harbour, scope):
        run_to_end(harbour, "extract")
        before = list(harbour.terms.order_by("pk").values_list("pk", "frequency"))
        run = run_to_end(harbour, scope, limit=1)
        assert run.terms.filter(excluded_because="").count() == 1
        assert list(harbour.terms.order_by("pk").values_list("pk", "frequency")) == before

    def test_a_limit_finds_more_than_the_documents_are_worth(self, harbour, monkeypatch):
        monkeypatch.setattr(extract_step, "worth", lambda characters: 1)
        run = run_to_end(harbour, "extract", limit=4)
        assert run.terms.filter(excluded_because="").count() == 4

    def test_what_people_said_something_about_keeps_its_places(self, harbour, editor, monkeypatch):
        run_to_end(harbour, "extract")
        found = harbour.terms.in_glossary().order_by("score", "key")
        noted, kept, *_others = found
        update_term(term=noted, actor=editor, notes="Ours.")
        harbour.terms.filter(pk=kept.pk).update(status=TermStatus.AUTO_EXCLUDED)
        set_status(project=harbour, ids=[kept.pk], status=TermStatus.CANDIDATE, actor=editor)
        monkeypatch.setattr(extract_step, "worth", lambda characters: 1)
        run_to_end(harbour, "extract")
        assert set(found.all()) == {noted, kept, found.last()}
        for row in (noted, kept):
            now = found.get(pk=row.pk)
            assert (now.frequency, now.occurrences) == (row.frequency, row.occurrences)

    def test_the_rest_of_a_run_with_a_limit(self, harbour, monkeypatch):
        """What is left of it has nothing to do with the limit."""

        def fails(work):
            raise RuntimeError

        monkeypatch.setitem(executing.STEPS, Step.REVIEW, fails)
        stopped = run_to_end(harbour, limit=2)
        assert stopped.status == Status.FAILED
        monkeypatch.undo()
        rest = work_on(resume(stopped, actor=OPERATOR))
        assert (rest.scope, rest.status) == ("provisional_to_refined", Status.COMPLETED)
        assert rest.refined.count() == stopped.provisional.count()

    def test_the_steps_one_by_one(self, harbour):
        for scope in ("extract", "generate", "review", "refine"):
            run = run_to_end(harbour, scope)
            assert run.status == Status.COMPLETED, scope
        assert run.refined.count() == run.provisional.count() > 0
        assert run.base is not None

    def test_only_changed_documents_are_read_again(self, harbour):
        run_to_end(harbour, "extract")
        marked = DocumentTerms.objects.all()
        before = {row.pk: bytes(row.data) for row in marked}
        changed = make_document(harbour, "harbour/berths.md", "# New\n\nA crane is a machine.\n")
        run = run_to_end(harbour, "extract")
        after = {row.pk: bytes(row.data) for row in DocumentTerms.objects.all()}
        assert {pk for pk in after if after[pk] != before.get(pk)} == {changed.pk}
        assert "1 document was read, 1 had not changed." in [line.message for line in run.log.all()]

    def test_reading_tells_how_far_it_is(self, harbour, monkeypatch):
        monkeypatch.setattr(extract_step, "CHARACTERS", 1)
        told = []
        monkeypatch.setattr(
            Work, "progress", lambda work, current, total, **_more: told.append((current, total))
        )
        run = start_run(harbour, "extract")
        work_on(run)
        assert (1, 2) in told
        assert (2, 2) in told

    def test_a_book_is_not_read_to_its_end_for_a_run_that_was_stopped(self, project, monkeypatch):
        paragraphs = 500
        make_document(project, "book.md", "\n\n".join(["A berth is a place."] * paragraphs))
        run = start_run(project, "extract")
        seen = []
        real = analysis.pairs_in

        def slowly(block):
            seen.append(block)
            if len(seen) == 10:
                cancel(run, actor=OPERATOR)
            # The pulse needs a moment to notice.
            time.sleep(0.02)
            return real(block)

        monkeypatch.setattr(analysis, "pairs_in", slowly)
        work_on(run)
        assert 10 <= len(seen) < paragraphs // 2

    def test_a_human_choice_survives_the_next_extraction(self, harbour):
        run_to_end(harbour, "extract")
        term = Term.objects.get(project=harbour, key=key_of("pilot boat"))
        set_status(project=harbour, ids=[term.pk], status=TermStatus.EXCLUDED, actor=OPERATOR)
        run = run_to_end(harbour)
        term.refresh_from_db()
        assert term.status == TermStatus.EXCLUDED
        assert not run.refined.filter(key=term.key).exists()

    def test_the_log_tells_each_term(self, harbour):
        run = run_to_end(harbour)
        told = run.log.filter(step="generate", current_term__gt="").order_by("number")
        total = run.provisional.count()
        assert [line.progress_current for line in told] == list(range(1, total + 1))
        assert {line.progress_total for line in told} == {total}
        assert told.last().message.endswith(": 100%")
        numbers = list(RunLog.objects.filter(run=run).values_list("number", flat=True))
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) == run.log_count

    def test_the_log_is_in_the_language_of_the_project(self, harbour):
        harbour.language = "ja"
        harbour.save()
        run = run_to_end(harbour, "extract")
        with override("ja"):
            expected = str(Step.EXTRACT.label)
        assert expected != "Find terms"
        assert run.log.filter(message=expected).exists()


class TestModel:
    def test_a_full_run_asks_for_each_term_and_pays_once(self, harbour, model):
        run = run_to_end(harbour)
        assert run.status == Status.COMPLETED, run.error_message
        assert run.refined.count() == run.terms.filter(excluded_because="").count() > 3
        assert all(entry.supported for entry in run.refined.all())
        assert run.requests == len(model.requests) > 0
        assert run.input_tokens > 0
        assert not LLMJob.objects.exists()
        again = run_to_end(harbour)
        assert again.status == Status.COMPLETED
        assert len(model.requests) == run.requests
        assert again.served == again.requests

    def test_no_issues_no_refining(self, harbour, model):
        known = model.model._script
        model.script(
            lambda body: {"issues": []} if "issues" in str(body["response_format"]) else known(body)
        )
        run_to_end(harbour, "extract")
        generated = run_to_end(harbour, "generate", limit=3)
        asked = len(model.requests)
        run = run_to_end(harbour, "provisional_to_refined")
        assert len(model.requests) == asked + 1
        assert run.refined.filter(copied=True).count() == generated.provisional.count()

    def test_a_term_that_fails_does_not_fail_the_run(self, harbour, model):
        run_to_end(harbour, "extract")
        known = model.model._script
        model.script(lambda body: "no JSON" if "pilot station" in asked_for(body) else known(body))
        run = run_to_end(harbour, "from_terms")
        assert run.status == Status.COMPLETED
        failed = run.failures.filter(step="generate")
        assert run.failure_count == run.failures.count() >= 1
        assert key_of("pilot station") in {failure.key for failure in failed}
        assert run.refined.count() == run.terms.filter(excluded_because="").count() - failed.count()

        model.script(known)
        asked = len(model.requests)
        again = work_on(retry_failures(run, actor=OPERATOR))
        assert again.failure_count == 0
        assert again.refined.count() == again.terms.filter(excluded_because="").count()
        assert again.refined.filter(key=key_of("pilot station")).exists()
        generated = [r for r in model.requests[asked:] if "pilot station" in str(r.body)]
        assert generated
        assert len(model.requests) - asked <= failed.count() + 4

    def test_one_that_could_not_be_classified_is_told_as_such(self, harbour, model):
        model.faults.add("bad_request")
        run = run_to_end(harbour, "extract")
        said = run.log.filter(level="warning", step="extract")
        assert {line.current_term for line in said} == set(
            run.failures.values_list("term", flat=True)
        )
        assert all("(400: " in line.message for line in said)

    def test_what_goes_wrong_is_said_in_the_language_of_the_project(self, harbour, model):
        """Also by the thread that makes the calls, which has none of its own."""
        harbour.language = "ja"
        harbour.save()
        model.faults.add("refused_key")
        run = run_to_end(harbour)
        with override("ja"):
            expected = gettext("The server refuses the request (%(reason)s).").partition("%")[0]
        assert not expected.isascii()
        assert expected in run.error_message
        said = run.log.exclude(current_term="").filter(level="warning")
        assert said
        assert all(expected in line.message for line in said)

    def test_a_server_that_is_wrong_for_everybody_fails_the_run(self, harbour, model):
        run_to_end(harbour, "extract")
        model.faults.add("refused_key")
        run = run_to_end(harbour, "from_terms")
        assert run.status == Status.FAILED
        assert run.error_message.startswith("The language model answered nothing:")
        assert "Traceback" in run.log.get(level="error").traceback

    def test_a_run_fails_of_what_went_wrong_in_its_step(self, harbour, model):
        """And not of what went wrong before, which was not the end of it."""
        model.faults.add("bad_request", match="candidates")
        model.faults.add("refused_key", match="Term 1: ")
        run = run_to_end(harbour)
        assert run.failures.filter(step="extract").exists()
        assert run.status == Status.FAILED
        assert "(401: " in run.error_message

    def test_the_provider_of_a_command_is_not_exchanged_for_another(self, harbour, model):
        """The command was killed, and a worker takes the run up."""
        with overriding(ProviderConfig(origin=Origin.DEFAULT)):
            run = start_run(harbour)
        run = work_on(run)
        assert run.status == Status.FAILED
        assert "command" in run.error_message
        assert not model.requests
        again = resume(run, actor=OPERATOR)
        assert work_on(again).status == Status.COMPLETED

    def test_a_batch_parks_the_run_without_a_worker(self, harbour, model, settings):
        run_to_end(harbour, "extract")
        settings.LLM = {**settings.LLM, "strategy": "batch"}
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        run.refresh_from_db()
        assert run.status == Status.RUNNING
        assert not jobs_of(run).active().exists()
        process = LLMProcess.objects.active().get()
        assert process.then_kind == "runs.advance"
        line = run.log.last()
        assert (line.step, line.message) == (
            "generate",
            "The questions are put in a batch. The answers may take hours.",
        )

    def test_stopping_withdraws_the_questions(self, harbour, model, settings):
        run_to_end(harbour, "extract")
        settings.LLM = {**settings.LLM, "strategy": "batch"}
        run = start_run(harbour, "generate")
        perform_job(jobs_of(run).get())
        cancel(run, actor=OPERATOR)
        assert not LLMProcess.objects.active().exists()


class TestEnds:
    def test_documents_that_went_meanwhile(self, harbour):
        run = start_run(harbour)
        ids = list(harbour.documents.values_list("pk", flat=True))
        delete_documents(project=harbour, ids=ids, actor=OPERATOR)
        run = work_on(run)
        assert run.status == Status.FAILED
        assert run.error_message == "Cannot run the pipeline without documents."
        assert jobs_of(run).get().state == State.FAILED

    def test_what_people_are_told_names_nothing_of_the_server(self, harbour, monkeypatch):
        def broken(work):
            raise RuntimeError("/srv/site/secret.py has key sk-123")

        monkeypatch.setitem(executing.STEPS, "load", broken)
        run = run_to_end(harbour)
        assert run.status == Status.FAILED
        assert "RuntimeError" in run.error_message
        assert "secret" not in run.error_message
        assert "sk-123" not in run.error_message
        assert "secret.py" in run.log.get(level="error").traceback

    def test_publishing(self, harbour):
        run = run_to_end(harbour)
        published = publish(run, actor=OPERATOR)
        assert published.created == run.refined.count() == GlossaryEntry.objects.count()
        run.refresh_from_db()
        assert run.published_at is not None

    def test_one_under_way_cannot_be_published(self, harbour):
        with pytest.raises(Refusal) as refused:
            publish(start_run(harbour), actor=OPERATOR)
        assert refused.value.code == "run_active"

    def test_resuming_a_run_that_was_stopped(self, harbour):
        run = start_run(harbour)
        cancel(run, actor=OPERATOR)
        again = work_on(resume(run, actor=OPERATOR))
        assert (again.status, again.scope) == (Status.COMPLETED, "full")
        with pytest.raises(Refusal) as refused:
            resume(again, actor=OPERATOR)
        assert refused.value.code == "nothing_to_resume"
