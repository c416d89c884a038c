"""Who may see and start what of collections that reach beyond one project."""

from django.db.models import Exists, OuterRef, Q

from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.querysets import CollectionQuerySet
from glossary_site.people.models import User
from projects.access import Actor, is_superuser, visible_projects
from projects.models import Project
from projects.querysets import ProjectQuerySet

COLLECT_ALL = "collection.collect_all"


def may_collect_all(actor: Actor) -> bool:
    """Everything of the site: its operators."""
    return is_superuser(actor) or (
        isinstance(actor, User) and actor.is_active and actor.has_perm(COLLECT_ALL)
    )


def visible_runs(actor: Actor) -> CollectionQuerySet:
    """Those of one's projects, and those of all projects that have a target in one of them."""
    if may_collect_all(actor):
        return BulkCollectionRun.objects.all()
    return _of(visible_projects(actor))


def runs_of(project: Project) -> CollectionQuerySet:
    """The history of a project: its own, and those of all that came by."""
    return _of(Project.objects.filter(pk=project.pk))


def _of(projects: ProjectQuerySet) -> CollectionQuerySet:
    ids = projects.values("pk")
    came_by = BulkCollectionResult.objects.filter(run=OuterRef("pk"), repository__project__in=ids)
    return BulkCollectionRun.objects.filter(
        Q(project__in=ids) | Q(Exists(came_by), project__isnull=True)
    )
