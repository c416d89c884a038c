from glossary_site.api.views import ApiView
from projects.access import Action, project_for
from projects.models import Project


class ProjectView(ApiView):
    """An endpoint inside one project. Ask for the project first: that is the permission check."""

    def project(self, action: Action = Action.VIEW) -> Project:
        return project_for(self.actor, self.kwargs["project_id"], action)
