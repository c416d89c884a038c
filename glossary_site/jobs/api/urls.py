"""Addresses without a trailing slash; `ApiMiddleware` takes them with one as well."""

from django.urls import path

from glossary_site.jobs.api.definitions import (
    DefinitionDetail,
    DefinitionList,
    DefinitionRun,
    EventReceive,
)
from glossary_site.jobs.api.runs import (
    JobCancel,
    JobDetail,
    JobList,
    JobLogs,
    JobRetry,
    Operations,
)
from glossary_site.jobs.api.workers import NodeDrain, NodeUndrain, WorkerList

JOB = "jobs/<int:run_id>"
DEFINITION = "job-definitions/<int:definition_id>"
# The name of a node has a slash in it.
NODE = "workers/<path:node>"

urlpatterns = [
    path("operations", Operations.as_view(), name="api-operations"),
    path("jobs", JobList.as_view(), name="api-jobs"),
    path(JOB, JobDetail.as_view(), name="api-job"),
    path(f"{JOB}/cancel", JobCancel.as_view(), name="api-job-cancel"),
    path(f"{JOB}/retry", JobRetry.as_view(), name="api-job-retry"),
    path(f"{JOB}/logs", JobLogs.as_view(), name="api-job-logs"),
    path("workers", WorkerList.as_view(), name="api-workers"),
    path(f"{NODE}/drain", NodeDrain.as_view(), name="api-node-drain"),
    path(f"{NODE}/undrain", NodeUndrain.as_view(), name="api-node-undrain"),
    path("job-definitions", DefinitionList.as_view(), name="api-definitions"),
    path(DEFINITION, DefinitionDetail.as_view(), name="api-definition"),
    path(f"{DEFINITION}/run", DefinitionRun.as_view(), name="api-definition-run"),
    path("events", EventReceive.as_view(), name="api-trigger-events"),
]
