"""What a month may cost: refused before it is sent, kept back meanwhile, entered afterwards."""

import threading
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry, JobRun
from glossary_site.llm.models import Budget, LLMJob, LLMProcess, Spending
from glossary_site.llm.services import budgets, queue
from glossary_site.llm.services.budgets import Caps, money
from glossary_site.llm.tokens import cost_nano, estimate_text
from tests.llm.working import asking, enqueued, questions, reloaded, work, work_to_end
from tests.llm_server import Answer

pytestmark = pytest.mark.django_db


def spending(scope: str) -> Spending:
    return Spending.objects.get(scope=scope)


def cap(scope: str, tokens: int | None = None, cost: str | None = None) -> None:
    caps = Caps(tokens, None if cost is None else Decimal(cost))
    budgets.set_caps(scope=scope, caps=caps, actor="tests")


@pytest.fixture
def priced(provider, settings):
    settings.LLM = {
        **settings.LLM,
        "input_price": Decimal(2),
        "output_price": Decimal(10),
    }
    return provider


def test_an_estimate_is_bytes_by_four_in_every_language():
    assert estimate_text("harbour master") == 4
    assert estimate_text("港長") == 2
    assert estimate_text("") == 0
    assert asking("x" * 400, max_tokens=50).input_tokens == 104


def test_a_cost_is_exact_and_rounded_up():
    prices = {"input_price": Decimal("0.15"), "output_price": Decimal("0.6")}
    assert cost_nano(input_tokens=1_000_000, output_tokens=0, **prices) == 150_000_000
    assert cost_nano(input_tokens=1, output_tokens=0, **prices) == 150
    assert cost_nano(input_tokens=0, output_tokens=1, input_price=None, output_price=None) == 0
    tiny = {"input_price": Decimal("0.000001"), "output_price": Decimal(0)}
    assert cost_nano(input_tokens=1, output_tokens=0, **tiny) == 1


def test_kept_back_at_first_and_entered_at_the_end(priced):
    priced.script(lambda body: Answer("yes", prompt_tokens=10, completion_tokens=20))
    process = enqueued(questions(3, max_tokens=100), scope="project:7")
    expected = 3 * (asking("question 0").input_tokens + 100)
    for scope in ("project:7", "site"):
        assert (spending(scope).reserved_tokens, spending(scope).used_tokens) == (expected, 0)
        assert spending(scope).reserved_cost > 0
    process = work_to_end(process)
    for scope in ("project:7", "site"):
        row = spending(scope)
        assert (row.reserved_tokens, row.used_tokens) == (0, 90)
        assert row.used_cost == process.cost == Decimal("0.00066")
        assert row.reserved_nano == 0


def test_batches_are_counted_too(priced):
    process = work(enqueued(questions(3), strategy="batch"))
    assert spending("site").reserved_tokens > 0
    priced.finish_batches()
    process = work(process)
    assert spending("site").reserved_tokens == 0
    assert spending("site").used_tokens == process.tokens > 0


@pytest.mark.parametrize("scope", ["project:7", "site"])
def test_over_the_cap_is_refused_before_anything_is_stored_or_sent(priced, scope):
    cap(scope, tokens=500)
    with pytest.raises(Refusal) as refused:
        enqueued(questions(1), scope="project:7")
    refusal = refused.value
    assert (refusal.code, refusal.status) == ("budget_exceeded", 409)
    assert refusal.details["scope"] == scope
    assert refusal.details["cap_tokens"] == 500
    assert refusal.details["needed_tokens"] > 1000
    assert "500" in str(refusal)
    assert "Nothing was sent" in str(refusal)
    assert not LLMProcess.objects.exists()
    assert not LLMJob.objects.exists()
    assert not JobRun.objects.exists()
    assert not Spending.objects.filter(reserved_tokens__gt=0).exists()
    assert priced.requests == []


def test_a_cap_on_money(priced):
    cap("site", cost="0.02")
    first = enqueued([asking("a", max_tokens=1000)])
    with pytest.raises(Refusal) as refused:
        enqueued([asking("b", max_tokens=1000)])
    assert "0.02" in str(refused.value)
    assert Decimal(refused.value.details["reserved_cost"]) > 0
    work_to_end(first)
    assert enqueued([asking("b", max_tokens=1000)]).total == 1


