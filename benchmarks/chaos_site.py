"""The whole site as it really runs, twice over: `manage.py serve`, and a second worker beside it as
another host would have. Knows which process is which."""

import contextlib
import os
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import psutil

from benchmarks.chaos_records import Database
from benchmarks.site import ROOT, Site, wait_for

STOP_SECONDS = 30.0
START_SECONDS = 90.0


class Running:
    def __init__(self, site: Site, database: Database, directory: Path) -> None:
        self.site = site
        self.database = database
        self.log = directory / "site.log"
        self.starts: dict[str, int] = defaultdict(int)
        self._programs: dict[str, subprocess.Popen] = {}
        self._commands: dict[str, list[str]] = {
            "serve": ["manage.py", "serve", "--no-setup", "--port", str(site.port)],
            "second": ["manage.py", "worker"],
        }

    def start(self) -> None:
        self.keep_going()
        wait_for(f"{self.site.url}/healthz", START_SECONDS)

    def command(self, name: str, command: list[str]) -> None:
        """Another program that is to be kept going."""
        self._commands[name] = command

    def give_up(self, name: str) -> None:
        """Kill it and do not start it again."""
        self._commands.pop(name, None)
        program = self._programs.pop(name, None)
        if program is not None:
            program.kill()
            program.wait()

    def keep_going(self) -> None:
        """Start whatever is not there: nobody else does that for these."""
        for name, command in self._commands.items():
            program = self._programs.get(name)
            if program is None or program.poll() is not None:
                self.starts[name] += 1
                with self.log.open("a") as log:
                    self._programs[name] = subprocess.Popen(
                        [sys.executable, *command],
                        env=self.site.environment,
                        cwd=ROOT,
                        stdout=log,
                        stderr=log,
                        stdin=subprocess.DEVNULL,
                        start_new_session=True,
                    )

    def targets(self) -> dict[str, list[psutil.Process]]:
        """Every living process of the site by what it is."""
        found: dict[str, list[psutil.Process]] = defaultdict(list)
        roles = self._roles()
        for name in ("serve", "second"):
            program = self._programs.get(name)
            if program is None or program.poll() is not None:
                continue
            try:
                if name == "serve":
                    found["serve"].append(psutil.Process(program.pid))
                    for child in psutil.Process(program.pid).children():
                        self._sort_child(child, roles, found)
                else:
                    self._sort_child(psutil.Process(program.pid), roles, found)
            except psutil.NoSuchProcess:
                continue
        return found

    def family(self) -> set[psutil.Process]:
        """Every process of the site, of whatever sort."""
        found: set[psutil.Process] = set()
        for name in ("serve", "second"):
            program = self._programs.get(name)
            if program is not None:
                with contextlib.suppress(psutil.NoSuchProcess):
                    found.update(psutil.Process(program.pid).children(recursive=True))
        return found

    def producer(self) -> subprocess.Popen | None:
        program = self._programs.get("producer")
        return program if program is not None and program.poll() is None else None

    def _sort_child(
        self,
        child: psutil.Process,
        roles: dict[int, str],
        found: dict[str, list[psutil.Process]],
    ) -> None:
        """A program that `serve` started, or a worker command of its own."""
        if "daphne" in " ".join(child.cmdline()):
            found["web"].append(child)
            return
        found["command"].append(child)
        for ward in child.children():
            if roles.get(ward.pid) == "keeper":
                found["keeper"].append(ward)
                continue
            found["cluster"].append(ward)
            for sentinel in ward.children():
                found["sentinel"].append(sentinel)
                for process in sentinel.children():
                    # Those that do work have a row; the others fetch tasks and keep the books.
                    known = roles.get(process.pid) in ("short", "long")
                    found["worker" if known else "helper"].append(process)

    def _roles(self) -> dict[int, str]:
        sql = "SELECT pid, role FROM jobs_worker WHERE stopped_at IS NULL ORDER BY id"
        return dict(self.database.rows(sql))

    def busy(self) -> set[int]:
        """The processes that have a job in hand."""
        sql = (
            "SELECT w.pid FROM jobs_worker w JOIN jobs_jobrun r ON r.assigned_worker = w.name "
            "WHERE r.state IN ('ASSIGNED', 'RUNNING')"
        )
        return {pid for (pid,) in self.database.rows(sql)}

    def stop(self) -> list[str]:
        """In good order. Returns the processes that were left, which it then ends."""
        self._commands.clear()
        for program in self._programs.values():
            program.terminate()
        deadline = time.monotonic() + STOP_SECONDS
        for program in self._programs.values():
            with contextlib.suppress(subprocess.TimeoutExpired):
                program.wait(max(0.1, deadline - time.monotonic()))
        time.sleep(1)
        left = self._ours()
        described = [f"{process.pid} {' '.join(process.cmdline())}" for process in left]
        for process in left:
            process.kill()
        for program in self._programs.values():
            program.wait()
        return described

    def _ours(self) -> list[psutil.Process]:
        """Whatever still runs on this data directory."""
        mine = self.site.environment["GLOSSARY_DATA_DIR"]
        left = []
        for process in psutil.process_iter():
            try:
                if (
                    process.pid != os.getpid()
                    and process.status() != psutil.STATUS_ZOMBIE
                    and process.environ().get("GLOSSARY_DATA_DIR") == mine
                ):
                    left.append(process)
            except psutil.Error:
                continue
        return left
