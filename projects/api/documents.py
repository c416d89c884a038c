"""Documents: list, hand in one or many, read, change, download, delete."""

from typing import Any

from django.http import Http404
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, PolymorphicProxySerializer
from rest_framework import status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.parsers import JsonParser
from glossary_site.api.schema import operation
from projects.access import Action
from projects.api.base import ProjectView
from projects.api.filters import DocumentFilter
from projects.api.intake import drafts_of, store_all
from projects.api.serializers import (
    DocumentSerializer,
    DocumentStoredSerializer,
    DocumentsWriteSerializer,
    DocumentTextSerializer,
    DocumentWriteSerializer,
    ResultsSerializer,
    UploadSerializer,
)
from projects.choices import Outcome, Source
from projects.downloads import MARKDOWN, PLAIN, as_file
from projects.intake.reader import read
from projects.limits import limits
from projects.models import Document
from projects.querysets import DocumentQuerySet
from projects.services.documents import Stored, delete_documents, store_document, update_document
from projects.uploads import incoming_from_request

TAG = "documents"


class DocumentView(ProjectView):
    """An endpoint for one document of a project."""

    def documents(self, action: Action = Action.VIEW) -> DocumentQuerySet:
        return Document.objects.filter(project=self.project(action)).select_related("project")

    def document(self, documents: DocumentQuerySet) -> Document:
        document = documents.filter(pk=self.kwargs["document_id"]).first()
        if document is None:
            raise Http404(_("This project has no such document."))
        return document


def stored_row(stored: Stored) -> dict[str, Any]:
    document = Document.objects.listed().get(pk=stored.document_id)
    return {**DocumentSerializer(document).data, "outcome": stored.outcome}


class DocumentList(DocumentView):
    queryset = Document.objects.all()
    filterset_class = DocumentFilter
    default_ordering = "path"
    orderings = {"path": "path", "changed": "updated_at", "size": "byte_size"}
    parser_classes = [JsonParser, MultiPartParser]

    @operation(
        "documents_list",
        tag=TAG,
        summary="The documents of a project, without their texts",
        responses={200: DocumentSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.documents().listed(), DocumentSerializer)

    @operation(
        "documents_store",
        tag=TAG,
        summary="Hand in one text as JSON, or files as a form (editors)",
        description=(
            "A path that is new makes a document; one that is known gets a new version, unless "
            "the text is the same. As a form, each file is judged alone: Markdown, plain text, "
            "reStructuredText, HTML, DOCX, PDF, or a zip of them."
        ),
        request={
            "application/json": DocumentWriteSerializer,
            "multipart/form-data": UploadSerializer,
        },
        responses={
            201: DocumentStoredSerializer,
            200: PolymorphicProxySerializer(
                component_name="DocumentStoredOrResults",
                serializers=[DocumentStoredSerializer, ResultsSerializer],
                resource_type_field_name=None,
            ),
        },
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        if (request.content_type or "").startswith(MultiPartParser.media_type):
            upload = self.body(UploadSerializer)
            incoming = incoming_from_request(upload["files"], upload.get("paths", []))
            return store_all(project=project, drafts=read(incoming, limits()), actor=self.actor)
        text = self.body(DocumentWriteSerializer)
        stored = store_document(project=project, source=Source.API, actor=self.actor, **text)
        is_new = stored.outcome == Outcome.CREATED
        return Response(
            stored_row(stored),
            status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK,
        )


class DocumentBulk(ProjectView):
    @operation(
        "documents_store_many",
        tag=TAG,
        summary="Hand in many texts at once (editors)",
        description="Each is judged alone: a bad path is refused while the others go in.",
        request=DocumentsWriteSerializer,
        responses={200: ResultsSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        documents = self.body(DocumentsWriteSerializer)["documents"]
        return store_all(project=project, drafts=drafts_of(documents, limits()), actor=self.actor)


class DocumentDetail(DocumentView):
    @operation(
        "documents_get",
        tag=TAG,
        summary="One document with its text",
        responses={200: DocumentTextSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, document_id: int) -> Response:
        return Response(DocumentTextSerializer(self.document(self.documents())).data)

    @operation(
        "documents_change",
        tag=TAG,
        summary="Rename a document, give it a new text, or both (editors)",
        request=DocumentWriteSerializer(partial=True),
        responses={200: DocumentStoredSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int, document_id: int) -> Response:
        document = self.document(self.documents(Action.EDIT).listed())
        changes = self.body(DocumentWriteSerializer, partial=True)
        stored = update_document(document=document, source=Source.API, actor=self.actor, **changes)
        return Response(stored_row(stored))

    @operation(
        "documents_delete",
        tag=TAG,
        summary="Delete a document with its history (editors)",
        responses={204: None},
        errors=[403, 404],
    )
    def delete(self, request: Request, project_id: int, document_id: int) -> Response:
        project = self.project(Action.EDIT)
        if not delete_documents(project=project, ids=[document_id], actor=self.actor):
            raise Http404(_("This project has no such document."))
        return Response(status=status.HTTP_204_NO_CONTENT)


class DocumentContent(DocumentView):
    @operation(
        "documents_download",
        tag=TAG,
        summary="The text alone, as a file",
        parameters=[
            OpenApiParameter(
                "If-None-Match",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description="The ETag of the text you have: 304 when it is still the same.",
            ),
            OpenApiParameter(
                "ETag",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description="The SHA-256 of the text, in quotes.",
                response=[200],
            ),
        ],
        responses={
            (200, MARKDOWN): OpenApiTypes.STR,
            (200, PLAIN): OpenApiTypes.STR,
            304: None,
        },
        errors=[404, 412],
    )
    def get(self, request: Request, project_id: int, document_id: int) -> HttpResponseBase:
        document = self.document(self.documents())
        response = as_file(document, document.path)
        response["Cache-Control"] = "private, no-cache"
        response["ETag"] = etag = f'"{document.file_hash}"'
        conditional = get_conditional_response(request._request, etag=etag, response=response)
        return conditional or response
