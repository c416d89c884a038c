"""What the site's own commands have in common."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

from django.core.exceptions import PermissionDenied
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.processes.preparation import require_migrated

# As a shell tells of a program that wrote to a reader who had gone (`… | head -1`).
NOBODY_READS = 128 + signal.SIGPIPE
# The exit codes of a command that could not do what it was asked for, and of one that was asked for
# what is not there or makes no sense.
FAILED, USAGE = 1, 2


class OutputLost(Exception):
    """What a command says does not arrive. Not an OSError: those are of what it works on."""

    def __init__(self, stream: TextIO, error: OSError) -> None:
        super().__init__(str(error))
        self.stream = stream
        self.error = error

    def forget(self) -> None:
        """What was not written yet is lost; else Python would try it again at its end, and complain
        once more."""
        # A stream of another kind has no file behind it.
        with suppress(AttributeError, OSError, ValueError):
            number = self.stream.fileno()
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, number)
            os.close(nowhere)


class Told:
    """A stream to people or programs, as the command found it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> None:
        with self._arriving():
            self._stream.write(text)

    def flush(self) -> None:
        with self._arriving():
            self._stream.flush()

    @contextmanager
    def _arriving(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputLost(self._stream, error) from error


def nowhere() -> TextIO:
    """For a stream that whoever started us has closed (`2>&-`): Python has none then."""
    return open(os.devnull, "w")


class SiteCommand(BaseCommand):
    # The web process runs into whatever these would find, and starting should be quick.
    requires_system_checks = []

    def __init__(
        self, stdout: TextIO | None = None, stderr: TextIO | None = None, **options: Any
    ) -> None:
        super().__init__(
            stdout=cast(TextIO, Told(stdout or sys.stdout or nowhere())),
            stderr=cast(TextIO, Told(stderr or sys.stderr or nowhere())),
            **options,
        )

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            try:
                return super().execute(*args, **options)
            finally:
                # Python would do so later, where nobody can be told that it cannot be done.
                self.stdout.flush()
        except DatabaseError:
            # Where there is no database, or one of an older site: a sentence, and no traceback.
            require_migrated()
            raise
        except Refusal as refusal:
            is_usage = refusal.status in (400, 404)
            raise CommandError(str(refusal), returncode=USAGE if is_usage else FAILED) from refusal
        except PermissionDenied as error:
            raise CommandError(str(error)) from error
        except OutputLost as lost:
            lost.forget()
            if isinstance(lost.error, BrokenPipeError):
                raise SystemExit(NOBODY_READS) from lost
            raise CommandError(
                _("The output cannot be written: %(why)s")
                % {"why": lost.error.strerror or lost.error}
            ) from lost
