"""Which terms a run takes, what it is estimated to take, and what it says of its failures."""

from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.llm import builtin
from projects.access import OPERATOR
from projects.choices import TermStatus
from projects.services.synonyms import make_group
from projects.services.terms import add_term, set_category, set_status
from projects.terms.keys import key_of
from runs.choices import Scope, Status
from runs.models import Run, RunStep
from runs.services.estimates import estimate
from runs.services.failures import retry_failures
from runs.services.sizes import worth
from tests.factories import make_document
from tests.runs.working import run_to_end, work_on

pytestmark = pytest.mark.django_db(transaction=True)


def all_persons(answer: dict) -> dict:
    """None of them a term."""
    for term in answer.get("terms", ()):
        term |= {"category": "person_name", "is_term": False, "reason": "Somebody."}
    return answer


def related_to(answer: dict, *names: str) -> dict:
    for entry in answer.get("entries", ()):
        entry["related"] = list(names)
    return answer


class TestTerms:
    def test_a_required_synonym_stays_when_the_primary_is_excluded(self, harbour):
        terms = {
            text: add_term(project=harbour, text=text, status=TermStatus.REQUIRED, actor=OPERATOR)
            for text in ("berth", "quay place")
        }
        make_group(
            project=harbour,
            primary=terms["berth"],
            terms=list(terms.values()),
            actor=OPERATOR,
        )
        set_status(
            project=harbour,
            ids=[terms["berth"].pk],
            status=TermStatus.EXCLUDED,
            actor=OPERATOR,
        )
        run = run_to_end(harbour, "from_terms")
        assert run.status == Status.COMPLETED, run.error_message
        assert run.refined.filter(key=key_of("quay place")).exists()

    def test_a_group_goes_into_a_run_as_one_with_what_is_known_of_all(self, harbour):
        run_to_end(harbour, "extract")
        berth, master = (harbour.terms.get(text=text) for text in ("berth", "harbour master"))
        make_group(project=harbour, primary=master, terms=[berth, master], actor=OPERATOR)
        run = run_to_end(harbour, "generate")
        taken = run.terms.get(key=master.key)
        assert taken.synonyms == ["berth"]
        assert taken.frequency == master.frequency + berth.frequency
        assert taken.variants == [*master.variants, *berth.variants]
        assert taken.occurrences == [*master.occurrences, *berth.occurrences]
        assert not run.terms.filter(key=berth.key).exists()
        other = harbour.terms.filter(status=TermStatus.CANDIDATE, group=None).first()
        alone = run.terms.get(key=other.key)
        assert (alone.variants, alone.occurrences) == (other.variants, other.occurrences)

    def test_required_and_nowhere(self, harbour):
        add_term(project=harbour, text="lighthouse", status=TermStatus.REQUIRED, actor=OPERATOR)
        run = run_to_end(harbour)
        assert run.status == Status.COMPLETED, run.error_message
        assert run.refined.filter(key="lighthouse").exists()

    def test_a_required_term_has_the_category_that_the_model_says(self, harbour, model):
        """And is in, whatever the model says of that."""
        master = add_term(
            project=harbour, text="harbour master", status=TermStatus.REQUIRED, actor=OPERATOR
        )
        known = model.model._script
        model.script(lambda body: all_persons(known(body)))
        run = run_to_end(harbour, "extract")
        master.refresh_from_db()
        assert (master.status, master.category) == (TermStatus.REQUIRED, "person_name")
        assert run.terms.get(key=master.key).excluded_because == ""
        set_category(project=harbour, ids=[master.pk], category="title", actor=OPERATOR)
        run_to_end(harbour, "extract")
        master.refresh_from_db()
        assert master.category == "title"

    def test_no_entry_is_related_to_what_people_excluded(self, harbour, model):
        run_to_end(harbour, "extract")
        berth = harbour.terms.get(key=key_of("berth"))
        set_status(project=harbour, ids=[berth.pk], status=TermStatus.EXCLUDED, actor=OPERATOR)
        known = model.model._script
        model.script(lambda body: related_to(known(body), "Berths", "mooring line"))
        run = run_to_end(harbour, "from_terms")
        assert run.status == Status.COMPLETED, run.error_message
        for entries in (run.provisional, run.refined):
            related = {name for entry in entries.all() for name in entry.related}
            assert related == {"mooring line"}

    def test_an_estimate_is_not_of_the_one_term_added_by_hand(self, harbour):
        make_document(harbour, "long.md", "A mooring line is a rope of the ship. " * 2000)
        before = estimate(harbour, Scope.FULL).terms
        add_term(project=harbour, text="lighthouse", actor=OPERATOR)
        assert estimate(harbour, Scope.FULL).terms >= before

    def test_a_japanese_document_is_as_long_as_its_characters(self, project):
        project.language = "ja"
        project.save()
        text = "系統運用では、breaker の操作を **手順書** のとおりに行う。\n" * 2000
        make_document(project, "系統.md", text)
        assert abs(estimate(project, Scope.FULL).terms / worth(len(text)) - 1) < 0.1

    def test_a_retry_of_one_term_says_little_of_all(self, harbour):
        run = run_to_end(harbour)
        terms = run.terms.filter(excluded_because="").count()
        now = timezone.now()
        RunStep.objects.filter(run=run, step="generate").update(
            started_at=now - timedelta(seconds=10 * terms), finished_at=now
        )
        before = estimate(harbour, Scope.GENERATE).seconds
        assert before > 9 * terms
        key = run.terms.filter(excluded_because="").first().key
        run.failures.create(step="generate", key=key, term=key, error="x")
        again = work_on(retry_failures(run, actor=OPERATOR))
        RunStep.objects.filter(run=again, step="generate").update(
            started_at=now - timedelta(seconds=10), finished_at=now
        )
        assert estimate(harbour, Scope.GENERATE).seconds > before / 2

    def test_requests_are_estimated_from_those_that_were_made(self, harbour, model):
        run = run_to_end(harbour)
        assert estimate(harbour, Scope.FULL).requests == run.requests == len(model.requests) > 0
        # Twice as many as that: so will it be in other scopes.
        usual = estimate(harbour, Scope.GENERATE).requests
        Run.objects.filter(pk=run.pk).update(requests=2 * run.requests)
        assert estimate(harbour, Scope.FULL).requests == 2 * run.requests
        assert abs(estimate(harbour, Scope.GENERATE).requests - 2 * usual) <= 1
        # Runs of the scope itself say more.
        generated = run_to_end(harbour, "generate")
        assert estimate(harbour, Scope.GENERATE).requests == generated.requests


class TestSaid:
    def test_a_failure_of_the_engine_names_no_file_of_the_server(self, harbour, monkeypatch):
        run_to_end(harbour, "extract")

        def broken(request):
            if key_of("pilot station") in request.key:
                raise FileNotFoundError(2, "No such file", "/srv/site/secret/dictionary.dic")
            return known(request)

        known = builtin._tasks["runs.define"]
        monkeypatch.setitem(builtin._tasks, "runs.define", broken)
        run = run_to_end(harbour, "from_terms")
        assert run.failure_count >= 1
        said = [f.error for f in run.failures.all()] + [line.message for line in run.log.all()]
        assert not [text for text in said if "/srv/site" in text]
