"""Addresses without a trailing slash; `ApiMiddleware` takes them with one as well."""

from django.urls import path

from projects.api.categories import CategoryDetail, CategoryList
from projects.api.documents import DocumentBulk, DocumentContent, DocumentDetail, DocumentList
from projects.api.events import EventList, EventStream
from projects.api.glossary import (
    EntryDetail,
    EntryList,
    EntryRevisions,
    EntryUnlock,
    GlossaryExport,
    PublicationUndo,
    RevisionList,
    RevisionUndo,
)
from projects.api.llm_settings import LlmSettings, LlmTest
from projects.api.members import Me, MemberDetail, MemberList
from projects.api.projects import ProjectClone, ProjectDetail, ProjectList
from projects.api.synonyms import GroupDetail, GroupList, GroupMember, GroupMembers
from projects.api.terms import (
    ExcludedTerm,
    ExcludedTerms,
    OccurrenceList,
    RequiredTerm,
    RequiredTerms,
    TermBulk,
    TermDetail,
    TermList,
)
from projects.api.versions import VersionDetail, VersionDiff, VersionList
from projects.api.work import JobCancel, JobRetry, ProcessCancel, ProcessRetry, Work

PROJECT = "projects/<int:project_id>"
DOCUMENT = f"{PROJECT}/documents/<int:document_id>"
VERSION = f"{DOCUMENT}/versions/<int:number>"
TERM = f"{PROJECT}/terms/<int:term_id>"
GROUP = f"{PROJECT}/synonym-groups/<int:group_id>"
GLOSSARY = f"{PROJECT}/glossary"
ENTRY = f"{GLOSSARY}/<int:entry_id>"
REVISION = f"{GLOSSARY}/revisions/<int:revision_id>"
PUBLICATION = f"{GLOSSARY}/publications/<uuid:batch>"
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
    path(f"{PROJECT}/terms", TermList.as_view(), name="api-terms"),
    path(f"{PROJECT}/terms/bulk", TermBulk.as_view(), name="api-terms-bulk"),
    path(TERM, TermDetail.as_view(), name="api-term"),
    path(f"{TERM}/occurrences", OccurrenceList.as_view(), name="api-term-occurrences"),
    path(f"{PROJECT}/excluded-terms", ExcludedTerms.as_view(), name="api-excluded-terms"),
    path(
        f"{PROJECT}/excluded-terms/<int:term_id>",
        ExcludedTerm.as_view(),
        name="api-excluded-term",
    ),
    path(f"{PROJECT}/required-terms", RequiredTerms.as_view(), name="api-required-terms"),
    path(
        f"{PROJECT}/required-terms/<int:term_id>",
        RequiredTerm.as_view(),
        name="api-required-term",
    ),
    path(f"{PROJECT}/synonym-groups", GroupList.as_view(), name="api-synonym-groups"),
    path(GROUP, GroupDetail.as_view(), name="api-synonym-group"),
    path(f"{GROUP}/members", GroupMembers.as_view(), name="api-synonym-members"),
    path(f"{GROUP}/members/<int:term_id>", GroupMember.as_view(), name="api-synonym-member"),
    path(f"{PROJECT}/term-categories", CategoryList.as_view(), name="api-term-categories"),
    path(
        f"{PROJECT}/term-categories/<slug:key>", CategoryDetail.as_view(), name="api-term-category"
    ),
    path(GLOSSARY, EntryList.as_view(), name="api-glossary"),
    path(f"{GLOSSARY}/export", GlossaryExport.as_view(), name="api-glossary-export"),
    path(f"{GLOSSARY}/revisions", RevisionList.as_view(), name="api-glossary-history"),
    path(f"{REVISION}/undo", RevisionUndo.as_view(), name="api-revision-undo"),
    path(f"{PUBLICATION}/undo", PublicationUndo.as_view(), name="api-publication-undo"),
    path(ENTRY, EntryDetail.as_view(), name="api-entry"),
    path(f"{ENTRY}/unlock", EntryUnlock.as_view(), name="api-entry-unlock"),
    path(f"{ENTRY}/revisions", EntryRevisions.as_view(), name="api-entry-revisions"),
    path(f"{PROJECT}/work", Work.as_view(), name="api-work"),
    path(f"{JOB}/cancel", JobCancel.as_view(), name="api-work-job-cancel"),
    path(f"{JOB}/retry", JobRetry.as_view(), name="api-work-job-retry"),
    path(f"{PROCESS}/cancel", ProcessCancel.as_view(), name="api-work-process-cancel"),
    path(f"{PROCESS}/retry", ProcessRetry.as_view(), name="api-work-process-retry"),
    path(f"{PROJECT}/events", EventList.as_view(), name="api-events"),
    path(f"{PROJECT}/events/stream", EventStream.as_view(), name="api-events-stream"),
]
