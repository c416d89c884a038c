"""Patterns as in `.gitignore`, in expressions that are matched in one go.

As the library writes them, each `*` may be tried at every length together with each length of the
others: a pattern with a handful of them, against a long name, keeps a process busy for hours. But
the first place where what follows a `*` fits is as good as any later one, because there is another
`*` behind it to take what is in between. So that place is final (an atomic group).
"""

import re
from collections.abc import Iterable
from typing import Any

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

# As the library writes them: any folders first, any folders in between, any characters of a name,
# and the end.
_FIRST = "^(?:.+/)?"
_BETWEEN = "(?:/.+)?"
_STAR = "[^/]*"
_ANY = "[^/]"
_END = re.compile(r"\(\?:\(\?P<\w+>/\)\|\$\)\Z|\(\?P<\w+>/\)\Z")


class Glob(GitIgnoreSpecPattern):
    __slots__ = ()

    @classmethod
    def pattern_to_regex(cls, pattern: Any) -> tuple[Any, bool | None]:
        regex, include = super().pattern_to_regex(pattern)
        return regex and _in_one_go(regex), include


def spec_of(lines: Iterable[str]) -> GitIgnoreSpec:
    """Raises ValueError or re.error for what is no pattern."""
    # "simple": the standard library's expressions, which know atomic groups; others do not.
    return GitIgnoreSpec.from_lines(lines, Glob, backend="simple")


def _in_one_go(regex: str) -> str:
    end = _END.search(regex)
    tail = end.group() if end else ""
    first, *others = regex.removesuffix(tail).split(_BETWEEN)
    anywhere = first.startswith(_FIRST)
    first = _names(first.removeprefix(_FIRST))
    if not others:
        return f"{_FIRST if anywhere else ''}{first}{tail}"
    *middle, last = map(_names, others)
    if anywhere:
        first = f"^(?>(?:.+?/)??{first}(?=/))"
    return "".join(
        [first, *(f"(?>(?:/.+?)??{names}(?=/))" for names in middle), _BETWEEN, last, tail]
    )


def _names(regex: str) -> str:
    """Of the stars in one name all but the last are followed by another one."""
    first, *others = regex.split(_STAR)
    parts = [first]
    for place, following in enumerate(others):
        is_last = place == len(others) - 1 or "/" in following.replace(_ANY, "")
        parts.append(f"{_STAR}{following}" if is_last else f"(?>{_STAR}?{following})")
    return "".join(parts)
