"""Views of the statistics that people keep under a name, for everybody in the project."""

from django.db import transaction
from django.utils.translation import gettext as _

from collection.models import SavedFilter
from collection.statistics.asking import Filter
from glossary_site.errors import Refusal
from glossary_site.jobs.services import audit
from projects.access import Actor, author_of, name_of
from projects.models import Project
from projects.services.locking import lock_project

NAME_LENGTH = 100
# As many as people can tell apart, and a page can show.
MOST_FILTERS = 100


@transaction.atomic
def save_filter(*, project: Project, name: str, filter: Filter, actor: Actor) -> SavedFilter:
    name = _clean(name)
    lock_project(project)
    _is_free(project, name)
    if project.statistics_filters.count() >= MOST_FILTERS:
        raise Refusal("too_many_filters", _("The project has too many saved filters already."))
    row = SavedFilter.objects.create(
        project=project, name=name, query=filter.as_query(), made_by=author_of(actor)
    )
    audit.record(_who(actor), "save filter", row, after={"name": name, "query": row.query})
    return row


@transaction.atomic
def rename_filter(*, saved: SavedFilter, name: str, actor: Actor) -> SavedFilter:
    name = _clean(name)
    lock_project(saved.project)
    row = _present(saved)
    if row.name == name:
        return row
    _is_free(row.project, name, but=row)
    before, row.name = row.name, name
    row.save(update_fields=["name"])
    audit.record(_who(actor), "rename filter", row, before={"name": before}, after={"name": name})
    return row


@transaction.atomic
def delete_filter(*, saved: SavedFilter, actor: Actor) -> None:
    lock_project(saved.project)
    row = _present(saved)
    audit.record(_who(actor), "delete filter", row, before={"name": row.name, "query": row.query})
    row.delete()


def _clean(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > NAME_LENGTH or not name.isprintable():
        raise Refusal(
            "filter_name_invalid",
            _("A filter needs a name of at most %(most)s characters.") % {"most": NAME_LENGTH},
            status=400,
        )
    return name


def _is_free(project: Project, name: str, *, but: SavedFilter | None = None) -> None:
    """Two of one name could not be told apart, whatever their capitals."""
    for row in SavedFilter.objects.filter(project=project):
        if row != but and row.name.casefold() == name.casefold():
            raise Refusal(
                "filter_name_taken",
                _("There is already a filter called “%(name)s”.") % {"name": row.name},
                filter_id=row.pk,
            )


def _present(saved: SavedFilter) -> SavedFilter:
    row = SavedFilter.objects.select_related("project").filter(pk=saved.pk).first()
    if row is None:
        raise Refusal("filter_gone", _("This filter was deleted meanwhile."), status=404)
    return row


def _who(actor: Actor) -> str:
    return name_of(actor) or audit.SITE
