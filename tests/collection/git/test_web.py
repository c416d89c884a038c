"""A repository over http and https: whom git connects to, what it tells them, where it is sent."""

import os
import threading
import time

import pytest

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins.data import OriginProblem, Stopped
from collection.origins.git import origin as origin_module
from collection.origins.git.origin import GitOrigin
from glossary_site.outbound.allowed import parse_allowed
from glossary_site.secrets import encrypt
from tests.collection.git import serving
from tests.collection.git.building import git
from tests.collection.git.comparing import all_of
from tests.outbound.listeners import certificate

SECRET = "s3cr:t/@ü%"


@pytest.fixture
def server(source, tmp_path, settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1", "git.example"])
    source.commit("main", {"a": b"1\n"})
    source.write()
    with serving.serving(tmp_path / "sources") as served:
        yield served


def repository_at(address: str, **fields) -> Repository:
    if "secret" in fields:
        fields["secret"] = encrypt(fields["secret"])
    return Repository(pk=1, kind=Kind.GIT, address=address, **fields)


def problem_at(address: str, **fields) -> OriginProblem:
    with (
        GitOrigin(repository_at(address, **fields)) as origin,
        pytest.raises(OriginProblem) as problem,
    ):
        origin.heads()
    return problem.value


def heads_at(address: str, **fields):
    with GitOrigin(repository_at(address, **fields)) as origin:
        return origin.heads()


def test_from_asking_to_history(server, source):
    with GitOrigin(repository_at(server.url())) as origin:
        heads = origin.heads()
        assert (heads.branches, heads.default) == ({"main": source.head()}, "main")
        origin.bring(heads.branches)
        assert [commit.sha for commit in all_of(origin.history(source.head()))] == [source.head()]


def test_it_connects_to_the_address_that_was_checked(server, monkeypatch):
    # Nobody but us knows the name: had git looked it up itself, it would not have got there.
    serving.leading_to(monkeypatch, git_example="127.0.0.1")
    assert heads_at(server.url(host="git.example")).default == "main"


def test_a_private_address_is_not_connected_to(server, settings, monkeypatch):
    serving.leading_to(monkeypatch, git_example="127.0.0.1")
    settings.PRIVATE_URLS_ALLOWED = ()
    problem = problem_at(server.url(host="git.example"))
    assert problem.state is State.REFUSED
    assert "GLOSSARY_PRIVATE_URLS_ALLOWED" in problem.message
    assert server.seen == []


def test_proxies_and_variables_of_the_surroundings_are_not_used(server, monkeypatch):
    for name in ("http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{serving.closed_port()}")
    monkeypatch.setenv("GIT_TRACE_CURL", "1")
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.proxy")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "http://127.0.0.1:1")
    assert heads_at(server.url()).default == "main"


class TestSecrets:
    def test_a_name_and_a_token(self, server):
        server.account = f"ada:{SECRET}"
        assert heads_at(server.url(), username="ada", secret=SECRET).default == "main"
        assert server.seen[-1][1] == f"ada:{SECRET}"
        server.account = f"git:{SECRET}"
        assert heads_at(server.url(), secret=SECRET).default == "main"

    def test_without_one_and_with_a_wrong_one(self, server):
        server.account = "ada:right"
        without, wrong = problem_at(server.url()), problem_at(server.url(), secret="wrong")
        assert without.state is wrong.state is State.DENIED
        assert not without.again
        assert "wrong" not in wrong.message

    def test_nobody_else_sees_it(self, server, tmp_path):
        server.account = f"git:{SECRET}"
        looked = []

        def look():
            for pid in serving.processes_below(os.getpid()):
                told = serving.environment_of(pid)
                if b"GIT_CONFIG_GLOBAL" in told:
                    looked.append(told)
            folders = list((tmp_path / "data" / "git" / "private").glob("git-*"))
            assert [folder.stat().st_mode & 0o777 for folder in folders] == [0o700]
            for file in folders[0].iterdir():
                if SECRET.encode() in file.read_bytes():
                    looked.append(b"as it is")
                assert file.name == "lock" or file.stat().st_mode & 0o077 == 0

        server.meanwhile = look
        with GitOrigin(repository_at(server.url(), secret=SECRET)) as origin:
            origin.bring(origin.heads().branches)
        assert looked
        assert not any(b"s3cr" in told for told in looked)
        # And nothing is left of it.
        assert list((tmp_path / "data" / "git" / "private").glob("git-*")) == []
        kept = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
        assert kept
        assert not any(b"s3cr" in path.read_bytes() for path in kept)

    def test_one_that_can_no_longer_be_read(self, server):
        with (
            GitOrigin(Repository(pk=1, kind=Kind.GIT, address=server.url(), secret="x")) as origin,
            pytest.raises(OriginProblem) as problem,
        ):
            origin.heads()
        assert problem.value.state is State.DENIED
        assert server.seen == []


class TestMoving:
    def redirect(self, server, to: str, status: int = 301):
        server.answers["/old.git"] = (
            status,
            {"Location": f"{to}/info/refs?service=git-upload-pack"},
        )

    @pytest.mark.parametrize("status", [301, 302, 307, 308])
    def test_on_the_same_host(self, server, source, status):
        self.redirect(server, server.url(), status)
        server.account = "git:secret"
        with GitOrigin(repository_at(server.url("old.git"), secret="secret")) as origin:
            heads = origin.heads()
            assert heads.moved_to == server.url()
            origin.bring(heads.branches)
            assert len(all_of(origin.history(source.head()))) == 1
        # Bringing alone finds it as well.
        with GitOrigin(repository_at(server.url("old.git"), secret="secret")) as origin:
            origin.bring({"main": source.head()})

    def test_by_a_path_alone(self, server):
        self.redirect(server, "/one.git")
        assert heads_at(server.url("old.git")).moved_to == server.url()

    def test_to_another_host(self, server, monkeypatch):
        serving.leading_to(monkeypatch, git_example="127.0.0.1")
        self.redirect(server, server.url(host="git.example"))
        assert heads_at(server.url("old.git")).moved_to == server.url(host="git.example")
        # With a secret, nobody there is even asked.
        before = len(server.seen)
        problem = problem_at(server.url("old.git"), secret="secret")
        assert problem.state is State.REFUSED
        assert server.url(host="git.example") in problem.message
        assert {path for path, _account in server.seen[before:]} == {"/old.git/info/refs"}

    def test_into_a_private_network(self, server, settings):
        settings.PRIVATE_URLS_ALLOWED = parse_allowed([f"127.0.0.1:{server.port}"])
        self.redirect(server, f"http://127.0.0.1:{serving.closed_port()}/x")
        problem = problem_at(server.url("old.git"))
        assert problem.state is State.REFUSED
        assert "GLOSSARY_PRIVATE_URLS_ALLOWED" in problem.message

    @pytest.mark.parametrize("to", ["file:///etc", "ext::sh", "https://user:pass@example.org/x"])
    def test_to_what_is_no_address(self, server, to):
        self.redirect(server, to)
        assert problem_at(server.url("old.git")).state is State.REFUSED

    def test_in_a_circle(self, server):
        self.redirect(server, server.url("old.git"))
        assert problem_at(server.url("old.git")).state is State.REFUSED

    def test_by_an_answer_that_has_no_end(self, server):
        """Its head says where to go; who reads on reads for ever."""
        server.endless_until = threading.Event()
        ended = threading.Timer(5, server.endless_until.set)
        ended.start()
        self.redirect(server, server.url())
        assert heads_at(server.url("old.git")).moved_to == server.url()
        assert not server.endless_until.is_set()
        ended.cancel()
        server.endless_until.set()

    def test_to_a_page_for_signing_in(self, server):
        server.answers["/old.git"] = (302, {"Location": "/sign-in"})
        assert problem_at(server.url("old.git")).state is State.REFUSED


class TestTrouble:
    @pytest.mark.parametrize(
        ("status", "state", "again"),
        [
            (403, State.DENIED, False),
            (404, State.NOT_FOUND, False),
            (410, State.NOT_FOUND, False),
            (429, State.UNREACHABLE, True),
            (500, State.UNREACHABLE, True),
            (503, State.UNREACHABLE, True),
        ],
    )
    def test_what_the_host_says(self, server, status, state, again):
        server.answers["/"] = (status, {})
        problem = problem_at(server.url())
        assert (problem.state, problem.again) == (state, again)

    def test_no_repository_at_all(self, server):
        assert problem_at(server.url("none.git")).state is State.NOT_FOUND
        server.answers["/"] = (200, {"Content-Type": "text/html"})
        assert problem_at(server.url()).state is State.NOT_FOUND

    def test_nobody_there(self, server):
        problem = problem_at(f"http://127.0.0.1:{serving.closed_port()}/x")
        assert (problem.state, problem.again) == (State.UNREACHABLE, True)

    def test_a_name_that_leads_nowhere(self):
        problem = problem_at("https://nobody.invalid/x")
        assert (problem.state, problem.again) == (State.UNREACHABLE, True)

    def test_silence_takes_only_so_long(self, server, monkeypatch):
        monkeypatch.setattr(origin_module, "ASK_SECONDS", 0.6)
        with serving.silence() as port:
            began = time.monotonic()
            problem = problem_at(f"http://127.0.0.1:{port}/x")
            assert time.monotonic() - began < 10
        assert (problem.state, problem.again) == (State.UNREACHABLE, True)

    def test_silence_can_be_stopped(self, server):
        stop = threading.Event()
        heads_at(server.url())  # whoever watches over processes is there by now
        before = serving.processes_below(os.getpid())
        with serving.silence() as port:
            repository = repository_at(f"http://127.0.0.1:{port}/x")
            with GitOrigin(repository, stopped=stop.is_set) as origin:
                threading.Timer(0.3, stop.set).start()
                with pytest.raises(Stopped):
                    origin.heads()
        assert serving.processes_below(os.getpid()) == before

    def test_a_host_that_sends_us_to_others_for_objects(self, server, source):
        """The old protocol lets a host name other places where objects are."""
        git(source.path, "update-server-info")
        (source.path / "objects" / "info" / "http-alternates").write_text(
            f"http://127.0.0.1:{serving.closed_port()}/x/objects\n"
        )
        server.answers["/one.git/info/refs"] = (404, {})
        assert problem_at(server.url()).state is State.NOT_FOUND


def test_certificates(source, tmp_path, settings, monkeypatch):
    source.commit("main")
    source.write()
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["git.example", "other.example"])
    serving.leading_to(monkeypatch, git_example="127.0.0.1", other_example="127.0.0.1")
    tls, _client = certificate(tmp_path, "git.example")
    with serving.serving(tmp_path / "sources", tls=tls) as server:
        address = server.url(host="git.example", scheme="https")
        problem = problem_at(address)
        assert (problem.state, problem.again) == (State.UNREACHABLE, False)
        assert "certificate" in problem.message
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "git.example.pem"))
        assert heads_at(address).default == "main"
        elsewhere = problem_at(server.url(host="other.example", scheme="https"))
        assert "certificate" in elsewhere.message
