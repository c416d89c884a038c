"""Every endpoint as everybody: nobody, an outsider, and each role."""

import pytest
from django.urls import URLPattern
from rest_framework.test import APIClient

from collection.api.urls import urlpatterns as collection_urls
from collection.choices import RunStatus
from collection.models import Author, AuthorAlias
from glossary_site.jobs.services.enqueue import enqueue
from indexing.api.urls import urlpatterns as indexing_urls
from indexing.models import IndexRequest
from projects.api.urls import urlpatterns as project_urls
from projects.choices import Role
from projects.models import Project
from runs.api.urls import urlpatterns as run_urls
from tests.collection.factories import (
    make_branch,
    make_collection,
    make_commit,
    make_repository,
)
from tests.factories import (
    make_category,
    make_document,
    make_entry,
    make_group,
    make_member,
    make_term,
    make_user,
)
from tests.llm.working import enqueued, questions
from tests.runs.made import add_entries, add_issue, make_run
from tests.undoing import undone

ANYBODY, VIEWER, EDITOR, OWNER = range(4)
PEOPLE = ("outsider", "viewer", "editor", "owner")
PROJECT = "/api/projects/{project}"
DOCUMENT = PROJECT + "/documents/{document}"
JOB = PROJECT + "/work/jobs/{job}"
PROCESS = PROJECT + "/work/llm/{process}"
INDEX = PROJECT + "/index"
TERM = PROJECT + "/terms/{term}"
GROUP = PROJECT + "/synonym-groups/{group}"
GLOSSARY = PROJECT + "/glossary"
RUNS = PROJECT + "/runs"
RUN = RUNS + "/{run}"
ENTRY = GLOSSARY + "/{entry}"
REPOSITORIES = PROJECT + "/repositories"
REPOSITORY = REPOSITORIES + "/{repository}"
AUTHORS = PROJECT + "/authors"
FILTERS = PROJECT + "/statistics/filters"
COLLECTION = "/api/bulk-collections/{collection}"
ADA = {"name": "Ada Lovelace", "email": "ada@example.com"}
GRACE = {"name": "Grace Hopper", "email": "grace@example.org"}

