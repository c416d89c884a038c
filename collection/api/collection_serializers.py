"""What goes in and what comes out about bulk collections, field by field."""

from typing import Any

from rest_framework import serializers

from collection.api.serializers import Moment, Person
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.models.commit import BRANCH_LENGTH
from glossary_site.api.fields import Text
from glossary_site.api.views import BIGGEST_ID

# Of one start; all of a project, or of the site, are as many as there are.
MOST_REPOSITORIES = 1000
MOST_BRANCHES = 100


class CollectionSerializer(serializers.ModelSerializer[BulkCollectionRun]):
    """A bulk collection. Of one over all projects, the counts are those of the targets you see."""

    project = serializers.IntegerField(
        source="project_id", read_only=True, allow_null=True, help_text="Null: of all projects."
    )
    pending_count = serializers.IntegerField(read_only=True)
    continues = serializers.UUIDField(
        source="continues_id",
        read_only=True,
        allow_null=True,
        help_text="The collection whose failed or pending targets these are.",
    )
    actor = Person("actor")

    class Meta:
        model = BulkCollectionRun
        fields = (
            "run_id",
            "project",
            "status",
            "started_at",
            "completed_at",
            "total_targets",
            "completed_count",
            "success_count",
            "failed_count",
            "pending_count",
            "new_commits",
            "since",
            "continues",
            "triggered_by",
            "actor",
            "progress_at",
        )
        read_only_fields = fields
        extra_kwargs = {
            "total_targets": {"help_text": "Grows when branches appear that are to be followed."},
            "completed_count": {"help_text": "Targets that came to a good end."},
            "success_count": {"help_text": "The same, by the name that other programs know."},
            "failed_count": {"help_text": "Targets that were given up."},
            "completed_at": {"help_text": "Null while it is running."},
        }


class CollectionStartSerializer(serializers.Serializer[Any]):
    project = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=BIGGEST_ID,
        help_text="Collect what this project follows. Without it: all projects (operators).",
    )
    repositories = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=BIGGEST_ID),
        required=False,
        allow_empty=False,
        max_length=MOST_REPOSITORIES,
        help_text="Only these, by their ids.",
    )
    branches = serializers.ListField(
        child=Text(max_length=BRANCH_LENGTH),
        required=False,
        allow_empty=False,
        max_length=MOST_BRANCHES,
        help_text="Only branches of these names.",
    )
    since = Moment(
        required=False,
        allow_null=True,
        help_text="Where a branch is collected for the first time: no commits before this.",
    )


class CollectionResultSerializer(serializers.ModelSerializer[BulkCollectionResult]):
    """What became of one target, a branch of a repository."""

    repository = serializers.IntegerField(source="repository_id", read_only=True)
    repository_name = serializers.CharField(source="repository.name", read_only=True)
    error_message = serializers.SerializerMethodField(
        help_text="With the status `failed`: why, in a sentence."
    )

    class Meta:
        model = BulkCollectionResult
        fields = (
            "id",
            "run_id",
            "repository",
            "repository_name",
            "branch_name",
            "status",
            "new_commits_count",
            "error_message",
            "processed_at",
            "in_hand_since",
            "commits_so_far",
            "commits_expected",
            "attempts",
            "last_error",
            "next_retry_at",
            "note",
        )
        read_only_fields = fields
        extra_kwargs = {
            "branch_name": {
                "help_text": "`HEAD` until it is known what the default branch is called."
            },
            "new_commits_count": {"help_text": "With the status `success`."},
            "in_hand_since": {"help_text": "While it is being collected."},
            "commits_expected": {"help_text": "How many there are to come; 0 until it is known."},
            "next_retry_at": {"help_text": "While it waits for another try."},
            "note": {"help_text": "Worth knowing although it went well."},
        }

    def get_error_message(self, result: BulkCollectionResult) -> str | None:
        return result.error_message or None


class CollectionSummarySerializer(serializers.Serializer[Any]):
    """A bulk collection in numbers."""

    run_id = serializers.UUIDField()
    started_at_utc = serializers.DateTimeField(source="started_at")
    completed_at_utc = serializers.DateTimeField(source="completed_at", allow_null=True)
    run_status = serializers.CharField()
    total_targets = serializers.IntegerField()
    success_count = serializers.IntegerField()
    failed_count = serializers.IntegerField()
    pending_count = serializers.IntegerField(help_text="Counted from the results.")
    new_commits = serializers.IntegerField()
