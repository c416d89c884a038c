"""The tables of the queue in the administration."""

import pytest
from django.apps import apps
from django.urls import reverse

from glossary_site.jobs.models import AuditEntry
from glossary_site.llm.choices import ProcessStatus
from glossary_site.llm.models import Budget
from tests.llm.working import enqueued, questions, reloaded, work, work_to_end

pytestmark = pytest.mark.django_db

PROCESSES = "admin:llm_llmprocess_changelist"


@pytest.fixture
def client(superuser, sign_in):
    return sign_in(superuser)


@pytest.fixture
def some_of_everything(provider):
    work_to_end(enqueued(questions(1)))
    work(enqueued(questions(2), strategy="batch"))
    Budget.objects.create(scope="site", monthly_tokens=10**9)


@pytest.mark.parametrize(
    "model", [*apps.get_app_config("llm").get_models()], ids=lambda model: model.__name__
)
def test_every_list_search_and_row_opens(model, client, some_of_everything):
    name = f"admin:llm_{model._meta.model_name}"
    assert client.get(reverse(f"{name}_changelist")).status_code == 200
    for text in ("site", "0198f2b2-0000-7000-8000-000000000000"):
        assert client.get(reverse(f"{name}_changelist"), {"q": text}).status_code == 200
    row = model.objects.first()
    if row is not None:
        assert client.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200


@pytest.mark.parametrize("condition", ["active", "failures", "unclaimed"])
def test_conditions_narrow_the_list(client, some_of_everything, condition):
    assert client.get(reverse(PROCESSES), {"condition": condition}).status_code == 200


def test_cancel_and_retry(provider, client):
    process = enqueued(questions(2))
    chosen = {"_selected_action": [str(process.pk)]}
    client.post(reverse(PROCESSES), {"action": "cancel", **chosen})
    assert reloaded(process).status == ProcessStatus.CANCELLED
    page = client.post(reverse(PROCESSES), {"action": "cancel", **chosen}, follow=True)
    assert "ended already" in page.content.decode()
    client.post(reverse(PROCESSES), {"action": "retry_failed", **chosen})
    assert reloaded(process).status == ProcessStatus.PENDING


def test_operators_set_budgets_and_are_named(client):
    add = reverse("admin:llm_budget_add")
    client.post(add, {"scope": "project:7", "monthly_tokens": "5000", "monthly_cost": ""})
    budget = Budget.objects.get()
    assert (budget.scope, budget.monthly_tokens, budget.monthly_cost) == ("project:7", 5000, None)
    change = reverse("admin:llm_budget_change", args=[budget.pk])
    client.post(change, {"monthly_tokens": "", "monthly_cost": "12.50"})
    budget.refresh_from_db()
    assert (budget.monthly_tokens, str(budget.monthly_cost)) == (None, "12.50")
    client.post(reverse("admin:llm_budget_delete", args=[budget.pk]), {"post": "yes"})
    assert not Budget.objects.exists()
    assert set(AuditEntry.objects.values_list("actor", flat=True)) == {"root"}


def test_a_budget_below_nothing_is_refused(client):
    client.post(reverse("admin:llm_budget_add"), {"scope": "site", "monthly_cost": "-1"})
    assert not Budget.objects.exists()
