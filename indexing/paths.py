"""Patterns for the paths of documents, as in .gitignore."""

import re
from collections.abc import Iterable, Sequence

from django.utils.translation import gettext as _
from pathspec import GitIgnoreSpec

from glossary_site.errors import Refusal
from projects.intake.globs import spec_of

MOST_PATTERNS = 50


def matching_paths(
    paths: Iterable[str], *, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> set[str]:
    """Those that one of `include` matches (all, where there is none) and none of `exclude`."""
    wanted = set(paths)
    if include:
        wanted = set(_spec(include).match_files(wanted))
    if exclude:
        wanted -= set(_spec(exclude).match_files(wanted))
    return wanted


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    if len(patterns) > MOST_PATTERNS:
        raise Refusal(
            "too_many_patterns",
            _("At most %(count)s path patterns at once.") % {"count": MOST_PATTERNS},
            status=400,
        )
    try:
        return spec_of(patterns)
    except (ValueError, re.error) as error:
        raise Refusal(
            "bad_pattern",
            _("This is not a path pattern: %(reason)s") % {"reason": error},
            status=400,
        ) from error
