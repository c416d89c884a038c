"""What people name at a terminal: moments, repositories, collections."""

from argparse import ArgumentTypeError
from datetime import datetime, time
from uuid import UUID

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _

from collection.access import visible_runs
from collection.models import BulkCollectionRun, Repository
from glossary_site.errors import Refusal
from projects.access import Action, Actor, can, visible_projects
from projects.models import Project

LAST = "last"


def moment(text: str) -> datetime:
    """A day, which begins at midnight, or a time of it; where none is said, in the site's zone."""
    try:
        day = parse_date(text)
        found = datetime.combine(day, time.min) if day else parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise ArgumentTypeError(f"{text} is not a date such as 2026-01-31")
    return found if timezone.is_aware(found) else timezone.make_aware(found)


def repositories_named(
    wanted: list[str], *, project: Project | None, actor: Actor
) -> list[Repository]:
    """Each by its name, its number or its address; of the project, or of all that one may see."""
    if project is not None:
        there = Repository.objects.seen_by(project)
    else:
        there = Repository.objects.filter(project__in=visible_projects(actor))
        there |= Repository.objects.filter(project__isnull=True)
    return [_repository(name, list(there.order_by("pk"))) for name in wanted]


def _repository(wanted: str, there: list[Repository]) -> Repository:
    tests = (
        lambda each: each.address == wanted,
        lambda each: each.name.casefold() == wanted.casefold(),
        lambda each: str(each.pk) == wanted,
    )
    for test in tests:
        found = [each for each in there if test(each)]
        if len(found) > 1:
            raise Refusal(
                "ambiguous",
                _("“%(name)s” may be any of these: %(which)s. Say which by its number.")
                % {
                    "name": wanted,
                    "which": ", ".join(f"{each.pk} ({each.address})" for each in found),
                },
            )
        if found:
            return found[0]
    raise Refusal(
        "no_such_repository",
        _("There is no repository “%(name)s”.") % {"name": wanted},
        status=404,
    )


def run_named(wanted: str, actor: Actor) -> BulkCollectionRun:
    """By its number, or `last` for the newest."""
    runs = visible_runs(actor).select_related("project")
    if wanted == LAST:
        found = runs.newest_first().first()
    else:
        try:
            found = runs.filter(pk=UUID(wanted)).first()
        except ValueError:
            found = None
    if found is None:
        raise Refusal(
            "no_such_collection",
            _("There is no collection “%(name)s”.") % {"name": wanted},
            status=404,
        )
    if found.project is not None and not can(actor, Action.EDIT, found.project):
        raise Refusal(
            "permission_denied",
            _("This needs the role “%(role)s” in the project.") % {"role": Action.EDIT.value.label},
            status=403,
        )
    run: BulkCollectionRun = found
    return run
