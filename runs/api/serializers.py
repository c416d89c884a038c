"""What goes in and what comes out about runs, field by field."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from glossary_site.api.fields import Choice
from glossary_site.api.views import BIGGEST_ID
from glossary_site.llm.tokens import cost_of_nano
from runs.choices import IssueKind, Level, Scope, Step
from runs.models import ProvisionalEntry, RefinedEntry, Run, RunFailure, RunIssue, RunStep, RunTerm
from runs.streams import PAGE


class OrNull(serializers.CharField):
    """A text that is null where there is none."""

    def __init__(self, **options: Any) -> None:
        super().__init__(read_only=True, allow_null=True, **options)

    def to_representation(self, value: Any) -> Any:
        return super().to_representation(value) or None


class CostField(serializers.DecimalField):
    """From billionths, as costs are kept."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_digits=20, decimal_places=9, read_only=True, **options)

    def to_representation(self, value: Any) -> Any:
        return super().to_representation(cost_of_nano(value))


# Runs


class RunStepSerializer(serializers.ModelSerializer[RunStep]):
    class Meta:
        model = RunStep
        fields = ("step", "started_at", "finished_at", "total", "done", "failed")
        read_only_fields = fields


class RunSerializer(serializers.ModelSerializer[Run]):
    """A run as lists show it."""

    error_message = OrNull(help_text="With the status `failed`: why, in a sentence.")
    current_step = serializers.ChoiceField(
        choices=Step.choices,
        read_only=True,
        allow_null=True,
        help_text="Where it is, or where it ended; null before it has begun.",
    )
    current_term = OrNull()
    actor = serializers.CharField(
        source="actor.username",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="The person who started it; null for the operator.",
    )
    base = serializers.IntegerField(
        source="base_id",
        read_only=True,
        allow_null=True,
        help_text="The run whose results it began with.",
    )
    cost = CostField(
        source="cost_nano", help_text="In the currency of the provider's prices; 0 without prices."
    )
    published_at = serializers.DateTimeField(
        source="published",
        read_only=True,
        allow_null=True,
        help_text="When it was published last; null as long as nothing of it is in the glossary.",
    )

    class Meta:
        model = Run
        fields: tuple[str, ...] = (
            "id",
            "scope",
            "status",
            "triggered_by",
            "actor",
            "base",
            "created_at",
            "started_at",
            "finished_at",
            "error_message",
            "current_step",
            "progress_current",
            "progress_total",
            "current_term",
            "progress_at",
            "provider",
            "model",
            "requests",
            "served",
            "input_tokens",
            "output_tokens",
            "cost",
            "failure_count",
            "published_at",
        )
        read_only_fields = fields

    def to_representation(self, instance: Run) -> dict[str, Any]:
        shown: dict[str, Any] = super().to_representation(instance)
        shown["current_step"] = shown["current_step"] or None
        return shown


class RunDetailSerializer(RunSerializer):
    """One run with its steps."""

    steps = RunStepSerializer(many=True, read_only=True)

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "steps")
        read_only_fields = fields


class RunStartSerializer(serializers.Serializer[Run]):
    scope = Choice(choices=Scope.choices)
    limit = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=1_000_000,
        help_text="Write entries for so many terms at most, the best ones.",
    )


class ScopeQuerySerializer(serializers.Serializer[Any]):
    scope = Choice(choices=Scope.choices, default=Scope.FULL)


class RunEstimateSerializer(serializers.Serializer[Any]):
    """What a run would take, as far as can be said before it."""

    terms = serializers.IntegerField()
    requests = serializers.IntegerField(help_text="To a language model; 0 for the built-in engine.")
    tokens = serializers.IntegerField()
    cost = serializers.DecimalField(
        max_digits=20, decimal_places=9, allow_null=True, help_text="Null when there is no price."
    )
    seconds = serializers.FloatField()
    learned = serializers.BooleanField(
        help_text="Whether past runs of the project were there to learn from."
    )


class RunPublishSerializer(serializers.Serializer[Any]):
    terms = serializers.ListField(
        child=serializers.CharField(max_length=200),
        required=False,
        help_text="Only these of the run's terms; without it, all.",
    )
    defined_only = serializers.BooleanField(
        default=False,
        help_text="Of all terms, only those with a definition: not those with an example of use.",
    )


class PublicationSerializer(serializers.Serializer[Any]):
    """What publishing has changed in the project's glossary."""

    batch = serializers.UUIDField(help_text="By which all of it can be undone in one go.")
    created = serializers.IntegerField()
    updated = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    locked = serializers.IntegerField(
        help_text="Entries where something that people had edited was kept."
    )
    excluded = serializers.IntegerField(
        help_text="Entries left out, because people have excluded their terms."
    )


class CompareQuerySerializer(serializers.Serializer[Any]):
    older = serializers.IntegerField(min_value=1, max_value=BIGGEST_ID, help_text="A run's id.")
    newer = serializers.IntegerField(min_value=1, max_value=BIGGEST_ID, help_text="A run's id.")


class RunSideSerializer(serializers.Serializer[Any]):
    """An entry as one of the two runs has it."""

    term_name = serializers.CharField(source="term")
    definition = serializers.CharField()
    category = serializers.CharField()
    aliases = serializers.ListField(child=serializers.CharField())
    related = serializers.ListField(child=serializers.CharField())
    confidence = serializers.FloatField()


class RunChangeSerializer(serializers.Serializer[Any]):
    """A term that both have, but not the same of it."""

    term_name = serializers.CharField(source="term")
    changed = serializers.ListField(
        source="fields", child=serializers.CharField(), help_text="The names of what differs."
    )
    old = RunSideSerializer()
    new = RunSideSerializer()


