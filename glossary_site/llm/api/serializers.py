"""What comes out about LLM processes, field by field."""

from typing import Any

from rest_framework import serializers

from glossary_site.api.fields import Text
from glossary_site.llm.choices import Notice
from glossary_site.llm.lists import failures_of, lines_of
from glossary_site.llm.models import LLMProcess

REASON_LENGTH = 200


def money(**options: Any) -> serializers.DecimalField:
    """As exact as costs are kept; null where no price is known."""
    return serializers.DecimalField(
        max_digits=20, decimal_places=9, read_only=True, allow_null=True, **options
    )


class ProcessSerializer(serializers.ModelSerializer[LLMProcess]):
    """An LLM process as lists show it."""

    notice = serializers.ChoiceField(
        choices=["", *Notice.values],
        read_only=True,
        help_text="What to know about it although it goes well; empty when there is nothing.",
    )
    growing = serializers.BooleanField(
        read_only=True, help_text="More requests are to come: `total` is what it has so far."
    )
    done = serializers.IntegerField(read_only=True, help_text="Answered or failed.")
    served = serializers.IntegerField(
        read_only=True, help_text="Of the answered: those that the ledger knew already."
    )
    tokens = serializers.IntegerField(read_only=True)
    cost = money(help_text="So far, in the currency of the prices; null when there are none.")
    job = serializers.IntegerField(
        source="run_id",
        read_only=True,
        allow_null=True,
        help_text="The job that works on it, or did last.",
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)
    finished = serializers.DateTimeField(source="finished_at", read_only=True, allow_null=True)

    class Meta:
        model = LLMProcess
        fields: tuple[str, ...] = (
            "id",
            "scope",
            "status",
            "strategy",
            "notice",
            "error",
            "provider_kind",
            "model",
            "total",
            "growing",
            "done",
            "completed",
            "failed",
            "served",
            "tokens",
            "cost",
            "job",
            "created",
            "progress_at",
            "finished",
        )
        read_only_fields = fields


class FailureSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(source="error_message")
    count = serializers.IntegerField()


class ProcessDetailSerializer(ProcessSerializer):
    """One LLM process with all its facts."""

    pending = serializers.IntegerField(source="line.pending", read_only=True)
    in_flight = serializers.IntegerField(source="line.in_flight", read_only=True)
    reserved_cost = money(help_text="Kept back for what is to come.")
    failures = FailureSerializer(
        many=True, read_only=True, help_text="Why requests failed, the most frequent first."
    )

    class Meta(ProcessSerializer.Meta):
        fields = (
            *ProcessSerializer.Meta.fields,
            "pending",
            "in_flight",
            "input_tokens",
            "output_tokens",
            "reserved_tokens",
            "reserved_cost",
            "base_url",
            "turns",
            "then_kind",
            "consumed_at",
            "failures",
        )
        read_only_fields = fields


def detail_of(process: LLMProcess) -> dict[str, Any]:
    (process.line,) = lines_of([process])  # type: ignore[attr-defined]
    process.failures = failures_of(process)  # type: ignore[attr-defined]
    return ProcessDetailSerializer(process).data


class CancelProcessSerializer(serializers.Serializer[Any]):
    reason = Text(
        max_length=REASON_LENGTH, allow_blank=True, required=False, help_text="Why, for its page."
    )
