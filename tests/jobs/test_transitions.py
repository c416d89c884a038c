"""No move that the table does not allow ever lands, however old the row in somebody's hand."""

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from glossary_site.jobs.choices import ACTIVE, TERMINAL, TRANSITIONS, State
from glossary_site.jobs.models import JobRun
from glossary_site.jobs.services import transitions
from glossary_site.jobs.services.enqueue import enqueue
from tests.jobs.running import send

pytestmark = pytest.mark.django_db

WORKERS = ("test:short:1", "test:short:2")


def test_the_table_knows_every_state_and_ends_are_ends():
    assert set(TRANSITIONS) == set(State)
    assert set(ACTIVE) | set(TERMINAL) == set(State)
    assert {State.SUCCEEDED, State.FAILED, State.TIMED_OUT, State.CANCELED} == set(TERMINAL)


@pytest.mark.parametrize(
    ("before", "after"),
    [pair for pair in itertools.product(State, State) if pair[1] not in TRANSITIONS[pair[0]]],
)
def test_a_move_outside_the_table_is_a_mistake_in_the_program(before, after):
    run = JobRun(pk=1, state=before, version=1)
    with pytest.raises(transitions.ForbiddenMove):
        transitions.move(run, after)


def assign(run: JobRun, worker: str) -> bool:
    return transitions.assign(run.pk, worker=worker) is not None


def start(run: JobRun, worker: str) -> bool:
    return transitions.start(run, worker=worker)


def orphan(run: JobRun, worker: str) -> bool:
    orphaned = transitions.orphan(run)
    if orphaned:
        send(run)
    return orphaned


def end_as(state: State):
    def end(run: JobRun, worker: str) -> bool:
        return transitions.end(run, state, error="", again=transitions.Again.NEVER)

    return end


MOVES = [assign, start, orphan, *(end_as(state) for state in TERMINAL)]
step = st.tuples(
    st.sampled_from(range(len(MOVES))),
    st.sampled_from(WORKERS),
    # Which of the copies of the row that were read on the way is in hand: the newest or an old one
    st.integers(min_value=0, max_value=3),
)


@given(steps=st.lists(step, min_size=1, max_size=25))
@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_random_moves_with_old_copies_only_ever_go_forward(steps):
    run = enqueue("work.note")
    copies = [JobRun.objects.get(pk=run.pk)]
    for number, worker, age in steps:
        before = JobRun.objects.get(pk=run.pk)
        held = copies[max(0, len(copies) - 1 - age)]
        try:
            landed = MOVES[number](held, worker)
        except transitions.ForbiddenMove:
            landed = False
        after = JobRun.objects.get(pk=run.pk)
        if landed:
            assert State(after.state) in TRANSITIONS[State(before.state)]
            assert after.version == before.version + 1
            copies.append(JobRun.objects.get(pk=run.pk))
        else:
            assert (after.state, after.version) == (before.state, before.version)


def test_only_the_worker_it_was_assigned_to_begins_it():
    run = transitions.assign(enqueue("work.note").pk, worker=WORKERS[0])
    assert not transitions.start(run, worker=WORKERS[1])
    assert transitions.start(run, worker=WORKERS[0])


def test_a_reassignment_is_another_attempt_and_takes_none_away():
    run = enqueue("work.note")
    allowed = run.max_attempts
    transitions.orphan(transitions.assign(run.pk, worker=WORKERS[0]))
    send(run)
    assert transitions.assign(run.pk, worker=WORKERS[1])
    run.refresh_from_db()
    assert (run.attempt, run.max_attempts) == (2, allowed + 1)


def test_a_run_that_kills_every_worker_that_takes_it_is_given_up():
    run = enqueue("work.note")
    for _ in range(transitions.MOST_ASSIGNMENTS + 1):
        run = JobRun.objects.get(pk=run.pk)
        if run.ended:
            break
        send(run)
        transitions.orphan(transitions.assign(run.pk, worker=WORKERS[0]))
    run.refresh_from_db()
    assert run.state == State.CANCELED
    assert "workers died" in run.error


def test_an_unsuccessful_end_makes_the_next_attempt_with_a_growing_pause():
    run = enqueue("work.fail")
    pauses = []
    while True:
        send(run)
        run = transitions.assign(run.pk, worker=WORKERS[0])
        transitions.start(run, worker=WORKERS[0])
        transitions.end(run, State.FAILED, error="no luck")
        following = JobRun.objects.filter(retry_of=run).first()
        if following is None:
            break
        run.refresh_from_db()
        pauses.append((following.due_at - run.finished_at).total_seconds())
        assert following.attempt == run.attempt + 1
        assert following.idempotency_key is None
        run = following
    assert run.attempt == 3
    assert pauses[0] < pauses[1]
