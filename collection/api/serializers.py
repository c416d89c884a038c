"""What goes in and what comes out about repositories and their commits, field by field."""

from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from collection.choices import Kind, State
from collection.models import (
    Branch,
    Commit,
    Repository,
)
from collection.models.commit import BRANCH_LENGTH
from collection.models.repository import ADDRESS_LENGTH
from collection.services.fields import (
    FOLDER_LENGTH,
    MOST_BRANCH_PATTERNS,
    MOST_DOCUMENT_PATTERNS,
    NAME_LENGTH,
    PATTERN_LENGTH,
    USERNAME_LENGTH,
)
from collection.services.keys import KEY_LENGTH
from glossary_site.api.fields import Text

# When the clocks of git began.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Of what a refusal asks to be sent back.
CONFIRM_LENGTH = 64


class Moment(serializers.DateTimeField):
    """A time that has a place in every calendar that it may be shown in."""

    def to_internal_value(self, value: Any) -> datetime:
        try:
            moment = super().to_internal_value(value).astimezone(UTC)
        except OverflowError:
            moment = EPOCH.min.replace(tzinfo=UTC)
        if moment < EPOCH:
            raise serializers.ValidationError(_("This time is too far away."))
        return moment


class Patterns(serializers.ListField):
    def __init__(self, *, longest: int, most: int, help_text: str) -> None:
        child = Text(max_length=longest)
        super().__init__(child=child, max_length=most, required=False, help_text=help_text)


class Person(serializers.CharField):
    """The name of whoever did it; null for the operator, and for people who have left."""

    def __init__(self, source: str) -> None:
        super().__init__(
            source=f"{source}.username",
            read_only=True,
            allow_null=True,
            default=None,
            help_text="A person's name; null for the operator.",
        )


# Repositories


class RepositorySerializer(serializers.ModelSerializer[Repository]):
    """A repository without its secret."""

    project = serializers.IntegerField(
        source="project_id", read_only=True, allow_null=True, help_text="Null: it is for all."
    )
    shared = serializers.SerializerMethodField(
        help_text="It is for all projects, and only operators change it."
    )
    has_secret = serializers.SerializerMethodField(
        help_text="Whether a token, password or key is stored. It never comes out."
    )
    branch_patterns = serializers.ListField(child=serializers.CharField(), read_only=True)
    document_patterns = serializers.ListField(child=serializers.CharField(), read_only=True)
    state_message = serializers.CharField(
        read_only=True, help_text="What was found when it was last asked, in a sentence."
    )
    added_by = Person("added_by")
    created = serializers.DateTimeField(source="created_at", read_only=True)
    changed = serializers.DateTimeField(source="updated_at", read_only=True)

    class Meta:
        model = Repository
        fields = (
            "id",
            "project",
            "shared",
            "name",
            "kind",
            "address",
            "username",
            "has_secret",
            "branch_patterns",
            "since",
            "document_patterns",
            "document_folder",
            "document_branch",
            "enabled",
            "state",
            "state_message",
            "default_branch",
            "checked_at",
            "documents_head",
            "documents_at",
            "documents_error",
            "added_by",
            "created",
            "changed",
        )
        read_only_fields = fields

    def get_shared(self, repository: Repository) -> bool:
        return repository.project_id is None

    def get_has_secret(self, repository: Repository) -> bool:
        return bool(repository.secret)


class RepositoryTrySerializer(serializers.Serializer[Repository]):
    """What it takes to ask a repository."""

    address = Text(
        max_length=ADDRESS_LENGTH,
        help_text="A folder of the server that an operator has allowed, a git address (https or "
        "ssh), or the web address of a project on GitLab or GitHub.",
    )
    kind = serializers.ChoiceField(
        choices=Kind.choices,
        required=False,
        help_text="How it is reached. Guessed from the address if absent: `local` or `git`; the "
        "APIs of GitLab and GitHub have to be asked for.",
    )
    username = Text(
        max_length=USERNAME_LENGTH,
        allow_blank=True,
        required=False,
        help_text="Beside a password or token.",
    )
    secret = Text(
        max_length=KEY_LENGTH,
        allow_blank=True,
        required=False,
        write_only=True,
        trim_whitespace=False,
        help_text="A token, a password, or for ssh a private key; it is stored encrypted.",
    )
    branch_patterns = Patterns(
        longest=BRANCH_LENGTH,
        most=MOST_BRANCH_PATTERNS,
        help_text="Branches to follow, by name or pattern (`release/*`); none: the default branch.",
    )


class RepositoryFieldsSerializer(RepositoryTrySerializer):
    """What can be said of a repository."""

    name = Text(
        max_length=NAME_LENGTH,
        allow_blank=True,
        required=False,
        help_text="The end of its address if absent.",
    )
    since = Moment(
        required=False, allow_null=True, help_text="Commits before this are not collected."
    )
    document_patterns = Patterns(
        longest=PATTERN_LENGTH,
        most=MOST_DOCUMENT_PATTERNS,
        help_text="Files that become documents (`docs/**/*.md`); none: commits only.",
    )
    document_folder = Text(
        max_length=FOLDER_LENGTH,
        allow_blank=True,
        required=False,
        help_text="The folder of the project that they come into; empty: their own paths.",
    )
    document_branch = Text(
        max_length=BRANCH_LENGTH,
        allow_blank=True,
        required=False,
        help_text="The branch they are read from; empty: the default branch.",
    )


