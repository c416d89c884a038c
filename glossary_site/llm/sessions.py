"""What the queue needs of whoever executes a process: a job's session, or something like it."""

from contextlib import AbstractContextManager
from typing import Protocol

from glossary_site.jobs.models import JobRun


class Session(Protocol):
    run: JobRun

    def cancelled(self) -> bool: ...

    def check(self) -> None:
        """Raises when the work is not wanted any more."""

    def progress(self, current: int, total: int, message: str = "") -> None: ...

    def log(self, message: str, level: str = "info") -> None: ...

    def atomic(self) -> AbstractContextManager[None]:
        """A transaction that commits only while the run is ours."""
