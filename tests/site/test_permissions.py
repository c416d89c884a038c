"""The matrix: every URL, walked as everybody. A new URL fails here until it is in the table."""

from enum import IntEnum

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver, reverse

from glossary_site.jobs.services.definitions import create_definition
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.people.models import ApiToken
from glossary_site.people.services import create_token
from indexing.models import FolderSource
from projects.models import Membership
from tests import factories
from tests.jobs.scene import make_worker
from tests.llm.working import enqueued, questions


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


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize(
    ("name", "method"), [(name, method) for name, methods in DOORS.items() for method in methods]
)
def test_a_door_opens_for_exactly_those_it_should(request, project, sign_in, name, method, person):
    url = url_of(name, project, request.getfixturevalue("viewer"))
    client = Client() if person == "anonymous" else sign_in(request.getfixturevalue(person))
    needed = DOORS[name][method]
    options = {"content_type": "application/json"} if name.startswith("api-") else {}
    response = getattr(client, method)(url, **options)
    status = response.status_code
    if PEOPLE[person] >= needed:
        assert status not in (401, 403, 404), response.content[:300]
        assert not to_sign_in(response) or name == "sign-out"
        assert status < 500
    elif person == "anonymous":
        assert status == 401 if name.startswith("api-") else to_sign_in(response)
    elif person == "outsider" and needed is not Who.OPERATOR:
        assert status == 404
    else:
        assert status == 403


def url_of(name, project, viewer) -> str:
    make = {
        "project_id": lambda: project.pk,
        "document_id": lambda: factories.make_document(project).pk,
        "number": lambda: 1,
        "user_id": lambda: viewer.pk,
        "member_id": lambda: Membership.objects.get(user=viewer).pk,
        "request_id": lambda: factories.make_document(project).index_requests.get().pk,
        "folder_id": lambda: FolderSource.objects.create(project=project, directory="/srv/docs").pk,
        "run_id": lambda: enqueue("work.note", scope=project.stream).pk,
        "definition_id": lambda: (
            create_definition(actor="tests", name="nightly", kind="work.note", cron="17 3 * * *").pk
        ),
        "process_id": lambda: enqueued(questions(1), scope=project.stream).pk,
        "node": lambda: make_worker().node,
    }
    return reverse(name, kwargs={key: make[key]() for key in URLS[name]})


def to_sign_in(response) -> bool:
    return response.status_code == 302 and response.url.startswith(reverse("sign-in"))


def test_a_superuser_is_an_owner_everywhere(project, superuser, sign_in):
    assert sign_in(superuser).get(reverse("project-settings", args=[project.pk])).status_code == 200


def test_other_peoples_tokens_cannot_be_revoked(owner, outsider, sign_in):
    token, _ = create_token(user=owner, name="bot")
    sign_in(outsider).post(reverse("token-revoke", args=[token.pk]))
    assert ApiToken.objects.filter(pk=token.pk).exists()
    sign_in(owner).post(reverse("token-revoke", args=[token.pk]))
    assert not ApiToken.objects.filter(pk=token.pk).exists()