class RepositoryChangeSerializer(RepositoryFieldsSerializer):
    """Only what is sent is changed."""

    clear_secret = serializers.BooleanField(
        required=False,
        write_only=True,
        help_text="True forgets the stored secret; a blank `secret` keeps it. A new address "
        "forgets it too, unless a new secret comes with it.",
    )
    forget_host_keys = serializers.BooleanField(
        required=False,
        write_only=True,
        help_text="True: with ssh, take the key that the host shows the next time.",
    )
    confirm = Text(
        max_length=CONFIRM_LENGTH,
        allow_blank=True,
        required=False,
        write_only=True,
        help_text="The `confirm` of a refusal `documents_would_go`: these documents may go.",
    )
    enabled = serializers.BooleanField(
        required=False, help_text="False: it is left out of collections, and stays as it is."
    )


class RepositoryDeleteQuerySerializer(serializers.Serializer[Any]):
    delete_documents = serializers.BooleanField(
        default=False, help_text="Delete the documents that came from it as well."
    )


class RepositoryCheckSerializer(serializers.Serializer[Any]):
    """What a repository answered."""

    state = serializers.ChoiceField(choices=State.choices)
    message = serializers.CharField(help_text="What is wrong, or what was found, in a sentence.")
    branches = serializers.ListField(child=serializers.CharField())
    default_branch = serializers.CharField(help_text="Empty where there is none.")
    matching = serializers.ListField(
        child=serializers.CharField(), help_text="The branches that are, or would be, followed."
    )


# Branches and commits


class BranchSerializer(serializers.ModelSerializer[Branch]):
    """A branch, and how far it has been collected."""

    commits = serializers.IntegerField(source="commit_count", read_only=True)
    last_commit = serializers.DateTimeField(
        read_only=True, allow_null=True, help_text="The newest date among its commits."
    )

    class Meta:
        model = Branch
        fields = (
            "id",
            "name",
            "state",
            "head",
            "complete",
            "collected_at",
            "rewritten_at",
            "rewritten_from",
            "commits",
            "last_commit",
        )
        read_only_fields = fields
        extra_kwargs = {
            "head": {"help_text": "Everything that can be reached from this commit is here."},
            "rewritten_at": {"help_text": "When its history was last seen to be another one."},
            "rewritten_from": {"help_text": "The head that was left behind then."},
        }


class BranchImpactSerializer(serializers.Serializer[Any]):
    """What goes with the commits of a branch."""

    commits = serializers.IntegerField()
    only_here = serializers.IntegerField(help_text="Of them, those that no other branch has.")
    also_on_other_branches = serializers.IntegerField(
        help_text="Of them, those that stay in the statistics because another branch has them."
    )
    additions = serializers.IntegerField(help_text="Lines of those that no other branch has.")
    deletions = serializers.IntegerField()
    authors = serializers.IntegerField()
    first = serializers.DateTimeField(allow_null=True, help_text="When the oldest was committed.")
    last = serializers.DateTimeField(allow_null=True)
    documents_affected = serializers.IntegerField(
        help_text="Documents that keep their text and lose commits from their history."
    )
    is_followed = serializers.BooleanField(
        help_text="Whether the next collection brings them back."
    )


class BranchRemoveQuerySerializer(serializers.Serializer[Any]):
    stop_following = serializers.BooleanField(
        default=False, help_text="Take the branch out of those that are followed as well."
    )


class CommitSerializer(serializers.ModelSerializer[Commit]):
    """A commit as a branch has it: one that several branches have is a row in each."""

    repository = serializers.IntegerField(source="repository_id", read_only=True)
    repository_name = serializers.CharField(source="repository.name", read_only=True)
    branch = serializers.CharField(source="branch.name", read_only=True)
    parents = serializers.SerializerMethodField(help_text="Their shas.")

    class Meta:
        model = Commit
        fields: tuple[str, ...] = (
            "id",
            "repository",
            "repository_name",
            "branch",
            "sha",
            "parents",
            "author_name",
            "author_email",
            "committed_date",
            "additions",
            "deletions",
            "subject",
            "unreachable",
        )
        read_only_fields = fields
        extra_kwargs = {
            "unreachable": {"help_text": "Left behind when the history was rewritten."},
        }

    def get_parents(self, commit: Commit) -> list[str]:
        return commit.parents.split()


class TouchedSerializer(serializers.Serializer[Any]):
    """A file that a commit touched, and that is or was a document."""

    path = serializers.CharField(help_text="In the repository.")
    document = serializers.IntegerField(
        allow_null=True, help_text="The document it is in your project; null where there is none."
    )


class CommitDetailSerializer(CommitSerializer):
    """One commit with the documents that it touched."""

    paths = TouchedSerializer(many=True, read_only=True)

    class Meta(CommitSerializer.Meta):
        fields = (*CommitSerializer.Meta.fields, "paths")
        read_only_fields = fields
