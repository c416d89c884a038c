from typing import Any

from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from glossary_site.api.views import ApiView
from glossary_site.jobs.access import may_operate, may_watch
from glossary_site.jobs.models import JobDefinition, JobRun


class OperationsView(ApiView):
    """An endpoint for operators: reading takes one permission, everything else another."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if request.method in SAFE_METHODS:
            if not may_watch(self.actor):
                raise PermissionDenied(_("Background work is shown to operators of the site only."))
        elif not may_operate(self.actor):
            raise PermissionDenied(_("Only operators of the site may change background work."))

    def run(self) -> JobRun:
        runs = JobRun.objects.select_related("next_attempt")
        run = runs.filter(pk=self.kwargs["run_id"]).first()
        if run is None:
            raise Http404(_("There is no such job."))
        return run

    def definition(self) -> JobDefinition:
        definitions = JobDefinition.objects.select_related("schedule")
        definition = definitions.filter(pk=self.kwargs["definition_id"]).first()
        if definition is None:
            raise Http404(_("There is no such definition."))
        return definition
