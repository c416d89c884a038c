"""Events from elsewhere: each counts once, and starts what it starts in the same transaction."""

import threading
from typing import Any

import pytest
from django.db import connection

from glossary_site.errors import Refusal
from glossary_site.jobs import doorbell
from glossary_site.jobs.choices import Lane, Policy, State
from glossary_site.jobs.models import JobDefinition, JobRun, TriggerEvent
from glossary_site.jobs.registry import job
from glossary_site.jobs.services import events
from glossary_site.jobs.services.definitions import create_definition, disable, run_now
from glossary_site.jobs.services.events import process_waiting, receive_event
from glossary_site.jobs.session import Session
from tests.jobs.running import begin, perform

PUSHED = "repository.pushed"


@job("test.hear", lane=Lane.SHORT, timeout=60, schedulable=True)
def hear(session: Session, *, event: dict[str, Any], loud: bool = False) -> dict[str, Any]:
    return {"heard": event, "loud": loud}


def when_pushed(name: str = "on push", **fields) -> JobDefinition:
    values = {"kind": "work.note", "event_type": PUSHED, **fields}
    return create_definition(actor="olive", name=name, **values)


def push(key: str = "delivery-1", **payload) -> tuple[TriggerEvent, bool]:
    return receive_event(type=PUSHED, payload=payload, dedupe_key=key, actor="ci")


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch):
    monkeypatch.setattr(events, "_not_before", 0.0)


@pytest.mark.django_db
class TestReceiving:
    def test_it_is_kept_and_starts_the_definitions_of_its_type(self):
        definition = when_pushed(payload={"line": "pushed"}, timeout_seconds=9)
        other = when_pushed("another type", event_type="issue.opened")
        off = disable(when_pushed("off"), actor="olive")
        event, created = push(branch="main")
        assert created
        kept = TriggerEvent.objects.get()
        assert (kept.type, kept.payload, kept.created_by) == (PUSHED, {"branch": "main"}, "ci")
        assert kept.processed_at is not None
        run = kept.runs.get()
        assert (run.definition, run.payload) == (definition, {"line": "pushed"})
        assert run.timeout_seconds == 9
        assert not JobRun.objects.filter(definition__in=[other, off]).exists()
        assert perform(run).state == State.SUCCEEDED
        assert event.pk == kept.pk

    def test_the_same_one_again_is_the_same_event_and_starts_nothing(self):
        when_pushed()
        first, _ = push(branch="main")
        again, created = push(branch="main")
        assert (again, created) == (first, False)
        assert JobRun.objects.count() == TriggerEvent.objects.count() == 1

    @pytest.mark.parametrize("other", [{"payload": {"branch": "dev"}}, {"type": "tag.pushed"}])
    def test_another_one_with_the_same_key_is_refused(self, other):
        first, _ = push(branch="main")
        same = {"type": PUSHED, "payload": {"branch": "main"}, "dedupe_key": "delivery-1"}
        with pytest.raises(Refusal) as refusal:
            receive_event(**{**same, **other}, actor="ci")
        assert (refusal.value.code, refusal.value.status) == ("dedupe_conflict", 409)
        assert refusal.value.details == {"event_id": str(first.pk)}

    def test_one_that_starts_nothing_is_kept_too(self):
        event, created = push()
        assert created
        assert event.processed_at is not None
        assert not event.runs.exists()

    def test_a_function_with_that_argument_is_told_about_the_event(self):
        when_pushed(kind="test.hear", payload={"loud": True})
        event, _ = push(branch="main")
        run = perform(event.runs.get())
        about = {"id": str(event.pk), "type": PUSHED, "payload": {"branch": "main"}}
        assert run.result == {"heard": about, "loud": True}

    def test_a_function_that_needs_an_event_is_not_started_without_one(self):
        with pytest.raises(Refusal) as refusal:
            when_pushed("by the clock", kind="test.hear", cron="0 3 * * *")
        assert refusal.value.code == "bad_payload"
        with pytest.raises(Refusal) as refusal:
            run_now(when_pushed(kind="test.hear"), actor="olive")
        assert refusal.value.code == "bad_payload"

    def test_the_policy_counts_for_events(self):
        when_pushed("forbid")
        when_pushed("replace", policy=Policy.REPLACE)
        when_pushed("allow", policy=Policy.ALLOW)
        for run in push("1")[0].runs.all():
            begin(run)
        push("2")
        states = {
            name: list(
                JobRun.objects.filter(definition__name=name)
                .order_by("pk")
                .values_list("state", flat=True)
            )
            for name in ("forbid", "replace", "allow")
        }
        assert states == {
            "forbid": [State.RUNNING, State.CANCELED],
            "replace": [State.CANCELED, State.PENDING],
            "allow": [State.RUNNING, State.PENDING],
        }

    def test_a_definition_that_cannot_start_does_not_keep_the_others_from_it(self):
        broken = when_pushed("broken")
        JobDefinition.objects.filter(pk=broken.pk).update(kind="nobody.knows")
        whole = when_pushed("whole")
        event, _ = push()
        assert event.processed_at is not None
        assert event.runs.get().definition == whole

    @pytest.mark.parametrize(
        ("wrong", "code", "field"),
        [
            ({"type": ""}, "bad_event", "type"),
            ({"type": "x" * 101}, "bad_event", "type"),
            ({"type": "a\nb"}, "bad_event", "type"),
            ({"dedupe_key": "  "}, "bad_event", "dedupe_key"),
            ({"dedupe_key": "x" * 201}, "bad_event", "dedupe_key"),
            ({"dedupe_key": "\0"}, "bad_event", "dedupe_key"),
            ({"dedupe_key": "\ud800"}, "bad_event", "dedupe_key"),
            ({"payload": [1]}, "bad_payload", "payload"),
            ({"payload": {"a": "\0"}}, "bad_payload", "payload"),
            ({"payload": {"a\ud800": 1}}, "bad_payload", "payload"),
            ({"payload": {"a": float("nan")}}, "bad_payload", "payload"),
            ({"payload": {"a": "x" * 70_000}}, "bad_payload", "payload"),
        ],
    )
    def test_what_cannot_be_kept_is_refused(self, wrong, code, field):
        right = {"type": PUSHED, "payload": {}, "dedupe_key": "k", "actor": "ci"}
        with pytest.raises(Refusal) as refusal:
            receive_event(**{**right, **wrong})
        assert (refusal.value.code, refusal.value.status) == (code, 400)
        assert refusal.value.details["field"] == field
        assert not TriggerEvent.objects.exists()