# Method, address, body, the least that may do it, and the status they get.
ENDPOINTS = [
    ("get", "/api/me", None, ANYBODY, 200),
    ("get", "/api/projects", None, ANYBODY, 200),
    ("post", "/api/projects", {"name": "New"}, ANYBODY, 201),
    ("get", PROJECT, None, VIEWER, 200),
    ("patch", PROJECT, {"description": "New"}, OWNER, 200),
    ("delete", PROJECT, None, OWNER, 204),
    ("post", PROJECT + "/clone", {"name": "Copy"}, VIEWER, 201),
    ("get", PROJECT + "/llm-settings", None, OWNER, 200),
    ("put", PROJECT + "/llm-settings", {"kind": "builtin"}, OWNER, 200),
    ("delete", PROJECT + "/llm-settings", None, OWNER, 204),
    ("post", PROJECT + "/llm-settings/test", None, OWNER, 200),
    ("get", PROJECT + "/members", None, VIEWER, 200),
    ("post", PROJECT + "/members", {"username": "new", "role": "viewer"}, OWNER, 201),
    ("patch", PROJECT + "/members/{member}", {"role": "editor"}, OWNER, 200),
    ("delete", PROJECT + "/members/{member}", None, OWNER, 204),
    ("get", PROJECT + "/documents", None, VIEWER, 200),
    ("post", PROJECT + "/documents", {"path": "new.md", "content": "x"}, EDITOR, 201),
    (
        "post",
        PROJECT + "/documents/bulk",
        {"documents": [{"path": "new.md", "content": "x"}]},
        EDITOR,
        200,
    ),
    ("get", DOCUMENT, None, VIEWER, 200),
    ("patch", DOCUMENT, {"path": "renamed.md"}, EDITOR, 200),
    ("delete", DOCUMENT, None, EDITOR, 204),
    ("get", DOCUMENT + "/content", None, VIEWER, 200),
    ("get", DOCUMENT + "/versions", None, VIEWER, 200),
    ("get", DOCUMENT + "/versions/1", None, VIEWER, 200),
    ("get", DOCUMENT + "/versions/1/diff", None, VIEWER, 200),
    ("get", PROJECT + "/terms", None, VIEWER, 200),
    ("post", PROJECT + "/terms", {"text": "new"}, EDITOR, 201),
    ("post", PROJECT + "/terms/bulk", {"ids": [1], "action": "exclude"}, EDITOR, 200),
    ("get", TERM, None, VIEWER, 200),
    ("patch", TERM, {"notes": "New"}, EDITOR, 200),
    ("delete", TERM, None, EDITOR, 204),
    ("get", TERM + "/occurrences", None, VIEWER, 200),
    ("get", PROJECT + "/excluded-terms", None, VIEWER, 200),
    ("post", PROJECT + "/excluded-terms", {"text": "new"}, EDITOR, 201),
    ("delete", PROJECT + "/excluded-terms/{excluded}", None, EDITOR, 204),
    ("get", PROJECT + "/required-terms", None, VIEWER, 200),
    ("post", PROJECT + "/required-terms", {"text": "new"}, EDITOR, 201),
    ("delete", PROJECT + "/required-terms/{required}", None, EDITOR, 204),
    ("get", PROJECT + "/synonym-groups", None, VIEWER, 200),
    ("post", PROJECT + "/synonym-groups", {"primary": "a", "members": ["b"]}, EDITOR, 201),
    ("get", GROUP, None, VIEWER, 200),
    ("patch", GROUP, {}, EDITOR, 200),
    ("delete", GROUP, None, EDITOR, 204),
    ("post", GROUP + "/members", {"text": "new"}, EDITOR, 200),
    ("delete", GROUP + "/members/{synonym}", None, EDITOR, 204),
    ("get", PROJECT + "/term-categories", None, VIEWER, 200),
    ("post", PROJECT + "/term-categories", {"name": "New"}, OWNER, 201),
    ("patch", PROJECT + "/term-categories/{category}", {"name": "New"}, OWNER, 200),
    ("delete", PROJECT + "/term-categories/{category}", None, OWNER, 204),
    ("get", GLOSSARY, None, VIEWER, 200),
    ("post", GLOSSARY, {"term": "new", "definition": "x"}, EDITOR, 201),
    ("get", GLOSSARY + "/export", None, VIEWER, 200),
    ("get", GLOSSARY + "/revisions", None, VIEWER, 200),
    ("post", GLOSSARY + "/revisions/{revision}/undo", None, EDITOR, 200),
    ("post", GLOSSARY + "/publications/{batch}/undo", None, EDITOR, 200),
    ("get", ENTRY, None, VIEWER, 200),
    ("patch", ENTRY, {"version": 1, "definition": "New"}, EDITOR, 200),
    ("delete", ENTRY, None, EDITOR, 204),
    ("post", ENTRY + "/unlock", {"field": "definition"}, EDITOR, 200),
    ("get", ENTRY + "/revisions", None, VIEWER, 200),
    ("get", RUNS, None, VIEWER, 200),
    ("post", RUNS, {"scope": "full"}, EDITOR, 201),
    ("get", RUNS + "/current", None, VIEWER, 200),
    ("get", RUNS + "/estimate", None, VIEWER, 200),
    ("get", RUNS + "/compare", None, VIEWER, 400),
    ("get", RUN, None, VIEWER, 200),
    ("delete", RUN, None, EDITOR, 409),
    ("get", RUN + "/logs", None, VIEWER, 200),
    ("post", RUN + "/retry-failures", None, EDITOR, 409),
    ("post", RUN + "/resume", None, EDITOR, 409),
    ("post", RUN + "/publish", None, EDITOR, 200),
    ("get", RUN + "/terms", None, VIEWER, 200),
    ("get", RUN + "/provisional", None, VIEWER, 200),
    ("get", RUN + "/issues", None, VIEWER, 200),
    ("get", RUN + "/refined", None, VIEWER, 200),
    ("get", RUN + "/failures", None, VIEWER, 200),
    ("get", PROJECT + "/provisional", None, VIEWER, 200),
    ("get", PROJECT + "/provisional/{provisional}", None, VIEWER, 200),
    ("get", PROJECT + "/issues", None, VIEWER, 200),
    ("get", PROJECT + "/issues/{issue}", None, VIEWER, 200),
    ("get", PROJECT + "/refined", None, VIEWER, 200),
    ("get", PROJECT + "/refined/{refined}", None, VIEWER, 200),
    ("get", PROJECT + "/refined/export", None, VIEWER, 200),
    ("get", PROJECT + "/refined/export-md", None, VIEWER, 200),
    ("get", PROJECT + "/work", None, VIEWER, 200),
    ("post", JOB + "/cancel", None, EDITOR, 200),
    ("post", JOB + "/retry", None, EDITOR, 200),
    ("post", PROCESS + "/cancel", None, EDITOR, 200),
    ("post", PROCESS + "/retry", None, EDITOR, 409),
    ("get", "/api/search", None, ANYBODY, 200),
    ("get", PROJECT + "/search", None, VIEWER, 200),
    ("get", DOCUMENT + "/sections", None, VIEWER, 200),
    ("get", INDEX, None, VIEWER, 200),
    ("get", INDEX + "/requests", None, VIEWER, 200),
    ("post", INDEX + "/requests/{request}/retry", None, EDITOR, 409),
    ("post", INDEX + "/retry", None, EDITOR, 202),
    ("post", INDEX + "/rebuild", None, EDITOR, 202),
    ("get", REPOSITORIES, None, VIEWER, 200),
    ("post", REPOSITORIES, {"address": "https://9.9.9.9/quay.git"}, OWNER, 201),
    ("post", REPOSITORIES + "/test", {"address": "/nowhere"}, OWNER, 400),
    ("get", REPOSITORY, None, VIEWER, 200),
    ("patch", REPOSITORY, {"name": "New"}, OWNER, 200),
    ("delete", REPOSITORY, None, OWNER, 204),
    ("post", REPOSITORY + "/test", None, OWNER, 200),
    ("get", REPOSITORY + "/branches", None, VIEWER, 200),
    ("get", REPOSITORY + "/branches/{branch}/impact", None, OWNER, 200),
    ("delete", REPOSITORY + "/branches/{branch}/commits", None, OWNER, 200),
    ("get", PROJECT + "/commits", None, VIEWER, 200),
    ("get", PROJECT + "/commits/{commit}", None, VIEWER, 200),
    ("get", PROJECT + "/statistics", None, VIEWER, 200),
    ("get", FILTERS, None, VIEWER, 200),
    ("post", FILTERS, {"name": "New", "filter": {}}, EDITOR, 201),
    ("get", FILTERS + "/{filter}", None, VIEWER, 200),
    ("patch", FILTERS + "/{filter}", {"name": "New"}, EDITOR, 200),
    ("delete", FILTERS + "/{filter}", None, EDITOR, 204),
    ("get", AUTHORS, None, VIEWER, 200),
    ("post", AUTHORS + "/merge", {"into": ADA, "identities": [GRACE]}, EDITOR, 200),
    ("post", AUTHORS + "/split", {"name": "A. L.", "email": ""}, EDITOR, 200),
    ("post", AUTHORS + "/merges/{merge}/undo", None, EDITOR, 409),
    # Who may start one over which projects: tests/collection/api/test_collections.py.
    ("get", "/api/bulk-collections", None, ANYBODY, 200),
    ("get", COLLECTION, None, VIEWER, 200),
    ("delete", COLLECTION, None, EDITOR, 409),
    ("post", COLLECTION + "/retry", None, EDITOR, 409),
    ("post", COLLECTION + "/resume", None, EDITOR, 409),
    ("get", COLLECTION + "/results", None, VIEWER, 200),
    ("get", COLLECTION + "/summary", None, VIEWER, 200),
    ("get", PROJECT + "/events", None, VIEWER, 200),
    ("get", PROJECT + "/events/stream", None, VIEWER, 200),
]


