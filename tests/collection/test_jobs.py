"""The kinds of background work, as schedules start them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from collection.choices import RunStatus
from collection.models import BulkCollectionRun
from collection.services.ending import cancel
from glossary_site.jobs.choices import State
from glossary_site.jobs.services.definitions import create_definition, fire
from glossary_site.jobs.services.enqueue import enqueue
from projects.access import OPERATOR
from tests.collection.factories import make_collection, make_repository
from tests.collection.working import perform_job

pytestmark = pytest.mark.django_db

COLLECT_ALL = "collection.collect_all"


def test_every_hour_for_a_project(project):
    """A definition has the payload that an operator wrote; each of its hours starts one."""
    make_repository(None)
    mine = make_repository(project)
    definition = create_definition(
        actor=OPERATOR,
        name="hourly",
        kind=COLLECT_ALL,
        cron="0 * * * *",
        payload={"project_id": project.pk},
    )
    slot = timezone.now()
    job, same = (fire(definition.pk, scheduled_for=slot) for _scheduler in range(2))
    assert job == same
    done = perform_job(job)
    run = BulkCollectionRun.objects.get()
    assert (done.state, done.result) == (State.SUCCEEDED, {"run_id": str(run.pk)})
    assert (run.project, run.triggered_by, run.actor) == (project, "schedule", None)
    assert list(run.results.values_list("repository", flat=True)) == [mine.pk]


def test_for_all_projects_and_not_beside_another(project):
    make_repository(None)
    make_repository(project)
    perform_job(enqueue(COLLECT_ALL))
    run = BulkCollectionRun.objects.get()
    assert (run.project, run.total_targets) == (None, 2)
    done = perform_job(enqueue(COLLECT_ALL))
    assert (done.state, done.result) == (State.SUCCEEDED, {"not_started": "collection_running"})
    cancel(run, actor=OPERATOR)


def test_a_project_that_is_gone(project):
    done = perform_job(enqueue(COLLECT_ALL, {"project_id": project.pk + 1}))
    assert done.state == State.FAILED
    assert "no project" in done.error


def test_nightly_tidying(project):
    old = timezone.now() - timedelta(days=365)
    target = [(make_repository(project), "main")]
    make_collection(project, target, status=RunStatus.COMPLETED, completed_at=old)
    done = perform_job(enqueue("collection.tidy"))
    assert done.result == {"runs": 1, "copies": 0}
    assert not BulkCollectionRun.objects.exists()
