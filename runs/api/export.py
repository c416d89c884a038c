"""The refined entries of the newest run as a file."""

from typing import Any

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request

from glossary_site.api.fields import Choice
from glossary_site.api.schema import operation
from projects.exports.published import FORMATS
from projects.models import Project
from runs.api.base import TAG, RunView
from runs.api.results import newest_run
from runs.choices import Step
from runs.exports import export_entries

MARKDOWN = "md"


class ExportQuerySerializer(serializers.Serializer[Any]):
    format = Choice(choices=list(FORMATS), default=MARKDOWN)


class RefinedExport(RunView):
    @operation(
        "refined_export",
        tag=TAG,
        summary="The refined entries of the newest run that came to its end, as a file",
        parameters=[ExportQuerySerializer],
        responses={
            (200, "text/markdown"): OpenApiTypes.STR,
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, "text/csv"): OpenApiTypes.STR,
        },
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> HttpResponse:
        project = self.project()
        return exported(project, self.query(ExportQuerySerializer)["format"])


class RefinedMarkdown(RunView):
    @operation(
        "refined_export_markdown",
        tag=TAG,
        summary="The same as Markdown, at the address that older programs know",
        responses={(200, "text/markdown"): OpenApiTypes.STR},
        errors=[404],
    )
    def get(self, request: Request, project_id: int) -> HttpResponse:
        return exported(self.project(), MARKDOWN)


def exported(project: Project, format: str) -> HttpResponse:
    run = newest_run(project, Step.REFINE)
    if run is None:
        raise Http404(_("No run of this project has come to its end yet."))
    text = "".join(export_entries(run, format))
    response = HttpResponse(text, content_type=FORMATS[format].with_charset)
    response["Content-Disposition"] = f'attachment; filename="glossary-{project.pk}.{format}"'
    return response
