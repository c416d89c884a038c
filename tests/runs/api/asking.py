"""What tests of the API of runs ask with, and about."""

from rest_framework.test import APIClient

from glossary_site.people.services import create_token
from runs.models import Run
from runs.services.ending import begin, complete_if_not_cancelled
from tests.runs.made import add_entries, make_run
from tests.runs.working import start_run


def program(user) -> APIClient:
    client = APIClient()
    client.default_format = "json"
    _token, secret = create_token(user=user, name="tests")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def ended(project, **fields) -> Run:
    """A run that did nothing, but is over."""
    run = start_run(project)
    assert begin(run)
    assert complete_if_not_cancelled(run)
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()
    return run


PLACE = {
    "document_id": 1,
    "path": "harbour/berths.md",
    "file_hash": "0" * 64,
    "line_start": 3,
    "line_end": 3,
    "heading_path": ["Berths"],
    "quote": "A berth is a place at the quay where a ship is moored.",
}


def made(project, **definitions: str) -> Run:
    """A run with these entries, the best first, as if it had written them."""
    run = make_run(project, provider="builtin")
    add_entries(run, definitions or {"quay": "A wall.", "berth": "A place."}, evidence=[PLACE])
    return run


def refused(response, status: int, code: str) -> dict:
    assert response.status_code == status, response.content
    body = response.json()
    assert body["code"] == code
    assert body["detail"]
    return body
