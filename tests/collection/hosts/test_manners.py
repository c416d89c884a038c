"""A host is not asked more than it likes, and a stop is not kept waiting."""

import threading
import time
from email.utils import formatdate

import pytest

from collection.choices import Kind, State
from collection.origins.data import OriginProblem, Stopped
from collection.origins.hosts import graphql, http
from collection.origins.hosts.waiting import asked_to_wait, exhausted_for, refused_for_now
from tests.collection.hosts.conftest import SERVERS, TOKEN
from tests.collection.hosts.server import Fault


@pytest.fixture
def head(repository):
    return repository.commit({"a": "1\n"})


def test_trouble_is_tried_again(origin, server, head):
    server.faults.append(Fault(503))
    assert origin.heads().branches == {"main": head}
    server.faults.append(Fault(500, where="commit", times=1))
    assert len(next(origin.history(head)).commits) == 1


def test_lasting_trouble_is_told(origin, server, head):
    server.faults.append(Fault(502, times=9))
    with pytest.raises(OriginProblem) as raised:
        origin.heads()
    assert raised.value.state is State.UNREACHABLE
    assert raised.value.again
    assert raised.value.retry_after is None
    assert len(server.seen) == 2


def test_a_short_wait_is_waited(kind, origin, server, head):
    status = {Kind.GITLAB: 429, Kind.GITHUB: 403}[kind]
    server.faults.append(Fault(status, {"Retry-After": "1"}))
    began = time.monotonic()
    assert origin.heads().branches == {"main": head}
    assert time.monotonic() - began >= 1


def test_a_long_wait_is_left_to_the_collection(origin, server, head):
    server.faults.append(Fault(429, {"Retry-After": "120"}))
    with pytest.raises(OriginProblem) as raised:
        next(origin.history(head))
    assert raised.value.again
    assert 118 < raised.value.retry_after <= 120
    assert "2 minutes" in raised.value.message
    assert len(server.seen) == 1


def test_nobody_is_asked_again_before_the_time(origin, server, head):
    """A host that was too busy is not asked by the next question either."""
    server.faults.append(Fault(429, {"Retry-After": "120"}))
    for _ in range(3):
        with pytest.raises(OriginProblem):
            origin.heads()
    assert len(server.seen) == 1


def test_a_host_that_never_has_time(origin, server, head, monkeypatch):
    monkeypatch.setattr(http, "asked_to_wait", lambda headers: 0.01)
    server.faults.append(Fault(429, times=99))
    with pytest.raises(OriginProblem) as raised:
        origin.heads()
    assert raised.value.again
    assert len(server.seen) == http.MOST_WAITS + 1


def test_the_last_request_that_is_allowed(origin, server, head):
    """The answer is good, and nothing follows it until the host allows more."""
    told = {"RateLimit-Remaining": "0", "RateLimit-Reset": str(int(time.time()) + 600)}
    server.faults.append(Fault(200, told, b"[]"))
    origin.bring({"main": head})
    origin._api.get("")
    with pytest.raises(OriginProblem) as raised:
        origin._api.get("")
    assert 590 < raised.value.retry_after <= 600
    assert len(server.seen) == 1


def test_a_stop_ends_a_wait(kind, url, opened, head):
    stop = threading.Event()
    origin = opened(kind, url, token=TOKEN, stopped=stop.is_set)
    url.server.faults.append(Fault(429, {"Retry-After": "50"}))
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        next(origin.history(head))
    assert time.monotonic() - began < 5


def test_a_stop_ends_a_request(kind, url, opened, head):
    stop = threading.Event()
    origin = opened(kind, url, token=TOKEN, stopped=stop.is_set)
    url.server.faults.append(Fault(200, seconds=8))
    threading.Timer(0.3, stop.set).start()
    began = time.monotonic()
    with pytest.raises(Stopped):
        next(origin.history(head))
    assert time.monotonic() - began < 5


def test_whoever_has_stopped_asks_nothing(kind, url, opened, head):
    with pytest.raises(Stopped):
        opened(kind, url, stopped=lambda: True).heads()
    assert url.server.seen == []


def test_a_slow_name_server_is_waited_for(kind, url, opened, head, monkeypatch):
    looked_up = http.guarded_async_client.__globals__["system_resolver"].__globals__["socket"]
    real = looked_up.getaddrinfo

    def slow(*arguments, **options):
        time.sleep(0.6)  # longer than the time between two looks for a stop
        return real(*arguments, **options)

    monkeypatch.setattr(looked_up, "getaddrinfo", slow)
    assert opened(kind, url, token=TOKEN).heads().branches == {"main": head}


def test_one_connection_serves_all_requests(kind, url, opened, head):
    """And whichever thread uses it: documents are read by another than collected."""
    origin = opened(kind, url, token=TOKEN)
    origin.heads()
    found = []
    thread = threading.Thread(target=lambda: found.extend(origin.files(head)))
    thread.start()
    thread.join(20)
    assert [file.path for file in found] == ["a"]
    assert [asked.headers["Connection"] for asked in url.server.seen][-1] == "keep-alive"


# How many requests


def test_requests_of_a_repository_with_nothing_new(kind, origin, server, head):
    known = origin.heads().branches["main"]
    list(origin.history(head, known=[known]))
    assert len(server.seen) == {Kind.GITLAB: 1, Kind.GITHUB: 2}[kind]
    assert origin.requests == len(server.seen)


