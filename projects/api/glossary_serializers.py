"""The published glossary and its history, field by field."""

from typing import Any

from rest_framework import serializers

from glossary_site.api.fields import Choice, Text
from glossary_site.api.views import BIGGEST_ID
from projects.exports.published import FORMATS
from projects.models import EntryRevision, GlossaryEntry
from projects.models.terms import TERM_LENGTH
from projects.services.categories import KEY_LENGTH
from projects.services.glossary.entries import DEFINITION_LENGTH, MOST_NAMES
from projects.views.places import lines_url


def names(**options: Any) -> serializers.ListField:
    return serializers.ListField(
        child=Text(max_length=TERM_LENGTH), max_length=MOST_NAMES, **options
    )


class EntrySerializer(serializers.ModelSerializer[GlossaryEntry]):
    """An entry without what it rests on."""

    occurrences = serializers.IntegerField(
        source="frequency", read_only=True, help_text="In the documents, when it was published."
    )
    aliases = serializers.ListField(child=serializers.CharField(), read_only=True)
    related = serializers.ListField(child=serializers.CharField(), read_only=True)
    locked = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Fields that somebody edited: no run replaces them.",
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)
    changed = serializers.DateTimeField(source="updated_at", read_only=True)

    class Meta:
        model = GlossaryEntry
        fields: tuple[str, ...] = (
            "id",
            "term",
            "reading",
            "letter",
            "language",
            "definition",
            "confidence",
            "category",
            "aliases",
            "related",
            "supported",
            "needs_review",
            "score",
            "occurrences",
            "locked",
            "run_id",
            "version",
            "created",
            "changed",
        )


class EvidenceSerializer(serializers.Serializer[Any]):
    """Words of a document that a definition rests on."""

    document_id = serializers.IntegerField()
    path = serializers.CharField()
    file_hash = serializers.CharField(help_text="Of the text in which the lines were counted.")
    line_start = serializers.IntegerField()
    line_end = serializers.IntegerField()
    heading_path = serializers.ListField(child=serializers.CharField())
    quote = serializers.CharField(help_text="Verbatim.")
    url = serializers.CharField(help_text="The page of the document, with the lines marked.")


class EntryDetailSerializer(EntrySerializer):
    """An entry with what it rests on."""

    evidence = serializers.SerializerMethodField()

    class Meta(EntrySerializer.Meta):
        fields = (*EntrySerializer.Meta.fields, "evidence")

    def get_evidence(self, entry: GlossaryEntry) -> list[dict[str, Any]]:
        rows = [{**piece, "url": _url(entry, piece)} for piece in entry.evidence]
        return list(EvidenceSerializer(rows, many=True).data)


def _url(entry: GlossaryEntry, piece: dict[str, Any]) -> str:
    return lines_url(
        project_id=entry.project_id,
        document_id=piece["document_id"],
        first=piece["line_start"],
        last=piece["line_end"],
        file_hash=piece["file_hash"],
    )


class EntryAddSerializer(serializers.Serializer[GlossaryEntry]):
    term = Text(max_length=TERM_LENGTH)
    definition = Text(max_length=DEFINITION_LENGTH)
    category = Text(
        max_length=KEY_LENGTH,
        allow_blank=True,
        required=False,
        help_text="A key of `term-categories`; empty for none.",
    )
    aliases = names(required=False)
    related = names(required=False)


class EntryChangeSerializer(EntryAddSerializer):
    needs_review = serializers.BooleanField(
        required=False, help_text="False says that somebody has looked at it."
    )


class SeenVersionSerializer(serializers.Serializer[Any]):
    """An edit names the version it was made from: 409 `entry_changed` if somebody was faster."""

    version = serializers.IntegerField(min_value=1, max_value=BIGGEST_ID)


class EntryEditSerializer(SeenVersionSerializer, EntryChangeSerializer):
    """What is not sent stays; the version is always needed."""

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for name, field in fields.items():
            field.required = name == "version"
        return fields


class VersionQuerySerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(
        min_value=1,
        max_value=BIGGEST_ID,
        required=False,
        help_text="The version that you saw: 409 `entry_changed` if somebody has changed it since.",
    )


class UnlockSerializer(serializers.Serializer[Any]):
    field = Choice(choices=list(GlossaryEntry.FIELDS))


class RevisionSerializer(serializers.ModelSerializer[EntryRevision]):
    """One change of an entry."""

    entry = serializers.IntegerField(
        source="entry_id", read_only=True, allow_null=True, help_text="Null when it was deleted."
    )
    author = serializers.CharField(
        source="author.username",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="Null when a run or a command did it, or the account is gone.",
    )
    before = serializers.DictField(read_only=True, allow_null=True)
    after = serializers.DictField(read_only=True, allow_null=True)
    undone_by = serializers.IntegerField(
        source="undone_by_id",
        read_only=True,
        allow_null=True,
        help_text="The revision that took this one back.",
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = EntryRevision
        fields = (
            "id",
            "entry",
            "term",
            "number",
            "change",
            "author",
            "run_id",
            "batch",
            "before",
            "after",
            "undone_by",
            "created",
        )


class UndoneSerializer(serializers.Serializer[Any]):
    entry = EntryDetailSerializer(
        allow_null=True, help_text="As it is now; null when undoing took it out of the glossary."
    )


class BatchUndoneSerializer(serializers.Serializer[Any]):
    undone = serializers.IntegerField(help_text="How many changes were taken back.")
    kept = serializers.IntegerField(
        help_text="How many were not, because somebody has changed the entry since."
    )


class ExportQuerySerializer(serializers.Serializer[Any]):
    format = Choice(
        choices=list(FORMATS),
        required=False,
        help_text="Else what the Accept header names; else JSON.",
    )
