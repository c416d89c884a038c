"""How lists are narrowed by the query string."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django import forms
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django_filters import rest_framework as filters

from collection.choices import BranchState, Kind, ResultStatus, RunStatus, State
from collection.models import (
    AuthorAlias,
    Branch,
    BulkCollectionResult,
    BulkCollectionRun,
    Commit,
    CommitPath,
    Repository,
)
from collection.models.commit import BRANCH_LENGTH, PERSON_LENGTH, SHA_LENGTH
from collection.models.documents import PATH_LENGTH
from collection.statistics.asking import DAY
from collection.statistics.periods import midnight
from glossary_site.api.filters import Flag
from indexing.api.filters import IdFilter
from projects.api.filters import MomentField, MomentFilter

# Databases give up on patterns of some ten thousand characters.
WORDS_LENGTH = 500


class UntilField(MomentField):
    """A moment, or a day: the whole of it, as in the statistics."""

    def clean(self, value: Any) -> datetime | None:
        moment = super().clean(value)
        if moment is None or not DAY.fullmatch(str(value).strip()):
            return moment
        try:
            day_after = date.fromisoformat(value.strip()) + timedelta(days=1)
            return midnight(day_after).astimezone(UTC)
        except OverflowError as error:
            raise forms.ValidationError(_("This time is too far away.")) from error


class UntilFilter(MomentFilter):
    field_class = UntilField


class RepositoryFilter(filters.FilterSet):
    q = filters.CharFilter(
        method="search", max_length=WORDS_LENGTH, label="Letters in the name or the address."
    )
    kind = filters.ChoiceFilter(choices=Kind.choices)
    state = filters.MultipleChoiceFilter(choices=State.choices, label="One or more states.")
    enabled = Flag()
    shared = Flag(
        field_name="project", lookup_expr="isnull", label="Only those for all, or only your own."
    )

    class Meta:
        model = Repository
        fields = ("q", "kind", "state", "enabled", "shared")

    def search(self, rows: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
        return rows.filter(Q(name__icontains=text) | Q(address__icontains=text))


class BranchFilter(filters.FilterSet):
    state = filters.ChoiceFilter(choices=BranchState.choices)

    class Meta:
        model = Branch
        fields = ("state",)


class CommitFilter(filters.FilterSet):
    repository = IdFilter(field_name="repository_id", label="The id of a repository.")
    branch = filters.CharFilter(
        field_name="branch__name", max_length=BRANCH_LENGTH, label="The name of a branch."
    )
    author = filters.CharFilter(
        method="by",
        max_length=PERSON_LENGTH,
        label="Letters in the author's name or e-mail, as the commit has them or as the person is "
        "called in the project.",
    )
    q = filters.CharFilter(
        field_name="subject",
        lookup_expr="icontains",
        max_length=WORDS_LENGTH,
        label="Letters in the subject.",
    )
    path = filters.CharFilter(
        method="touching",
        max_length=PATH_LENGTH,
        label="A file of the repository that is, or was, a document; or a folder of them.",
    )
    sha = filters.CharFilter(
        method="called", max_length=SHA_LENGTH, label="A commit, or how its sha begins."
    )
    since = MomentFilter(
        field_name="committed_date", lookup_expr="gte", label="Committed at this time or later."
    )
    until = UntilFilter(
        field_name="committed_date",
        lookup_expr="lt",
        label="Committed before this time; of a day without a time, until its end.",
    )
    include_unreachable = Flag(
        method="keep", label="Also what was left behind when a history was rewritten."
    )

    class Meta:
        model = Commit
        fields = (
            "repository",
            "branch",
            "author",
            "q",
            "path",
            "sha",
            "since",
            "until",
            "include_unreachable",
        )

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().filter_queryset(queryset)
        wants_all = self.form.cleaned_data.get("include_unreachable")
        return rows if wants_all else rows.filter(unreachable=False)

    def by(self, rows: QuerySet[Any], name: str, text: str) -> QuerySet[Any]:
        # The project is in the address.
        project_id = self.request.parser_context["kwargs"]["project_id"]
        people = AuthorAlias.objects.filter(
            Q(author__name__icontains=text) | Q(author__email__icontains=text),
            project=project_id,
            name=OuterRef("author_name"),
            email=OuterRef("author_email"),
        )
        return rows.filter(
            Q(author_name__icontains=text) | Q(author_email__icontains=text) | Exists(people)
        )

    def touching(self, rows: QuerySet[Any], name: str, path: str) -> QuerySet[Any]:
        folder = path.rstrip("/") + "/"
        touches = CommitPath.objects.filter(
            Q(path=path) | Q(path__startswith=folder),
            repository=OuterRef("repository"),
            sha=OuterRef("sha"),
        )
        return rows.filter(Exists(touches))

    def called(self, rows: QuerySet[Any], name: str, sha: str) -> QuerySet[Any]:
        return rows.filter(sha__startswith=sha.lower())

    def keep(self, rows: QuerySet[Any], name: str, wanted: bool) -> QuerySet[Any]:
        return rows  # `filter_queryset` looks at it, also where nobody asked


class CollectionFilter(filters.FilterSet):
    status = filters.ChoiceFilter(choices=RunStatus.choices)
    project = IdFilter(field_name="project_id", label="Only those of this project.")

    class Meta:
        model = BulkCollectionRun
        fields = ("status", "project")


class ResultFilter(filters.FilterSet):
    status = filters.ChoiceFilter(choices=ResultStatus.choices)
    repository = IdFilter(field_name="repository_id", label="The id of a repository.")

    class Meta:
        model = BulkCollectionResult
        fields = ("status", "repository")
