"""The matrix: every URL, walked as everybody. A new URL fails here until it is in the table.

To enter one: its name and methods into `DOORS`, and a way to make what its arguments stand for into
`url_of`, unless there is one. What is made there is there for all who try the door.
"""

from collections.abc import Callable
from enum import IntEnum
from uuid import UUID

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from collection.choices import RunStatus
from collection.models import Repository
from glossary_site.jobs.services.definitions import create_definition
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.people.models import ApiToken
from glossary_site.people.services import create_token
from indexing.models import FolderSource
from projects.choices import TermStatus
from projects.models import Membership, SynonymGroup, Term
from tests import factories
from tests.collection.factories import (
    make_branch,
    make_collection,
    make_commit,
    make_repository,
)
from tests.jobs.scene import make_worker
from tests.llm.working import enqueued, questions
from tests.runs.made import add_entries, add_issue, make_run
from tests.undoing import undone


class Who(IntEnum):
    """Who a door opens for; each includes the ones after it."""

    EVERYBODY = 0
    SIGNED_IN = 1
    VIEWER = 2
    EDITOR = 3
    OWNER = 4
    # Of the whole site: the superuser here; what single permissions open is in tests/jobs.
    OPERATOR = 5


# name of the URL: {method: who may}
DOORS: dict[str, dict[str, Who]] = {
    "healthz": {"get": Who.EVERYBODY},
    "set_language": {"post": Who.EVERYBODY},
    "sign-in": {"get": Who.EVERYBODY, "post": Who.EVERYBODY},
    "sign-out": {"post": Who.SIGNED_IN},
    "account": {"get": Who.SIGNED_IN},
    "password-change": {"get": Who.SIGNED_IN, "post": Who.SIGNED_IN},
    "token-create": {"post": Who.SIGNED_IN},
    "project-list": {"get": Who.SIGNED_IN},
    "project-create": {"get": Who.SIGNED_IN, "post": Who.SIGNED_IN},
    "project": {"get": Who.VIEWER},
    "project-head": {"get": Who.VIEWER},
    "project-activity": {"get": Who.VIEWER},
    "project-members": {"get": Who.VIEWER, "post": Who.OWNER},
    "member-change": {"post": Who.OWNER},
    "member-remove": {"post": Who.OWNER},
    "project-settings": {"get": Who.OWNER, "post": Who.OWNER},
    "project-llm": {"get": Who.OWNER, "post": Who.OWNER},
    "project-llm-test": {"post": Who.OWNER},
    "project-clone": {"post": Who.VIEWER},
    "project-delete": {"post": Who.OWNER},
    "project-work": {"get": Who.VIEWER},
    "work-job-cancel": {"post": Who.EDITOR},
    "work-job-retry": {"post": Who.EDITOR},
    "work-process-cancel": {"post": Who.EDITOR},
    "work-process-retry": {"post": Who.EDITOR},
    "operations": {"get": Who.OPERATOR},
    "node-drain": {"post": Who.OPERATOR},
    "node-undrain": {"post": Who.OPERATOR},
    "job-list": {"get": Who.OPERATOR},
    "job": {"get": Who.OPERATOR},
    "job-log": {"get": Who.OPERATOR},
    "job-cancel": {"post": Who.OPERATOR},
    "job-retry": {"post": Who.OPERATOR},
    "definition-list": {"get": Who.OPERATOR},
    "definition-switch": {"post": Who.OPERATOR},
    "definition-run": {"post": Who.OPERATOR},
    "llm-process-list": {"get": Who.OPERATOR},
    "llm-process": {"get": Who.OPERATOR},
    "llm-process-cancel": {"post": Who.OPERATOR},
    "llm-process-retry": {"post": Who.OPERATOR},
    "document-list": {"get": Who.VIEWER},
    "document": {"get": Who.VIEWER},
    "document-raw": {"get": Who.VIEWER},
    "document-history": {"get": Who.VIEWER},
    "document-diff": {"get": Who.VIEWER},
    "document-version": {"get": Who.VIEWER},
    "document-add": {"get": Who.EDITOR},
    "document-upload": {"post": Who.EDITOR},
    "document-paste": {"post": Who.EDITOR},
    "document-rename": {"get": Who.EDITOR, "post": Who.EDITOR},
    "document-delete": {"get": Who.EDITOR, "post": Who.EDITOR},
    "documents-delete": {"post": Who.EDITOR},
    "document-index": {"get": Who.VIEWER},
    "search": {"get": Who.SIGNED_IN},
    "project-search": {"get": Who.VIEWER},
    "project-index": {"get": Who.VIEWER},
    "index-rebuild": {"post": Who.EDITOR},
    "index-retry": {"post": Who.EDITOR},
    "index-retry-all": {"post": Who.EDITOR},
    "project-search-settings": {"get": Who.OWNER, "post": Who.OWNER},
    "project-folder": {"post": Who.OWNER},
    "folder-remove": {"post": Who.OWNER},
    "project-terms": {"get": Who.VIEWER, "post": Who.EDITOR},
    "term-add": {"get": Who.EDITOR, "post": Who.EDITOR},
    "term-suggest": {"get": Who.VIEWER},
    "term": {"get": Who.VIEWER, "post": Who.EDITOR},
    "term-edit": {"get": Who.EDITOR, "post": Who.EDITOR},
    "term-delete": {"post": Who.EDITOR},
    "term-synonyms": {"post": Who.EDITOR},
    "project-categories": {"get": Who.OWNER, "post": Who.OWNER},
    "category-change": {"post": Who.OWNER},
    "category-delete": {"post": Who.OWNER},
    "project-glossary": {"get": Who.VIEWER},
    "glossary-export": {"get": Who.VIEWER},
    "glossary-history": {"get": Who.VIEWER},
    "glossary-entry": {"get": Who.VIEWER},
    "entry-add": {"get": Who.EDITOR, "post": Who.EDITOR},
    "entry-edit": {"get": Who.EDITOR, "post": Who.EDITOR},
    "entry-unlock": {"post": Who.EDITOR},
    "entry-reviewed": {"post": Who.EDITOR},
    "entry-delete": {"post": Who.EDITOR},
    "revision-undo": {"post": Who.EDITOR},
    "batch-undo": {"post": Who.EDITOR},
    "project-runs": {"get": Who.VIEWER},
    "project-pipeline": {"get": Who.VIEWER},
    "run-start": {"post": Who.EDITOR},
    "run-compare": {"get": Who.VIEWER},
    "run": {"get": Who.VIEWER},
    "run-log": {"get": Who.VIEWER},
    "run-cancel": {"post": Who.EDITOR},
    "run-retry": {"post": Who.EDITOR},
    "run-resume": {"post": Who.EDITOR},
    "run-exclude": {"post": Who.EDITOR},
    "run-publish": {"post": Who.EDITOR},
    "run-undo": {"post": Who.EDITOR},
    "api-schema": {"get": Who.EVERYBODY},
    "api-docs": {"get": Who.EVERYBODY},
    "api-me": {"get": Who.SIGNED_IN},
    "api-projects": {"get": Who.SIGNED_IN, "post": Who.SIGNED_IN},
    "api-project": {"get": Who.VIEWER, "patch": Who.OWNER, "delete": Who.OWNER},
    "api-project-clone": {"post": Who.VIEWER},
    "api-llm-settings": {"get": Who.OWNER, "put": Who.OWNER, "delete": Who.OWNER},
    "api-llm-test": {"post": Who.OWNER},
    "api-members": {"get": Who.VIEWER, "post": Who.OWNER},
    "api-member": {"patch": Who.OWNER, "delete": Who.OWNER},
    "api-documents": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-documents-bulk": {"post": Who.EDITOR},
    "api-document": {"get": Who.VIEWER, "patch": Who.EDITOR, "delete": Who.EDITOR},
    "api-document-content": {"get": Who.VIEWER},
    "api-versions": {"get": Who.VIEWER},
    "api-version": {"get": Who.VIEWER},
    "api-version-diff": {"get": Who.VIEWER},
    "api-terms": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-terms-bulk": {"post": Who.EDITOR},
    "api-term": {"get": Who.VIEWER, "patch": Who.EDITOR, "delete": Who.EDITOR},
    "api-term-occurrences": {"get": Who.VIEWER},
    "api-excluded-terms": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-excluded-term": {"delete": Who.EDITOR},
    "api-required-terms": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-required-term": {"delete": Who.EDITOR},
    "api-synonym-groups": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-synonym-group": {"get": Who.VIEWER, "patch": Who.EDITOR, "delete": Who.EDITOR},
    "api-synonym-members": {"post": Who.EDITOR},
    "api-synonym-member": {"delete": Who.EDITOR},
    "api-term-categories": {"get": Who.VIEWER, "post": Who.OWNER},
    "api-term-category": {"patch": Who.OWNER, "delete": Who.OWNER},
    "api-glossary": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-glossary-export": {"get": Who.VIEWER},
    "api-glossary-history": {"get": Who.VIEWER},
    "api-entry": {"get": Who.VIEWER, "patch": Who.EDITOR, "delete": Who.EDITOR},
    "api-entry-unlock": {"post": Who.EDITOR},
    "api-entry-revisions": {"get": Who.VIEWER},
    "api-revision-undo": {"post": Who.EDITOR},
    "api-publication-undo": {"post": Who.EDITOR},
    "api-events": {"get": Who.VIEWER},
    "api-events-stream": {"get": Who.VIEWER},
    "api-work": {"get": Who.VIEWER},
    "api-work-job-cancel": {"post": Who.EDITOR},
    "api-work-job-retry": {"post": Who.EDITOR},
    "api-work-process-cancel": {"post": Who.EDITOR},
    "api-work-process-retry": {"post": Who.EDITOR},
    "api-search": {"get": Who.SIGNED_IN},
    "api-project-search": {"get": Who.VIEWER},
    "api-sections": {"get": Who.VIEWER},
    "api-index": {"get": Who.VIEWER},
    "api-index-requests": {"get": Who.VIEWER},
    "api-index-request-retry": {"post": Who.EDITOR},
    "api-index-retry": {"post": Who.EDITOR},
    "api-index-rebuild": {"post": Who.EDITOR},
    "api-runs": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-run-current": {"get": Who.VIEWER},
    "api-run-estimate": {"get": Who.VIEWER},
    "api-run-compare": {"get": Who.VIEWER},
    "api-run": {"get": Who.VIEWER, "delete": Who.EDITOR},
    "api-run-logs": {"get": Who.VIEWER},
    "api-run-retry-failures": {"post": Who.EDITOR},
    "api-run-resume": {"post": Who.EDITOR},
    "api-run-publish": {"post": Who.EDITOR},
    "api-run-terms": {"get": Who.VIEWER},
    "api-run-provisional": {"get": Who.VIEWER},
    "api-run-issues": {"get": Who.VIEWER},
    "api-run-refined": {"get": Who.VIEWER},
    "api-run-failures": {"get": Who.VIEWER},
    "api-provisional": {"get": Who.VIEWER},
    "api-provisional-entry": {"get": Who.VIEWER},
    "api-issues": {"get": Who.VIEWER},
    "api-issue": {"get": Who.VIEWER},
    "api-refined": {"get": Who.VIEWER},
    "api-refined-entry": {"get": Who.VIEWER},
    "api-refined-export": {"get": Who.VIEWER},
    "api-refined-markdown": {"get": Who.VIEWER},
    "repositories": {"get": Who.VIEWER},
    "repository-add": {"get": Who.OWNER, "post": Who.OWNER},
    "repository": {"get": Who.VIEWER},
    "repository-edit": {"get": Who.OWNER, "post": Who.OWNER},
    "repository-test": {"post": Who.OWNER},
    "repository-enable": {"post": Who.OWNER},
    "repository-remove": {"get": Who.OWNER, "post": Who.OWNER},
    "collection-runs": {"get": Who.VIEWER},
    "collection-start": {"post": Who.EDITOR},
    "collection-run": {"get": Who.VIEWER},
    "collection-cancel": {"post": Who.EDITOR},
    "collection-retry": {"post": Who.EDITOR},
    "collection-resume": {"post": Who.EDITOR},
    "statistics": {"get": Who.VIEWER},
    "statistics-export": {"get": Who.VIEWER},
    "statistics-filters": {"post": Who.EDITOR},
    "statistics-filter-rename": {"post": Who.EDITOR},
    "statistics-filter-delete": {"post": Who.EDITOR},
    "authors": {"get": Who.VIEWER, "post": Who.EDITOR},
    "commits": {"get": Who.VIEWER},
    "commit": {"get": Who.VIEWER},
    "branch-remove": {"get": Who.OWNER, "post": Who.OWNER},
    "api-repositories": {"get": Who.VIEWER, "post": Who.OWNER},
    "api-repository-try": {"post": Who.OWNER},
    "api-repository": {"get": Who.VIEWER, "patch": Who.OWNER, "delete": Who.OWNER},
    "api-repository-test": {"post": Who.OWNER},
    "api-branches": {"get": Who.VIEWER},
    "api-branch-impact": {"get": Who.OWNER},
    "api-branch-commits": {"delete": Who.OWNER},
    "api-commits": {"get": Who.VIEWER},
    "api-commit": {"get": Who.VIEWER},
    "api-statistics": {"get": Who.VIEWER},
    "api-saved-filters": {"get": Who.VIEWER, "post": Who.EDITOR},
    "api-saved-filter": {"get": Who.VIEWER, "patch": Who.EDITOR, "delete": Who.EDITOR},
    "api-authors": {"get": Who.VIEWER},
    "api-author-merge": {"post": Who.EDITOR},
    "api-author-split": {"post": Who.EDITOR},
    "api-author-merge-undo": {"post": Who.EDITOR},
    # Over all projects: no body names one.
    "api-collections": {"get": Who.SIGNED_IN, "post": Who.OPERATOR},
    "api-collection": {"get": Who.VIEWER, "delete": Who.EDITOR},
    "api-collection-retry": {"post": Who.EDITOR},
    "api-collection-resume": {"post": Who.EDITOR},
    "api-collection-results": {"get": Who.VIEWER},
    "api-collection-summary": {"get": Who.VIEWER},
    "api-operations": {"get": Who.OPERATOR},
    "api-jobs": {"get": Who.OPERATOR},
    "api-job": {"get": Who.OPERATOR},
    "api-job-cancel": {"post": Who.OPERATOR},
    "api-job-retry": {"post": Who.OPERATOR},
    "api-job-logs": {"get": Who.OPERATOR},
    "api-workers": {"get": Who.OPERATOR},
    "api-node-drain": {"post": Who.OPERATOR},
    "api-node-undrain": {"post": Who.OPERATOR},
    "api-definitions": {"get": Who.OPERATOR},
    "api-definition": {"get": Who.OPERATOR, "patch": Who.OPERATOR},
    "api-definition-run": {"post": Who.OPERATOR},
    "api-trigger-events": {"post": Who.OPERATOR},
    "api-llm-processes": {"get": Who.OPERATOR},
    "api-llm-process": {"get": Who.OPERATOR},
    "api-llm-process-cancel": {"post": Who.OPERATOR},
    "api-llm-process-retry": {"post": Who.OPERATOR},
}
PEOPLE = {
    "anonymous": Who.EVERYBODY,
    "outsider": Who.SIGNED_IN,
    "viewer": Who.VIEWER,
    "editor": Who.EDITOR,
    "owner": Who.OWNER,
    "superuser": Who.OPERATOR,
}


