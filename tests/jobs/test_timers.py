"""Definitions by the clock: their timers, missed slots, and one run for each slot whoever fires
it."""

import threading
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.utils import timezone
from django_q.brokers import get_broker
from django_q.conf import Conf
from django_q.models import Schedule
from django_q.scheduler import scheduler
from django_q.signing import SignedPackage

from glossary_site.errors import Refusal
from glossary_site.jobs import cron as crons
from glossary_site.jobs import doorbell, timers
from glossary_site.jobs.choices import Lane, Policy, State
from glossary_site.jobs.models import JobDefinition, JobRun
from glossary_site.jobs.services import definitions, transitions
from glossary_site.jobs.services.definitions import (
    disable,
    enable,
    fire,
    fire_missed_slots,
    update_definition,
)
from tests.jobs.defining import NIGHTLY, last_minute, make, since_yesterday
from tests.jobs.running import begin


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(definitions, "_next_looks", {})


@pytest.mark.django_db
class TestTimer:
    def test_it_is_there_only_while_the_definition_is_on_and_has_hours(self):
        definition = make()
        timer = Schedule.objects.get()
        assert (timer.name, timer.cron, timer.cluster) == ("nightly", NIGHTLY, None)
        assert timer.next_run == crons.next_slot(NIGHTLY, after=timezone.now())

        definition = disable(definition, actor="olive")
        assert not Schedule.objects.exists()
        definition = enable(JobDefinition.objects.get(), actor="olive")
        assert definition.schedule == Schedule.objects.get()
        definition = update_definition(definition, actor="olive", cron="")
        assert not Schedule.objects.exists()
        definition = update_definition(definition, actor="olive", cron="0 5 * * *")
        assert Schedule.objects.get().cron == "0 5 * * *"

    def test_it_follows_the_hours_and_the_name_and_else_stays_as_it_is(self):
        definition = make()
        Schedule.objects.update(next_run=timezone.now())
        due = Schedule.objects.get()
        definition = update_definition(definition, actor="olive", policy=Policy.ALLOW, name="n")
        same = Schedule.objects.get()
        assert (same.pk, same.next_run, same.name) == (due.pk, due.next_run, "n")
        update_definition(definition, actor="olive", cron="0 5 * * *")
        moved = Schedule.objects.get()
        assert (moved.pk, moved.cron) == (due.pk, "0 5 * * *")
        assert moved.next_run == crons.next_slot("0 5 * * *", after=timezone.now())

    def test_no_slot_is_made_up_for_that_lies_before_a_change_of_hours(self):
        definition = since_yesterday(make(cron="* * * * *"))
        slot = last_minute()
        changed = update_definition(definition, actor="olive", cron="*/1 * * * *")
        assert changed.enabled_at > slot
        assert fire(definition.pk, scheduled_for=slot) is None

    def test_a_call_for_one_that_is_off_or_gone_does_nothing(self):
        definition = make()
        slot = timezone.now() + timedelta(minutes=1)
        disable(definition, actor="olive")
        assert fire(definition.pk, scheduled_for=slot) is None
        assert fire(0, scheduled_for=slot) is None
        assert not JobRun.objects.exists()

    def test_timeout_and_retries_of_the_definition_count(self):
        slot = timezone.now() + timedelta(minutes=1)
        strict = fire(make("a", timeout_seconds=7, retries=0).pk, scheduled_for=slot)
        loose = fire(make("b").pk, scheduled_for=slot)
        assert (strict.timeout_seconds, strict.max_attempts) == (7, 1)
        assert (loose.timeout_seconds, loose.max_attempts) == (60, 3)


