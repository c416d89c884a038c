"""A project for the length of one command."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from projects.access import Actor
from projects.models import Project
from projects.services.projects import create_project, delete_project
from runs.services.temporary import remove_left_over, temporary_name


@contextmanager
def temporary_project(folder: Path, actor: Actor) -> Iterator[Project]:
    """Gone at the end with everything in it, however that end comes about: what a kill leaves, a
    later command removes, or the site at night."""
    remove_left_over()
    project = create_project(actor=actor, name=temporary_name(folder.resolve().name or "/"))
    try:
        yield project
    finally:
        delete_project(project=project, actor=actor)