@pytest.mark.parametrize("number", [5, 350])
def test_requests_of_a_first_collection(kind, origin, server, repository, number):
    head = repository.many(number)
    assert sum(len(batch.commits) for batch in origin.history(head)) == number
    expected = {
        # The pages, and questions for the last one: 2 (kept), 4, 3.
        (Kind.GITLAB, 5): 1,
        (Kind.GITLAB, 350): 4 + 2,
        # The pages, and as many questions for line counts.
        (Kind.GITHUB, 5): 2,
        (Kind.GITHUB, 350): 4 + 4,
    }
    assert len(server.seen) == expected[kind, number]


# GitHub and its limits


def test_github_without_a_token_asks_commit_by_commit(repository, opened):
    repository.many(12)
    with SERVERS[Kind.GITHUB](repository, limit=60) as url:
        batches = list(opened(Kind.GITHUB, url).history(repository.sha()))
        assert len(url.server.seen) == 1 + 12
    commits = [commit for batch in batches for commit in batch.commits]
    assert {each.sha: (each.additions, each.deletions) for each in commits} == (
        repository.numstat("main")
    )
    assert len(batches) == 2


def test_github_without_a_token_says_when_it_is_too_much(repository, opened):
    """Before it has used up what there is."""
    first = repository.many(70)
    with SERVERS[Kind.GITHUB](repository, limit=60) as url:
        origin = opened(Kind.GITHUB, url)
        with pytest.raises(OriginProblem) as raised:
            list(origin.history(first))
        assert raised.value.state is State.DENIED
        assert not raised.value.again
        assert "token" in raised.value.message
        assert len(url.server.seen) == 1
        with pytest.raises(OriginProblem):
            list(origin.history(first, known=[repository.sha("main~65")]))
        assert len(url.server.seen) == 2


def test_github_without_a_token_goes_on_next_hour(repository, opened):
    """What came before the limit is kept, and the rest follows it."""
    head = repository.many(15)
    with SERVERS[Kind.GITHUB](repository, limit=15) as url:
        history = opened(Kind.GITHUB, url).history(head)
        first = next(history)
        with pytest.raises(OriginProblem) as raised:
            list(history)
        assert raised.value.again
        assert 3500 < raised.value.retry_after <= 3600
        assert len(url.server.seen) == 15
        url.server.seen.clear()
        rest = list(opened(Kind.GITHUB, url).history(head, known=[first.position]))
    assert len(first.commits) + sum(len(batch.commits) for batch in rest) == 15


def test_github_is_asked_for_less_where_it_gives_up(repository, opened, monkeypatch):
    monkeypatch.setattr(graphql, "COMMITS_AT_ONCE", 8)
    head = repository.many(10)
    with SERVERS[Kind.GITHUB](repository, token=TOKEN) as url:
        url.server.faults.append(Fault(502, where="graphql", times=2))
        error = b'{"data": null, "errors": [{"message": "Something went wrong"}]}'
        url.server.faults.append(Fault(200, body=error, where="graphql"))
        batches = list(opened(Kind.GITHUB, url, token=TOKEN).history(head))
    assert [len(batch.commits) for batch in batches] == [1] * 10


@pytest.mark.parametrize(
    ("error", "state", "again"),
    [
        ("RATE_LIMITED", State.UNREACHABLE, True),
        ("NOT_FOUND", State.NOT_FOUND, False),
        ("FORBIDDEN", State.DENIED, False),
    ],
)
def test_errors_in_a_good_answer(repository, opened, head, error, state, again):
    with SERVERS[Kind.GITHUB](repository, token=TOKEN) as url:
        body = b'{"data": null, "errors": [{"type": "%s"}]}' % error.encode()
        url.server.faults.append(Fault(200, body=body, where="graphql", times=9))
        with pytest.raises(OriginProblem) as raised:
            list(opened(Kind.GITHUB, url, token=TOKEN).history(head))
    assert (raised.value.state, raised.value.again) == (state, again)


# What headers say


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "0"}, 1),
        ({"Retry-After": "999999999"}, 86400),
        ({"Retry-After": "9" * 400}, 60),
        ({"Retry-After": "-5"}, 60),
        ({"Retry-After": "soon"}, 60),
        ({"Retry-After": "٣"}, 60),
        ({}, 60),
        ({"RateLimit-Reset": "1000030", "Date": formatdate(1_000_000)}, 30),
        ({"X-RateLimit-Reset": "1000030", "Date": formatdate(1_000_000)}, 30),
        ({"X-RateLimit-Reset": "999", "Date": formatdate(1_000_000)}, 1),
        ({"Retry-After": formatdate(1_000_050), "Date": formatdate(1_000_000)}, 50),
        ({"Retry-After": "5", "RateLimit-Reset": "9"}, 5),
    ],
    ids=str,
)
def test_how_long_to_wait(headers, seconds):
    assert asked_to_wait(headers) == seconds


def test_when_it_is_over():
    told = {"X-RateLimit-Reset": "1000030", "Date": formatdate(1_000_000)}
    assert exhausted_for({**told, "X-RateLimit-Remaining": "0"}) == 30
    assert exhausted_for({**told, "X-RateLimit-Remaining": "1"}) == 0
    assert exhausted_for({"X-RateLimit-Remaining": "0"}) == 0
    assert exhausted_for(told) == 0


def test_too_many_and_not_for_you():
    assert refused_for_now(429, {}, b"")
    assert refused_for_now(403, {"Retry-After": "3"}, b"")
    assert refused_for_now(403, {"X-RateLimit-Remaining": "0"}, b"")
    assert refused_for_now(403, {}, b'{"message": "You have exceeded a secondary rate limit"}')
    assert not refused_for_now(403, {"X-RateLimit-Remaining": "9"}, b'{"message": "Forbidden"}')
    assert not refused_for_now(404, {"Retry-After": "3"}, b"")
