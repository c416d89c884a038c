"""A folder that becomes the documents of a project."""

from collections import Counter
from pathlib import Path, PurePosixPath

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from projects.access import Actor
from projects.intake.files import Rejected
from projects.intake.formats import UNSUPPORTED, ending_of, is_read
from projects.management.stopping import Interrupt
from projects.models import Project
from projects.services.imports import import_folder
from runs.management.showing import Display

# So many kinds of files a line names, the most frequent first.
NAMED = 6


def read_folder(
    project: Project,
    folder: Path,
    *,
    actor: Actor,
    display: Display,
    interrupt: Interrupt,
    output: Path | None = None,
) -> int:
    """Its files as documents, under their paths below it; how many there are. What is written
    there is no source: the next result would be made of the last."""
    stored = 0
    other_kinds: Counter[str] = Counter()
    for result in import_folder(project=project, folder=folder, actor=actor, without=output):
        interrupt.check()
        if not isinstance(result, Rejected):
            stored += 1
            display.passing(_("%(count)s files…") % {"count": stored})
        elif result.code == UNSUPPORTED and not is_read(result.path):
            other_kinds[ending_of(result.path) or PurePosixPath(result.path).name] += 1
        else:
            display.say(
                _("refused  %(path)s: %(why)s") % {"path": result.path, "why": result.message}
            )
    display.passing("")
    if other_kinds:
        display.say(_said_of(other_kinds))
    display.say(
        ngettext("%(n)d document was read.", "%(n)d documents were read.", stored) % {"n": stored}
    )
    return stored


def _said_of(kinds: Counter[str]) -> str:
    """A folder of programs or pictures has thousands of them: nobody reads a line about each."""
    named = [f"{kind} ({count})" for kind, count in kinds.most_common(NAMED)]
    if len(kinds) > NAMED:
        named.append("…")
    words = ngettext(
        "%(n)d file of another kind was left out: %(kinds)s",
        "%(n)d files of other kinds were left out: %(kinds)s",
        kinds.total(),
    )
    return words % {"n": kinds.total(), "kinds": ", ".join(named)}
