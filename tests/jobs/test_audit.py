"""Who did what: every deed of an operator or editor leaves a record, and none without the deed."""

import pytest
from django.db import transaction

from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry, JobDefinition, JobRun, Worker
from glossary_site.jobs.services import audit
from glossary_site.jobs.services.definitions import create_definition, update_definition
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.services.runs import cancel_run, retry_run
from glossary_site.jobs.services.workers import drain_node
from glossary_site.observe.trace import bound
from tests import factories
from tests.jobs.running import begin, perform

pytestmark = pytest.mark.django_db


def entries() -> list[AuditEntry]:
    return list(AuditEntry.objects.order_by("pk"))


def test_cancelling_records_before_and_after():
    run = enqueue("work.note")
    cancel_run(run, actor=factories.make_user("edda"))
    (entry,) = entries()
    assert (entry.actor, entry.action) == ("edda", "cancel")
    assert (entry.target_type, entry.target_id) == ("jobs.jobrun", str(run.pk))
    assert (entry.before["state"], entry.after["state"]) == ("PENDING", "CANCELED")


def test_retrying_records_the_attempt_it_made():
    run = enqueue("work.note", retries=0)
    begin(run).fail(ValueError("no luck"))
    attempt = retry_run(run, actor="edda")
    (entry,) = entries()
    assert (entry.before["state"], entry.before["attempt"]) == ("FAILED", 1)
    assert (entry.after["id"], entry.after["attempt"]) == (attempt.pk, 2)


def test_draining_is_recorded_for_each_process_whose_state_changes():
    for pid in (1, 2):
        Worker.objects.create(
            name=f"w{pid}", node="n", role="short", host="h", pid=pid, draining=pid == 2
        )
    drain_node("n", actor="edda")
    (entry,) = entries()
    assert (entry.action, entry.target_type) == ("drain", "jobs.worker")
    assert (entry.before, entry.after) == ({"draining": False}, {"draining": True})


def test_what_is_refused_leaves_no_record():
    run = perform(enqueue("work.note"))
    for deed in (cancel_run, retry_run):
        with pytest.raises(Refusal):
            deed(run, actor="edda")
    with pytest.raises(Refusal):
        drain_node("nowhere", actor="edda")
    with pytest.raises(Refusal):
        create_definition(actor="edda", name="x", kind="nobody.knows")
    assert entries() == []


def test_a_deed_that_is_undone_takes_its_record_with_it():
    definition = create_definition(actor="edda", name="nightly", kind="work.note")
    with transaction.atomic():
        update_definition(definition, actor="edda", cron="0 3 * * *")
        transaction.set_rollback(True)
    assert JobDefinition.objects.get().cron == ""
    assert [entry.action for entry in entries()] == ["create"]


def test_it_names_the_trace_and_outlives_the_account():
    user = factories.make_user("edda")
    with bound(trace_id="c" * 32):
        cancel_run(enqueue("work.note"), actor=user)
    user.delete()
    JobRun.objects.all().delete()
    (entry,) = entries()
    assert (entry.actor, entry.trace_id) == ("edda", "c" * 32)


def test_values_of_every_kind_are_kept_as_json(django_user_model):
    run = enqueue("work.note")
    audit.record("x" * 200, "look", run, before={"due_at": run.due_at}, after={"lane": run.lane})
    (entry,) = entries()
    assert len(entry.actor) == 150
    assert entry.before["due_at"].startswith(str(run.due_at.year))
    assert entry.after == {"lane": "short"}
