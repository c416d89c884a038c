"""Terms, their lists, groups and categories, field by field."""

from typing import Any

from rest_framework import serializers

from glossary_site.api.fields import Choice, Text
from glossary_site.api.views import BIGGEST_ID
from projects.categories import CategoryInfo
from projects.choices import TermStatus
from projects.models import SynonymGroup, Term, TermCategory
from projects.models.terms import NOTES_LENGTH, TERM_LENGTH
from projects.services.categories import KEY_LENGTH, NAME_LENGTH
from projects.services.terms.changes import REASON_LENGTH

MOST_AT_ONCE = 1000
MOST_SYNONYMS = 50
# What people may say; the extraction alone excludes automatically.
BY_HAND = (TermStatus.CANDIDATE, TermStatus.REQUIRED, TermStatus.EXCLUDED)


class TermSerializer(serializers.ModelSerializer[Term]):
    """A term without the places where it stands."""

    documents = serializers.IntegerField(
        source="document_count", read_only=True, help_text="In how many documents it stands."
    )
    group = serializers.IntegerField(
        source="group_id", read_only=True, allow_null=True, help_text="Its synonym group."
    )
    primary = serializers.CharField(
        source="group.primary.text",
        read_only=True,
        allow_null=True,
        default=None,
        help_text="Under which term of its synonym group the entry stands.",
    )
    variants = serializers.ListField(
        child=serializers.CharField(), read_only=True, help_text="Spellings found."
    )
    chosen = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Fields that people chose: no extraction changes them.",
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)
    changed = serializers.DateTimeField(source="updated_at", read_only=True)

    class Meta:
        model = Term
        fields = (
            "id",
            "text",
            "reading",
            "language",
            "category",
            "status",
            "reason",
            "notes",
            "group",
            "primary",
            "score",
            "frequency",
            "documents",
            "variants",
            "chosen",
            "by_hand",
            "created",
            "changed",
        )


class TermChangeSerializer(serializers.Serializer[Term]):
    text = Text(max_length=TERM_LENGTH)
    category = Text(
        max_length=KEY_LENGTH,
        allow_blank=True,
        required=False,
        help_text="A key of `term-categories`; empty for none.",
    )
    notes = Text(max_length=NOTES_LENGTH, allow_blank=True, required=False)
    status = Choice(
        choices=[status.value for status in BY_HAND],
        required=False,
        help_text="`candidate` leaves it to the extraction.",
    )
    reason = Text(
        max_length=REASON_LENGTH,
        allow_blank=True,
        required=False,
        help_text="Why it is excluded.",
    )


class SeenTermSerializer(serializers.Serializer[Any]):
    """A term as you saw it."""

    text = Text(max_length=TERM_LENGTH, required=False)
    category = Text(max_length=KEY_LENGTH, allow_blank=True, required=False)
    notes = Text(max_length=NOTES_LENGTH, allow_blank=True, required=False)


class TermEditSerializer(TermChangeSerializer):
    """What is not sent stays."""

    seen = SeenTermSerializer(
        required=False,
        help_text="409 `term_changed` when a field that you change is not as you saw it here.",
    )

    def get_fields(self) -> dict[str, Any]:
        fields = super().get_fields()
        for field in fields.values():
            field.required = False
        return fields


class ListedTermSerializer(serializers.Serializer[Term]):
    """A term for the list of the required or of the excluded ones."""

    text = Text(max_length=TERM_LENGTH, help_text="A term that is not known yet is added.")
    reason = Text(max_length=REASON_LENGTH, allow_blank=True, required=False)


class BulkSerializer(serializers.Serializer[Any]):
    ids = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=BIGGEST_ID),
        allow_empty=False,
        max_length=MOST_AT_ONCE,
        help_text="Terms of this project; other numbers are passed over.",
    )
    action = Choice(choices=["exclude", "require", "reset", "category", "delete"])
    category = Text(
        max_length=KEY_LENGTH,
        allow_blank=True,
        required=False,
        help_text="With the action `category`; empty for none.",
    )
    reason = Text(
        max_length=REASON_LENGTH,
        allow_blank=True,
        required=False,
        help_text="With the action `exclude`.",
    )


class TermsChangedSerializer(serializers.Serializer[Any]):
    changed = serializers.IntegerField(help_text="How many terms are not as they were.")


class OccurrenceSerializer(serializers.Serializer[Any]):
    """A line of a document where a term stands."""

    document = serializers.IntegerField()
    path = serializers.CharField()
    line = serializers.IntegerField()
    count = serializers.IntegerField(help_text="How often it stands there.")
    snippet = serializers.CharField(
        allow_null=True,
        help_text="The line; null when the document has changed and the term is not there now.",
    )
    url = serializers.CharField(help_text="The page of the document, with the line marked.")


# Synonym groups


class TermNameSerializer(serializers.ModelSerializer[Term]):
    class Meta:
        model = Term
        fields = ("id", "text")


class GroupSerializer(serializers.ModelSerializer[SynonymGroup]):
    """Terms that mean the same."""

    primary = TermNameSerializer(read_only=True, help_text="The entry stands under this name.")
    members = TermNameSerializer(
        source="terms", many=True, read_only=True, help_text="All of them, the primary as well."
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = SynonymGroup
        fields = ("id", "primary", "members", "created")


class PrimarySerializer(serializers.Serializer[Any]):
    primary = Text(max_length=TERM_LENGTH, help_text="One of its members.")


class GroupAddSerializer(serializers.Serializer[Any]):
    primary = Text(max_length=TERM_LENGTH)
    members = serializers.ListField(
        child=Text(max_length=TERM_LENGTH),
        allow_empty=False,
        max_length=MOST_SYNONYMS,
        help_text="With or without the primary. Terms that are not known yet are added.",
    )


class MemberTextSerializer(serializers.Serializer[Any]):
    text = Text(max_length=TERM_LENGTH, help_text="A term that is not known yet is added.")


# Categories


class CategorySerializer(serializers.Serializer[CategoryInfo]):
    key = serializers.CharField()
    name = serializers.CharField(source="label", help_text="In your language, unless it is own.")
    own = serializers.BooleanField(help_text="Only this project has it.")
    auto_exclude = serializers.BooleanField(
        help_text="The extraction leaves its terms out by itself."
    )


class CategoriesSerializer(serializers.Serializer[Any]):
    categories = CategorySerializer(many=True)


class CategoryChangeSerializer(serializers.Serializer[TermCategory]):
    name = Text(max_length=NAME_LENGTH)
    auto_exclude = serializers.BooleanField(required=False)


class CategoryAddSerializer(CategoryChangeSerializer):
    key = serializers.RegexField(
        r"\A[a-z][a-z0-9_]*\Z",
        max_length=KEY_LENGTH,
        required=False,
        help_text="Made from the name unless told; it never changes.",
    )