def test_money_without_prices_cannot_be_kept_within_a_cap(provider):
    cap("site", cost="5")
    with pytest.raises(Refusal) as refused:
        enqueued(questions(1))
    assert refused.value.code == "price_unknown"


def test_the_environment_caps_the_whole_site_where_operators_set_nothing(provider, settings):
    settings.LLM_MONTHLY_TOKENS = 10
    with pytest.raises(Refusal):
        enqueued(questions(1), scope="project:7")
    cap("site", tokens=None)
    assert enqueued(questions(1), scope="project:7").total == 1


def test_another_projects_cap_is_not_ours(provider):
    cap("project:8", tokens=1)
    assert enqueued(questions(1), scope="project:7").total == 1


def test_last_months_spending_is_forgotten(provider):
    cap("site", tokens=1100)
    work_to_end(enqueued(questions(1)))
    Spending.objects.update(used_tokens=1100)
    with pytest.raises(Refusal):
        enqueued([asking("another")])
    Spending.objects.update(month="2020-01-01")
    assert enqueued([asking("another")]).total == 1


@pytest.mark.parametrize("end", ["cancel", "fail", "give_up"])
def test_nothing_is_kept_back_for_what_has_ended(priced, settings, superuser, end):
    process = enqueued(questions(40), scope="project:7")
    if end == "cancel":
        queue.cancel(process.pk, actor=superuser)
    else:
        settings.LLM_ATTEMPTS = 1
        priced.faults.add("server_error" if end == "fail" else "refused_key")
        work_to_end(process)
    assert reloaded(process).reserved_tokens == 0
    for scope in ("project:7", "site"):
        assert (spending(scope).reserved_tokens, spending(scope).reserved_nano) == (0, 0)
        assert spending(scope).used_tokens == 0


def test_a_process_cannot_end_with_something_kept_back(provider):
    process = enqueued(questions(1))
    with pytest.raises(IntegrityError), transaction.atomic():
        LLMProcess.objects.filter(pk=process.pk).update(
            status="COMPLETED", finished_at=process.created_at, completed=1
        )


def test_setting_and_removing_a_budget_is_audited(superuser):
    budgets.set_caps(scope="project:7", caps=Caps(100, Decimal("2.50")), actor=superuser)
    budgets.set_caps(scope="project:7", caps=Caps(200), actor=superuser)
    budgets.remove_caps(scope="project:7", actor=superuser)
    assert not Budget.objects.exists()
    entries = AuditEntry.objects.filter(target_type="llm.budget").order_by("pk")
    assert [entry.action for entry in entries] == ["set budget", "set budget", "remove budget"]
    assert entries[1].before == {"tokens": 100, "cost": "2.50"}


@pytest.mark.parametrize(
    ("amount", "text"), [("3", "3.00"), ("0", "0.00"), ("0.00066", "0.00066"), ("0.5", "0.5")]
)
def test_money_is_written_so_that_it_can_be_seen(amount, text):
    assert money(Decimal(amount)) == text


@pytest.mark.django_db(transaction=True)
def test_two_that_want_the_last_of_a_budget_do_not_both_get_it(provider):
    """Eight at a time for a budget that three fit into."""
    need = asking("q 0").input_tokens + 1000
    cap("site", tokens=3 * need + need // 2)
    got: list[LLMProcess] = []
    refused: list[Refusal] = []
    start = threading.Barrier(8)

    def enqueue(number: int) -> None:
        try:
            start.wait()
            got.append(
                enqueued([asking(f"q {number}", max_tokens=1000)], scope=f"project:{number}")
            )
        except Refusal as refusal:
            refused.append(refusal)
        finally:
            connection.close()

    threads = [threading.Thread(target=enqueue, args=[n]) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(got), len(refused)) == (3, 5)
    assert spending("site").reserved_tokens == 3 * need
    assert LLMJob.objects.count() == 3


def test_an_estimate_is_what_would_be_kept_back(priced):
    work_to_end(enqueued(questions(2)))
    asked = [*questions(2), asking("new", max_tokens=50)]
    estimate = queue.estimate(asked, scope="project:7")
    assert (estimate.requests, estimate.served) == (3, 2)
    process = enqueued(asked, scope="project:7")
    assert estimate.tokens == process.reserved_tokens
    assert estimate.cost == process.reserved_cost > 0


def test_an_estimate_without_prices_has_no_cost(provider):
    assert queue.estimate(questions(1)).cost is None
    assert not Spending.objects.exists()
