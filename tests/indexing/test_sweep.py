"""The safety net: what a dead worker held, what failed, what nobody came for."""

from datetime import timedelta

import pytest
from django.utils import timezone

from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from indexing.models import IndexRequest
from indexing.services import requests, sweeping
from indexing.services.retention import remove_old_requests
from indexing.services.waking import DRAIN, wake
from tests import factories
from tests.indexing.working import index, make_indexed, statuses, take_one
from tests.jobs.running import perform


def let_lapse(claim: requests.Claim) -> None:
    past = timezone.now() - timedelta(seconds=1)
    IndexRequest.objects.filter(pk=claim.request_id).update(lease_until=past)


def test_a_lapsed_lease_gives_the_request_back(project):
    document = factories.make_document(project)
    claim = take_one(project)
    assert sweeping.put_right()["given_back"] == 0

    let_lapse(claim)

    assert sweeping.put_right()["given_back"] == 1
    assert statuses(document) == ["pending"]


def test_a_job_that_ended_holds_nothing_any_more(project):
    document = factories.make_document(project)
    run = enqueue(DRAIN, {"project_id": project.pk}, scope=project.stream)
    requests.take(project.pk, limit=1, job_run_id=run.pk)
    assert sweeping.put_right()["given_back"] == 0

    # It finds nothing to do: the only request is in the hands of its own earlier life.
    perform(run)

    assert sweeping.put_right()["given_back"] == 1
    assert statuses(document) == ["pending"]


def test_a_text_that_kills_its_workers_is_not_tried_for_ever(project):
    document = factories.make_document(project)
    for _ in range(requests.MOST_ATTEMPTS):
        let_lapse(take_one(project))
        sweeping.put_right()
    assert statuses(document) == ["failed"]
    IndexRequest.objects.update(due_at=timezone.now())
    assert sweeping.put_right()["retried"] == 0


def test_a_failure_is_tried_again_when_its_pause_is_over(project):
    document = factories.make_document(project)
    requests.fail(take_one(project), "No sense in it.")
    assert sweeping.put_right()["retried"] == 0

    IndexRequest.objects.update(due_at=timezone.now() - timedelta(seconds=1))

    assert sweeping.put_right()["retried"] == 1
    index(project)
    assert statuses(document) == ["completed"]


def test_a_failure_of_an_old_text_is_left_alone(project):
    factories.make_document(project, "a.md", "# One\n")
    requests.fail(take_one(project), "No sense in it.")
    document = factories.make_document(project, "a.md", "# Two\n")
    IndexRequest.objects.filter(status="failed").update(due_at=timezone.now())
    assert sweeping.put_right()["retried"] == 0
    assert statuses(document) == ["failed", "pending"]


def test_somebody_is_called_where_nobody_comes(project):
    factories.make_document(project)
    JobRun.objects.all().delete()

    assert sweeping.put_right()["called"] == 1
    assert sweeping.put_right()["called"] == 0
    assert JobRun.objects.filter(kind=DRAIN, scope=project.stream).count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_commit_calls_somebody_and_many_commits_call_no_more(transactional_db):
    project = factories.make_project()
    for _ in range(3):
        factories.make_document(project)
    assert JobRun.objects.filter(kind=DRAIN).count() == 1


def test_one_that_has_begun_is_not_counted_on(project):
    run = enqueue(DRAIN, {"project_id": project.pk}, scope=project.stream)
    assert not wake(project.pk)
    perform(run)
    assert wake(project.pk)


def test_old_requests_are_removed_but_not_the_failure_that_still_matters(project):
    make_indexed(project)
    failed = factories.make_document(project)
    requests.fail(take_one(project), "No sense in it.")
    long_ago = timezone.now() - timedelta(days=400)
    IndexRequest.objects.update(started_at=long_ago, completed_at=long_ago)

    assert remove_old_requests(check=bool) == 1
    assert statuses(failed) == ["failed"]