def endpoint_id(endpoint) -> str:
    method, path, *_ = endpoint
    return f"{method} {path}"


@pytest.fixture
def address(project, editor, viewer):
    document = make_document(project)
    member = make_member(project, Role.VIEWER, make_user("member"))
    make_user("new")
    group = make_group(project)
    entry = make_entry(project)
    run = make_run(project)
    add_entries(run, {"berth": "A place for a ship."})
    repository = make_repository(project, kind="local", address="/nowhere")
    branch = make_branch(repository)
    commit = make_commit(branch)
    make_commit(branch, author_name=GRACE["name"], author_email=GRACE["email"])
    author = Author.objects.create(project=project, **ADA)
    AuthorAlias.objects.create(project=project, author=author, name="A. L.", email="")
    targets = [(repository, branch.name)]
    return {
        "project": project.pk,
        "document": document.pk,
        "member": member.pk,
        "job": enqueue("work.note", scope=project.stream).pk,
        "process": enqueued(questions(1), scope=project.stream).pk,
        "request": IndexRequest.objects.get(document=document).pk,
        "term": make_term(project).pk,
        "excluded": make_term(project, status="excluded").pk,
        "required": make_term(project, status="required").pk,
        "group": group.pk,
        "synonym": group.terms.exclude(pk=group.primary_id)[0].pk,
        "category": make_category(project).key,
        "entry": entry.pk,
        "revision": entry.revisions.get().pk,
        "batch": entry.revisions.get().batch,
        "run": run.pk,
        "provisional": run.provisional.get().pk,
        "refined": run.refined.get().pk,
        "issue": add_issue(run, "berth").pk,
        "repository": repository.pk,
        "branch": branch.pk,
        "commit": commit.pk,
        "merge": 1,
        "filter": project.statistics_filters.create(name="All").pk,
        "collection": make_collection(project, targets, status=RunStatus.COMPLETED).pk,
    }


