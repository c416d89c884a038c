"""What goes in and what comes out about statistics and authors, field by field."""

from typing import Any
from urllib.parse import urlencode

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from collection.models import SavedFilter
from collection.models.commit import BRANCH_LENGTH, PERSON_LENGTH
from collection.services.filters import NAME_LENGTH
from collection.statistics.asking import BadFilter, By, Filter, Per
from glossary_site.api.fields import Text

MOST_IDENTITIES = 200


def sentences(bad: BadFilter) -> dict[str, list[str]]:
    return {name: [sentence] for name, sentence in bad.errors.items()}


class FilterQuerySerializer(serializers.Serializer[Any]):
    """The parameters, for the schema: `Filter` reads them, here as on the page."""

    repository = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=10**15 - 1),
        required=False,
        help_text="Ids of repositories, one or more.",
    )
    branch = serializers.ListField(
        child=serializers.CharField(max_length=BRANCH_LENGTH),
        required=False,
        help_text="Names of branches, one or more.",
    )
    author = serializers.ListField(
        child=serializers.CharField(max_length=2 * PERSON_LENGTH + 3),
        required=False,
        help_text="People as `Name <address>`, by any of their names; one or more.",
    )
    since = serializers.DateField(required=False, help_text="The first day.")
    until = serializers.DateField(required=False, help_text="The last day; it counts as well.")
    per = serializers.ChoiceField(choices=Per.choices, default=Per.WEEK)
    by = serializers.ChoiceField(choices=By.choices, default=By.NONE)
    include_unreachable = serializers.BooleanField(
        default=False, help_text="Also what was left behind when a history was rewritten."
    )


class FilterSerializer(serializers.Serializer[Any]):
    """What was asked for. Nothing said means everything."""

    repositories = serializers.ListField(
        child=serializers.IntegerField(), required=False, help_text="By their ids."
    )
    branches = serializers.ListField(
        child=Text(max_length=BRANCH_LENGTH), required=False, help_text="By their names."
    )
    authors = serializers.ListField(
        child=Text(max_length=2 * PERSON_LENGTH + 3),
        required=False,
        help_text="As `Name <address>`.",
    )
    since = serializers.DateField(required=False, allow_null=True, help_text="The first day.")
    until = serializers.DateField(required=False, allow_null=True, help_text="The last day.")
    per = serializers.ChoiceField(choices=Per.choices, required=False)
    by = serializers.ChoiceField(choices=By.choices, required=False)
    include_unreachable = serializers.BooleanField(required=False)

    def to_internal_value(self, data: Any) -> Any:
        """Of what was sent and not of the fields we know: one that is misspelled is a mistake."""
        super().to_internal_value(data)
        try:
            return Filter.from_json(data)
        except BadFilter as bad:
            raise serializers.ValidationError(sentences(bad)) from bad


class FiguresSerializer(serializers.Serializer[Any]):
    commits = serializers.IntegerField()
    additions = serializers.IntegerField()
    deletions = serializers.IntegerField()


class GroupSerializer(serializers.Serializer[Any]):
    """What is counted together: a person, a repository, a branch, or everything."""

    key = serializers.CharField(
        source="group.key",
        help_text="As the parameter has it: `Name <address>`, an id, a name; empty for all.",
    )
    label = serializers.CharField(  # type: ignore[assignment]
        source="group.label", help_text="For people."
    )
    repository = serializers.IntegerField(
        source="group.repository_id", allow_null=True, help_text="Of a branch."
    )


class GroupTotalSerializer(GroupSerializer):
    commits = serializers.IntegerField(source="figures.commits")
    additions = serializers.IntegerField(source="figures.additions")
    deletions = serializers.IntegerField(source="figures.deletions")


class StatisticsRowSerializer(GroupSerializer):
    period_start = serializers.DateField(help_text="A Monday, or the first of a month.")
    commits = serializers.IntegerField()
    additions = serializers.IntegerField()
    deletions = serializers.IntegerField()


