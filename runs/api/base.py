from django.http import Http404
from django.utils.translation import gettext_lazy as _

from projects.access import Action
from projects.api.base import ProjectView
from projects.models import Project
from runs.models import Run
from runs.querysets import RunQuerySet

TAG = "runs"
NO_SUCH_RUN = _("This project has no such run.")


class RunView(ProjectView):
    """An endpoint for the runs of a project, or for one of them."""

    def runs(self, action: Action = Action.VIEW) -> RunQuerySet:
        return runs_of(self.project(action))

    def run(self, action: Action = Action.VIEW) -> Run:
        return run_of(self.project(action), self.kwargs["run_id"])


def runs_of(project: Project) -> RunQuerySet:
    return Run.objects.filter(project=project).with_publication().select_related("project", "actor")


def run_of(project: Project, run_id: int) -> Run:
    run = runs_of(project).filter(pk=run_id).first()
    if run is None:
        raise Http404(NO_SUCH_RUN)
    return run
