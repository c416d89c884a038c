"""The main process of a django-q2 cluster: it forks the sentinel, which forks the rest."""

import logging
import sys
from collections.abc import Callable, Sequence

from django_q.cluster import Cluster

from glossary_site.processes import identity
from glossary_site.processes.broker import BrokerUnreachable, WatchedBroker, reachable_broker
from glossary_site.processes.heartbeat import Marks, mark_tasks
from glossary_site.processes.lanes import Lane
from glossary_site.processes.parent_death import bind_every_fork

logger = logging.getLogger(__name__)


def run_cluster(
    *, node: str, lane: Lane, marks: Marks, prepare: Sequence[Callable[[], None]]
) -> None:
    """Until it is asked to stop. `prepare` is called before the first fork."""
    bind_every_fork()
    identity.assume(node=node, lane=lane.name, stopping=marks.stopping)
    lane.enter()
    mark_tasks(marks)
    for step in prepare:
        step()
    try:
        broker = reachable_broker()
    except BrokerUnreachable as error:
        logger.error("%s", error)
        sys.exit(1)
    cluster = Cluster(broker=WatchedBroker(broker, marks, slots=lane.slots))
    cluster.start()
    marks.ready.touch()
    cluster.sentinel.join()
    sys.exit(cluster.sentinel.exitcode != 0)
