"""Definitions: what they may say, what their policy lets run, and those the site brings along."""

from datetime import timedelta

import pytest
from django.conf import settings as django_settings
from django.utils import timezone
from django_q.models import Schedule

from glossary_site.errors import Refusal
from glossary_site.jobs.choices import Policy, State
from glossary_site.jobs.models import AuditEntry, JobDefinition, JobRun
from glossary_site.jobs.services import definitions, transitions
from glossary_site.jobs.services.built_in import ensure_definitions
from glossary_site.jobs.services.definitions import (
    delete_definition,
    disable,
    enable,
    fire,
    run_now,
    update_definition,
)
from glossary_site.jobs.services.runs import retry_run
from tests.jobs.defining import NIGHTLY, make, since_yesterday
from tests.jobs.running import begin, perform


def refusal_of(**fields) -> Refusal:
    with pytest.raises(Refusal) as caught:
        make(**fields)
    assert not JobDefinition.objects.exists()
    return caught.value


@pytest.fixture(autouse=True)
def _nothing_remembered(monkeypatch):
    monkeypatch.setattr(definitions, "_next_looks", {})


@pytest.mark.django_db
class TestLife:
    def test_made_changed_and_removed_with_a_record_of_each(self):
        definition = make(payload={"line": "a"}, timeout_seconds=9, retries=0)
        changed = update_definition(definition, actor="edda", payload={"line": "b"}, retries=None)
        assert (changed.version, changed.payload, changed.retries) == (2, {"line": "b"}, None)
        delete_definition(changed, actor="vera")
        assert not JobDefinition.objects.exists()
        assert not Schedule.objects.exists()
        created, change, deleted = AuditEntry.objects.order_by("pk")
        assert (created.actor, created.action, created.before) == ("olive", "create", {})
        assert created.after["cron"] == NIGHTLY
        assert (change.actor, change.action) == ("edda", "change")
        assert change.before == {"payload": {"line": "a"}, "retries": 0}
        assert change.after == {"payload": {"line": "b"}, "retries": None}
        assert (deleted.actor, deleted.action) == ("vera", "delete")
        assert deleted.before["payload"] == {"line": "b"}
        assert {entry.target_id for entry in (created, change, deleted)} == {str(definition.pk)}

    def test_a_change_that_changes_nothing_leaves_no_record(self):
        definition = make()
        assert enable(definition, actor="edda").version == 1
        assert AuditEntry.objects.count() == 1

    def test_who_saw_an_older_version_is_refused(self):
        definition = make()
        update_definition(definition, actor="edda", name="hourly")
        for seen in ({}, {"version": 1}):
            with pytest.raises(Refusal) as refusal:
                update_definition(definition, actor="vera", policy=Policy.ALLOW, **seen)
            assert refusal.value.code == "definition_changed"
            assert refusal.value.details == {"version": 2}
        changed = update_definition(definition, actor="vera", policy=Policy.ALLOW, version=2)
        assert (changed.name, changed.policy) == ("hourly", Policy.ALLOW)

    def test_names_are_unique(self):
        make()
        other = make("other")
        with pytest.raises(Refusal) as refusal:
            update_definition(other, actor="vera", name="nightly")
        assert refusal.value.code == "definition_name_taken"
        with pytest.raises(Refusal):
            make()

    @pytest.mark.parametrize(
        ("fields", "code", "field"),
        [
            ({"kind": "nobody.knows"}, "unknown_kind", None),
            ({"kind": "work.fail"}, "kind_not_schedulable", "kind"),
            ({"payload": {"no_such": 1}}, "bad_payload", None),
            ({"payload": {"line": "\0"}}, "bad_payload", "payload"),
            ({"payload": {"line": "\ud800"}}, "bad_payload", "payload"),
            ({"payload": {"line": "x" * 70_000}}, "bad_payload", "payload"),
            ({"payload": ["line"]}, "bad_payload", "payload"),
            ({"name": " "}, "bad_definition", "name"),
            ({"name": "x" * 101}, "bad_definition", "name"),
            ({"policy": "sometimes"}, "bad_definition", "policy"),
            ({"timeout_seconds": 0}, "bad_definition", "timeout_seconds"),
            ({"retries": -1}, "bad_definition", "retries"),
            ({"cron": "61 * * * *"}, "bad_cron", "cron"),
            ({"cron": "* * * *"}, "bad_cron", "cron"),
            ({"cron": "@daily"}, "bad_cron", "cron"),
            ({"cron": "every day"}, "bad_cron", "cron"),
            ({"cron": "* * * * * *"}, "bad_cron", "cron"),
            ({"cron": "R * * * *"}, "bad_cron", "cron"),
            ({"cron": "H(0-5) * * * *"}, "bad_cron", "cron"),
            ({"cron": "0 0 30 2 *"}, "bad_cron", "cron"),
        ],
    )
    def test_what_could_never_run_is_refused_in_words(self, fields, code, field):
        refusal = refusal_of(**fields)
        assert (refusal.code, refusal.status) == (code, 400)
        assert refusal.details.get("field") == field
        assert str(refusal).endswith(".")

    def test_a_literal_backslash_is_no_zero_character(self):
        assert make(payload={"line": r"\u0000"}).payload == {"line": r"\u0000"}


