"""A run that the person may see, or nothing."""

from django.http import Http404
from django.utils.translation import gettext as _

from projects.models import Project
from runs.models import Run


def run_of(project: Project, run_id: int) -> Run:
    runs = Run.objects.filter(project=project).with_publication()
    found = runs.select_related("project", "actor", "base").filter(pk=run_id).first()
    if found is None:
        raise Http404(_("This project has no such run."))
    return found