class TestHours:
    """As django-q2 reckons them, where the clocks change."""

    BERLIN = ZoneInfo("Europe/Berlin")

    def slots_of_the_timer(self, monkeypatch, cron: str, start: datetime, count: int) -> list[str]:
        """Asking django-q2 for the next time again and again, each time a second after the last."""
        timer = Schedule(schedule_type=Schedule.CRON, cron=cron)
        slots, now = [], start
        for _ in range(count):
            monkeypatch.setattr("django_q.models.localtime", lambda now=now: now)
            slots.append(timer.calculate_next_run())
            now = (slots[-1].astimezone(UTC) + timedelta(seconds=1)).astimezone(self.BERLIN)
        return slots

    @pytest.mark.parametrize(
        ("cron", "start", "expected"),
        [
            # Forward at 2:00. A time in the gap is due at its end, and only once.
            ("30 2 * * *", datetime(2026, 3, 28, 12), ["29 03:00+0200", "30 02:30+0200"]),
            ("0 2-3 * * *", datetime(2026, 3, 28, 12), ["29 03:00+0200", "30 02:00+0200"]),
            # Back at 3:00. The hour comes twice, and so does the time in it.
            (
                "30 2 * * *",
                datetime(2026, 10, 24, 12),
                ["25 02:30+0200", "25 02:30+0100", "26 02:30+0100"],
            ),
            ("17 3 * * *", datetime(2026, 10, 24, 12), ["25 03:17+0100", "26 03:17+0100"]),
        ],
    )
    def test_the_timer_and_the_sweep_agree(self, monkeypatch, cron, start, expected):
        monkeypatch.setattr(Conf, "TIME_ZONE", "Europe/Berlin")
        start = start.replace(tzinfo=self.BERLIN)
        slots = self.slots_of_the_timer(monkeypatch, cron, start, len(expected))
        assert [slot.strftime("%d %H:%M%z") for slot in slots] == expected
        before = start.astimezone(UTC)
        for slot in slots:
            slot = slot.astimezone(UTC)
            late = slot + timedelta(minutes=1)
            assert crons.last_slot(cron, after=before, until=late) == slot
            assert crons.last_slot(cron, after=late, until=late + timedelta(minutes=9)) is None
            before = late

    @pytest.mark.django_db(transaction=True)
    @pytest.mark.timeout(20)
    @pytest.mark.parametrize("cron", ["30 2 * * *", "*/5 * * * *", "31 * * * *"])
    def test_the_scheduler_comes_through_the_hour_that_comes_twice(
        self, monkeypatch, brokers, cron
    ):
        now = datetime(2026, 10, 25, 2, 31, 20, tzinfo=self.BERLIN)
        for module in ("models", "scheduler"):
            monkeypatch.setattr(f"django_q.{module}.localtime", lambda: now)
        definition = make(cron=cron)
        Schedule.objects.update(next_run=timezone.now() - timedelta(seconds=1))
        scheduler()
        monkeypatch.setattr(Conf, "TIME_ZONE", "Europe/Berlin")
        assert Schedule.objects.get().next_run == crons.next_slot(definition.cron, after=now)

    def test_the_last_of_several(self):
        start = datetime(2026, 5, 1, 10, 0, 30, tzinfo=UTC)
        until = start + timedelta(minutes=10)
        assert crons.last_slot("* * * * *", after=start, until=until) == until.replace(second=0)
        assert crons.last_slot("0 0 * * *", after=start, until=until) is None


