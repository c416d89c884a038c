import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from glossary_site.errors import Refusal
from glossary_site.jobs import doorbell
from glossary_site.jobs.choices import Lane, State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.live.models import Event


@pytest.mark.django_db(transaction=True)
def test_a_run_and_its_delivery_are_written_together(brokers):
    run = enqueue("work.note", {"line": "a"})
    assert run.fresh
    assert JobRun.objects.get(pk=run.pk).state == State.PENDING
    assert doorbell.undelivered(Lane.SHORT) == 1
    assert doorbell.undelivered(Lane.LONG) == 0


@pytest.mark.django_db(transaction=True)
def test_a_transaction_that_fails_leaves_neither(brokers):
    with transaction.atomic():
        enqueue("work.note")
        transaction.set_rollback(True)
    assert not JobRun.objects.exists()
    assert doorbell.undelivered(Lane.SHORT) == 0


@pytest.mark.django_db(transaction=True)
def test_each_kind_goes_to_its_lane(brokers):
    enqueue("work.slog", {"seconds": 1})
    assert doorbell.undelivered(Lane.LONG) == 1
    assert doorbell.undelivered(Lane.SHORT) == 0


@pytest.mark.django_db(transaction=True)
def test_work_for_later_is_not_delivered_yet(brokers):
    later = timezone.now() + timezone.timedelta(hours=1)
    run = enqueue("work.note", run_after=later)
    assert run.rung_at is None
    assert doorbell.undelivered(Lane.SHORT) == 0


@pytest.mark.django_db
def test_the_same_key_gives_the_same_run():
    first = enqueue("work.note", {"line": "a"}, idempotency_key="k")
    again = enqueue("work.note", {"line": "b"}, idempotency_key="k")
    assert again.pk == first.pk
    assert (first.fresh, again.fresh) == (True, False)
    assert JobRun.objects.count() == 1


@pytest.mark.django_db
def test_the_database_refuses_a_second_run_with_a_key():
    run = enqueue("work.note", idempotency_key="k")
    with pytest.raises(IntegrityError), transaction.atomic():
        JobRun.objects.create(kind=run.kind, lane=run.lane, timeout_seconds=1, idempotency_key="k")


@pytest.mark.django_db
def test_an_unknown_kind_is_refused():
    with pytest.raises(Refusal) as refusal:
        enqueue("work.nonsense")
    assert refusal.value.code == "unknown_kind"
    assert not JobRun.objects.exists()


@pytest.mark.django_db
def test_a_payload_that_the_work_cannot_take_is_refused():
    with pytest.raises(Refusal) as refusal:
        enqueue("work.slog", {"hours": 1})
    assert refusal.value.code == "bad_payload"
    assert "hours" in str(refusal.value) or "seconds" in str(refusal.value)


@pytest.mark.django_db
def test_a_timeout_is_never_longer_than_its_lane_allows(settings):
    settings.LANE_TIMEOUTS = {"short": 30, "long": 60}
    assert enqueue("work.note", timeout=500).timeout_seconds == 30
    assert enqueue("work.slog", {"seconds": 1}, timeout=40).timeout_seconds == 40


@pytest.mark.django_db(transaction=True)
def test_work_of_a_scope_is_news_there(brokers):
    enqueue("work.note", scope="project:7")
    enqueue("work.note")
    events = Event.objects.filter(type="job.changed")
    assert [event.stream.name for event in events] == ["project:7"]
