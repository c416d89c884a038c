"""What is bound goes where the work goes: into threads and tasks that it starts, and no further."""

import asyncio
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context

import pytest

from glossary_site.observe import trace
from glossary_site.observe.trace import Place, bound, current, from_header, in_context

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"
PARENT = f"00-{TRACE}-{SPAN}-01"


def test_fields_are_bound_until_the_end_and_inner_ones_win():
    with bound(job_run_id=7, worker="a"):
        with bound(worker="b", process_id=None):
            assert {"job_run_id": 7, "worker": "b"}.items() <= current().items()
            assert "process_id" not in current()
        assert current()["worker"] == "a"
    assert "job_run_id" not in current()


def test_they_end_with_an_exception_too():
    with pytest.raises(ValueError, match="oops"), bound(worker="a"):
        raise ValueError("oops")
    assert "worker" not in current()


def test_what_is_current_can_be_changed_without_harm():
    with bound(worker="a"):
        current()["worker"] = "b"
        assert current()["worker"] == "a"


def test_a_thread_knows_nothing_unless_it_is_told():
    seen = []
    with bound(job_run_id=7):
        for target in (lambda: seen.append(current()), in_context(lambda: seen.append(current()))):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert "job_run_id" not in seen[0]
    assert seen[1]["job_run_id"] == 7


def test_many_threads_work_in_one_context_at_once():
    barrier = threading.Barrier(4, timeout=20)

    def work(number):
        with bound(number=number):
            barrier.wait()
            return current()["job_run_id"], current()["number"]

    with bound(job_run_id=7), ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(in_context(work), range(4)))
    assert answers == [(7, number) for number in range(4)]


async def test_tasks_inherit_and_do_not_disturb_each_other():
    async def work(name):
        with bound(worker=name):
            await asyncio.sleep(0.01)
            return current()["worker"], current()["job_run_id"]

    with bound(job_run_id=7):
        answers = await asyncio.gather(work("a"), work("b"), asyncio.to_thread(current))
    assert answers[:2] == [("a", 7), ("b", 7)]
    assert answers[2]["job_run_id"] == 7


def test_work_that_nobody_gave_a_trace_begins_one_and_keeps_it():
    def command():
        assert "trace_id" not in current()
        first = trace.current_trace_id()
        assert re.fullmatch("[0-9a-f]{32}", first)
        assert trace.current_trace_id() == current()["trace_id"] == first

    Context().run(command)


def test_each_piece_of_work_begins_its_own():
    def keeper():
        seen = set()
        for _ in range(2):
            with bound(worker="keeper"):
                seen.add(trace.current_trace_id())
        assert len(seen) == 2

    Context().run(keeper)


@pytest.mark.parametrize("carried", [TRACE, PARENT, f"00-{TRACE}-{SPAN}-00"])
def test_a_trace_is_carried_to_work_elsewhere(carried):
    with bound(trace_id=carried):
        assert trace.current_trace_id() == TRACE
        kept = trace.carried()
    assert len(kept) <= trace.CARRIED_LENGTH
    assert kept == carried
    assert trace.id_of(kept) == TRACE
    assert trace.id_of("nonsense") == ""


def test_another_trace_forgets_the_span_of_the_first():
    with bound(trace_id=PARENT), bound(trace_id="ab" * 16):
        assert "span_id" not in current()
        assert trace.carried() == "ab" * 16


def test_what_is_no_trace_leaves_us_where_we_are():
    with bound(trace_id=TRACE):
        for nonsense in ("", "x", "0" * 32, TRACE.upper()):
            with bound(trace_id=nonsense):
                assert trace.current_trace_id() == TRACE


@pytest.mark.parametrize("header", [PARENT, f"01-{TRACE}-{SPAN}-01-more"])
def test_a_callers_trace_is_taken_up(header):
    assert from_header(header) == Place(TRACE, SPAN, "01")


@pytest.mark.parametrize(
    "header",
    [
        "",
        TRACE,
        "nonsense",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"{PARENT}\n",
    ],
)
def test_a_wrong_header_begins_a_new_trace(header):
    place = from_header(header)
    assert place.trace_id != TRACE
    assert re.fullmatch("[0-9a-f]{32}", place.trace_id)
    assert not place.span_id
