"""Having somebody come for the requests of a project, as soon as they are committed.

One job that has not begun yet is enough: it will see everything that is committed before it begins.
What falls between (a crash after the commit, a broker that is away) is found by the sweep.
"""

from django.db import transaction

from glossary_site.jobs import clock
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.jobs.services.transitions import hurry
from projects.feed import stream_of

DRAIN = "indexing.drain"
FILL = "indexing.fill_vectors"


def wake_on_commit(project_id: int) -> None:
    # Robust: that nobody could be told must not look like a failure of what was stored. (Not a
    # `partial`: Django wants the name of what failed, and those have none.)
    transaction.on_commit(lambda: wake(project_id), robust=True)


def wake(project_id: int, kind: str = DRAIN) -> bool:
    """Whether somebody new was called."""
    runs = JobRun.objects.for_scope(stream_of(project_id)).filter(kind=kind)
    waiting = runs.waiting().order_by("due_at").first()
    if waiting is not None:
        if kind == DRAIN and waiting.due_at > clock.read():
            # After a failure it pauses for longer and longer; what is new need not.
            hurry(waiting)
        return False
    enqueue(kind, {"project_id": project_id}, scope=stream_of(project_id))
    return True
