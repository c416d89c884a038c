"""Which files of a folder count: those that can be read, and that the patterns let through."""

import re
from dataclasses import dataclass

from django.utils.translation import gettext as _
from pathspec import GitIgnoreSpec

from glossary_site.errors import Refusal
from projects.intake.formats import ARCHIVE, ENDINGS, ending_of, is_litter
from projects.intake.globs import spec_of

MOST_PATTERNS = 100
READABLE = frozenset([*ENDINGS, ARCHIVE])


@dataclass(frozen=True)
class Patterns:
    """Of the project's setting; the folder's own `.gitignore` files come on top."""

    include: GitIgnoreSpec
    exclude: GitIgnoreSpec

    @classmethod
    def of(cls, include: str, exclude: str) -> "Patterns":
        """From lines as in `.gitignore`. A Refusal names the one that means nothing."""
        return cls(include=_spec(include), exclude=_spec(exclude))

    def enters(self, folder: str) -> bool:
        return not self.exclude.match_file(f"{folder}/")

    def takes(self, path: str) -> bool:
        if self.include.patterns and not self.include.match_file(path):
            return False
        return not self.exclude.match_file(path)


def is_hidden(name: str) -> bool:
    return name.startswith(".")


def is_readable(path: str) -> bool:
    """Told by the name: others would all be refused, and a folder is full of them."""
    return ending_of(path) in READABLE and not is_litter(path)


def _spec(text: str) -> GitIgnoreSpec:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > MOST_PATTERNS:
        raise Refusal(
            "too_many_patterns",
            _("At most %(count)s path patterns at once.") % {"count": MOST_PATTERNS},
            status=400,
        )
    for line in lines:
        try:
            spec_of([line])
        except (ValueError, re.error) as error:
            raise Refusal(
                "bad_pattern",
                _("“%(pattern)s” is not a path pattern.") % {"pattern": line},
                status=400,
            ) from error
    return spec_of(lines)
