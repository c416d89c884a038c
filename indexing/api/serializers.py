"""What goes in and what comes out about search and the index, field by field.

The answer of a search has the names that search-docs gave it, in camelCase: programs that read the
one read the other. Everything else is named as in the rest of the API.
"""

from typing import Any

from rest_framework import serializers

from glossary_site.api.fields import Choice, Text
from indexing.choices import Freshness, IndexStatus, Mode
from indexing.models import IndexRequest, Section
from indexing.paths import MOST_PATTERNS
from indexing.search.grouping import DEEPEST
from indexing.search.options import (
    DEFAULT_LIMIT,
    FURTHEST_OFFSET,
    MOST_RESULTS,
    QUERY_CHARACTERS,
)
from indexing.search.terms import MOST_TERMS

PATTERN_LENGTH = 1000

# Search


class Depths(serializers.ListField):
    """`depth=1&depth=2` and `depth=1,2` are the same."""

    child = serializers.IntegerField(min_value=0, max_value=DEEPEST)

    def to_internal_value(self, data: Any) -> list[int]:
        parts = [part.strip() for text in data for part in str(text).split(",")]
        return list(super().to_internal_value([part for part in parts if part]))


class Patterns(serializers.ListField):
    child = Text(max_length=PATTERN_LENGTH)

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MOST_PATTERNS, required=False, **options)

    def to_internal_value(self, data: Any) -> list[str]:
        # A field of a form that was left empty.
        return list(super().to_internal_value([text for text in data if text != ""]))


class SearchQuerySerializer(serializers.Serializer[Any]):
    q = Text(
        required=False,
        allow_blank=True,
        default="",
        help_text='Words; "a phrase"; word* for what begins so; -word for what must not be there. '
        f"Only the first {QUERY_CHARACTERS} characters count.",
    )
    mode = Choice(
        choices=Mode.choices, default=Mode.HYBRID, help_text="By words, by meaning, or by both."
    )
    limit = serializers.IntegerField(
        min_value=1,
        default=DEFAULT_LIMIT,
        help_text=f"Results: {DEFAULT_LIMIT} unless told, at most {MOST_RESULTS}.",
    )
    offset = serializers.IntegerField(
        min_value=0, max_value=FURTHEST_OFFSET, default=0, help_text="Results to leave out."
    )
    depth = Depths(
        required=False,
        help_text="Answer with sections of these depths (1 to 6 as in h1 to h6, 0 for whole "
        "documents); what is found deeper counts for the section above it. Several times, or "
        "with commas.",
    )
    path = Patterns(
        help_text="Only documents whose path matches one of these, written as in .gitignore."
    )
    exclude_path = Patterns(help_text="No documents whose path matches one of these.")
    index_status = Choice(
        choices=Freshness.choices,
        default=Freshness.ALL,
        help_text="`latest_only` leaves out documents that are being indexed anew; "
        "`completed_only` is another name for it.",
    )
    typing = serializers.BooleanField(
        default=False, help_text="The last word may go on: for results as somebody types."
    )

    def validate_limit(self, limit: int) -> int:
        return min(limit, MOST_RESULTS)


class TermHereSerializer(serializers.Serializer[Any]):
    """A term of the project's glossary."""

    id = serializers.IntegerField(help_text="Of its entry.")
    term = serializers.CharField()
    url = serializers.CharField(help_text="The page of the entry.")


class EntryAskedSerializer(TermHereSerializer):
    """An entry of the glossary that the query asks for by its name."""

    definition = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    supported = serializers.BooleanField(
        help_text="False: what it rests on cannot be found in the documents."
    )
    needsReview = serializers.BooleanField(source="needs_review")


class SearchResultSerializer(serializers.Serializer[Any]):
    """A section that was found."""

    documentPath = serializers.CharField(source="document_path")
    heading = serializers.CharField(help_text="Empty for the text before the first heading.")
    score = serializers.FloatField(
        help_text="From 0 to 1, higher is better; comparable within one answer."
    )
    indexStatus = serializers.ChoiceField(
        source="index_status",
        choices=IndexStatus.choices,
        help_text="`updating` while the document waits to be indexed anew.",
    )
    isLatest = serializers.BooleanField(
        source="is_latest", help_text="Whether this is the text that the document has now."
    )
    hasPendingUpdate = serializers.BooleanField(source="has_pending_update")
    headingPath = serializers.ListField(
        source="heading_path",
        child=serializers.CharField(),
        help_text="From the outermost heading to its own.",
    )
    sectionNumber = serializers.CharField(source="number", help_text="Such as `2.1`, or empty.")
    depth = serializers.IntegerField()
    lineStart = serializers.IntegerField(source="line_start", help_text="Counted from 1.")
    lineEnd = serializers.IntegerField(source="line_end", help_text="The last one included.")
    snippet = serializers.CharField()
    snippetHtml = serializers.CharField(
        source="snippet_html", help_text="The same, escaped, with the matches in `<mark>`."
    )
    documentId = serializers.IntegerField(source="document_id")
    documentTitle = serializers.CharField(source="document_title")
    projectId = serializers.IntegerField(source="project_id")
    projectName = serializers.CharField(source="project_name")
    sectionId = serializers.IntegerField(
        source="section_id", help_text="Until the document is indexed anew."
    )
    documentHash = serializers.CharField(
        source="document_hash", help_text="The SHA-256 of the text that was found."
    )
    indexedAt = serializers.DateTimeField(source="indexed_at")
    terms = TermHereSerializer(
        many=True,
        help_text=f"Of the glossary, that stand in the section: the best, at most {MOST_TERMS}.",
    )


