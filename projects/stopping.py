"""What apps above this one have under way for a project that is about to be deleted."""

from collections.abc import Callable

from projects.access import Actor
from projects.models import Project

Stopper = Callable[[Project, Actor], None]

STOPPERS: list[Stopper] = []


def stop_all(project: Project, actor: Actor) -> None:
    """Nothing of it is locked yet."""
    for stop in STOPPERS:
        stop(project, actor)