@pytest.mark.django_db
class TestMissedSlots:
    def test_the_latest_one_that_nobody_fired_is_fired(self):
        definition = since_yesterday(make(cron="* * * * *"))
        now = last_minute() + timedelta(seconds=41)
        assert fire_missed_slots(now) == 1
        assert JobRun.objects.get().scheduled_for == last_minute()
        assert JobRun.objects.get().definition == definition
        assert fire_missed_slots(now + timedelta(seconds=1)) == 0

    def test_one_that_was_fired_is_not_fired_again(self):
        definition = since_yesterday(make(cron="* * * * *"))
        fire(definition.pk, scheduled_for=last_minute())
        assert fire_missed_slots(last_minute() + timedelta(seconds=41)) == 0
        assert JobRun.objects.count() == 1

    def test_the_timer_has_its_time_first(self):
        since_yesterday(make(cron="0 * * * *"))
        hour = timezone.now().replace(minute=0, second=0, microsecond=0)
        assert fire_missed_slots(hour + timedelta(seconds=39)) == 0
        # It looks again when there is something to see.
        assert fire_missed_slots(hour + timedelta(seconds=40)) == 1

    def test_old_slots_and_those_before_it_was_on_are_let_go(self):
        since_yesterday(make(cron="0 * * * *"))
        hour = timezone.now().replace(minute=0, second=0, microsecond=0)
        assert fire_missed_slots(hour + timedelta(minutes=11)) == 0
        definition = make("fresh", cron="* * * * *")
        assert fire_missed_slots(definition.enabled_at) == 0
        assert not JobRun.objects.exists()

    def test_what_is_off_or_has_no_hours_is_let_be(self):
        disable(since_yesterday(make(cron="* * * * *")), actor="olive")
        since_yesterday(make("by hand", cron=""))
        assert fire_missed_slots(timezone.now()) == 0

    def test_one_that_cannot_be_started_does_not_stop_the_others(self):
        broken = since_yesterday(make("broken", cron="* * * * *"))
        JobDefinition.objects.filter(pk=broken.pk).update(kind="nobody.knows")
        since_yesterday(make("whole", cron="* * * * *"))
        assert fire_missed_slots(last_minute() + timedelta(seconds=41)) == 1

    def test_looking_again_costs_one_query(self, django_assert_num_queries):
        for number in range(5):
            since_yesterday(make(f"{number}", cron=f"{number} 3 * * *"))
        now = timezone.now().replace(hour=12)
        fire_missed_slots(now)
        with django_assert_num_queries(1):
            fire_missed_slots(now + timedelta(seconds=1))


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    """Several schedulers on the same database."""

    def together(self, function, *, times: int = 6) -> None:
        start, errors = threading.Barrier(times), []

        def run() -> None:
            try:
                start.wait()
                function()
            except BaseException as error:
                errors.append(error)
            finally:
                connection.close()

        threads = [threading.Thread(target=run) for _ in range(times)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []

    def queued(self) -> list[dict]:
        broker = get_broker()
        tasks = []
        while found := broker.dequeue():
            for ack, package in found:
                tasks.append(SignedPackage.loads(package))
                broker.acknowledge(ack)
        return tasks

    def test_schedulers_that_wake_together_make_one_run_of_a_slot(self, brokers):
        definition = since_yesterday(make(payload={"line": "once"}))
        slot = last_minute()
        Schedule.objects.update(next_run=slot)
        self.together(scheduler, times=3)
        tasks = [task for task in self.queued() if task["func"] == definitions.FIRE]
        assert [(task["args"], task["kwargs"]["scheduled_for"]) for task in tasks] == [
            ((definition.pk,), slot.isoformat())
        ]
        (task,) = tasks
        # Delivered to several, as a broker may.
        self.together(lambda: timers.fire(*task["args"], **task["kwargs"]))
        run = JobRun.objects.get()
        assert (run.definition, run.scheduled_for) == (definition, slot)
        assert run.payload == {"line": "once"}
        assert doorbell.undelivered(Lane.SHORT) == 1
        assert Schedule.objects.get().next_run > timezone.now()

    def test_timer_and_sweep_make_one_run_of_a_slot(self, brokers):
        definition = since_yesterday(make(cron="* * * * *"))
        slot = last_minute()
        calls = iter([True, False] * 3)

        def one_or_the_other() -> None:
            if next(calls):
                fire(definition.pk, scheduled_for=slot)
            else:
                fire_missed_slots(slot + timedelta(seconds=41))

        self.together(one_or_the_other)
        assert JobRun.objects.get().scheduled_for == slot

    @pytest.mark.parametrize(("policy", "active"), [("forbid", 1), ("replace", 1), ("allow", 6)])
    def test_the_policy_holds_when_many_slots_come_together(self, brokers, policy, active):
        definition = since_yesterday(make(policy=policy))
        minutes = iter(range(6))
        self.together(
            lambda: fire(
                definition.pk, scheduled_for=timezone.now() - timedelta(minutes=next(minutes))
            )
        )
        assert JobRun.objects.count() == 6
        assert JobRun.objects.active().count() == active
        skipped = JobRun.objects.exclude(error="")
        assert {run.state for run in skipped} <= {State.CANCELED}
        assert skipped.count() == 6 - active

    def test_a_run_that_fails_while_it_is_replaced_leaves_no_attempt_behind(self, brokers):
        """The failing side writes a row that points to the definition which the other has locked:
        neither may wait for the other for ever."""
        definition = since_yesterday(make(policy=Policy.REPLACE))
        for round in range(5):
            for run in JobRun.objects.active():
                transitions.end(run, State.CANCELED)
            first = fire(definition.pk, scheduled_for=timezone.now() - timedelta(hours=round + 1))
            session = begin(first)
            turns = iter([True, False])

            def fail_or_replace(turns=turns, session=session) -> None:
                if next(turns):
                    session.fail(ValueError("no luck"))
                else:
                    fire(definition.pk, scheduled_for=timezone.now())

            self.together(fail_or_replace, times=2)
            (active,) = JobRun.objects.active()
            assert active.scheduled_for is not None
            assert active.pk > first.pk

    def test_of_two_changes_of_the_same_version_one_is_refused(self):
        definition = make()
        refused, hours = [], iter(range(6))

        def change() -> None:
            try:
                update_definition(definition, actor="edda", cron=f"0 {next(hours)} * * *")
            except Refusal as refusal:
                refused.append(refusal.code)

        self.together(change)
        assert refused == ["definition_changed"] * 5
        definition.refresh_from_db()
        assert definition.version == 2
        assert Schedule.objects.get().cron == definition.cron
