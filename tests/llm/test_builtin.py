"""The engine within the site."""

import pytest

from glossary_site.llm import builtin
from glossary_site.llm.choices import Notice, ProcessStatus
from glossary_site.llm.models import LedgerEntry, Spending
from tests.llm.working import SCHEMA, answers, asking, enqueued, questions, work, work_to_end

pytestmark = pytest.mark.django_db


@pytest.fixture
def engine(monkeypatch):
    monkeypatch.setattr(builtin, "_tasks", {})
    return builtin.register_builtin


def test_a_task_that_nobody_registered_has_no_answer_and_says_so():
    process = work_to_end(enqueued([*questions(1), asking("x", task="define")]))
    assert process.status == ProcessStatus.COMPLETED
    assert process.failed == 2
    unnamed, named = answers(process)
    assert "names no task" in unnamed.error
    assert "“define”" in named.error


def test_a_registered_function_answers_from_the_inputs(engine):
    engine("count", lambda request: {"term": request.inputs["term"], "count": 2})
    asked = [
        asking(f"q {n}", task="count", inputs={"term": f"t{n}"}, schema=SCHEMA) for n in range(250)
    ]
    process = work_to_end(enqueued(asked))
    assert process.completed == 250
    assert [result.data["term"] for result in answers(process)] == [f"t{n}" for n in range(250)]
    assert (process.tokens, process.cost) == (0, None)


def test_it_costs_nothing_and_is_worked_out_anew(engine):
    numbers = iter(range(10))
    engine("next", lambda request: f"number {next(numbers)}")
    first, second = (work_to_end(enqueued([asking("x", task="next")])) for _ in range(2))
    assert [answers(first)[0].content, answers(second)[0].content] == ["number 0", "number 1"]
    assert not LedgerEntry.objects.exists()
    assert not Spending.objects.exists()


def test_a_mistake_of_the_engine_fails_one_request(engine):
    engine("divide", lambda request: str(1 / request.inputs["by"]))
    process = work_to_end(
        enqueued([asking(str(n), task="divide", inputs={"by": n}) for n in range(3)])
    )
    assert [result.ok for result in answers(process)] == [False, True, True]
    assert "ZeroDivisionError" in answers(process)[0].error


def test_an_answer_of_the_engine_is_checked_too(engine):
    engine("wrong", lambda request: {"term": 1})
    (result,) = answers(work_to_end(enqueued([asking("x", task="wrong", schema=SCHEMA)])))
    assert "does not fit the schema" in result.error


def test_it_has_no_batches(engine):
    engine("yes", lambda request: "yes")
    process = work_to_end(enqueued([asking("x", task="yes")], strategy="batch"))
    assert (process.completed, process.notice) == (1, Notice.NO_BATCHES)


def test_it_takes_turns(engine, settings):
    settings.LLM_TURN_SECONDS = 0.0
    engine("yes", lambda request: "yes")
    process = work(enqueued([asking("x", task="yes")]))
    assert process.status == ProcessStatus.WAITING


def test_two_engines_for_one_task_are_a_mistake(engine):
    engine("yes", lambda request: "yes")
    with pytest.raises(RuntimeError):
        engine("yes", lambda request: "no")
