"""The published glossary: read, edit, undo, export."""

from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from glossary_site.api.filters import Flag
from glossary_site.api.schema import operation
from projects.access import Action
from projects.api.base import ProjectView
from projects.api.glossary_serializers import (
    BatchUndoneSerializer,
    EntryAddSerializer,
    EntryDetailSerializer,
    EntryEditSerializer,
    EntrySerializer,
    ExportQuerySerializer,
    RevisionSerializer,
    UndoneSerializer,
    UnlockSerializer,
    VersionQuerySerializer,
)
from projects.exports.published import FORMATS, export
from projects.models import EntryRevision, GlossaryEntry
from projects.order import by_index
from projects.querysets import EntryQuerySet
from projects.services.glossary import (
    add_entry,
    delete_entry,
    edit_entry,
    undo,
    undo_batch,
    unlock,
)
from projects.terms.readings import LETTERS

TAG = "glossary"


class EntryFilter(filters.FilterSet):
    q = filters.CharFilter(
        method="search",
        label="Words in the term, an alias, the reading or the definition; the nearest first "
        "unless you name an ordering.",
    )
    letter = filters.ChoiceFilter(
        choices=[(letter, letter) for letter in LETTERS],
        label="Under which letter it stands: A–Z, あ か さ …, or # for the rest.",
    )
    category = filters.CharFilter(label="A key of `term-categories`.")
    needs_review = Flag(label="Whether somebody should look at it.")

    class Meta:
        model = GlossaryEntry
        fields = ("q", "letter", "category", "needs_review")

    def search(self, rows: EntryQuerySet, name: str, text: str) -> EntryQuerySet:
        return rows.matching(text)


class EntryView(ProjectView):
    """An endpoint for one entry of a project's glossary."""

    def entry(self, action: Action = Action.VIEW) -> GlossaryEntry:
        entries = GlossaryEntry.objects.filter(project=self.project(action))
        entry = entries.select_related("project").filter(pk=self.kwargs["entry_id"]).first()
        if entry is None:
            raise Http404(_("The glossary has no such entry."))
        return entry


