"""A server may say anything. Nothing hangs, crashes or grows; it is refused, in words."""

import socket
import threading
import time
import tracemalloc
from contextlib import contextmanager, suppress
from itertools import count

import pytest

from collection.choices import Kind, State
from collection.models.commit import BRANCH_LENGTH
from collection.origins import github, gitlab
from collection.origins.data import OriginProblem
from collection.origins.hosts import http
from tests.collection.hosts.answers import Reply, as_json
from tests.collection.hosts.conftest import TOKEN
from tests.collection.hosts.server import serving
from tests.outbound.listeners import certificate, listening

SHA = "a" * 40
DATE = "2026-01-05T09:00:00Z"
GOOD_GITLAB = {
    "id": SHA,
    "parent_ids": [],
    "author_name": "Ada",
    "author_email": "ada@example.com",
    "committed_date": DATE,
    "message": "Subject",
    "stats": {"additions": 1, "deletions": 0},
}
GOOD_NODE = {
    "oid": SHA,
    "message": "Subject",
    "committedDate": DATE,
    "additions": 1,
    "deletions": 0,
    "author": {"name": "Ada", "email": "ada@example.com"},
}


@contextmanager
def saying(tmp_path, answer):
    """A server that answers every request with what `answer(asked)` gives."""
    with serving(lambda host, asked: answer(asked), tmp_path, project="docs/handbook") as url:
        yield url


def commits_server(kind, changes):
    """Says one commit, with some of its fields other than promised."""

    def answer(asked):
        if kind == Kind.GITLAB:
            return as_json([{**GOOD_GITLAB, **changes}])
        if asked.path.endswith("graphql"):
            return as_json({"data": {"repository": {"c0": {**GOOD_NODE, **changes}}}})
        return as_json([{"sha": SHA, "parents": changes.get("parents", [])}])

    return answer


def refused(work):
    with pytest.raises(OriginProblem) as raised:
        work()
    assert raised.value.state is State.REFUSED
    assert not raised.value.again
    return raised.value


BODIES = {
    "html": b"<!doctype html><title>Sign in</title>",
    "empty": b"",
    "not utf-8": b'["\xff\xfe"]',
    "half": b'[{"name": "ma',
    "number": b'[{"name": "main", "commit": {"id": ' + b"9" * 5000 + b"}}]",
    "nan": b'[{"name": "main", "commit": {"id": NaN}}]',
    "brackets": b"[" * 100_000,
    "millions": b"[" + b"[]," * 2_000_000 + b"[]]",
    "string": b'"main"',
    "null": b"null",
    "nulls": b"[null]",
    "no table": b'[{"name": "main", "commit": null}]',
    "no sha": b'[{"name": "main", "commit": {"id": "main", "sha": "main"}}]',
    "upper case": b'[{"name": "main", "commit": {"id": "%s"}}]' % (b"A" * 40),
    "no name": b'[{"name": 7, "commit": {"id": "%s"}}]' % SHA.encode(),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_answers_that_nobody_promised(kind, tmp_path, opened, body):
    with saying(tmp_path, lambda asked: Reply(200, body)) as url:
        refused(opened(kind, url, token=TOKEN).heads)


def test_names_of_branches_that_git_does_not_allow(tmp_path, opened):
    """They are left out, and one that cannot be stored as well."""
    bad = ["HEAD", "a..b", "x" * (BRANCH_LENGTH + 1), "-rf", "a b", "a\0b", "a\ud800", "", "a/"]
    rows = [{"name": name, "commit": {"id": SHA}} for name in [*bad, "release/1.0"]]
    with saying(tmp_path, lambda asked: as_json(rows)) as url:
        assert opened(Kind.GITLAB, url).heads().branches == {"release/1.0": SHA}


ODD = {
    "no additions": {"stats": {"deletions": 0}, "additions": None},
    "no stats": {"stats": None, "additions": None},
    "fewer than none": {"stats": {"additions": -1, "deletions": 0}, "additions": -1},
    "fractions": {"stats": {"additions": 1.5, "deletions": 0}, "additions": 1.5},
    "truth": {"stats": {"additions": True, "deletions": 0}, "additions": True},
    "endless": {"stats": {"additions": 10**30, "deletions": 0}, "additions": 10**30},
    "text": {"stats": {"additions": "1", "deletions": 0}, "additions": "1"},
    "no date": {"committed_date": None, "committedDate": None},
    "bad date": {"committed_date": "yesterday", "committedDate": "yesterday"},
    "no zone": {"committed_date": "2026-01-05T09:00:00", "committedDate": "2026-01-05T09:00:00"},
    "long date": {"committed_date": "2" * 10**6, "committedDate": "2" * 10**6},
    "list for a name": {"author_name": [], "author": []},
    "number for a message": {"message": 7},
    "parents": {"parent_ids": ["../../etc"], "parents": [{"sha": "../../etc"}]},
    "no parents": {"parent_ids": None, "parents": None},
}


@pytest.mark.parametrize("changes", ODD.values(), ids=ODD)
def test_commits_that_are_none(kind, tmp_path, opened, changes):
    with saying(tmp_path, commits_server(kind, changes)) as url:
        origin = opened(kind, url, token=TOKEN)
        if changes.get("author") == [] and kind == Kind.GITHUB:
            # Empty is as good as missing there.
            assert next(origin.history(SHA)).commits[0].author_name == ""
        else:
            refused(lambda: list(origin.history(SHA)))


def test_commits_that_are_odd_and_can_be_stored(kind, tmp_path, opened):
    """Nobody's name, a message of megabytes, characters that no database takes, the end of time."""
    changes = {
        "author_name": None,
        "author_email": "\0\ud800" + "x" * 10_000,
        "author": {"name": None, "email": "\0\ud800" + "x" * 10_000},
        "message": "\n\n  \nA \0 subject\nof two lines  \n\n" + "body " * 1_000_000,
        "committed_date": "0001-01-01T00:00:00+14:00",
        "committedDate": "0001-01-01T00:00:00+14:00",
    }
    with saying(tmp_path, commits_server(kind, changes)) as url:
        (commit,) = next(opened(kind, url, token=TOKEN).history(SHA)).commits
    assert commit.author_name == ""
    assert commit.author_email.startswith("\ufffd\ufffdxxx")
    assert len(commit.author_email) == 200
    assert commit.subject == "A \ufffd subject of two lines"
    assert commit.committed_date.year == 1
    "".join(map(str, (commit.author_email, commit.subject))).encode()


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "../up", "a/../../b", "a//b", "a\0b", "", ".", 7, None, "a\ud800"]
)
def test_paths_that_lead_elsewhere(kind, tmp_path, opened, path):
    entry = {"path": path, "mode": "100644", "type": "blob", "id": SHA, "sha": SHA, "size": 1}

    def answer(asked):
        return as_json([entry] if kind == Kind.GITLAB else {"tree": [entry], "truncated": False})

    with saying(tmp_path, answer) as url:
        refused(lambda: list(opened(kind, url).files(SHA)))