class StatisticsSerializer(serializers.Serializer[Any]):
    filter = FilterSerializer()
    totals = FiguresSerializer(source="counted.totals")
    groups = GroupTotalSerializer(
        source="counted.group_totals", many=True, help_text="The busiest first."
    )
    periods = serializers.ListField(
        source="counted.periods",
        child=serializers.DateField(),
        help_text="From the first to the last, also those without commits.",
    )
    rows = StatisticsRowSerializer(
        source="counted.rows", many=True, help_text="By period; none where there are no commits."
    )


# Authors


class IdentitySerializer(serializers.Serializer[Any]):
    """A name and an address as commits have them."""

    name = Text(max_length=PERSON_LENGTH, allow_blank=True, trim_whitespace=False)
    email = Text(max_length=PERSON_LENGTH, allow_blank=True, trim_whitespace=False)


class NameOfAuthorSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    email = serializers.CharField()
    commits = serializers.IntegerField()
    additions = serializers.IntegerField()
    deletions = serializers.IntegerField()


class AuthorSerializer(serializers.Serializer[Any]):
    """A person, and the names that commits have for them."""

    name = serializers.CharField(source="person.name")
    email = serializers.CharField(source="person.email")
    commits = serializers.IntegerField(source="figures.commits")
    additions = serializers.IntegerField(source="figures.additions")
    deletions = serializers.IntegerField(source="figures.deletions")
    identities = serializers.SerializerMethodField()

    @extend_schema_field(NameOfAuthorSerializer(many=True))
    def get_identities(self, total: Any) -> Any:
        rows = [
            {
                "name": identity.name,
                "email": identity.email,
                "commits": figures.commits,
                "additions": figures.additions,
                "deletions": figures.deletions,
            }
            for identity, figures in total.identities
        ]
        return NameOfAuthorSerializer(rows, many=True).data


class MergeSerializer(serializers.Serializer[Any]):
    into = IdentitySerializer(help_text="What the person is to be called.")
    identities = serializers.ListField(
        child=IdentitySerializer(), allow_empty=False, max_length=MOST_IDENTITIES
    )


class MergedSerializer(serializers.Serializer[Any]):
    merge_id = serializers.IntegerField(source="entry_id", help_text="By which it can be undone.")
    name = serializers.CharField(source="author.name")
    email = serializers.CharField(source="author.email")
    identities = IdentitySerializer(many=True, help_text="What stands for the person from now on.")


class MergeUndoneSerializer(serializers.Serializer[Any]):
    identities = serializers.IntegerField(help_text="How many names are what they were before.")


# Saved filters


class SavedFilterSerializer(serializers.ModelSerializer[SavedFilter]):
    """A view of the statistics under a name, for everybody in the project."""

    filter = serializers.SerializerMethodField()
    query = serializers.SerializerMethodField(
        help_text="The same behind the `?` of an address, of the page as of the statistics here."
    )
    made_by = serializers.CharField(
        source="made_by.username", read_only=True, allow_null=True, default=None
    )
    created = serializers.DateTimeField(source="created_at", read_only=True)

    class Meta:
        model = SavedFilter
        fields = ("id", "name", "filter", "query", "made_by", "created")
        read_only_fields = fields

    @extend_schema_field(FilterSerializer)
    def get_filter(self, saved: SavedFilter) -> Any:
        return FilterSerializer(filter_of(saved).as_json()).data

    def get_query(self, saved: SavedFilter) -> str:
        return filter_of(saved).urlencode()


def filter_of(saved: SavedFilter) -> Filter:
    return Filter.from_query(urlencode(saved.query, doseq=True))


class SavedFilterNameSerializer(serializers.Serializer[Any]):
    name = Text(max_length=NAME_LENGTH)


class SavedFilterWriteSerializer(SavedFilterNameSerializer):
    filter = FilterSerializer()