@pytest.mark.django_db
class TestPolicy:
    def test_forbid_uses_the_slot_and_says_why_it_did_not_run(self):
        definition = since_yesterday(make())
        first = fire(definition.pk, scheduled_for=timezone.now() - timedelta(minutes=2))
        second = fire(definition.pk, scheduled_for=timezone.now() - timedelta(minutes=1))
        second.refresh_from_db()
        assert second.state == State.CANCELED
        assert second.error == f"Skipped: job {first.pk} of this definition had not ended."
        assert perform(second).state == State.CANCELED
        assert perform(first).state == State.SUCCEEDED
        assert fire(definition.pk, scheduled_for=timezone.now()).state == State.PENDING

    def test_forbid_also_waits_for_another_attempt(self):
        definition = since_yesterday(make())
        first = fire(definition.pk, scheduled_for=timezone.now() - timedelta(minutes=2))
        begin(first).fail(ValueError("no luck"))
        second = fire(definition.pk, scheduled_for=timezone.now() - timedelta(minutes=1))
        assert second.state == State.CANCELED
        assert f"job {first.next_attempt.pk} " in second.error

    def test_replace_cancels_whatever_is_active(self):
        definition = since_yesterday(make(policy=Policy.REPLACE))
        running = fire(definition.pk, scheduled_for=timezone.now() - timedelta(minutes=3))
        session = begin(running)
        failed = JobRun.objects.get(pk=running.pk)
        transitions.end(failed, State.FAILED, error="no luck")
        second = fire(definition.pk, scheduled_for=timezone.now() - timedelta(minutes=2))
        waiting = JobRun.objects.get(retry_of=running)
        assert waiting.state == State.CANCELED
        assert waiting.error == "Replaced by a newer run of its definition."
        assert not session.hold.reload()
        assert second.state == State.PENDING
        entry = AuditEntry.objects.get(action="cancel")
        assert (entry.actor, entry.target_id) == ("the site", str(waiting.pk))

    def test_allow_runs_both(self):
        definition = since_yesterday(make(policy=Policy.ALLOW))
        for minutes in (3, 2, 1):
            fire(definition.pk, scheduled_for=timezone.now() - timedelta(minutes=minutes))
        assert JobRun.objects.active().count() == 3

    def test_by_hand_it_runs_at_once_even_when_it_is_off(self):
        definition = disable(make(payload={"line": "a"}), actor="olive")
        run = run_now(definition, actor="vera")
        assert (run.payload, run.definition, run.scheduled_for) == ({"line": "a"}, definition, None)
        entry = AuditEntry.objects.get(action="run")
        assert (entry.actor, entry.after) == ("vera", {"run": run.pk})
        with pytest.raises(Refusal) as refusal:
            run_now(definition, actor="vera")
        assert (refusal.value.code, refusal.value.details) == (
            "definition_active",
            {"run_id": run.pk},
        )
        perform(run)
        assert run_now(definition, actor="vera").fresh

    def test_a_run_made_again_by_hand_still_belongs_to_the_definition(self):
        definition = since_yesterday(make())
        run = fire(definition.pk, scheduled_for=timezone.now())
        begin(run).fail(ValueError("no luck"))
        again = retry_run(run, actor="vera")
        assert again.definition == definition

    def test_the_runs_of_a_definition_outlive_it(self):
        definition = since_yesterday(make())
        run = fire(definition.pk, scheduled_for=timezone.now())
        delete_definition(definition, actor="olive")
        run = perform(run)
        assert (run.state, run.definition) == (State.SUCCEEDED, None)


@pytest.mark.django_db
class TestBuiltIn:
    NAMES = ["site.move_old_logs", "site.prune_live_events", "site.remove_old_jobs"]

    def names(self) -> list[str]:
        return [d.name for d in JobDefinition.objects.order_by("name") if d.name[:5] == "site."]

    def test_they_are_made_once_and_stay_as_an_operator_left_them(self):
        ensure_definitions()
        assert self.names() == self.NAMES
        assert Schedule.objects.count() == JobDefinition.objects.count()
        prune = JobDefinition.objects.get(name="site.prune_live_events")
        update_definition(prune, actor="olive", cron="0 5 * * *", enabled=False, name="my own")
        ensure_definitions()
        prune.refresh_from_db()
        assert (prune.cron, prune.enabled, prune.name) == ("0 5 * * *", False, "my own")
        assert self.names() == ["site.move_old_logs", "site.remove_old_jobs"]

    def test_the_timer_of_earlier_versions_goes_and_its_hour_is_kept(self):
        func = "glossary_site.live.services.prune_events"
        for _ in range(2):
            Schedule.objects.create(
                name="prune live events", func=func, schedule_type=Schedule.CRON, cron="0 5 * * *"
            )
        ensure_definitions()
        ensure_definitions()
        assert not Schedule.objects.filter(func=func).exists()
        prune = JobDefinition.objects.get(kind="site.prune_live_events")
        assert (prune.cron, prune.schedule.cron) == ("0 5 * * *", "0 5 * * *")

    def test_the_last_of_its_kind_cannot_be_removed(self):
        ensure_definitions()
        prune = JobDefinition.objects.get(kind="site.prune_live_events")
        with pytest.raises(Refusal) as refusal:
            delete_definition(prune, actor="olive")
        assert refusal.value.code == "definition_needed"
        make("another", kind="site.prune_live_events")
        delete_definition(prune, actor="olive")

    @pytest.mark.parametrize("name", NAMES)
    def test_they_run(self, name):
        ensure_definitions()
        run = run_now(JobDefinition.objects.get(name=name), actor="olive")
        assert run.lane in django_settings.LANES
        assert perform(run).state == State.SUCCEEDED
