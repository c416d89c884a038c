"""What apps above this one do for a project that is about to be deleted, and keep of it."""

from collections.abc import Callable

from projects.access import Actor
from projects.models import Project

Stopper = Callable[[Project, Actor], None]

STOPPERS: list[Stopper] = []

Locker = Callable[[Project], None]

LOCKERS: list[Locker] = []

Emptier = Callable[[Project], None]

EMPTIERS: list[Emptier] = []


def stop_all(project: Project, actor: Actor) -> None:
    """Nothing of it is locked yet."""
    for stop in STOPPERS:
        stop(project, actor)


def lock_all(project: Project) -> None:
    """The project is locked, and nothing of it is deleted yet: rows of theirs that others lock
    before they look at what belongs to them."""
    for lock in LOCKERS:
        lock(project)


def empty_all(project: Project) -> None:
    """All is locked. Those who keep many rows of a project take them away in their own way: Django
    would load them all, and delete a hundred at a time."""
    for empty in EMPTIERS:
        empty(project)
