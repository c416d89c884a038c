"""The REST interface to LLM processes."""

import pytest
from rest_framework.test import APIClient

from glossary_site.people.services import create_token
from tests.jobs.scene import make_operator, make_watcher
from tests.llm.working import enqueued, questions, work_to_end

pytestmark = pytest.mark.django_db
ROOT = "/api/llm/processes"


def program(user) -> APIClient:
    client = APIClient()
    client.default_format = "json"
    _token, secret = create_token(user=user, name="tests")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


@pytest.fixture
def operator(db) -> APIClient:
    return program(make_operator())


def test_who_may(owner, operator):
    process = enqueued(questions(2))
    watcher = program(make_watcher())
    assert program(owner).get(ROOT).status_code == 403
    assert watcher.get(f"{ROOT}/{process.pk}").status_code == 200
    assert watcher.post(f"{ROOT}/{process.pk}/cancel").status_code == 403
    assert operator.post(f"{ROOT}/{process.pk}/cancel").status_code == 200


def test_list_and_filters(operator):
    waiting = enqueued(questions(2), scope="project:7")
    ended = work_to_end(enqueued(questions(1)))

    def found(query: str = "") -> list[str]:
        return [row["id"] for row in operator.get(f"{ROOT}?{query}").json()["results"]]

    assert found() == [str(ended.pk), str(waiting.pk)]
    assert found("ordering=created") == [str(waiting.pk), str(ended.pk)]
    assert found("active=true") == found("status=PENDING") == [str(waiting.pk)]
    assert found("scope=site") == found(f"q={ended.pk}") == [str(ended.pk)]
    assert found("strategy=batch") == []


def test_one_with_its_counts(operator):
    process = enqueued(questions(3), scope="project:7")
    seen = operator.get(f"{ROOT}/{process.pk}").json()
    assert (seen["status"], seen["total"], seen["pending"], seen["in_flight"]) == (
        "PENDING",
        3,
        3,
        0,
    )
    assert (seen["scope"], seen["job"]) == ("project:7", process.run_id)
    missing = operator.get(f"{ROOT}/00000000-0000-0000-0000-000000000000")
    assert (missing.status_code, missing.json()["code"]) == (404, "not_found")


def test_cancel(operator):
    process = enqueued(questions(2))
    seen = operator.post(f"{ROOT}/{process.pk}/cancel", {"reason": "Too dear."}).json()
    assert (seen["status"], seen["failed"], seen["error"]) == ("CANCELLED", 2, "Too dear.")
    assert seen["failures"] == [{"reason": "Too dear.", "count": 2}]
    again = operator.post(f"{ROOT}/{process.pk}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "process_not_active")


def test_retry_what_failed(operator):
    # The built-in engine has no answer to a question without a task.
    process = work_to_end(enqueued(questions(2)))
    seen = operator.get(f"{ROOT}/{process.pk}").json()
    assert (seen["failed"], seen["failures"][0]["count"]) == (2, 2)
    retried = operator.post(f"{ROOT}/{process.pk}/retry").json()
    assert (retried["status"], retried["failed"], retried["pending"]) == ("PENDING", 0, 2)
    active = operator.post(f"{ROOT}/{process.pk}/retry")
    assert (active.status_code, active.json()["code"]) == (409, "process_active")


def test_a_provider_with_prices_shows_what_it_cost(operator, provider):
    provider_prices = {"input_price": "1", "output_price": "2"}
    process = enqueued(questions(2))
    type(process).objects.filter(pk=process.pk).update(**provider_prices)
    seen = operator.get(f"{ROOT}/{process.pk}").json()
    assert seen["cost"] == "0.000000000"
    assert seen["model"] == "peer-small"