class EntryList(ProjectView):
    queryset = GlossaryEntry.objects.all()
    filterset_class = EntryFilter
    default_ordering = "term"
    orderings = {
        "term": by_index(),
        "score": "score",
        "occurrences": "frequency",
        "confidence": "confidence",
        "changed": "updated_at",
    }

    @operation(
        "glossary_list",
        tag=TAG,
        summary="The published glossary, in order",
        description=(
            "By `term` it is in the order of its index: in a Japanese project 五十音 before A–Z, "
            "in an English one A–Z before 五十音, and `#` last."
        ),
        responses={200: EntrySerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        entries = GlossaryEntry.objects.filter(project=self.project()).listed()
        return self.page_of(entries, EntrySerializer)

    @operation(
        "glossary_add",
        tag=TAG,
        summary="Write an entry by hand (editors)",
        request=EntryAddSerializer,
        responses={201: EntryDetailSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def post(self, request: Request, project_id: int) -> Response:
        project = self.project(Action.EDIT)
        entry = add_entry(project=project, actor=self.actor, **self.body(EntryAddSerializer))
        return Response(EntryDetailSerializer(entry).data, status=status.HTTP_201_CREATED)


class EntryDetail(EntryView):
    @operation(
        "glossary_get",
        tag=TAG,
        summary="One entry with what it rests on",
        responses={200: EntryDetailSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, entry_id: int) -> Response:
        return Response(EntryDetailSerializer(self.entry()).data)

    @operation(
        "glossary_edit",
        tag=TAG,
        summary="Edit an entry (editors)",
        description=(
            "Name the `version` that you saw. Fields that differ are locked: no run replaces them "
            "until they are unlocked."
        ),
        request=EntryEditSerializer,
        responses={200: EntryDetailSerializer},
        errors=[400, 403, 404, 409, 413, 415],
    )
    def patch(self, request: Request, project_id: int, entry_id: int) -> Response:
        entry = self.entry(Action.EDIT)
        wish = self.body(EntryEditSerializer)
        entry = edit_entry(entry=entry, actor=self.actor, **wish)
        return Response(EntryDetailSerializer(entry).data)

    @operation(
        "glossary_delete",
        tag=TAG,
        summary="Take an entry out of the glossary (editors)",
        description="Its history stays: undo the revision to have it back.",
        parameters=[VersionQuerySerializer],
        responses={204: None},
        errors=[400, 403, 404, 409],
    )
    def delete(self, request: Request, project_id: int, entry_id: int) -> Response:
        entry = self.entry(Action.EDIT)
        version = self.query(VersionQuerySerializer).get("version")
        delete_entry(entry=entry, actor=self.actor, version=version)
        return Response(status=status.HTTP_204_NO_CONTENT)


class EntryUnlock(EntryView):
    @operation(
        "glossary_unlock",
        tag=TAG,
        summary="Let runs write a field again (editors)",
        request=UnlockSerializer,
        responses={200: EntryDetailSerializer},
        errors=[400, 403, 404, 413, 415],
    )
    def post(self, request: Request, project_id: int, entry_id: int) -> Response:
        entry = self.entry(Action.EDIT)
        field = self.body(UnlockSerializer)["field"]
        entry = unlock(entry=entry, field=field, actor=self.actor)
        return Response(EntryDetailSerializer(entry).data)


class RevisionList(ProjectView):
    """The history of the whole glossary, of deleted entries as well."""

    queryset = EntryRevision.objects.all()
    orderings = {"created": "pk"}
    default_ordering = "-created"

    @operation(
        "glossary_history",
        tag=TAG,
        summary="Every change of the glossary, the newest first",
        responses={200: RevisionSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.page_of(self.revisions(), RevisionSerializer)

    def revisions(self, action: Action = Action.VIEW) -> QuerySet[EntryRevision]:
        rows = EntryRevision.objects.filter(project=self.project(action))
        return rows.select_related("author")


class EntryRevisions(EntryView):
    queryset = EntryRevision.objects.all()
    orderings = RevisionList.orderings
    default_ordering = RevisionList.default_ordering

    @operation(
        "glossary_revisions",
        tag=TAG,
        summary="Every change of an entry, the newest first",
        responses={200: RevisionSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, entry_id: int) -> Response:
        return self.page_of(self.entry().revisions.select_related("author"), RevisionSerializer)


class RevisionUndo(RevisionList):
    http_method_names = ["post"]

    @operation(
        "glossary_undo",
        tag=TAG,
        summary="Take one change back, and only that one (editors)",
        description="409 `entry_changed_since` when the same fields were changed again since.",
        request=None,
        responses={200: UndoneSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, revision_id: int) -> Response:
        revisions = self.revisions(Action.EDIT).select_related("project")
        revision = revisions.filter(pk=revision_id).first()
        if revision is None:
            raise Http404(_("The glossary has no such revision."))
        entry = undo(revision=revision, actor=self.actor)
        return Response(UndoneSerializer({"entry": entry}).data)


class PublicationUndo(ProjectView):
    @operation(
        "glossary_undo_publication",
        tag=TAG,
        summary="Take back everything that was published in one go (editors)",
        request=None,
        responses={200: BatchUndoneSerializer},
        errors=[403, 404, 409],
    )
    def post(self, request: Request, project_id: int, batch: UUID) -> Response:
        project = self.project(Action.EDIT)
        undone = undo_batch(project=project, batch=batch, actor=self.actor)
        kept = EntryRevision.objects.filter(project=project, batch=batch, undone_by=None).count()
        return Response({"undone": undone, "kept": kept})


class GlossaryExport(ProjectView):
    queryset = GlossaryEntry.objects.all()
    filterset_class = EntryFilter
    # The format decides on the order.
    filter_backends = [DjangoFilterBackend]

    @operation(
        "glossary_export",
        tag=TAG,
        summary="The glossary as a file, whole or filtered as the list is",
        description=(
            "JSON and CSV with the best entries first, Markdown in order. The JSON is "
            '`{"entries": [{"term", "definition", "confidence", "category", "aliases", "related", '
            '"score", "occurrences", "evidence": [{"document", "line", "quote"}]}]}`.'
        ),
        parameters=[ExportQuerySerializer],
        filters=True,
        responses={
            (200, FORMATS["json"].content_type): OpenApiTypes.OBJECT,
            (200, FORMATS["md"].content_type): OpenApiTypes.STR,
            (200, FORMATS["csv"].content_type): OpenApiTypes.STR,
        },
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> HttpResponse:
        project = self.project()
        wanted = self.query(ExportQuerySerializer).get("format") or _accepted(request)
        entries = self.filter_queryset(GlossaryEntry.objects.filter(project=project))
        assert isinstance(entries, EntryQuerySet)  # a filter narrows what it is given
        text = "".join(export(project, wanted, entries=entries))
        return as_download(text, format=wanted, name=f"{project.name}.{wanted}")


def as_download(text: str, *, format: str, name: str) -> HttpResponse:
    response = HttpResponse(text, content_type=FORMATS[format].with_charset)
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    response["Vary"] = "Accept"
    return response


def _accepted(request: Request) -> str:
    """The format that the caller likes best, among equals the first."""
    types = {format.content_type: name for name, format in FORMATS.items()}
    best = request._request.get_preferred_type(list(types))
    return types[best or next(iter(types))]