class RunComparisonSerializer(serializers.Serializer[Any]):
    older = serializers.IntegerField()
    newer = serializers.IntegerField()
    added = RunSideSerializer(source="comparison.added", many=True)
    removed = RunSideSerializer(source="comparison.removed", many=True)
    changed = RunChangeSerializer(source="comparison.changed", many=True)
    same_count = serializers.IntegerField(source="comparison.same_count")


# What a run has made


class RunTermSerializer(serializers.ModelSerializer[RunTerm]):
    """A term as the run knew it."""

    term_name = serializers.CharField(source="text", read_only=True)
    notes = serializers.CharField(source="note", read_only=True)
    excluded_because = OrNull(help_text="Why it was left out; null where it was not.")

    class Meta:
        model = RunTerm
        fields = (
            "id",
            "run_id",
            "term_name",
            "reading",
            "language",
            "category",
            "score",
            "frequency",
            "document_count",
            "variants",
            "synonyms",
            "notes",
            "excluded_because",
        )
        read_only_fields = fields
        extra_kwargs = {
            "variants": {"help_text": "Spellings found, the most usual first."},
        }


class EntryPassageSerializer(serializers.Serializer[Any]):
    """Where a definition comes from, and the words that stand there."""

    document_id = serializers.IntegerField()
    document_path = serializers.CharField(source="path")
    file_hash = serializers.CharField(help_text="SHA-256 of the text it was read in.")
    line_number = serializers.IntegerField(source="line_start")
    line_end = serializers.IntegerField()
    heading_path = serializers.ListField(child=serializers.CharField())
    context = serializers.CharField(  # type: ignore[assignment]
        source="quote", help_text="Verbatim."
    )


ENTRY_FIELDS = (
    "id",
    "run_id",
    "term_name",
    "reading",
    "language",
    "definition",
    "confidence",
    "category",
    "aliases",
    "related",
    "occurrences",
    "supported",
    "needs_review",
    "score",
    "frequency",
    "prompt_version",
)


class ProvisionalSerializer(serializers.ModelSerializer[ProvisionalEntry]):
    """An entry as it was first written."""

    term_name = serializers.CharField(source="term", read_only=True)
    aliases = serializers.ListField(child=serializers.CharField(), read_only=True)
    related = serializers.ListField(child=serializers.CharField(), read_only=True)
    occurrences = EntryPassageSerializer(source="evidence", many=True, read_only=True)

    class Meta:
        model = ProvisionalEntry
        fields = ENTRY_FIELDS
        read_only_fields = fields


class RefinedSerializer(serializers.ModelSerializer[RefinedEntry]):
    """An entry after the review."""

    term_name = serializers.CharField(source="term", read_only=True)
    aliases = serializers.ListField(child=serializers.CharField(), read_only=True)
    related = serializers.ListField(child=serializers.CharField(), read_only=True)
    occurrences = EntryPassageSerializer(source="evidence", many=True, read_only=True)

    class Meta:
        model = RefinedEntry
        fields = (*ENTRY_FIELDS, "copied")
        read_only_fields = fields
        extra_kwargs = {"copied": {"help_text": "It is the provisional one, as it was."}}


class IssueSerializer(serializers.ModelSerializer[RunIssue]):
    """What the review found wrong with an entry."""

    term_name = serializers.CharField(source="term", read_only=True)
    issue_type = serializers.ChoiceField(choices=IssueKind.choices, source="kind", read_only=True)
    other_term = serializers.SerializerMethodField(
        help_text="The other one of a contradiction, a duplicate or a missing relation."
    )

    class Meta:
        model = RunIssue
        fields = (
            "id",
            "run_id",
            "term_name",
            "issue_type",
            "description",
            "suggestion",
            "other_term",
            "exclude",
        )
        read_only_fields = fields
        extra_kwargs = {"exclude": {"help_text": "Suggests to leave the term out."}}

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_other_term(self, issue: RunIssue) -> str | None:
        # The list has looked its name up; its key is nearly as good.
        return getattr(issue, "other_name", None) or issue.other_key or None


class RunFailureSerializer(serializers.ModelSerializer[RunFailure]):
    """A term that a step had no result for."""

    term_name = serializers.CharField(source="term", read_only=True)

    class Meta:
        model = RunFailure
        fields = ("id", "run_id", "step", "term_name", "error", "created_at")
        read_only_fields = fields


# The log


class RunLogQuerySerializer(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=BIGGEST_ID,
        help_text="The number of the last line you have seen.",
    )
    limit = serializers.IntegerField(
        default=PAGE, min_value=1, max_value=BIGGEST_ID, help_text=f"At most {PAGE}; only for JSON."
    )
    format = Choice(
        choices=["json", "sse"], required=False, help_text="Instead of an Accept header."
    )


class RunLogLineSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    time = serializers.DateTimeField()
    run_id = serializers.IntegerField()
    level = serializers.ChoiceField(choices=Level.choices)
    message = serializers.CharField()
    step = serializers.CharField(allow_blank=True)
    progress_current = serializers.IntegerField(allow_null=True)
    progress_total = serializers.IntegerField(allow_null=True)
    current_term = serializers.CharField(allow_blank=True)


class RunLogSerializer(serializers.Serializer[Any]):
    lines = RunLogLineSerializer(many=True)
    last = serializers.IntegerField(help_text="The number of the newest line there is.")
    complete = serializers.BooleanField(help_text="The run has ended: there will be no more.")