def test_renames_that_lead_elsewhere(kind, tmp_path, opened):
    gitlab_rows = [{"renamed_file": True, "old_path": "a", "new_path": "../b"}]
    github_rows = [{"status": "renamed", "previous_filename": "a", "filename": "../b"}]
    with saying(
        tmp_path, lambda asked: as_json({"diffs": gitlab_rows, "files": github_rows})
    ) as url:
        refused(lambda: opened(kind, url).renames(SHA, "b" * 40))


# Without end


def test_pages_that_lead_to_themselves(kind, tmp_path, opened):
    row = {"name": "main", "commit": {"id": SHA, "sha": SHA}, "full_name": "docs/handbook"}

    def answer(asked):
        if asked.path.endswith("handbook"):
            return as_json(row)
        return as_json([row], Link=f'<http://127.0.0.1{asked.path}?page=1>; rel="next"')

    with saying(tmp_path, answer) as url:
        refused(opened(kind, url).heads)
        assert len(url.server.seen) <= 4


def test_pages_without_end(kind, tmp_path, opened, monkeypatch):
    """Always another one behind, of one row each."""
    for module in (gitlab, github):
        monkeypatch.setattr(module, "MOST_BRANCHES", 300)
    numbers = count(2)
    row = {"name": "main", "commit": {"id": SHA, "sha": SHA}, "full_name": "docs/handbook"}

    def answer(asked):
        if asked.path.endswith("handbook"):
            return as_json(row)
        return as_json([row], Link=f'<http://x{asked.path}?page={next(numbers)}>; rel="next"')

    with saying(tmp_path, answer) as url:
        refused(opened(kind, url).heads)
        assert len(url.server.seen) < 40


def test_a_history_without_end(kind, tmp_path, opened, monkeypatch):
    """Every page of it has commits, and one more behind it."""
    for module in (gitlab, github):
        monkeypatch.setattr(module, "MOST_COMMITS", 3000)

    def answer(asked):
        page = int(asked.get("page", "1"))
        shas = [f"{page:08x}{number:032x}" for number in range(100)]
        rows = [{**GOOD_GITLAB, "id": sha, "sha": sha, "parents": []} for sha in shas]
        return as_json(rows, Link=f'<http://x{asked.path}?page={page + 1}>; rel="next"')

    with saying(tmp_path, answer) as url:
        problem = refused(lambda: list(opened(kind, url, token=TOKEN).history(SHA)))
        assert len(url.server.seen) < 40
    assert "git address" in problem.message


def test_a_history_that_says_the_same_again(tmp_path, opened):
    """Three pages, all alike."""

    def answer(asked):
        page = int(asked.get("page", "1"))
        following = str(page + 1) if page < 3 else ""
        return as_json([GOOD_GITLAB], X_Next_Page=following)

    with saying(tmp_path, answer) as url:
        refused(lambda: list(opened(Kind.GITLAB, url).history(SHA)))