class SearchAnswerSerializer(serializers.Serializer[Any]):
    query = serializers.CharField(source="options.query")
    total = serializers.IntegerField(help_text="How many match, counted up to a limit.")
    totalIsExact = serializers.BooleanField(
        source="total_is_exact", help_text="False: there are more than `total`."
    )
    results = SearchResultSerializer(many=True)
    notices = serializers.ListField(
        child=serializers.CharField(), help_text="What the reader should know, in sentences."
    )
    entry = EntryAskedSerializer(
        allow_null=True,
        help_text="What the glossary says, when the query is one of its terms. Null when it is "
        "not, and in a search of several projects.",
    )


# The index


class IndexOverviewSerializer(serializers.Serializer[Any]):
    documents = serializers.IntegerField()
    up_to_date = serializers.IntegerField(
        help_text="Documents whose present text is the one that is found."
    )
    sections = serializers.IntegerField()
    tokens = serializers.IntegerField()
    pending = serializers.IntegerField(help_text="Requests that wait.")
    processing = serializers.IntegerField()
    failed = serializers.IntegerField()
    oldest_pending = serializers.DateTimeField(source="oldest_pending_at", allow_null=True)
    rate_per_minute = serializers.FloatField(help_text="Documents a minute, lately.")
    eta_seconds = serializers.FloatField(
        allow_null=True, help_text="Null when nothing waits, or nothing moves."
    )
    embedder_serving = serializers.CharField(
        help_text="Whose vectors a search uses; empty when there are none."
    )
    embedder_wanted = serializers.CharField(
        help_text="Whose vectors it will use once they are complete."
    )
    embedder_error = serializers.CharField(help_text="Why there are no new vectors, in words.")
    sections_without_vector = serializers.IntegerField()


class IndexRequestSerializer(serializers.ModelSerializer[IndexRequest]):
    """A text of a document that wants indexing, or wanted it."""

    path = serializers.CharField(source="document.path", read_only=True)
    version = serializers.IntegerField(source="document_version", read_only=True)
    file_hash = serializers.CharField(source="document_hash", read_only=True)
    created = serializers.DateTimeField(source="created_at", read_only=True)
    due = serializers.DateTimeField(
        source="due_at", read_only=True, help_text="Not before this; after a failure, the next try."
    )
    started = serializers.DateTimeField(source="started_at", read_only=True, allow_null=True)
    completed = serializers.DateTimeField(source="completed_at", read_only=True, allow_null=True)

    class Meta:
        model = IndexRequest
        fields = (
            "id",
            "document",
            "path",
            "version",
            "file_hash",
            "status",
            "force",
            "attempts",
            "error",
            "created",
            "due",
            "started",
            "completed",
        )
        read_only_fields = fields


class RebuildSerializer(serializers.Serializer[Any]):
    paths = serializers.ListField(
        child=Text(max_length=PATTERN_LENGTH),
        required=False,
        allow_empty=False,
        max_length=MOST_PATTERNS,
        help_text="Patterns as in .gitignore; every document of the project without them.",
    )
    force = serializers.BooleanField(
        default=False, help_text="Make sections and vectors anew even where the text is the same."
    )


class QueuedSerializer(serializers.Serializer[Any]):
    requests = serializers.IntegerField(help_text="How many wait to be processed because of it.")


# Sections


class SectionQuerySerializer(serializers.Serializer[Any]):
    content = serializers.BooleanField(default=False, help_text="With the text of each section.")


class SectionSerializer(serializers.ModelSerializer[Section]):
    """A piece of a document under one heading; a long one is in parts, each a row of its own."""

    number = serializers.CharField(read_only=True, help_text="Such as `2.1`; empty at depth 0.")
    tokens = serializers.IntegerField(source="token_count", read_only=True)
    file_hash = serializers.CharField(
        source="document_hash", read_only=True, help_text="Of the text it was cut from."
    )
    heading_path = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Section
        fields: tuple[str, ...] = (
            "id",
            "parent",
            "order",
            "depth",
            "number",
            "part",
            "heading",
            "heading_path",
            "line_start",
            "line_end",
            "tokens",
            "file_hash",
        )
        read_only_fields = fields


class SectionTextSerializer(SectionSerializer):
    # Not read-only, though nobody writes it: such a field is always there, as the schema has it.
    content = serializers.CharField(required=False, help_text="Only where it was asked for.")

    class Meta(SectionSerializer.Meta):
        fields = (*SectionSerializer.Meta.fields, "content")
        read_only_fields = fields
