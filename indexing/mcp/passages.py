"""Parts of a document, never more than a model can take in at once."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal

MOST_CHARACTERS = 50_000


@dataclass(frozen=True)
class Lines:
    """Some lines of a text, counted from 1, the last one included."""

    first: int
    last: int
    total: int
    content: str
    # Where the rest begins, if it was too much.
    next: int | None


def lines_of(text: str, first: int, last: int | None) -> Lines:
    lines = text.split("\n")
    # What ends with a line end has no line after it.
    total = len(lines) - (1 if len(lines) > 1 and not lines[-1] else 0)
    last = total if last is None else min(last, total)
    if not 1 <= first <= last:
        raise Refusal(
            "bad_lines",
            _("The text has lines 1 to %(total)s, and none of those you ask for.")
            % {"total": total},
            status=400,
        )
    taken: list[str] = []
    room = MOST_CHARACTERS
    for line in lines[first - 1 : last]:
        room -= len(line) + 1
        if room < 0 and taken:
            break
        taken.append(line[:MOST_CHARACTERS])
    end = first + len(taken) - 1
    return Lines(first, end, total, "\n".join(taken), end + 1 if end < last else None)