@pytest.mark.django_db
class TestWaiting:
    def test_one_that_nobody_acted_on_is_acted_on_by_the_sweep(self):
        definition = when_pushed()
        event = TriggerEvent.objects.create(type=PUSHED, dedupe_key="k")
        assert process_waiting() == 1
        event.refresh_from_db()
        assert event.processed_at is not None
        assert event.runs.get().definition == definition
        assert process_waiting() == 0
        assert JobRun.objects.count() == 1

    def test_a_failure_leaves_it_to_the_sweep_which_pauses_and_starts_it_whole(self, monkeypatch):
        when_pushed("first")
        when_pushed("second")
        real, calls = events.start_run, []

        def stumble(definition, *, event):
            calls.append(definition.name)
            if definition.name == "second":
                raise OSError("out of memory")
            return real(definition, event=event)

        monkeypatch.setattr(events, "start_run", stumble)
        event, created = push()
        assert created
        assert TriggerEvent.objects.get().processed_at is None
        assert not JobRun.objects.exists()
        assert process_waiting() == 0
        assert calls == ["first", "second"] * 2
        # A second later: too early.
        assert process_waiting() == 0
        assert len(calls) == 4
        monkeypatch.setattr(events, "start_run", real)
        monkeypatch.setattr(events, "_not_before", 0.0)
        assert process_waiting() == 1
        assert event.runs.count() == JobRun.objects.count() == 2

    def test_with_nothing_to_do_it_costs_one_query(self, django_assert_num_queries):
        push()
        with django_assert_num_queries(1):
            process_waiting()


@pytest.mark.django_db(transaction=True)
def test_many_senders_of_one_event_start_it_once(brokers):
    when_pushed()
    start, answers = threading.Barrier(8), []

    def send() -> None:
        try:
            start.wait()
            event, created = push(branch="main")
            answers.append((event.pk, created))
        finally:
            connection.close()

    threads = [threading.Thread(target=send) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert len({pk for pk, _ in answers}) == 1
    assert [created for _, created in answers].count(True) == 1
    assert JobRun.objects.count() == 1
    assert doorbell.undelivered(Lane.SHORT) == 1
