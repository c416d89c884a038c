"""A run that was stopped while it refined: of the refined entries only those are there that the
review found wrong. Whoever asks what came of the run is given all of its entries."""

import json

import pytest
from django.urls import reverse

from projects.access import OPERATOR
from projects.models import GlossaryEntry
from runs.choices import Status
from runs.exports import export_entries
from runs.models import Run
from runs.services.comparing import compare
from runs.services.ending import cancel
from runs.services.failures import resume
from runs.services.publishing import publish
from runs.services.steps import refine as refine_step
from tests.factories import make_document
from tests.runs.working import run_to_end, start_run, work_on

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def whole(harbour) -> Run:
    """A run of the same documents that nobody stopped."""
    make_document(harbour, "tools.md", "# Tools\n\nThe bollard is checked. A gauge is a bollard.\n")
    return run_to_end(harbour)


@pytest.fixture
def stopped(harbour, whole, monkeypatch) -> Run:
    """After its last answer, before the others were taken over."""
    run = start_run(harbour)
    finishing = refine_step.finishing

    def stop(work):
        cancel(run, actor=OPERATOR)
        return finishing(work)

    with monkeypatch.context() as patch:
        patch.setattr(refine_step, "finishing", stop)
        run = work_on(run)
    assert run.status == Status.CANCELLED
    assert 0 < run.refined.count() < run.provisional.count() == whole.provisional.count()
    return run


def test_it_is_compared_exported_and_published_with_all_its_entries(whole, stopped):
    keys = set(stopped.provisional.values_list("key", flat=True))
    found = compare(whole, stopped)
    assert (found.added, found.removed) == ([], [])
    entries = json.loads("".join(export_entries(stopped, "json")))["entries"]
    assert len(entries) == len(keys)
    assert publish(stopped, actor=OPERATOR).created == len(keys)
    assert set(GlossaryEntry.objects.values_list("key", flat=True)) == keys


def test_its_page_and_programs_are_not_shown_a_part(client, superuser, stopped):
    client.force_login(superuser)
    page = client.get(stopped.get_absolute_url())
    assert page.context["current_tab"] == "provisional"
    assert page.context["preview"].created == stopped.provisional.count()
    base = reverse("api-run", args=[stopped.project_id, stopped.pk])
    assert client.get(f"{base}/refined").json()["count"] == 0
    assert client.get(f"{base}/provisional").json()["count"] == stopped.provisional.count()


def test_the_rest_of_it_has_them_all(whole, stopped):
    rest = work_on(resume(stopped, actor=OPERATOR))
    assert rest.status == Status.COMPLETED, rest.error_message
    assert rest.refined.whole().count() == whole.refined.count()
    assert compare(whole, rest).is_empty
