"""Schemathesis reads our own schema and sends what it allows, and what it does not."""

import os
import subprocess
from typing import Any

import hypothesis
import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.core.wsgi import get_wsgi_application
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, Phase, given
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from collection.choices import RunStatus
from collection.identities import Identity
from collection.models import Author, AuthorAlias
from collection.services.authors import merge_authors
from collection.services.ending import give_up
from glossary_site.jobs.services.definitions import create_definition
from glossary_site.jobs.services.enqueue import enqueue
from glossary_site.people.services import create_token
from indexing.models import IndexRequest
from indexing.services.requests import fail, take
from projects.access import OPERATOR
from runs.choices import Status
from tests.collection.factories import (
    make_branch,
    make_collection,
    make_commit,
    make_repository,
    make_touches,
)
from tests.factories import make_category, make_document, make_entry, make_group, make_term
from tests.jobs.scene import allow, make_worker
from tests.llm.working import enqueued, questions, work_to_end
from tests.runs.made import add_entries, add_failure, add_issue, make_run

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
schema = schemathesis.openapi.from_wsgi("/api/schema?format=json", get_wsgi_application())
OPERATIONS = {
    result.ok().label: result.ok()
    for result in schema.get_all_operations()
    if isinstance(result, Ok)
}
# A stream has no end.
del OPERATIONS["GET /api/projects/{project_id}/events/stream"]
del OPERATIONS["GET /api/projects/{project_id}/runs/{run_id}/logs"]
ADA = {"name": "Ada Lovelace", "email": "ada@example.com"}
GRACE = {"name": "Grace Hopper", "email": "grace@example.org"}
# What hardly any made-up text is fit for: an edit of the version that is there, names, addresses.
SENSIBLE = {
    "PATCH /api/projects/{project_id}/glossary/{entry_id}": {"version": 1, "definition": "x"},
    "POST /api/projects/{project_id}/synonym-groups": {"primary": "a", "members": ["b"]},
    "POST /api/projects/{project_id}/repositories": {"address": "https://9.9.9.9/quay.git"},
    "PATCH /api/projects/{project_id}/repositories/{repository_id}": {"name": "x"},
    "POST /api/projects/{project_id}/statistics/filters": {"name": "x", "filter": {"by": "author"}},
    "PATCH /api/projects/{project_id}/statistics/filters/{filter_id}": {"name": "x"},
    "POST /api/projects/{project_id}/authors/merge": {"into": ADA, "identities": [GRACE]},
    "POST /api/projects/{project_id}/authors/split": {"name": "A. L.", "email": ""},
    "POST /api/bulk-collections": {},
}
TRY = "POST /api/projects/{project_id}/repositories/test"
PEOPLE = (ADA, GRACE)
COLLECTING = ("repositories", "commits", "statistics", "authors", "bulk-collections")

budget = hypothesis.settings(
    # Every operation, but few examples of each: `make fuzz` sends more.
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "4")),
    derandomize=True,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture
