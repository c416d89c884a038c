"""`/metrics`: who may read it, what it says, and that asking costs little."""

import uuid
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission
from django.db import DatabaseError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from glossary_site.jobs.choices import Lane, State, WorkerRole
from glossary_site.jobs.models import JobRun, LeaderLease, Worker
from glossary_site.live.services import publish
from glossary_site.llm.choices import JobStatus
from glossary_site.llm.models import LLMJob, Spending
from glossary_site.observe import metrics
from glossary_site.people.services import create_token
from tests import factories

TOKEN = "a-token-of-the-scraper"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nothing_counted_yet():
    metrics.apps.forget()
    yield
    metrics.apps.forget()


@pytest.fixture
def scrape(settings):
    """What a scraper learns: a function from a series to its value."""
    settings.METRICS_TOKEN = TOKEN
    # Else whoever scrapes first would put back what a test has replaced.
    metrics._find_collectors()

    def ask():
        metrics.apps.forget()
        response = get(f"Bearer {TOKEN}")
        assert response.status_code == 200
        series = {
            (sample.name, *sorted(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(response.content.decode())
            for sample in family.samples
        }
        return lambda name, *labels: series[name, *sorted(labels)]

    return ask


def get(authorization=None, client=None):
    headers = {"Authorization": authorization} if authorization else {}
    return (client or Client()).get(reverse("metrics"), headers=headers)


def make_run(state=State.PENDING, *, age=0.0, kind="test.kind", lane=Lane.SHORT, **fields):
    """A row as the services would leave it."""
    then = timezone.now() - timedelta(seconds=age)
    if state in (State.ASSIGNED, State.RUNNING):
        fields |= {"assigned_worker": "w", "assigned_at": then, "lease_until": timezone.now()}
    if state not in (State.PENDING, State.ASSIGNED, State.ORPHANED):
        fields |= {"started_at": then, "leader_epoch": 1}
    if state in (State.SUCCEEDED, State.FAILED, State.TIMED_OUT, State.CANCELED):
        fields["finished_at"] = then
    fields.setdefault("due_at", then)
    return JobRun.objects.create(kind=kind, lane=lane, state=state, timeout_seconds=60, **fields)


def with_permission(user):
    user.user_permissions.add(Permission.objects.get(codename="view_jobrun"))
    return user


def token_of(user) -> str:
    return f"Bearer {create_token(user=user, name='scraper')[1]}"


def test_a_superuser_sees_it_in_the_browser(superuser, sign_in):
    response = get(client=sign_in(superuser))
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/plain; version=0.0.4")
    assert "no-store" in response["Cache-Control"]
    assert b"glossary_jobs_running 0.0" in response.content


def test_other_people_do_not(owner, sign_in):
    assert get(client=sign_in(owner)).status_code == 403
    # Permissions are for tokens here: a page that people look at is another one.
    assert get(client=sign_in(with_permission(owner))).status_code == 403


def test_a_token_opens_it_for_those_who_may(owner, superuser):
    assert get(token_of(owner)).status_code == 403
    assert get(token_of(with_permission(factories.make_user()))).status_code == 200
    assert get(token_of(superuser)).status_code == 200


def test_a_token_of_somebody_who_left_opens_nothing(superuser):
    token = token_of(superuser)
    superuser.is_active = False
    superuser.save()
    assert get(token).status_code == 401


def test_nobody_is_asked_who_they_are():
    response = get()
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Bearer"
    assert response.content == b""


def test_the_scrapers_token_is_one_when_it_is_set(settings):
    assert get(f"Bearer {TOKEN}").status_code == 401
    settings.METRICS_TOKEN = TOKEN
    assert get(f"Bearer {TOKEN}").status_code == 200
    for wrong in (f"{TOKEN}x", TOKEN[:-1], "", "用語"):
        assert get(f"Bearer {wrong}").status_code == 401
    settings.METRICS_TOKEN = ""
    assert get("Bearer ").status_code == 401


def test_a_wrong_token_is_not_helped_by_a_session(superuser, sign_in):
    assert get("Bearer nonsense", client=sign_in(superuser)).status_code == 401


def test_it_is_only_read(superuser, sign_in):
    assert sign_in(superuser).post(reverse("metrics")).status_code == 405


def test_work_is_counted_by_state_kind_and_lane(scrape):
    make_run(age=30)
    make_run(age=10)
    make_run(due_at=timezone.now() + timedelta(hours=1))
    make_run(State.ORPHANED, lane=Lane.LONG, age=5, kind="other.kind")
    make_run(State.RUNNING, age=100, progress_at=timezone.now() - timedelta(seconds=3))
    make_run(State.RUNNING, age=20)
    make_run(State.FAILED, age=60)
    make_run(State.TIMED_OUT, age=60)
    make_run(State.FAILED, age=2 * 86400)
    seen = scrape()
    assert seen("glossary_jobs", "PENDING", "test.kind") == 3
    assert seen("glossary_jobs", "ORPHANED", "other.kind") == 1
    assert seen("glossary_jobs_waiting", "short") == 2
    assert seen("glossary_jobs_waiting", "long") == 1
    assert seen("glossary_jobs_not_due", "short") == 1
    assert 30 <= seen("glossary_jobs_oldest_waiting_seconds", "short") < 90
    assert 5 <= seen("glossary_jobs_oldest_waiting_seconds", "long") < 65
    assert seen("glossary_jobs_running") == 2
    assert 20 <= seen("glossary_jobs_since_progress_seconds") < 80
    assert seen("glossary_jobs_ended_last_day", "FAILED", "test.kind") == 1
    assert seen("glossary_jobs_ended_last_day", "TIMED_OUT", "test.kind") == 1
    assert seen("glossary_collector_up", "jobs") == 1


def test_an_idle_site_has_zeros_and_not_gaps(scrape):
    seen = scrape()
    for lane in Lane.values:
        assert seen("glossary_jobs_waiting", lane) == 0
        assert seen("glossary_jobs_oldest_waiting_seconds", lane) == 0
    for role in WorkerRole.values:
        assert seen("glossary_workers_alive", role) == 0
    assert seen("glossary_leader_present") == seen("glossary_leader_age_seconds") == 0


def test_workers_and_their_leader(scrape):
    now = timezone.now()
    for number, fields in enumerate(
        ({}, {"stopped_at": now}, {"heartbeat_at": now - timedelta(1)})
    ):
        Worker.objects.create(
            name=str(number), node="n", host="h", pid=1, role=WorkerRole.LONG, **fields
        )
    lease = {"holder": "k", "epoch": 4, "acquired_at": now - timedelta(seconds=50)}
    LeaderLease.objects.update_or_create(
        pk=LeaderLease.ONLY, defaults={**lease, "lease_until": now + timedelta(minutes=5)}
    )
    seen = scrape()
    assert seen("glossary_workers_alive", "long") == 1
    assert (seen("glossary_leader_present"), seen("glossary_leader_epoch")) == (1, 4)
    assert 50 <= seen("glossary_leader_age_seconds") < 110

    LeaderLease.objects.update(lease_until=now - timedelta(seconds=1))
    seen = scrape()
    assert (seen("glossary_leader_present"), seen("glossary_leader_epoch")) == (0, 4)


def test_language_models_and_what_they_cost(scrape):
    for status in (JobStatus.PENDING, JobStatus.PENDING, JobStatus.IN_PROGRESS):
        LLMJob.objects.create(
            id=uuid.uuid4(), process_id=uuid.uuid4(), request_json="{}", status=status
        )
    month = timezone.localdate().replace(day=1)
    earlier = (month - timedelta(days=1)).replace(day=1)
    spent = {"used_tokens": 1200, "used_nano": 2_500_000_000, "reserved_tokens": 7}
    Spending.objects.create(scope="project:7", month=month, **spent)
    Spending.objects.create(scope="project:8", month=earlier, **spent)
    seen = scrape()
    assert seen("glossary_llm_requests", "PENDING") == 2
    assert seen("glossary_llm_requests", "IN_PROGRESS") == 1
    assert seen("glossary_llm_requests", "FAILED") == 0
    assert seen("glossary_llm_tokens_this_month", "project:7") == 1200
    assert seen("glossary_llm_cost_this_month", "project:7") == 2.5
    with pytest.raises(KeyError):
        seen("glossary_llm_tokens_this_month", "project:8")
    assert seen("glossary_collector_up", "llm") == 1


def test_the_feed_is_counted(scrape):
    before = scrape()("glossary_live_events_last_number")
    publish("project:1", "x", {})
    publish("project:2", "x", {})
    assert scrape()("glossary_live_events_last_number") == before + 2


def test_requests_are_counted_by_method_and_class_of_status(scrape):
    def counted():
        seen = scrape()
        try:
            return seen("glossary_http_request_seconds_count", "other", "4xx")
        except KeyError:
            return 0

    before = counted()
    Client().generic("BREW", reverse("metrics"))
    Client().generic("STEEP", reverse("metrics"))
    assert counted() == before + 2


def test_asking_again_at_once_costs_no_query(settings, django_assert_num_queries):
    settings.METRICS_TOKEN = TOKEN
    assert get(f"Bearer {TOKEN}").status_code == 200
    make_run()
    with django_assert_num_queries(0):
        response = get(f"Bearer {TOKEN}")
    assert b'glossary_jobs_waiting{lane="short"} 0.0' in response.content


def test_however_much_there_is_it_takes_few_queries(settings, django_assert_max_num_queries):
    settings.METRICS_TOKEN = TOKEN
    for number in range(20):
        make_run(kind=f"kind.{number}")
        publish(f"project:{number}", "x", {})
    with django_assert_max_num_queries(12):
        assert get(f"Bearer {TOKEN}").status_code == 200


def test_an_app_that_fails_does_not_take_the_others_with_it(scrape, monkeypatch, lines):
    def broken():
        raise DatabaseError("gone")

    monkeypatch.setitem(metrics._collects, "live", broken)
    seen = scrape()
    assert seen("glossary_collector_up", "live") == 0
    assert seen("glossary_collector_up", "jobs") == 1
    assert seen("glossary_jobs_running") == 0
    assert any("metrics of live" in line["message"] for line in lines())