def patterns(resolver, prefix="") -> dict[str | None, set[str]]:
    """Every URL name of the site with the arguments it takes; the admin has its own tests."""
    found: dict[str | None, set[str]] = {}
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            found[entry.name] = set(entry.pattern.converters) | (
                {"project_id"} if "project_id" in prefix else set()
            )
        elif getattr(entry, "namespace", None) != "admin":
            found |= patterns(entry, prefix + str(entry.pattern))
    return found


# The nameless one answers unknown addresses under /api/ with a coded 404.
# A token belongs to one person, not to a role: its own test is below.
# The metrics are for operators and scrapers: tests/observe/test_metrics.py.
URLS = {
    name: arguments
    for name, arguments in patterns(get_resolver()).items()
    if name not in (None, "token-revoke", "metrics")
}


def test_the_table_names_every_url():
    assert set(DOORS) == set(URLS)


@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name, methods in DOORS.items() for method in methods]
)
def test_a_door_opens_for_exactly_those_it_should(request, project, sign_in, name, method):
    """One scene for all who try the door: what one of them does there is undone for the next."""
    url = url_of(name, project, request.getfixturevalue("viewer"))
    options = {"content_type": "application/json"} if name.startswith("api-") else {}
    wrong = {}
    for person in PEOPLE:
        client = Client() if person == "anonymous" else sign_in(request.getfixturevalue(person))
        with undone():
            response = getattr(client, method)(url, **options)
        if (expected := answer_for(person, name, method))(response):
            continue
        wrong[person] = (expected.__doc__, response.status_code, response.content[:300])
    assert wrong == {}


