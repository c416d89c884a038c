"""What a macro of a site generator shows, by its arguments: `text="Pods" term_id="pod"`."""

import re

_TEXT = re.compile(r"\btext=[\"']([^\"']*)[\"']")
_TERM = re.compile(r"\bterm_id=[\"']([^\"']*)[\"']")
_QUOTED = re.compile(r"([\"'])(.*?)\1")


def shown_by(arguments: str) -> str | None:
    """The words, where an argument says which."""
    if words := _TEXT.search(arguments):
        return words[1]
    if term := _TERM.search(arguments):
        return term[1].replace("-", " ")
    return None


def quoted_in(arguments: str) -> list[str]:
    return [text for _mark, text in _QUOTED.findall(arguments)]