def one_connection(db):
    """Requests would otherwise close the connection in which the test's transaction lives."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.fixture
def world(one_connection, project, owner, viewer, outsider):
    """Things that exist, so that requests get past the first 404."""
    allow(owner, "view_jobrun", "change_jobrun", "add_triggerevent", "collect_all")
    _token, secret = create_token(user=owner, name="fuzz")
    make_document(project, "guide/a.md", "# A\n")
    document = make_document(project, "guide/a.md", "# B\n")
    group = make_group(project)
    entry = make_entry(project)
    numbers = {
        "project_id": project.pk,
        "document_id": document.pk,
        "user_id": viewer.pk,
        "number": 2,
        "run_id": enqueue("work.note", scope=project.stream).pk,
        "definition_id": create_definition(
            actor="tests", name="nightly", kind="work.note", cron="17 3 * * *"
        ).pk,
        "node": make_worker().node,
        "process_id": enqueued(questions(1), scope=project.stream).pk,
        "term_id": group.terms.exclude(pk=group.primary_id)[0].pk,
        "group_id": group.pk,
        "key": make_category(project).key,
        "entry_id": entry.pk,
        "revision_id": entry.revisions.get().pk,
        "batch": str(entry.revisions.get().batch),
        # Only one that has failed can be tried again.
        "request_id": failed_request(project).pk,
    }
    return {"Authorization": f"Bearer {secret}"}, numbers


def numbers_of_run(project, label: str) -> dict[str, int]:
    """A run that can be done what is asked for. Jobs have runs too, which are others."""
    status, done = Status.COMPLETED, None
    if label.startswith("DELETE"):
        status, done = Status.RUNNING, 0
    elif label.endswith("/resume"):
        status, done = Status.CANCELLED, 0
    run = make_run(project, status=status, done=done)
    add_entries(run, {"berth": "A place for a ship."})
    add_failure(run, "quay")
    return {
        "run_id": run.pk,
        "provisional_id": run.provisional.get().pk,
        "refined_id": run.refined.get().pk,
        "issue_id": add_issue(run, "berth").pk,
    }


def numbers_of_collection(project, label: str) -> dict[str, Any]:
    """A repository that is asked without a network, and a collection that can be done what is
    asked for."""
    repository = make_repository(project, kind="local", address="/nowhere")
    branch = make_branch(repository)
    commits = [make_commit(branch, author_name=a["name"], author_email=a["email"]) for a in PEOPLE]
    make_touches(commits[0], ["docs/a.md"])
    author = Author.objects.create(project=project, **ADA)
    AuthorAlias.objects.create(project=project, author=author, name="A. L.", email="")
    numbers = {
        "repository_id": repository.pk,
        "branch_id": branch.pk,
        "commit_id": commits[0].pk,
        "filter_id": project.statistics_filters.create(name="All").pk,
    }
    if "{merge_id}" in label:
        people = [Identity(**each) for each in PEOPLE]
        merged = merge_authors(
            project=project, into=people[0], identities=people[1:], actor=OPERATOR
        )
        numbers["merge_id"] = merged.entry_id
    if "{run_id}" in label:
        status = RunStatus.RUNNING if label.startswith("DELETE") else RunStatus.CANCELLED
        run = make_collection(project, [(repository, "main")], status=status)
        if label.endswith("/retry"):
            give_up(run.results.get(), "The repository is gone.")
        numbers["run_id"] = str(run.pk)
    return numbers


def failed_request(project) -> IndexRequest:
    (claim,) = take(project.pk, limit=1)
    assert fail(claim, "ValueError: no luck")
    return IndexRequest.objects.get(pk=claim.request_id)


@pytest.mark.parametrize("label", OPERATIONS)
def test_nothing_breaks_and_the_schema_is_true(
    world, project, label, settings, tmp_path, monkeypatch
):
    """What the schema allows, then what it does not; no request finds traces of another."""
    headers, numbers = world
    if "{process_id}/retry" in label:
        # Only one that has ended can be tried again.
        numbers["process_id"] = work_to_end(enqueued(questions(1), scope=project.stream)).pk
    for listed in ("excluded", "required"):
        if f"{listed}-terms/{{term_id}}" in label:
            numbers["term_id"] = make_term(project, status=listed).pk
    if any(f"/{word}" in label for word in ("runs", "provisional", "issues", "refined")):
        numbers |= numbers_of_run(project, label)
    if any(f"/{word}" in label for word in COLLECTING):
        numbers |= numbers_of_collection(project, label)
    if label == TRY:
        settings.GIT_ROOTS = [tmp_path]
        subprocess.run(["git", "init", "--quiet", "--bare", tmp_path], check=True, timeout=20)
        monkeypatch.setitem(SENSIBLE, label, {"address": str(tmp_path)})
    allowed = statuses_of(label, GenerationMode.POSITIVE, headers, numbers)
    assert {200, 201, 202, 204, 304} & allowed, "no request got through"
    statuses_of(label, GenerationMode.NEGATIVE, headers, numbers)


def statuses_of(label: str, mode: GenerationMode, headers: dict, numbers: dict) -> set[int]:
    statuses: set[int] = set()

    @budget
    @given(case=OPERATIONS[label].as_strategy(generation_mode=mode))
    def check(case):
        for name, value in case.path_parameters.items():
            # Most requests are about what exists; the rest keep the number that was made up.
            if sum(map(ord, str(value))) % 4:
                case.path_parameters[name] = numbers[name]
        if isinstance(case.body, dict) and "username" in case.body and len(statuses) < 2:
            case.body["username"] = "otto"
        if label in SENSIBLE and len(statuses) < 2 and mode is GenerationMode.POSITIVE:
            case.body = SENSIBLE[label]
        if case.query and "older" in case.query and len(statuses) < 2:
            case.query = {"older": numbers["run_id"], "newer": numbers["run_id"]}
        with transaction.atomic():
            response = case.call(headers=headers)
            transaction.set_rollback(True)
        case.validate_response(response, checks=CHECKS)
        statuses.add(response.status_code)

    check()
    return statuses