def test_the_table_has_every_address():
    tested = {
        path.removeprefix("/api/").format(
            project="<int:project_id>",
            document="<int:document_id>",
            member="<int:user_id>",
            job="<int:run_id>",
            process="<uuid:process_id>",
            request="<int:request_id>",
            term="<int:term_id>",
            excluded="<int:term_id>",
            required="<int:term_id>",
            synonym="<int:term_id>",
            group="<int:group_id>",
            category="<slug:key>",
            entry="<int:entry_id>",
            revision="<int:revision_id>",
            batch="<uuid:batch>",
            run="<int:run_id>",
            provisional="<int:provisional_id>",
            refined="<int:refined_id>",
            issue="<int:issue_id>",
            repository="<int:repository_id>",
            branch="<int:branch_id>",
            commit="<int:commit_id>",
            merge="<int:merge_id>",
            filter="<int:filter_id>",
            collection="<uuid:run_id>",
        )
        for _method, path, *_rest in ENDPOINTS
    }
    named = {
        str(pattern.pattern).replace("<int:number>", "1")
        for pattern in (*project_urls, *indexing_urls, *run_urls, *collection_urls)
        if isinstance(pattern, URLPattern)
    }
    assert tested == named


def ask(client, endpoint, address):
    """The answer, of which nothing is left in the database."""
    method, path, body, *_ = endpoint
    with undone():
        response = getattr(client, method)(path.format(**address), body)
        response.project_left = Project.objects.filter(pk=address["project"]).exists()
    return response


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=endpoint_id)
def test_each_may_do_what_they_may(request, program, address, endpoint):
    """One scene for all who ask: each finds it as the first did."""
    _method, path, _body, least, status = endpoint
    seen, expected = {}, {}
    for level, person in enumerate(PEOPLE):
        client = program(request.getfixturevalue(person))
        response = ask(client, endpoint, address)
        if level >= least:
            seen[person], expected[person] = response.status_code, status
        elif level == ANYBODY:
            # Whether it exists is none of their business.
            missing = ask(client, endpoint, {**address, "project": 10**9})
            seen[person] = (response.status_code, response.json()["code"], response.json())
            expected[person] = (404, "not_found", missing.json())
        else:
            seen[person] = (response.status_code, response.json()["code"])
            expected[person] = (403, "permission_denied")
        if status == 204 and path == PROJECT:
            assert response.project_left == (level < least)
    seen["superuser"] = ask(
        program(request.getfixturevalue("superuser")), endpoint, address
    ).status_code
    expected["superuser"] = status
    assert seen == expected
    nobody = ask(asking_for_json(), endpoint, address)
    assert nobody.status_code == 401
    assert nobody["WWW-Authenticate"] == "Bearer"
    assert nobody.json()["code"] == "not_authenticated"


def asking_for_json() -> APIClient:
    client = APIClient()
    client.default_format = "json"
    return client


def test_a_token_of_somebody_who_left_is_worth_nothing(program, owner):
    client = program(owner)
    owner.is_active = False
    owner.save()
    response = client.get("/api/me")
    assert (response.status_code, response.json()["code"]) == (401, "invalid_token")
