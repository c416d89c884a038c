"""The result of a run as a command gives it."""

from collections.abc import Iterable
from pathlib import Path

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.exports.published import FORMATS
from projects.management.output import cannot_write, try_output
from runs.choices import Scope
from runs.exports import export_entries, export_terms
from runs.models import Run


def format_of(output: Path | None) -> str:
    """As the name of the file says; else Markdown."""
    suffix = output.suffix.lower().removeprefix(".") if output is not None else ""
    return suffix if suffix in FORMATS else "md"


def result_of(run: Run, *, format: str, limit: int | None, title: str) -> Iterable[str]:
    if run.scope == Scope.EXTRACT:
        return export_terms(run, format, limit=limit, title=title)
    return export_entries(run, format, title=title)


def check_writable(output: Path) -> None:
    """Before the work, not after it."""
    try:
        try_output(output)
    except IsADirectoryError as error:
        raise Refusal("bad_output", _("%(path)s is a folder.") % {"path": output}) from error
    except OSError as error:
        raise Refusal("bad_output", cannot_write(output, error)) from error
