"""A collection at a terminal: what goes wrong line by line, and on a real terminal a bar below it.

Everything goes to standard error: the summary alone is for standard output.
"""

from datetime import timedelta
from shutil import get_terminal_size

from django.core.management.base import OutputWrapper
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.choices import ResultStatus
from collection.management.summing import branch_in_words
from collection.models import BulkCollectionResult, BulkCollectionRun
from collection.services.summaries import Standing, standing
from glossary_site.durations import in_words
from glossary_site.jobs.management.tables import harmless
from projects.management.terminal import ERASE, bar, fitting

RED, YELLOW, PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"
# With nothing new for so long, people want to know that it is not forgotten.
QUIET = timedelta(seconds=10)
# Without a terminal, a line so often is enough.
LINE_SECONDS = 30.0


class Display:
    def __init__(self, out: OutputWrapper, *, quiet: bool = False) -> None:
        self._out = out
        self._quiet = quiet
        self._bar = out.isatty() and not quiet
        self._told: set[tuple[int, str]] = set()
        self._line_at = timezone.now()

    def show(self, run: BulkCollectionRun) -> BulkCollectionRun:
        """What has come since it was last called; the collection as it is now."""
        now = standing(run)
        self._tell_troubles(now.run)
        if self._bar:
            self._draw(now)
        elif now.run.is_running and (timezone.now() - self._line_at).seconds >= LINE_SECONDS:
            self._line_at = timezone.now()
            self.say(" ".join(_words(now)))
        return now.run

    def say(self, text: str) -> None:
        if not self._quiet:
            self._write(f"{self._erased()}{harmless(text)}\n")

    def close(self) -> None:
        if self._bar:
            self._write(ERASE)

    def _tell_troubles(self, run: BulkCollectionRun) -> None:
        """Each once: what failed, and what is tried again."""
        results = run.results.select_related("repository").exclude(last_error="")
        for result in results.order_by("pk"):
            told = (result.pk, f"{result.status} {result.attempts}")
            if told not in self._told and result.status != ResultStatus.SUCCESS:
                self._told.add(told)
                self._write_trouble(result)

    def _write_trouble(self, result: BulkCollectionResult) -> None:
        failed = result.status == ResultStatus.FAILED
        text = f"{_target(result)}: {result.last_error}"
        if failed:
            text = _("failed  %(what)s") % {"what": text}
        else:
            text = _("again   %(what)s (try %(n)s)") % {"what": text, "n": result.attempts + 1}
        text = harmless(text)
        if self._bar:
            text = f"{RED if failed else YELLOW}{text}{PLAIN}"
        if failed or not self._quiet:
            self._write(f"{self._erased()}{text}\n")

    def _draw(self, now: Standing) -> None:
        if not now.run.is_running:
            self._write(ERASE)
            return
        words = [bar(now.done + sum(map(_share, now.in_hand)), now.total), *_words(now)]
        self._write(ERASE + fitting(" ".join(words), get_terminal_size().columns - 1))

    def _erased(self) -> str:
        return ERASE if self._bar else ""

    def _write(self, text: str) -> None:
        self._out.write(text, style_func=str, ending="")
        self._out.flush()


def _words(now: Standing) -> list[str]:
    commits = now.commits_so_far
    words = [
        f"{number_format(now.done)}/{number_format(now.total)}",
        ngettext("%(n)s commit", "%(n)s commits", commits) % {"n": number_format(commits)},
    ]
    failed = now.run.failed_count
    if failed:
        words.append(ngettext("%(n)s failed", "%(n)s failed", failed) % {"n": failed})
    since = timedelta(seconds=now.seconds_since_progress or 0)
    if since >= QUIET:
        words.append(_("nothing new for %(time)s") % {"time": in_words(since)})
    words += [_in_hand(result) for result in now.in_hand[:3]]
    if not now.in_hand and now.waiting:
        words.append(_waiting(now.waiting[0]))
    return words


def _target(result: BulkCollectionResult) -> str:
    return f"{result.repository} {branch_in_words(result)}"


def _share(result: BulkCollectionResult) -> float:
    """How much of a target is done: a first collection may be one long one."""
    if not result.commits_expected:
        return 0.0
    return min(1.0, result.commits_so_far / result.commits_expected)


def _in_hand(result: BulkCollectionResult) -> str:
    text = f"· {_target(result)}"
    if result.commits_expected:
        done, expected = result.commits_so_far, result.commits_expected
        text += f" {number_format(done)}/{number_format(expected)}"
    return text


def _waiting(result: BulkCollectionResult) -> str:
    assert result.next_retry_at is not None
    wait = in_words(result.next_retry_at - timezone.now())
    return _("· %(what)s is tried again in %(time)s") % {
        "what": _target(result),
        "time": wait,
    }
