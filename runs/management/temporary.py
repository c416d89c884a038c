"""A project for the length of one command, and a folder that becomes its documents."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects.access import Actor
from projects.intake.files import Rejected
from projects.management.stopping import Interrupt
from projects.models import Project
from projects.services.imports import import_folder
from projects.services.projects import create_project, delete_project
from runs.management.showing import Display
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


def read_folder(
    project: Project, folder: Path, *, actor: Actor, display: Display, interrupt: Interrupt
) -> int:
    """Its files as documents, under their paths below it; how many there are."""
    stored = 0
    for result in import_folder(project=project, folder=folder, actor=actor):
        interrupt.check()
        if isinstance(result, Rejected):
            display.say(
                _("refused  %(path)s: %(why)s") % {"path": result.path, "why": result.message}
            )
            continue
        stored += 1
        display.passing(_("%(count)s files…") % {"count": stored})
    display.passing("")
    display.say(
        ngettext("%(n)d document was read.", "%(n)d documents were read.", stored) % {"n": stored}
    )
    return stored