def answer_for(person: str, name: str, method: str) -> Callable[[HttpResponse], bool]:
    needed = DOORS[name][method]
    if PEOPLE[person] >= needed:
        return leaves if name == "sign-out" else is_let_in
    if person == "anonymous":
        return is_asked_for_a_token if name.startswith("api-") else to_sign_in
    if person == "outsider" and needed is not Who.OPERATOR:
        return sees_nothing
    return is_refused


def leaves(response) -> bool:
    """is let in, and is then to sign in again"""
    return response.status_code < 500 and response.status_code not in (401, 403, 404)


def is_let_in(response) -> bool:
    """is let in"""
    return leaves(response) and not to_sign_in(response)


def is_asked_for_a_token(response) -> bool:
    """401"""
    return response.status_code == 401


def to_sign_in(response) -> bool:
    """is to sign in"""
    return response.status_code == 302 and response.url.startswith(reverse("sign-in"))


def sees_nothing(response) -> bool:
    """404"""
    return response.status_code == 404


def is_refused(response) -> bool:
    """403"""
    return response.status_code == 403


def url_of(name, project, viewer) -> str:
    make = {
        "project_id": lambda: project.pk,
        "document_id": lambda: factories.make_document(project).pk,
        "number": lambda: 1,
        "user_id": lambda: viewer.pk,
        "member_id": lambda: Membership.objects.get(user=viewer).pk,
        "request_id": lambda: factories.make_document(project).index_requests.get().pk,
        "folder_id": lambda: FolderSource.objects.create(project=project, directory="/srv/docs").pk,
        "run_id": lambda: run_id_for(name, project),
        "repository_id": lambda: repository_of(project).pk,
        "branch_id": lambda: repository_of(project).branches.get().pk,
        "commit_id": lambda: make_commit(repository_of(project).branches.get()).pk,
        "merge_id": lambda: 1,
        "filter_id": lambda: project.statistics_filters.create(name="All").pk,
        "definition_id": lambda: (
            create_definition(actor="tests", name="nightly", kind="work.note", cron="17 3 * * *").pk
        ),
        "process_id": lambda: enqueued(questions(1), scope=project.stream).pk,
        "node": lambda: make_worker().node,
        "term_id": lambda: term_for(name, project).pk,
        "group_id": lambda: group_of(project).pk,
        "key": lambda: factories.make_category(project).key,
        "category_id": lambda: factories.make_category(project).pk,
        "entry_id": lambda: factories.make_entry(project).pk,
        "revision_id": lambda: factories.make_entry(project).revisions.get().pk,
        "batch": lambda: factories.make_entry(project).revisions.get().batch,
        "format": lambda: "csv" if name == "statistics-export" else "json",
        "provisional_id": lambda: row_of_run(project, "provisional"),
        "refined_id": lambda: row_of_run(project, "refined"),
        "issue_id": lambda: add_issue(make_run(project), "berth").pk,
    }
    if name in ("api-run-current", "api-refined-export", "api-refined-markdown"):
        # They show what the newest run has made.
        make_run(project)
    return reverse(name, kwargs={key: make[key]() for key in URLS[name]})


