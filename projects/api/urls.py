"""Addresses without a trailing slash; `ApiMiddleware` takes them with one as well."""

from django.urls import path

from projects.api.documents import DocumentBulk, DocumentContent, DocumentDetail, DocumentList
from projects.api.events import EventList, EventStream
from projects.api.llm_settings import LlmSettings, LlmTest
from projects.api.members import Me, MemberDetail, MemberList
from projects.api.projects import ProjectClone, ProjectDetail, ProjectList
from projects.api.versions import VersionDetail, VersionDiff, VersionList
from projects.api.work import JobCancel, JobRetry, ProcessCancel, ProcessRetry, Work

PROJECT = "projects/<int:project_id>"
DOCUMENT = f"{PROJECT}/documents/<int:document_id>"
VERSION = f"{DOCUMENT}/versions/<int:number>"
JOB = f"{PROJECT}/work/jobs/<int:run_id>"
PROCESS = f"{PROJECT}/work/llm/<uuid:process_id>"

urlpatterns = [
    path("me", Me.as_view(), name="api-me"),
    path("projects", ProjectList.as_view(), name="api-projects"),
    path(PROJECT, ProjectDetail.as_view(), name="api-project"),
    path(f"{PROJECT}/clone", ProjectClone.as_view(), name="api-project-clone"),
    path(f"{PROJECT}/llm-settings", LlmSettings.as_view(), name="api-llm-settings"),
    path(f"{PROJECT}/llm-settings/test", LlmTest.as_view(), name="api-llm-test"),
    path(f"{PROJECT}/members", MemberList.as_view(), name="api-members"),
    path(f"{PROJECT}/members/<int:user_id>", MemberDetail.as_view(), name="api-member"),
    path(f"{PROJECT}/documents", DocumentList.as_view(), name="api-documents"),
    path(f"{PROJECT}/documents/bulk", DocumentBulk.as_view(), name="api-documents-bulk"),
    path(DOCUMENT, DocumentDetail.as_view(), name="api-document"),
    path(f"{DOCUMENT}/content", DocumentContent.as_view(), name="api-document-content"),
    path(f"{DOCUMENT}/versions", VersionList.as_view(), name="api-versions"),
    path(VERSION, VersionDetail.as_view(), name="api-version"),
    path(f"{VERSION}/diff", VersionDiff.as_view(), name="api-version-diff"),
    path(f"{PROJECT}/work", Work.as_view(), name="api-work"),
    path(f"{JOB}/cancel", JobCancel.as_view(), name="api-work-job-cancel"),
    path(f"{JOB}/retry", JobRetry.as_view(), name="api-work-job-retry"),
    path(f"{PROCESS}/cancel", ProcessCancel.as_view(), name="api-work-process-cancel"),
    path(f"{PROCESS}/retry", ProcessRetry.as_view(), name="api-work-process-retry"),
    path(f"{PROJECT}/events", EventList.as_view(), name="api-events"),
    path(f"{PROJECT}/events/stream", EventStream.as_view(), name="api-events-stream"),
]
