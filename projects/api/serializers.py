"""What goes in and what comes out, field by field. The OpenAPI schema is made from these."""

from typing import Any

from django.conf import settings
from rest_framework import serializers
from rest_framework.fields import Field

from glossary_site.api.fields import Choice, Text
from glossary_site.api.views import BIGGEST_ID
from glossary_site.live.reading import PAGE
from glossary_site.people.models import USERNAME_LENGTH, User
from projects.choices import Language, Outcome, Role
from projects.glance import FACTS
from projects.models import (
    DESCRIPTION_LENGTH,
    NAME_LENGTH,
    Document,
    DocumentVersion,
    Membership,
    Project,
)

# Projects


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """A project as its list shows it."""

    role = serializers.ChoiceField(
        choices=Role.choices, source="my_role", read_only=True, help_text="Your role in it."
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = Project
        fields = ("id", "name", "description", "language", "role", "created")

    def get_fields(self) -> dict[str, Field[Any, Any, Any, Any]]:
        """The facts at a glance are as many as the apps have named."""
        fields = super().get_fields()
        for fact in FACTS:
            fields[fact.key] = (
                serializers.DateTimeField(source=fact.sort_key, read_only=True, allow_null=True)
                if fact.kind == "time"
                else serializers.IntegerField(source=fact.sort_key, read_only=True)
            )
        return fields


class ProjectWriteSerializer(serializers.Serializer[Project]):
    name = Text(max_length=NAME_LENGTH)
    description = Text(max_length=DESCRIPTION_LENGTH, allow_blank=True, required=False)
    language = Choice(
        choices=Language.choices, required=False, help_text="Its main language; English if absent."
    )


class CloneSerializer(serializers.Serializer[Project]):
    name = Text(max_length=NAME_LENGTH, help_text="The name of the new project.")


# Members


class MemberSerializer(serializers.ModelSerializer[Membership]):
    username = serializers.CharField(source="user.username", read_only=True)
    joined = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = Membership
        fields = ("user_id", "username", "role", "joined")


class MemberChangeSerializer(serializers.Serializer[Membership]):
    role = Choice(choices=Role.choices)


class MemberAddSerializer(MemberChangeSerializer):
    username = Text(max_length=USERNAME_LENGTH, help_text="Somebody who has an account.")


class MyProjectSerializer(serializers.ModelSerializer[Membership]):
    id = serializers.IntegerField(source="project_id", read_only=True)
    name = serializers.CharField(source="project.name", read_only=True)

    class Meta:
        model = Membership
        fields = ("id", "name", "role")


class MeSerializer(serializers.ModelSerializer[User]):
    projects = MyProjectSerializer(source="memberships", many=True, read_only=True)

    class Meta:
        model = User
        fields = ("id", "username", "is_superuser", "projects")


# Documents


class DocumentSerializer(serializers.ModelSerializer[Document]):
    """A document without its text."""

    size = serializers.IntegerField(
        source="byte_size", read_only=True, help_text="Bytes of its text in UTF-8."
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)
    changed = serializers.DateTimeField(source="updated_at", read_only=True)

    class Meta:
        model = Document
        fields: tuple[str, ...] = (
            "id",
            "path",
            "title",
            "format",
            "source",
            "version",
            "file_hash",
            "size",
            "created",
            "changed",
        )


class DocumentTextSerializer(DocumentSerializer):
    """A document with its text, as Markdown."""

    class Meta(DocumentSerializer.Meta):
        fields = (*DocumentSerializer.Meta.fields, "content")


class DocumentStoredSerializer(DocumentSerializer):
    """A document after its text was handed in, and whether that changed anything."""

    outcome = serializers.ChoiceField(
        choices=[outcome.value for outcome in Outcome if outcome != Outcome.REFUSED], read_only=True
    )

    class Meta(DocumentSerializer.Meta):
        fields = (*DocumentSerializer.Meta.fields, "outcome")


class RawText(Text):
    """A text exactly as it was sent. What is wrong with it is said document by document."""

    def __init__(self, **options: Any) -> None:
        super().__init__(allow_blank=True, trim_whitespace=False, **options)
        self.validators = []


class DocumentWriteSerializer(serializers.Serializer[Document]):
    path = RawText(help_text="Relative, such as `chapter1/intro.md`.")
    content = RawText(help_text="The text, as Markdown.")


class DocumentsWriteSerializer(serializers.Serializer[Document]):
    documents = serializers.ListField(
        child=DocumentWriteSerializer(), allow_empty=False, max_length=settings.MAX_UPLOAD_FILES
    )


class UploadSerializer(serializers.Serializer[Document]):
    """Files as a form sends them."""

    files = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True),
        allow_empty=False,
        max_length=settings.MAX_UPLOAD_FILES,
    )
    paths = serializers.ListField(
        child=RawText(),
        required=False,
        help_text="The path of each file, in the same order; else their names are used.",
    )


class ResultSerializer(serializers.Serializer[Any]):
    """What became of one file."""

    path = serializers.CharField()
    outcome = serializers.ChoiceField(choices=[outcome.value for outcome in Outcome])
    document = serializers.IntegerField(allow_null=True, help_text="Its id; null when refused.")
    version = serializers.IntegerField(allow_null=True)
    code = serializers.CharField(allow_null=True, help_text="Why it was refused, for programs.")
    detail = serializers.CharField(allow_null=True, help_text="Why it was refused, for people.")


class ResultsSerializer(serializers.Serializer[Any]):
    """What became of each file, in the order in which they were given."""

    results = ResultSerializer(many=True)
    created = serializers.IntegerField()
    updated = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    refused = serializers.IntegerField()


class VersionSerializer(serializers.ModelSerializer[DocumentVersion]):
    """A version of a document without its text."""

    size = serializers.IntegerField(source="byte_size", read_only=True)
    author = serializers.CharField(
        source="author.username",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="Null when a command wrote it, or the account is gone.",
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = DocumentVersion
        fields: tuple[str, ...] = (
            "number",
            "format",
            "source",
            "file_hash",
            "size",
            "author",
            "created",
        )


class VersionTextSerializer(VersionSerializer):
    """A version of a document with its text."""

    class Meta(VersionSerializer.Meta):
        fields = (*VersionSerializer.Meta.fields, "content")


class DiffQuerySerializer(serializers.Serializer[Any]):
    against = serializers.IntegerField(
        min_value=0,
        max_value=BIGGEST_ID,
        required=False,
        help_text="The version to compare with: the one before unless told; 0 is an empty text.",
    )


# Events


class EventSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    type = serializers.CharField()
    payload = serializers.DictField()
    time = serializers.DateTimeField()


class EventsSerializer(serializers.Serializer[Any]):
    events = EventSerializer(many=True)
    last = serializers.IntegerField(help_text="The number of the newest event of the project.")
    pruned = serializers.IntegerField(
        help_text="Events up to this number are no longer kept; when it is above your `after`, "
        "read the project afresh."
    )


class AfterQuerySerializer(serializers.Serializer[Any]):
    after = serializers.IntegerField(
        min_value=0,
        max_value=BIGGEST_ID,
        required=False,
        help_text="The number of the last event you have seen.",
    )


class EventsQuerySerializer(AfterQuerySerializer):
    limit = serializers.IntegerField(
        min_value=1, default=PAGE, help_text=f"At most {PAGE}, however many you ask for."
    )
