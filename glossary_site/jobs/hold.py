"""A worker's hold on a running job: each write names run, version, worker and epoch.

Two threads write through it, the job's own and the pulse. Neither waits for the other: the one
whose version is old reads the row again, and goes on if the run is still ours.
"""

from typing import Any

from django.conf import settings

from glossary_site.jobs import clock, rows
from glossary_site.jobs.choices import Continuation, State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services import transitions

TRIES = 10


class Hold:
    def __init__(self, run: JobRun) -> None:
        self.run_id = run.pk
        self._hand = {"assigned_worker": run.assigned_worker, "leader_epoch": run.leader_epoch}
        self._run = run

    def write(self, **changes: Any) -> bool:
        """Change the running row, if it is still ours."""
        for _ in range(TRIES):
            version = self._run.version
            if rows.swap(self._expected(version), {"version": version + 1, **changes}):
                self._run.version = version + 1
                return True
            if not self.reload():
                return False
        return False

    def renew(self, **changes: Any) -> bool:
        """Say that we are still here. Whoever asked whether we are has the answer with it."""
        return self.write(
            lease_until=clock.after(settings.JOB_LEASE_SECONDS),
            continuation_state=Continuation.NONE,
            continuation_deadline=None,
            **changes,
        )

    def end(self, to: State, **changes: Any) -> bool:
        for _ in range(TRIES):
            # An end that was rolled back has left our copy ahead of the row.
            self._run.state = State.RUNNING
            if transitions.end(self._run, to, held_by=self._hand, **changes):
                return True
            if not self.reload():
                return False
        return False

    def reload(self) -> bool:
        """Whether the run is still ours; if so, at which version."""
        now = JobRun.objects.filter(pk=self.run_id, state=State.RUNNING, **self._hand)
        version = now.values_list("version", flat=True).first()
        if version is None:
            return False
        self._run.version = version
        return True

    def state(self) -> str:
        """Where the run is now, whoever has it; empty when it is gone."""
        found = JobRun.objects.filter(pk=self.run_id).values_list("state", flat=True).first()
        return found or ""

    def _expected(self, version: int) -> dict[str, Any]:
        return {"id": self.run_id, "version": version, "state": State.RUNNING, **self._hand}
