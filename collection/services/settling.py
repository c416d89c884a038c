"""The safety net: no collection says for ever that it is running.

One whose work has ended without it (a worker killed too often) goes on if it had got anywhere
since; if not, what is left of it is given up.
"""

import logging

from django.db import connection, transaction
from django.utils.translation import gettext as _
from django.utils.translation import override

from collection.models import BulkCollectionRun
from collection.services.ending import COLLECT, cancel, complete, give_up, jobs_of, scope_of
from glossary_site.jobs.choices import ACTIVE, State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from projects.access import OPERATOR

logger = logging.getLogger(__name__)

# So often it is taken up again although nothing came of it.
MOST_STALLS = 3
# More than a target has commits.
A_TARGET = 10**9


def settle() -> int:
    """Look after the one that is running; whether it needed it."""
    settled = 0
    for run in BulkCollectionRun.objects.running().select_related("project", "job"):
        if run.job is None or run.job.state not in ACTIVE:
            try:
                settled += settle_run(run)
            except Exception:
                if not connection.is_usable():
                    raise
                logger.exception("Collection %s could not be looked after", run.pk)
    return settled


def settle_run(run: BulkCollectionRun) -> bool:
    """Have it taken up again, or end it; False where somebody looks after it."""
    language = run.project.language if run.project else None
    with transaction.atomic(), override(language):
        locked = BulkCollectionRun.objects.select_for_update(of=("self",)).running()
        now = locked.select_related("project").filter(pk=run.pk).first()
        if now is None or jobs_of(now).active().exists():
            return False
        last: JobRun | None = jobs_of(now).order_by("-pk").first()
        if last is not None and last.state == State.CANCELED:
            cancel(now, actor=OPERATOR)
            return True
        if not now.results.pending().exists():
            return complete(now)
        mark = now.done_count * A_TARGET + now.new_commits
        stalls = 0 if mark > now.mark else now.stalls + 1
        if stalls > MOST_STALLS:
            _give_up(now)
            return True
        job = enqueue(COLLECT, {"run_id": str(now.pk)}, scope=scope_of(now))
        BulkCollectionRun.objects.filter(pk=now.pk).update(job=job, stalls=stalls, mark=mark)
    return True


def _give_up(run: BulkCollectionRun) -> None:
    for result in run.results.pending():
        give_up(result, _("It did not get on: its worker ended again and again."))
    complete(run)