def test_a_comparison_that_keeps_its_commits(tmp_path, opened):
    """A thousand were promised and none comes: the whole list is asked for instead."""

    def answer(asked):
        if "/compare/" in asked.path:
            return as_json({"total_commits": 1000, "commits": [], "files": []})
        return commits_server(Kind.GITHUB, {})(asked)

    with saying(tmp_path, answer) as url:
        batches = list(opened(Kind.GITHUB, url, token=TOKEN).history(SHA, known=["b" * 40]))
    assert [commit.sha for batch in batches for commit in batch.commits] == [SHA]


def test_folders_within_folders_without_end(tmp_path, opened, monkeypatch):
    monkeypatch.setattr(github, "MOST_FOLDERS", 20)
    entry = {"path": "a", "mode": "040000", "type": "tree", "sha": SHA}
    with saying(tmp_path, lambda asked: as_json({"tree": [entry], "truncated": True})) as url:
        refused(lambda: list(opened(Kind.GITHUB, url).files(SHA)))
        assert len(url.server.seen) < 30


def test_redirects_in_a_circle(kind, tmp_path, opened):
    numbers = count(1)
    base = {Kind.GITLAB: "/api/v4/projects/", Kind.GITHUB: "/api/v3/repositories/"}[kind]

    def answer(asked):
        way = "/repository/branches" if kind == Kind.GITLAB else ""
        return Reply(301, b"", {"Location": f"{base}{next(numbers)}{way}"})

    with saying(tmp_path, answer) as url:
        refused(opened(kind, url).heads)
        assert len(url.server.seen) == http.MAX_REDIRECTS + 1


@contextmanager
def connected(talk):
    """A server that is no HTTP server: what it does with a connection is `talk(connection)`."""
    over = threading.Event()

    def serve():
        while not over.is_set():
            with suppress(TimeoutError):
                connection, _ = listener.accept()
                threading.Thread(target=one, args=(connection,), daemon=True).start()

    def one(connection):
        with connection, suppress(OSError):
            connection.recv(65536)
            talk(connection, over)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/docs/handbook"
        finally:
            # Before its number is another socket's: a thread that waits here would take over that.
            over.set()
            thread.join()


def test_a_body_without_end(opened, monkeypatch):
    """Ten gigabytes are announced, and sent."""
    monkeypatch.setattr(http, "MAX_JSON", 1024 * 1024)
    sent = 0

    def talk(connection, over):
        nonlocal sent
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10737418240\r\n\r\n")
        while not over.is_set():
            connection.sendall(b"[" * 65536)
            sent += 65536

    with connected(talk) as url:
        tracemalloc.start()
        try:
            refused(lambda: opened(Kind.GITLAB, url)._api.get("", limit=1024 * 1024))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 16 * 1024 * 1024
    assert sent < 64 * 1024 * 1024


def test_an_error_without_end(opened):
    """Of an error a beginning is enough."""

    def talk(connection, over):
        connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 10737418240\r\n\r\n")
        while not over.is_set():
            connection.sendall(b"x" * 65536)

    with connected(talk) as url, pytest.raises(OriginProblem) as raised:
        opened(Kind.GITLAB, url).heads()
    assert raised.value.state is State.NOT_FOUND


SLOW = {
    "nothing": b"",
    "headers": b"HTTP/1.1 200 OK\r\nX-A: ",
    "body": b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n",
}


@pytest.mark.parametrize("start", SLOW.values(), ids=SLOW)
def test_one_byte_at_a_time(opened, monkeypatch, start):
    """Each within its time, and together for days."""
    monkeypatch.setattr(http, "QUICK_SECONDS", 0.3)

    def talk(connection, over):
        connection.sendall(start)
        while not over.is_set() and start:
            connection.sendall(b"x")
            time.sleep(0.05)
        over.wait(20)

    with connected(talk) as url:
        began = time.monotonic()
        with pytest.raises(OriginProblem) as raised:
            opened(Kind.GITLAB, url).heads()
        assert time.monotonic() - began < 10
    assert raised.value.state is State.UNREACHABLE
    assert raised.value.again


@pytest.mark.parametrize(
    ("said", "state"),
    [
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", State.REFUSED),
        (b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n\x1f\x8b", State.REFUSED),
        (b"", State.UNREACHABLE),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[", State.UNREACHABLE),
    ],
    ids=["ssh", "compressed", "nothing", "half"],
)
def test_what_is_not_http(opened, said, state):
    """Hanging up is trouble that may pass; another language is not."""
    with (
        connected(lambda connection, over: connection.sendall(said)) as url,
        pytest.raises(OriginProblem) as raised,
    ):
        opened(Kind.GITLAB, url).heads()
    assert raised.value.state is state
    assert raised.value.again is (state is State.UNREACHABLE)


def test_a_certificate_that_nobody_vouches_for(opened, tmp_path):
    server, _ = certificate(tmp_path, "localhost")
    with listening(tls=server) as listener, pytest.raises(OriginProblem) as raised:
        opened(Kind.GITLAB, f"{listener.url(scheme='https')}/docs/handbook").heads()
    assert raised.value.state is State.UNREACHABLE
    assert not raised.value.again
    assert "certificate" in raised.value.message
    assert listener.seen == []
