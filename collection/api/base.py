"""What every endpoint about repositories and collections stands on, and who sees what of them."""

from collections.abc import Sequence

from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.status import HTTP_201_CREATED

from collection.access import may_collect_all, visible_runs
from collection.models import Branch, BulkCollectionResult, BulkCollectionRun, Repository
from collection.querysets import CollectionQuerySet, CollectionResultQuerySet, RepositoryQuerySet
from collection.services.tallies import tallies
from glossary_site.api.views import ApiView
from glossary_site.people.models import User
from projects.access import OPERATOR, Action, project_for, visible_projects
from projects.api.base import ProjectView
from projects.models import Project

TAG = "collection"
LOCATION = OpenApiParameter(
    "Location",
    OpenApiTypes.STR,
    OpenApiParameter.HEADER,
    description="Where the new one is.",
    response=[HTTP_201_CREATED],
)


class RepositoryView(ProjectView):
    """An endpoint for the repositories of a project, or for one of them."""

    def repositories(self) -> RepositoryQuerySet:
        return Repository.objects.seen_by(self.project()).select_related("project", "added_by")

    def repository(self, action: Action = Action.VIEW) -> Repository:
        """Those for all projects are looked after by whoever may collect everything."""
        seen = self.repositories()
        found: Repository | None = seen.filter(pk=self.kwargs["repository_id"]).first()
        if found is None:
            raise Http404(_("This project has no such repository."))
        if action is Action.VIEW:
            return found
        if found.project_id is not None:
            self.project(action)
        elif not may_collect_all(self.actor):
            raise PermissionDenied(
                _("This is for all projects: it takes the permission to collect all repositories.")
            )
        return found

    def branch(self, action: Action = Action.VIEW) -> Branch:
        repository = self.repository(action)
        branch = repository.branches.filter(pk=self.kwargs["branch_id"]).first()
        if branch is None:
            raise Http404(_("This repository has no such branch."))
        return branch


class CollectionView(ApiView):
    """An endpoint for bulk collections. No project is in their address: one of them may be about
    all projects."""

    def runs(self) -> CollectionQuerySet:
        return visible_runs(self.actor).select_related("project", "actor")

    def run(self, action: Action = Action.VIEW) -> BulkCollectionRun:
        run: BulkCollectionRun | None = self.runs().filter(pk=self.kwargs["run_id"]).first()
        if run is None:
            raise Http404(_("There is no such collection, or it is none of your projects."))
        if action is not Action.VIEW:
            self.project_of(run.project_id, action)
        return run

    def project_of(self, project_id: int | None, action: Action) -> Project | None:
        """The project of a collection, if one may do this. In a project it takes the role; over
        all of them the permission, which is good for each of them as well."""
        if may_collect_all(self.actor):
            return None if project_id is None else project_for(OPERATOR, project_id)
        if project_id is None:
            raise PermissionDenied(
                _("Collections over all projects are for operators. Name a project.")
            )
        return project_for(self.actor, project_id, action)

    def results(self) -> CollectionResultQuerySet:
        """Of a collection over all projects, a member sees what is theirs; of one of a project,
        everything is."""
        results: CollectionResultQuerySet = BulkCollectionResult.objects.filter(run=self.run())
        return results.filter(seen_by(self.actor) or Q()).select_related("repository")

    def as_seen(self, runs: Sequence[BulkCollectionRun]) -> Sequence[BulkCollectionRun]:
        """With the counts of the targets that the asker may see; they are not to be saved."""
        counts = tallies(runs, only=seen_by(self.actor))
        for run in runs:
            tally = counts[run.pk]
            run.total_targets, run.failed_count = tally.total, tally.failed
            run.completed_count = run.success_count = tally.succeeded
            run.new_commits = tally.new_commits
        return runs


def seen_by(actor: User) -> Q | None:
    """The results of repositories that somebody may see, those for all among them; None: all."""
    if may_collect_all(actor):
        return None
    mine = visible_projects(actor).values("pk")
    return Q(repository__project__in=mine) | Q(repository__project__isnull=True)
