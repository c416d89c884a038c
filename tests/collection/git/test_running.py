"""The one door to the git program, and its limits."""

import multiprocessing
import os
import signal
import threading
import time

import pytest

from collection.choices import Kind, State
from collection.models import Repository
from collection.origins.data import OriginProblem, Stopped
from collection.origins.git import program
from collection.origins.git.children import GitFailed, TookTooLong, WroteTooMuch
from collection.origins.git.mirror import SizeWatch
from collection.origins.git.origin import GitOrigin
from collection.origins.git.program import Program, git_program
from collection.origins.git.running import Git
from collection.origins.git.troubles import TooLarge
from glossary_site.outbound.allowed import parse_allowed
from tests.collection.git import serving

# A process that waits for input which never comes.
WAITING = ["hash-object", "--stdin"]


@pytest.fixture
def git():
    opened = Git(stopped=lambda: False)
    opened.read(["version"])  # whoever watches over processes is there by now
    yield opened
    opened.close()


@pytest.fixture
def endless():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stdin, os.fdopen(writing, "wb"):
        yield stdin


def test_nothing_of_the_surroundings_comes_through(git, monkeypatch, tmp_path):
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text("[user]\n\tname = Somebody\n")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.email")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "somebody@example.org")
    monkeypatch.setenv("SECRET_KEY", "of the site")
    shown = git.read(["config", "--list", "--show-origin"]).decode()
    assert "omebody" not in shown
    for entry in (
        "core.hookspath=/dev/null",
        "core.fsmonitor=false",
        "protocol.ext.allow=never",
        "gc.auto=0",
    ):
        assert entry in shown
    variables = git.read(["-c", "alias.variables=!env", "variables"]).decode()
    assert "of the site" not in variables
    assert "GIT_TERMINAL_PROMPT=0" in variables
    assert "GIT_ALLOW_PROTOCOL=none" in variables


@pytest.mark.parametrize("url", ["ext::sh -c 'touch {}'", "file:///tmp", "/tmp", "http://x/y"])
def test_no_protocol_is_allowed_that_was_not_asked_for(git, tmp_path, url):
    mark = tmp_path / "mark"
    with pytest.raises(GitFailed) as failed:
        git.read(["ls-remote", "--", url.format(mark)])
    assert "not allowed" in failed.value.said
    assert not mark.exists()


def test_output_is_limited(git):
    assert len(git.read(["help", "-a"])) > 1000
    with pytest.raises(WroteTooMuch):
        git.read(["help", "-a"], limit=1000)


def test_what_it_says_about_its_troubles_is_limited(git, tmp_path):
    noise = "yes fatal: x | head -c 3000000 >&2; exit 3"
    with pytest.raises(GitFailed) as failed:
        git.read(["-c", f"alias.noise=!{noise}", "noise"])
    assert failed.value.code == 3
    assert 0 < len(failed.value.said) <= 16 * 1024


def test_time_is_limited(git, endless):
    before = serving.processes_below(os.getpid())
    began = time.monotonic()
    with pytest.raises(TookTooLong):
        git.read(WAITING, stdin=endless, seconds=0.2)
    assert time.monotonic() - began < 5
    assert serving.processes_below(os.getpid()) == before


def test_it_can_be_stopped_with_all_that_it_started(endless):
    stop = threading.Event()
    git = Git(stopped=stop.is_set)
    git.read(["version"])
    before = serving.processes_below(os.getpid())
    threading.Timer(0.2, stop.set).start()
    with pytest.raises(Stopped):
        git.read(["-c", "alias.family=!sleep 60 & sleep 60", "family"])
    assert serving.processes_below(os.getpid()) == before
    git.close()


def test_the_folder_is_gone_with_it(git):
    folder = git.folder
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "config").stat().st_mode & 0o777 == 0o600
    git.close()
    assert not folder.exists()


def test_what_a_killed_process_left_is_swept_away(git):
    abandoned = git.folder.with_name("git-abandoned")
    abandoned.mkdir()
    (abandoned / "key").write_text("secret")
    other = Git(stopped=lambda: False)
    assert not abandoned.exists()
    assert git.folder.exists()
    other.close()


def _ask_in_thread(port: int) -> None:
    repository = Repository(kind=Kind.GIT, address=f"http://127.0.0.1:{port}/x")

    def ask():
        with GitOrigin(repository) as origin:
            origin.heads()

    # As in a collection: not from the main thread.
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()


def test_a_process_does_not_outlive_its_worker(settings):
    settings.PRIVATE_URLS_ALLOWED = parse_allowed(["127.0.0.1"])
    with serving.silence() as port:
        worker = multiprocessing.get_context("fork").Process(target=_ask_in_thread, args=(port,))
        worker.start()
        until = time.monotonic() + 20
        below: list[int] = []
        while len(below) < 2 and time.monotonic() < until:  # git, and what speaks http for it
            time.sleep(0.02)
            below = serving.processes_below(worker.pid)
        assert len(below) >= 2
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
        until = time.monotonic() + 10
        while any(serving.alive(pid) for pid in below) and time.monotonic() < until:
            time.sleep(0.02)
        assert not any(serving.alive(pid) for pid in below)


def test_a_thread_that_ends_takes_no_process_along(git):
    """To the kernel the parent of a process is a thread; ours come and go."""
    streams = []

    def start():
        stream = git.stream(["-c", "alias.slow=!echo begun; sleep 0.5; echo ended", "slow"])
        assert next(stream) == b"begun\n"
        streams.append(stream)

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    time.sleep(0.1)
    assert list(streams[0]) == [b"ended\n"]


def test_the_size_of_a_copy_is_watched(tmp_path, settings):
    # Single objects, too: a host without git of its own is asked for one after the other.
    for name in ("pack/tmp_pack_x", "ab/cdef.temp"):
        file = tmp_path / "objects" / name
        file.parent.mkdir(parents=True)
        file.write_bytes(b"x" * 500)
    settings.GIT_MAX_BYTES = 1000
    SizeWatch(tmp_path).look()
    settings.GIT_MAX_BYTES = 999
    with pytest.raises(TooLarge):
        SizeWatch(tmp_path).look()


class TestProgram:
    def test_none_on_the_machine(self, monkeypatch, tmp_path, origin):
        monkeypatch.setenv("PATH", str(tmp_path))
        with pytest.raises(OriginProblem) as problem:
            origin.heads()
        assert problem.value.state is State.UNREACHABLE
        assert "git" in problem.value.message

    @pytest.mark.parametrize(
        ("says", "fine"),
        [
            ("git version 2.36.9", False),
            ("git version 1.8.3.1", False),
            ("git version 2.37.0", True),
            ("git version 2.49.GIT", True),
            ("git version 3.0.0 (Apple Git-1)", True),
            ("nonsense", False),
        ],
    )
    def test_its_version(self, monkeypatch, tmp_path, says, fine):
        fake = tmp_path / "git"
        fake.write_text(f"#!/bin/sh\necho '{says}'\n")
        fake.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
        program._version.cache_clear()
        if fine:
            assert git_program().path == str(fake)
        else:
            with pytest.raises(OriginProblem):
                git_program()

    @pytest.mark.parametrize(
        ("version", "safe"),
        [
            ((2, 39, 3), False),
            ((2, 39, 4), True),
            ((2, 39, 5), True),
            ((2, 40, 1), False),
            ((2, 45, 0), False),
            ((2, 45, 1), True),
            ((2, 46, 0), True),
            ((3, 0, 0), True),
        ],
    )
    def test_whether_it_may_read_what_belongs_to_others(self, version, safe):
        assert Program("git", version).serves_safely is safe
