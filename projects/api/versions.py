"""The history of a document: every text it has had, and what changed between them."""

from django.http import Http404, HttpResponse
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.schema import operation
from projects.api.diff import unified
from projects.api.documents import DocumentView
from projects.api.serializers import (
    DiffQuerySerializer,
    VersionSerializer,
    VersionTextSerializer,
)
from projects.models import Document, DocumentVersion

TAG = "documents"
DIFF = "text/x-diff"


def version_of(document: Document, number: int) -> DocumentVersion:
    version = document.versions.select_related("author").filter(number=number).first()
    if version is None:
        raise Http404(_("This document has no such version."))
    return version


class VersionList(DocumentView):
    queryset = DocumentVersion.objects.all()
    orderings = {"number": "number"}
    default_ordering = "-number"

    @operation(
        "versions_list",
        tag=TAG,
        summary="The versions of a document, the newest first, without their texts",
        responses={200: VersionSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, document_id: int) -> Response:
        document = self.document(self.documents().listed())
        versions = document.versions.select_related("author").defer("content")
        return self.page_of(versions, VersionSerializer)


class VersionDetail(DocumentView):
    @operation(
        "versions_get",
        tag=TAG,
        summary="One version of a document with its text",
        responses={200: VersionTextSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, document_id: int, number: int) -> Response:
        document = self.document(self.documents().listed())
        return Response(VersionTextSerializer(version_of(document, number)).data)


class VersionDiff(DocumentView):
    @operation(
        "versions_diff",
        tag=TAG,
        summary="What changed from another version to this one, as a unified diff",
        parameters=[DiffQuerySerializer],
        responses={(200, DIFF): OpenApiTypes.STR},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, document_id: int, number: int) -> HttpResponse:
        document = self.document(self.documents().listed())
        against = self.query(DiffQuerySerializer).get("against", number - 1)
        text = unified(
            version_of(document, against).content if against else "",
            version_of(document, number).content,
            old_name=f"{document.path}\tversion {against}",
            new_name=f"{document.path}\tversion {number}",
        )
        return HttpResponse(text, content_type=f"{DIFF}; charset=utf-8")