def run_id_for(name: str, project) -> int | UUID:
    """Jobs and collections have runs too."""
    if name.removeprefix("api-").startswith("collection"):
        targets = [(repository_of(project), "main")]
        return make_collection(project, targets, status=RunStatus.COMPLETED).pk
    if name.removeprefix("api-").startswith("run"):
        return make_run(project).pk
    return enqueue("work.note", scope=project.stream).pk


def repository_of(project) -> Repository:
    """One that nobody needs a network to ask."""
    found = project.repositories.first()
    if found is None:
        found = make_repository(project, kind="local", address="/nowhere")
        make_branch(found)
    return found


def row_of_run(project, table: str) -> int:
    run = make_run(project)
    add_entries(run, {"berth": "A place for a ship."})
    return getattr(run, table).get().pk


def group_of(project) -> SynonymGroup:
    return project.synonym_groups.first() or factories.make_group(project)


def term_for(name: str, project) -> Term:
    """Some doors are only for terms that are on a list, or in a group."""
    if name == "api-synonym-member":
        group = group_of(project)
        return next(term for term in group.terms.all() if term.pk != group.primary_id)
    status = {"api-excluded-term": "excluded", "api-required-term": "required"}.get(name)
    return factories.make_term(project, status=status or TermStatus.CANDIDATE)


def test_a_superuser_is_an_owner_everywhere(project, superuser, sign_in):
    assert sign_in(superuser).get(reverse("project-settings", args=[project.pk])).status_code == 200


def test_other_peoples_tokens_cannot_be_revoked(owner, outsider, sign_in):
    token, _ = create_token(user=owner, name="bot")
    sign_in(outsider).post(reverse("token-revoke", args=[token.pk]))
    assert ApiToken.objects.filter(pk=token.pk).exists()
    sign_in(owner).post(reverse("token-revoke", args=[token.pk]))
    assert not ApiToken.objects.filter(pk=token.pk).exists()
