"""`jobs` and `workers`: what operators type, and what they get to see."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import Permission
from django.core.management import CommandError, call_command
from django.utils import timezone

from glossary_site.jobs.choices import State
from glossary_site.jobs.leader import Leadership
from glossary_site.jobs.management.tables import table
from glossary_site.jobs.models import AuditEntry, JobLog, JobRun, Worker
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.services.logs import move_old_logs
from tests import factories
from tests.jobs.running import WORKER, begin, perform, state_of

pytestmark = pytest.mark.django_db


def run(command: str, *arguments: object) -> str:
    out = StringIO()
    call_command(command, *map(str, arguments), stdout=out, stderr=out)
    return out.getvalue()


def refused(command: str, *arguments: object, returncode: int = 1) -> str:
    """What it says, and that it ends with a failure."""
    out = StringIO()
    with pytest.raises(CommandError) as error:
        call_command(command, *map(str, arguments), stdout=out, stderr=out)
    assert error.value.returncode == returncode
    return f"{out.getvalue()}{error.value}"


def failed(**fields) -> JobRun:
    job = enqueue("work.note", retries=0, **fields)
    begin(job).fail(ValueError("no luck"))
    job.refresh_from_db()
    return job


@pytest.fixture
def people(db):
    """One who may look, and one who may also interfere."""
    for name, *codenames in (
        ("willa", "view_jobrun"),
        ("oscar", "view_jobrun", "change_jobrun"),
        ("nobody",),
    ):
        permissions = Permission.objects.filter(
            content_type__app_label="jobs", codename__in=codenames
        )
        factories.make_user(name).user_permissions.set(permissions)


class TestList:
    def test_a_line_for_each_with_times_that_need_no_reckoning(self):
        first = failed(scope="project:7")
        second = enqueue("work.nap", {"seconds": 1})
        JobRun.objects.filter(pk=second.pk).update(
            due_at=timezone.now() + timedelta(minutes=5, seconds=5)
        )
        heading, newest, oldest = run("jobs", "list").splitlines()
        assert heading.split()[:4] == ["Job", "Kind", "State", "Scope"]
        assert newest.split()[:7] == [str(second.pk), "work.nap", "PENDING", "–", "1/2", "in", "5"]
        assert oldest.split()[:5] == [str(first.pk), "work.note", "FAILED", "project:7", "1/1"]
        assert oldest.endswith("ValueError: no luck")
        assert " s ago" in oldest
        assert heading.index("State") == newest.index("PENDING") == oldest.index("FAILED")

    def test_filters(self):
        job = failed(scope="project:7")
        enqueue("work.nap", {"seconds": 1}, scope="project:8")
        for option in (
            "--state=FAILED",
            "--state=failed",
            "--kind=work.note",
            "--scope=project:7",
        ):
            found = json.loads(run("jobs", "list", option, "--json"))
            assert [line["id"] for line in found] == [job.pk], option
        assert len(json.loads(run("jobs", "list", "--json", "--state=active"))) == 1
        assert len(json.loads(run("jobs", "list", "--json", "--limit=1"))) == 1
        for wrong in ("-1", "0", "many", "9223372036854775808"):
            with pytest.raises(CommandError, match="limit"):
                run("jobs", "list", f"--limit={wrong}")
        assert run("jobs", "list", "--kind=none") == "There is no such job.\n"
        assert refused("jobs", "list", "--state=odd") == "There is no state “odd”."

    def test_json_is_what_the_api_says(self):
        job = failed()
        (found,) = json.loads(run("jobs", "list", "--json"))
        assert (found["id"], found["state"], found["worker"]) == (job.pk, "FAILED", WORKER)
        assert found["error"] == "ValueError: no luck"

    def test_nothing_that_a_terminal_would_obey(self):
        job = failed()
        JobRun.objects.update(error="bad \x1b[2J\r\nworse")
        assert run("jobs", "list").rstrip().endswith("bad [2J worse")
        JobLog.objects.create(run=job, message="\x1b]0;owned\x07")
        shown = run("jobs", "show", job.pk, "--log")
        assert "\x1b" not in shown
        assert "\x07" not in shown


class TestShow:
    def test_the_facts_the_reason_and_the_log_wherever_it_is(self):
        job = failed(scope="project:7", idempotency_key="the key")
        shown = run("jobs", "show", job.pk, "--log")
        facts = dict(line.split(None, 1) for line in shown.splitlines() if line[:1].isalpha())
        assert (facts["id"], facts["state"], facts["scope"]) == (str(job.pk), "FAILED", "project:7")
        assert facts["idempotency_key"] == "the key"
        assert "ValueError: no luck" in shown.rpartition("next_attempt")[2]
        assert "no luck" not in run("jobs", "show", job.pk).rpartition("next_attempt")[2]
        long_ago = timezone.now() - timedelta(days=20)
        JobRun.objects.update(created_at=long_ago, finished_at=long_ago)
        assert move_old_logs() == 1
        log = run("jobs", "show", job.pk, "--log").rpartition("next_attempt")[2]
        assert log == shown.rpartition("next_attempt")[2]

    def test_it_says_why_a_job_waits(self):
        job = enqueue("work.note", run_after=timezone.now() + timedelta(hours=2))
        assert "1 h 59 min" in run("jobs", "show", job.pk)
        assert refused("jobs", "show", 0) == "There is no job 0."

    def test_a_long_log_is_shown_whole(self):
        job = failed()
        JobLog.objects.bulk_create(JobLog(run=job, message=f"line {n}") for n in range(450))
        assert run("jobs", "show", job.pk, "--log").count("  line ") == 450


class TestDeeds:
    def test_cancel_says_for_each_what_became_of_it(self):
        waiting, over = enqueue("work.note"), perform(enqueue("work.note"))
        said = refused("jobs", "cancel", waiting.pk, over.pk, 0, "--reason", "not needed")
        assert said.splitlines() == [
            f"Job {waiting.pk} is cancelled.",
            f"Job {over.pk} has ended already: Succeeded.",
            "There is no job 0.",
            "2 of 3 could not be done.",
        ]
        waiting.refresh_from_db()
        assert (waiting.state, waiting.error) == (State.CANCELED, "not needed")
        entry = AuditEntry.objects.get()
        assert (entry.actor, entry.action) == ("operator", "cancel")

    def test_retry_makes_another_attempt_or_sends_the_one_that_waits(self):
        job = failed()
        said = run("jobs", "retry", job.pk)
        attempt = JobRun.objects.get(retry_of=job)
        assert said == f"Job {job.pk} is tried again as job {attempt.pk}.\n"
        assert run("jobs", "retry", attempt.pk) == f"Job {attempt.pk} is sent off now.\n"

    def test_a_person_has_the_rights_of_the_account(self, people):
        job = enqueue("work.note")
        assert run("jobs", "list", "--as", "willa")
        may_not = "“{}” may not do this.".format
        assert refused("jobs", "list", "--as", "nobody") == may_not("nobody")
        assert refused("jobs", "cancel", job.pk, "--as", "willa") == may_not("willa")
        assert state_of(job) == State.PENDING
        run("jobs", "cancel", job.pk, "--as", "oscar")
        assert AuditEntry.objects.get().actor == "oscar"
        assert refused("workers", "drain", "n", "--as", "willa") == may_not("willa")
        said = refused("workers", "--as", "ghost", returncode=2)
        assert said == "There is no active user “ghost”."


class TestWorkers:
    @pytest.fixture
    def node(self, db) -> str:
        for role, pid in (("keeper", 1), ("short", 2), ("long", 3)):
            Worker.objects.create(
                name=f"host/w:{role}:{pid}", node="host/w", role=role, host="host", pid=pid
            )
        return "host/w"

    def test_who_is_there_and_who_leads(self, node):
        job = enqueue("work.note")
        begin(job, worker="host/w:short:2")
        Worker.objects.filter(role="long").update(
            heartbeat_at=timezone.now() - timedelta(seconds=20)
        )
        Worker.objects.create(
            name="old", node="gone", role="short", host="host", pid=9, stopped_at=timezone.now()
        )
        lines = run("workers").splitlines()
        assert len(lines) == 6
        rows = {line.split()[1]: line for line in lines[1:4]}
        assert rows["short"].split()[-2:] == [str(job.pk), "present"]
        assert rows["long"].endswith("silent")
        assert lines[-1].startswith("Nobody leads")
        assert Leadership("host/w:keeper:1").hold()
        assert run("workers").splitlines()[-1].startswith("Leader: host/w:keeper:1, epoch 1, for ")

    def test_json(self, node):
        found = json.loads(run("workers", "--json"))
        assert [node["node"] for node in found["nodes"]] == ["host/w"]
        assert len(found["nodes"][0]["workers"]) == 3
        assert found["leader"]["leads"] is False

    def test_nobody_there(self):
        assert "“manage.py worker” starts one" in run("workers")

    def test_drain_and_back(self, node):
        assert run("workers", "drain", node) == "host/w takes nothing new: 3 processes.\n"
        assert Worker.objects.filter(draining=True).count() == 3
        assert run("workers").count("draining") == 3
        assert run("workers", "undrain", node) == "host/w is back at work: 3 processes.\n"
        assert not Worker.objects.filter(draining=True).exists()
        assert AuditEntry.objects.filter(actor="operator").count() == 6
        assert refused("workers", "drain", "else") == "No worker is running on the node “else”."
        assert refused("workers", "drain") == "Which node? “manage.py workers” lists them."


def test_columns_are_aligned_in_japanese():
    text = table(["名前", "x"], [["灯台", 1], ["ab", 2]])
    assert text == "名前  x\n灯台  1\nab    2"
