"""What runs have made: of one run, or of the newest one that has got so far."""

from typing import Any

from django.db.models import Expression, Model, OuterRef, QuerySet, Subquery
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from glossary_site.api.schema import operation
from projects.models import Project
from projects.order import by_index
from runs.api.base import TAG, RunView
from runs.api.filters import (
    FailureFilter,
    IssueFilter,
    ProvisionalFilter,
    RefinedFilter,
    TermFilter,
)
from runs.api.serializers import (
    IssueSerializer,
    ProvisionalSerializer,
    RefinedSerializer,
    RunFailureSerializer,
    RunTermSerializer,
)
from runs.choices import Step
from runs.models import ProvisionalEntry, RefinedEntry, Run, RunFailure, RunIssue, RunTerm

BY_TERM = by_index(project="run__project")
ENTRY_ORDERINGS: dict[str, str | Expression] = {
    "rank": "order",
    "term": BY_TERM,
    "confidence": "confidence",
    "frequency": "frequency",
}


def newest_run(project: Project, step: Step) -> Run | None:
    """The newest run that has come through this step, whether or not it found anything there."""
    through = Run.objects.filter(
        project=project, steps__step=step, steps__finished_at__isnull=False
    )
    return through.newest_first().first()


class ResultView(RunView):
    """Rows of a run. Where the address names none, of the newest that has finished the step."""

    queryset: QuerySet[Any]
    step: Step
    row_serializer: type[BaseSerializer[Any]]
    default_ordering = "rank"

    def rows(self) -> QuerySet[Any]:
        if "run_id" in self.kwargs:
            run: Run | None = self.run()
        else:
            run = newest_run(self.project(), self.step)
        rows = self.queryset.all()
        return rows.none() if run is None else rows.filter(run=run)

    def listed(self) -> Response:
        return self.page_of(self.rows(), self.row_serializer)

    def one(self, row_id: int) -> Response:
        """By its number, of whichever run of the project."""
        row: Model | None = self.queryset.filter(run__project=self.project(), pk=row_id).first()
        if row is None:
            raise Http404(_("This project has no such row."))
        return Response(self.row_serializer(row).data)


class TermRows(ResultView):
    queryset = RunTerm.objects.defer("occurrences")
    row_serializer = RunTermSerializer
    filterset_class = TermFilter
    orderings = {
        "rank": "order",
        "term": BY_TERM,
        "score": "score",
        "frequency": "frequency",
    }


class ProvisionalRows(ResultView):
    queryset = ProvisionalEntry.objects.all()
    step = Step.GENERATE
    row_serializer = ProvisionalSerializer
    filterset_class = ProvisionalFilter
    orderings = ENTRY_ORDERINGS


class IssueRows(ResultView):
    # The name of the other term, where the run has an entry for it.
    queryset = RunIssue.objects.annotate(
        other_name=Subquery(
            ProvisionalEntry.objects.filter(run=OuterRef("run"), key=OuterRef("other_key")).values(
                "term"
            )[:1]
        )
    )
    step = Step.REVIEW
    row_serializer = IssueSerializer
    filterset_class = IssueFilter
    orderings = {"rank": "order", "term": "term"}


class RefinedRows(ResultView):
    queryset = RefinedEntry.objects.whole()
    step = Step.REFINE
    row_serializer = RefinedSerializer
    filterset_class = RefinedFilter
    orderings = ENTRY_ORDERINGS


class FailureRows(ResultView):
    queryset = RunFailure.objects.all()
    row_serializer = RunFailureSerializer
    filterset_class = FailureFilter
    orderings = {"time": "pk"}
    default_ordering = "time"


class RunTerms(TermRows):
    @operation(
        "runs_terms",
        tag=TAG,
        summary="The terms that a run found or worked with, the best first",
        responses={200: RunTermSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, run_id: int) -> Response:
        return self.listed()


class RunProvisional(ProvisionalRows):
    @operation(
        "runs_provisional",
        tag=TAG,
        summary="The entries of a run as they were first written, the best terms first",
        responses={200: ProvisionalSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, run_id: int) -> Response:
        return self.listed()


class RunIssues(IssueRows):
    @operation(
        "runs_issues",
        tag=TAG,
        summary="What the review of a run found",
        responses={200: IssueSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, run_id: int) -> Response:
        return self.listed()


class RunRefined(RefinedRows):
    @operation(
        "runs_refined",
        tag=TAG,
        summary="The entries of a run after its review, the best terms first",
        description="None until all of them are there.",
        responses={200: RefinedSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, run_id: int) -> Response:
        return self.listed()


class RunFailures(FailureRows):
    @operation(
        "runs_failures",
        tag=TAG,
        summary="The terms that a run had no result for, and why",
        responses={200: RunFailureSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int, run_id: int) -> Response:
        return self.listed()


class ProvisionalList(ProvisionalRows):
    @operation(
        "provisional_list",
        tag=TAG,
        summary="The provisional entries of the newest run that wrote all of its own",
        responses={200: ProvisionalSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.listed()


class ProvisionalDetail(ProvisionalRows):
    @operation(
        "provisional_get",
        tag=TAG,
        summary="One provisional entry, of whichever run",
        responses={200: ProvisionalSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, provisional_id: int) -> Response:
        return self.one(provisional_id)


class IssueList(IssueRows):
    @operation(
        "issues_list",
        tag=TAG,
        summary="The issues of the newest run that was reviewed; none where all was well",
        responses={200: IssueSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.listed()


class IssueDetail(IssueRows):
    @operation(
        "issues_get",
        tag=TAG,
        summary="One issue, of whichever run",
        responses={200: IssueSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, issue_id: int) -> Response:
        return self.one(issue_id)


class RefinedList(RefinedRows):
    @operation(
        "refined_list",
        tag=TAG,
        summary="The refined entries of the newest run that came to its end",
        responses={200: RefinedSerializer(many=True)},
        errors=[400, 404],
    )
    def get(self, request: Request, project_id: int) -> Response:
        return self.listed()


class RefinedDetail(RefinedRows):
    @operation(
        "refined_get",
        tag=TAG,
        summary="One refined entry, of whichever run",
        responses={200: RefinedSerializer},
        errors=[404],
    )
    def get(self, request: Request, project_id: int, refined_id: int) -> Response:
        return self.one(refined_id)
