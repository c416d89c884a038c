"""A token goes to its host and nowhere else."""

import logging
import traceback

import pytest

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins.data import OriginProblem
from collection.origins.hosts.http import Token
from glossary_site.secrets import encrypt
from tests.collection.hosts.answers import Reply
from tests.collection.hosts.conftest import ORIGINS, TOKEN
from tests.collection.hosts.server import Fault, serving

HEADERS = {Kind.GITLAB: "PRIVATE-TOKEN", Kind.GITHUB: "Authorization"}


def everything_about(error: BaseException) -> str:
    """What a log, a page or a program that collects errors could show of it."""
    told = [repr(error), str(error), repr(vars(error))]
    chain: BaseException | None = error
    while chain is not None:
        told += [repr(chain), repr(getattr(chain, "args", ""))]
        request = getattr(chain, "_request", None)
        told.append(repr(getattr(request, "headers", "")))
        for frame, _line in traceback.walk_tb(chain.__traceback__):
            told += [repr(value) for value in frame.f_locals.values()]
        chain = chain.__cause__ or (None if chain.__suppress_context__ else chain.__context__)
    told += traceback.format_exception(error)
    return "\n".join(told)


def test_it_reaches_the_host_in_its_header(kind, origin, server, repository):
    repository.commit({"a": "1\n"})
    origin.heads()
    for asked in server.seen:
        assert TOKEN in asked.headers[HEADERS[kind]]
        assert TOKEN not in asked.path + str(asked.query)


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 429, 500])
def test_a_host_that_says_it_back(kind, tmp_path, opened, caplog, status):
    """In words, in headers, in where it sends us."""
    caplog.set_level(logging.DEBUG)
    body = f'{{"message": "bad token {TOKEN}"}}'.encode()
    headers = {"X-Echo": TOKEN, "Retry-After": "900", "WWW-Authenticate": TOKEN}
    with serving(
        lambda host, asked: Reply(status, body, headers), tmp_path, project="docs/handbook"
    ) as url:
        origin = opened(kind, url, token=TOKEN)
        with pytest.raises(OriginProblem) as raised:
            origin.heads()
    problem = raised.value
    assert TOKEN not in problem.message
    assert TOKEN not in repr(problem)
    assert TOKEN not in repr(origin)
    assert TOKEN not in repr(origin._api._token)
    asked_of_us = [record for record in caplog.records if not record.name.startswith("http")]
    assert all(TOKEN not in record.getMessage() for record in asked_of_us)
    requests = [record.getMessage() for record in caplog.records if record.name == "httpx2"]
    assert requests
    assert all(TOKEN not in message for message in requests)


@pytest.mark.parametrize("trouble", ["refused", "slow", "garbage"])
def test_trouble_on_the_way(kind, tmp_path, opened, trouble, url):
    if trouble == "refused":
        address = "http://127.0.0.1:1024/docs/handbook"
    else:
        address = str(url)
        url.server.faults.append(Fault(200, {"Content-Encoding": "br"}, times=9))
    with pytest.raises(OriginProblem) as raised:
        opened(kind, address, token=TOKEN).heads()
    assert TOKEN not in everything_about(raised.value)


@pytest.mark.parametrize(
    "token", [f"{TOKEN}\r\nX-Evil: 1", f"{TOKEN}\n more", f"{TOKEN} x", f"{TOKEN}\0", f"{TOKEN}é"]
)
def test_a_token_that_is_none(kind, url, opened, token):
    """It would end up in what the HTTP library complains about."""
    with pytest.raises(OriginProblem) as raised:
        opened(kind, url, token=token).heads()
    assert raised.value.state is State.DENIED
    assert TOKEN not in str(raised.value)
    assert url.server.seen == []


def test_a_token_with_a_line_end_behind_it(kind, url, opened, repository):
    """As it is copied from a file."""
    repository.commit({"a": "1\n"})
    assert opened(kind, url, token=f" {TOKEN}\n").heads().default == "main"


def test_a_secret_that_can_no_longer_be_read(kind, url, settings):
    secret = encrypt(TOKEN)
    settings.SECRET_KEY = "another"
    settings.ENCRYPTION_KEYS = []
    row = Repository(kind=kind, address=str(url), secret=secret)
    with ORIGINS[kind](row) as origin, pytest.raises(OriginProblem) as raised:
        origin.heads()
    assert raised.value.state is State.DENIED
    assert secret not in str(raised.value)


def test_it_does_not_follow_a_redirect(kind, tmp_path, opened):
    """To another host, port or path."""
    with (
        serving(lambda host, asked: Reply(200, b"[]"), tmp_path, project="a/b") as other,
        serving(
            lambda host, asked: Reply(301, b"", {"Location": f"{other.server.origin}/api/x"}),
            tmp_path,
            project="docs/handbook",
        ) as url,
    ):
        with pytest.raises(OriginProblem):
            opened(kind, url, token=TOKEN).heads()
        assert other.server.seen == []


def test_tokens_do_not_show_themselves():
    token = Token(TOKEN, header="Authorization")
    assert TOKEN not in repr(token)
    assert TOKEN not in f"{token}"
    assert not Token("", header="Authorization")
