"""`manage.py serve`: from an empty directory to a running site, and back to nothing left."""

import http.client
import re
import signal
import stat
import sys
from pathlib import Path
from typing import cast

import httpx
import psutil
import pytest

from glossary_site.processes import restarts
from glossary_site.processes import supervisor as supervisor_module
from glossary_site.processes.stopping import StopSignals
from glossary_site.processes.supervisor import Program, Supervisor
from projects.sample.load import NAME
from tests.site.running import (
    PATIENCE,
    Running,
    Site,
    empty_site,
    free_port,
    gone,
    migrated_site,
    wait_for,
)

pytestmark = [pytest.mark.xdist_group("processes"), pytest.mark.races]

FIRST = re.compile(
    r"^Glossary Site is running at http://127\.0\.0\.1:\d+/ — sign in as (\w+) "
    r"with the password (\S+) \(shown only once\)$"
)
LATER = re.compile(r"^Glossary Site is running at http://127\.0\.0\.1:\d+/ — press Ctrl-C to stop$")


def start_site(site: Site, port: int, *options: str) -> Running:
    running = site.start("serve", "--port", str(port), *options)
    running.wait_for_output("Glossary Site is running")
    return running


def healthy(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def projects_seen_by(name: str, password: str, port: int) -> list[str]:
    """Sign in as a browser does, and ask for the projects."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as browser:
        page = browser.get("/account/sign-in/").text
        secret = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert secret, page
        form = {"csrfmiddlewaretoken": secret[1], "username": name, "password": password}
        assert browser.post("/account/sign-in/", data=form).status_code == 302
        return [project["name"] for project in browser.get("/api/projects").json()["results"]]


def children_of(running: Running) -> tuple[psutil.Process, psutil.Process]:
    """The web process and the worker, once both are there."""

    def look() -> tuple[psutil.Process, psutil.Process] | None:
        children = psutil.Process(running.pid).children()
        web = [child for child in children if "daphne" in child.cmdline()]
        worker = [child for child in children if "worker" in child.cmdline()]
        return (web[0], worker[0]) if web and worker else None

    return wait_for("web and worker", look)


# Four starts, each with a worker.
@pytest.mark.timeout(300)
def test_the_first_start_the_second_and_everything_in_between(tmp_path):
    port = free_port()
    with empty_site(tmp_path / "new" / "data") as site:
        running = start_site(site, port)
        line = FIRST.match(running.output.strip())
        assert line, running.output
        name, password = line.groups()
        assert healthy(port)

        # What it made is for its owner only.
        assert stat.S_IMODE(site.directory.stat().st_mode) == 0o700
        assert stat.S_IMODE((site.directory / "secret_key").stat().st_mode) == 0o600

        # The password is right, and there is something to look at.
        assert NAME in projects_seen_by(name, password, port)

        # Nobody else can run on this directory, nor on this port.
        second = site.command("serve", "--port", str(free_port()))
        assert second.returncode == 1
        assert second.stderr.startswith("CommandError: The site is already running on")
        assert len(second.stderr.splitlines()) == 1
        with empty_site(tmp_path / "other") as other:
            refused = other.command("serve", "--port", str(port))
        assert refused.returncode == 1
        assert refused.stderr.startswith(f"CommandError: Port {port} on 127.0.0.1 is taken.")
        assert len(refused.stderr.splitlines()) == 1

        # Ctrl-C ends everything.
        everything = running.descendants()
        running.signal(signal.SIGINT)
        assert running.wait(20) == 0
        assert gone(everything)

        # The next start has the same people and projects, and no secret to tell.
        again = start_site(site, port)
        assert LATER.match(again.output.strip()), again.output
        assert NAME in projects_seen_by(name, password, port)
        again.signal(signal.SIGTERM)
        assert again.wait(20) == 0


def test_what_dies_comes_back_and_nothing_outlives_the_supervisor(tmp_path):
    port = free_port()
    with migrated_site(tmp_path / "data") as site:
        running = start_site(site, port, "--no-setup")
        assert LATER.match(running.output.strip()), running.output

        web, _worker = children_of(running)
        web.kill()
        running.wait_for_output("The web process died")
        wait_for("the site answers again", lambda: healthy(port))

        web, worker = children_of(running)
        below = worker.children(recursive=True)
        worker.kill()
        wait_for("the cluster went with its watchdog", lambda: gone(below), seconds=3)
        running.wait_for_output("The worker process died")
        done = tmp_path / "done"
        site.send_tasks(("os.mkdir", str(done)))
        wait_for("tasks run again", done.exists)

        everything = running.descendants()
        assert len(everything) >= 4
        running.signal(signal.SIGKILL)
        running.wait()
        wait_for("no process is left", lambda: gone(everything), seconds=3)


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"GLOSSARY_DATA_DIR": "/dev/null/data"}, "The data directory /dev/null/data cannot be"),
        ({"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none"}, "The database cannot be used"),
    ],
    ids=["data directory", "database"],
)
def test_one_sentence_instead_of_a_traceback(tmp_path, environment, sentence):
    refused = Site(tmp_path / "data").command("serve", "--port", str(free_port()), **environment)
    assert refused.returncode == 1
    assert refused.stderr.startswith(f"CommandError: {sentence}")
    assert len(refused.stderr.splitlines()) == 1
    assert refused.stdout == ""


def test_it_gives_up_when_a_part_cannot_start(tmp_path):
    (tmp_path / "half_broken.py").write_text(
        "from glossary_site.settings import *\n"
        "if ROLE == 'web':\n"
        "    raise SystemExit('this is the reason')\n"
    )
    with migrated_site(tmp_path / "data") as site:
        refused = site.command(
            "serve",
            "--port",
            str(free_port()),
            DJANGO_SETTINGS_MODULE="half_broken",
            PYTHONPATH=str(tmp_path),
        )
    assert refused.returncode == 1
    assert "this is the reason" in refused.stderr
    assert "CommandError: The web process could not start (exit code 1)" in refused.stderr


class NoSignal:
    """In place of real signals, which would reach the test runner."""

    asked = False
    insisted = False


def program(code: str, tmp_path: Path) -> Program:
    command = [sys.executable, "-S", "-c", code]
    return Program(name="little program", command=command, environment={}, directory=tmp_path)


def test_what_dies_again_and_again_is_started_again_while_the_rest_lives(
    tmp_path, monkeypatch, caplog
):
    monkeypatch.setattr(restarts, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(restarts, "LONGEST_PAUSE", 0.05)

    class StopAfterSixDeaths:
        insisted = True

        @property
        def asked(self) -> bool:
            return caplog.text.count("starting it again") >= 6

    mortal = program("raise SystemExit(7)", tmp_path)
    steady = program("import time; time.sleep(60)", tmp_path)
    supervisor = Supervisor([mortal, steady], cast(StopSignals, StopAfterSixDeaths()))
    mortal.start()
    steady.start()
    supervisor.watch()
    assert "little program died (exit code 7)" in caplog.text
    assert steady.alive
    supervisor.end()
    assert not steady.alive


def test_what_does_not_stop_when_asked_is_killed(tmp_path, monkeypatch):
    monkeypatch.setattr(supervisor_module, "GRACE_SECONDS", 0.3)
    deaf = program(
        "import pathlib, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "pathlib.Path('deaf').touch()\n"
        "time.sleep(60)",
        tmp_path,
    )
    supervisor = Supervisor([deaf], cast(StopSignals, NoSignal()))
    supervisor.start((tmp_path / "deaf").exists, seconds=PATIENCE)
    supervisor.end()
    assert deaf.exit_code == -signal.SIGKILL
