"""The lock that comes before all others in a project."""

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.models import Project


def lock_project(project: Project) -> None:
    """The project's row is the lock: what two people, or a person and a run, do to its terms or
    its glossary at once happens one after the other, and nothing is written into a project that is
    being deleted. Whoever only refers to the project does not wait (`no_key`)."""
    if not Project.objects.select_for_update(no_key=True).filter(pk=project.pk).exists():
        raise Refusal("project_gone", _("The project was deleted meanwhile."), status=404)
