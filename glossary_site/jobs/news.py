"""What the live feed is told about work. Nothing here is the truth: the rows are."""

from django.db import transaction

from glossary_site.jobs.models import JobRun
from glossary_site.live.services import publish

OPERATIONS = "operations"


def changed(run: JobRun) -> None:
    """A hint to look at the run, given when what happened to it is committed: to lock a feed inside
    would make those who lock a run and a feed wait for each other. Work of nobody's scope makes no
    news; the keeper tells the operations page about the whole."""
    if run.scope:
        picture = {
            "id": run.pk,
            "kind": run.kind,
            "state": str(run.state),
            "current": run.progress_current,
            "total": run.progress_total,
            "message": run.progress_message,
        }
        scope = run.scope
        # Not a `partial`: Django wants the name of what failed, and those have none.
        transaction.on_commit(lambda: publish(scope, "job.changed", picture), robust=True)
