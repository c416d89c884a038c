"""Addresses without a trailing slash; `ApiMiddleware` takes them with one as well."""

from django.urls import path

from runs.api.export import RefinedExport, RefinedMarkdown
from runs.api.logs import RunLogs
from runs.api.results import (
    IssueDetail,
    IssueList,
    ProvisionalDetail,
    ProvisionalList,
    RefinedDetail,
    RefinedList,
    RunFailures,
    RunIssues,
    RunProvisional,
    RunRefined,
    RunTerms,
)
from runs.api.runs import (
    RunCompare,
    RunCurrent,
    RunDetail,
    RunEstimate,
    RunList,
    RunPublish,
    RunResume,
    RunRetryFailures,
)

PROJECT = "projects/<int:project_id>"
RUNS = f"{PROJECT}/runs"
RUN = f"{RUNS}/<int:run_id>"

urlpatterns = [
    path(RUNS, RunList.as_view(), name="api-runs"),
    path(f"{RUNS}/current", RunCurrent.as_view(), name="api-run-current"),
    path(f"{RUNS}/estimate", RunEstimate.as_view(), name="api-run-estimate"),
    path(f"{RUNS}/compare", RunCompare.as_view(), name="api-run-compare"),
    path(RUN, RunDetail.as_view(), name="api-run"),
    path(f"{RUN}/logs", RunLogs.as_view(), name="api-run-logs"),
    path(f"{RUN}/retry-failures", RunRetryFailures.as_view(), name="api-run-retry-failures"),
    path(f"{RUN}/resume", RunResume.as_view(), name="api-run-resume"),
    path(f"{RUN}/publish", RunPublish.as_view(), name="api-run-publish"),
    path(f"{RUN}/terms", RunTerms.as_view(), name="api-run-terms"),
    path(f"{RUN}/provisional", RunProvisional.as_view(), name="api-run-provisional"),
    path(f"{RUN}/issues", RunIssues.as_view(), name="api-run-issues"),
    path(f"{RUN}/refined", RunRefined.as_view(), name="api-run-refined"),
    path(f"{RUN}/failures", RunFailures.as_view(), name="api-run-failures"),
    path(f"{PROJECT}/provisional", ProvisionalList.as_view(), name="api-provisional"),
    path(
        f"{PROJECT}/provisional/<int:provisional_id>",
        ProvisionalDetail.as_view(),
        name="api-provisional-entry",
    ),
    path(f"{PROJECT}/issues", IssueList.as_view(), name="api-issues"),
    path(f"{PROJECT}/issues/<int:issue_id>", IssueDetail.as_view(), name="api-issue"),
    path(f"{PROJECT}/refined", RefinedList.as_view(), name="api-refined"),
    path(f"{PROJECT}/refined/export", RefinedExport.as_view(), name="api-refined-export"),
    # The address that older programs know.
    path(f"{PROJECT}/refined/export-md", RefinedMarkdown.as_view(), name="api-refined-markdown"),
    path(f"{PROJECT}/refined/<int:refined_id>", RefinedDetail.as_view(), name="api-refined-entry"),
]
