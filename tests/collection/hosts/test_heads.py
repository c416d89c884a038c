"""What a host says is there, and how it says that there is nothing."""

import pytest

from collection.choices import Kind, State
from collection.origins.data import OriginProblem
from tests.collection.hosts.conftest import SERVERS, TOKEN
from tests.collection.hosts.server import Fault


def trouble(origin) -> OriginProblem:
    with pytest.raises(OriginProblem) as raised:
        origin.heads()
    return raised.value


def test_branches_over_many_pages(origin, server, repository):
    """Of exactly a full page, too: the end is not announced there."""
    sha = repository.commit({"a": "1\n"})
    names = [f"refs/heads/topic/{number:03}" for number in range(249)]
    for count in (100, 250):
        told = "".join(f"update {name} {sha}\n" for name in names[: count - 1])
        repository.run("update-ref", "--stdin", given=told.encode())
        server.seen.clear()
        heads = origin.heads()
        assert heads.branches == repository.branches()
        assert len(heads.branches) == count
        assert heads.default == "main"
    pages = [asked for asked in server.seen if asked.path.endswith("/branches")]
    assert len(pages) == 3


def test_a_default_branch_that_is_not_there(origin, repository):
    sha = repository.commit({"a": "1\n"})
    repository.run("branch", "-m", "main", "trunk")
    repository.run("symbolic-ref", "HEAD", "refs/heads/gone")
    heads = origin.heads()
    assert (heads.branches, heads.default) == ({"trunk": sha}, "")


def test_an_empty_repository(origin):
    heads = origin.heads()
    assert (heads.branches, heads.default) == ({}, "")


def test_gitlab_says_404_where_nothing_was_ever_pushed(repository, opened):
    with SERVERS[Kind.GITLAB](repository) as url:
        url.server.faults.append(Fault(404, where="/branches"))
        assert opened(Kind.GITLAB, url).heads().branches == {}


def test_gitlab_with_its_code_switched_off(repository, opened):
    repository.commit({"a": "1\n"})
    with SERVERS[Kind.GITLAB](repository) as url:
        url.server.faults.append(Fault(403, where="/branches"))
        problem = trouble(opened(Kind.GITLAB, url))
    assert problem.state is State.DENIED
    assert "docs/handbook" in problem.message


def test_a_project_that_has_moved(kind, repository, opened):
    """It is asked under its number from then on, and its new address is told."""
    head = repository.commit({"a": "1\n"})
    with SERVERS[kind](repository, project="new/name", former=("docs/hand.book",)) as url:
        origin = opened(kind, f"{url.server.origin}/docs/hand.book")
        heads = origin.heads()
        assert heads.branches == {"main": head}
        assert heads.moved_to == f"{url.server.origin}/new/name"
        url.server.seen.clear()
        assert len(next(origin.history(head)).commits) == 1
        assert all("/4711/" in path for path in url.server.paths())


@pytest.mark.parametrize(
    ("location", "told"),
    [
        ("https://elsewhere.example/api/v4/projects/7", "https://elsewhere.example."),
        ("https://127.0.0.1/login", "https://127.0.0.1/login."),
        ("", "HTTP"),
        ("http://[", "not understood"),
        ("http://user:pass@127.0.0.1/", "not understood"),
        ("javascript:alert(1)", "not understood"),
    ],
    ids=["elsewhere", "login", "nowhere", "broken", "credentials", "script"],
)
def test_redirects_that_are_not_followed(origin, server, location, told):
    server.faults.append(Fault(302, {"Location": location} if location else {}, times=9))
    problem = trouble(origin)
    assert problem.state is State.REFUSED
    assert told in problem.message or not location
    assert len(server.seen) == 1


def test_a_redirect_to_https_names_the_address_to_use(kind, origin, server):
    place = server.origin.replace("http:", "https:")
    path = {
        Kind.GITLAB: "/api/v4/projects/docs%2Fhandbook/repository/branches",
        Kind.GITHUB: "/api/v3/repos/docs/handbook",
    }[kind]
    server.faults.append(Fault(301, {"Location": place + path}, times=9))
    problem = trouble(origin)
    assert problem.state is State.REFUSED
    assert place in problem.message


@pytest.mark.parametrize("status", [401, 403, 404, 451, 418])
def test_refusals_in_words(kind, url, opened, status):
    messages = set()
    for token in ("", TOKEN):
        url.server.faults = [Fault(status, times=9)]
        problem = trouble(opened(kind, url, token=token))
        assert not problem.again
        assert "127.0.0.1" in problem.message
        messages.add(problem.message)
        expected = {404: State.NOT_FOUND, 418: State.REFUSED}.get(status, State.DENIED)
        assert problem.state is expected
    # What to do about it depends on whether there is a token.
    assert len(messages) == (2 if status < 418 else 1)


def test_a_private_project(kind, url, opened, repository):
    """Without a token it looks like none at all: both are said."""
    repository.commit({"a": "1\n"})
    problem = trouble(opened(kind, url))
    assert problem.state is State.NOT_FOUND
    assert "private" in problem.message
    assert "docs/handbook" in problem.message
    problem = trouble(opened(kind, url, token="another"))
    assert problem.state is State.DENIED
    assert opened(kind, url, token=TOKEN).heads().default == "main"


def test_nobody_there(kind, opened):
    problem = trouble(opened(kind, "http://127.0.0.1:1024/docs/handbook"))
    assert problem.state is State.UNREACHABLE
    assert problem.again


def test_a_name_that_nobody_knows(kind, opened):
    problem = trouble(opened(kind, "http://host.invalid/docs/handbook"))
    assert problem.state is State.UNREACHABLE
    assert problem.again
    assert "host.invalid" in problem.message


def test_a_private_network_is_not_asked(kind, opened, settings, url):
    settings.PRIVATE_URLS_ALLOWED = ()
    problem = trouble(opened(kind, url))
    assert problem.state is State.REFUSED
    assert not problem.again
    assert url.server.seen == []
