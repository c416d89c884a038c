"""What the steps that ask a model have in common: how a request is called, and how much fits in."""

import json
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

from glossary_site.llm.prompts import escaped
from glossary_site.llm.requests import Message, Request

# The engine within the site has no prompts; what it wrote is known by this.
BUILTIN_VERSION = "builtin/1"
# A request of the built-in engine is read by no model.
NO_PROMPT: list[Message] = [{"role": "user", "content": "-"}]
# Where nobody said how much the model can take in, together with its answer.
DEFAULT_MOST_TOKENS = 8_000
# At most this share of all that fits is kept free for the answer.
ANSWER_SHARE = 3
# Of a text in the hands of people, on one line of a prompt.
LONGEST_LINE = 400


# Between which no word begins or ends. Languages without spaces have none of them.
_LETTERS = frozenset(string.ascii_lowercase + string.digits)
_WORD = re.compile("[a-z0-9]+")

Item = TypeVar("Item")


def request_key(keys: Iterable[str], *, version: str, language: str) -> str:
    """Everything that reading the answer takes comes back with it: after a crash, the key of the
    request is all that is known of it."""
    return f"{version} {language} {json.dumps(list(keys), ensure_ascii=False)}"


def keys_in(key: str) -> tuple[str, ...]:
    """The keys of the terms; the answer calls them by their numbers in this order, from 1."""
    return tuple(json.loads(key.split(" ", 2)[2]))


def version_in(key: str) -> str:
    return key.split(" ", 1)[0]


def language_in(key: str) -> str:
    return key.split(" ", 2)[1]


def numbered(key: str) -> dict[int, str]:
    return dict(enumerate(keys_in(key), 1))


def answer_tokens(wanted: int, most_tokens: int) -> int:
    """How long an answer may be: what is wanted, unless the prompt would have no room beside it."""
    return max(1, min(wanted, most_tokens // ANSWER_SHARE))


def fits(request: Request, most_tokens: int) -> bool:
    """The prompt and the longest answer have to find room together."""
    return request.input_tokens + request.max_tokens <= most_tokens


def halved(
    batch: Sequence[Item], request_for: Callable[[Sequence[Item]], Request], most_tokens: int
) -> Iterator[Request]:
    """The batch in one request, or in as many as it takes for each to fit."""
    request = request_for(batch)
    if len(batch) == 1 or fits(request, most_tokens):
        yield request
        return
    half = len(batch) // 2
    yield from halved(batch[:half], request_for, most_tokens)
    yield from halved(batch[half:], request_for, most_tokens)


def in_line(text: str, *, most: int = LONGEST_LINE) -> str:
    """A name or a note within a line of a prompt: no line of its own, no signs of a fence."""
    line = " ".join(escaped(text).split())
    return line if len(line) <= most else f"{line[:most]}…"


def stands_in(name: str, text: str) -> bool:
    """Whether a name is in a text, and not only letters of another word; both in small letters."""
    # No pattern of its own for each name: making one takes far longer than looking.
    start = text.find(name)
    while start >= 0:
        end = start + len(name)
        if _LETTERS.isdisjoint(text[max(0, start - 1) : start] + text[end : end + 1]):
            return True
        start = text.find(name, start + 1)
    return False


class Names:
    """Many names, to be looked for in many texts. Each is kept under the word that it begins with,
    in Japanese under its first two signs: a text without those need not be searched for it."""

    def __init__(self, names: Iterable[str]) -> None:
        self._by_beginning: dict[str, list[tuple[str, str]]] = {}
        for name in names:
            small = name.casefold()
            word = _WORD.match(small)
            beginning = word[0] if word else small[:2]
            self._by_beginning.setdefault(beginning, []).append((small, name))

    def standing_in(self, text: str) -> list[str]:
        """In the order of the text, which is the same from run to run, as their ranks are not."""
        text = text.casefold()
        found = [
            (text.index(small), name)
            for beginning in {*_WORD.findall(text), *text, *map("".join, pairwise(text))}
            for small, name in self._by_beginning.get(beginning, ())
            if stands_in(small, text)
        ]
        return [name for _place, name in sorted(found)]


def strict_object(properties: Mapping[str, Any]) -> dict[str, Any]:
    """All that servers ask of a schema which they hold to the letter."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def strict_list(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """One list of such objects, under a name: answers are objects everywhere."""
    return strict_object({name: {"type": "array", "items": strict_object(properties)}})


def items_of(data: Any, name: str) -> list[dict[str, Any]]:
    """The objects of such a list, whatever else is there."""
    listed = data.get(name) if isinstance(data, dict) else None
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def number_of(item: Mapping[str, Any], name: str) -> int | None:
    value = item.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text_of(item: Mapping[str, Any], name: str, *, most: int) -> str:
    """A text of an answer, on one line; what databases and pages do not bear is taken out."""
    value = item.get(name)
    return clean(value)[:most].strip() if isinstance(value, str) else ""


_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\u2060\ufeff]")


def clean(text: str) -> str:
    return " ".join(_NO_TEXT.sub("", text).split())


def texts_of(item: Mapping[str, Any], name: str, *, most: int) -> Sequence[str]:
    value = item.get(name)
    given = value if isinstance(value, list) else []
    texts = [clean(text)[:most].strip() for text in given if isinstance(text, str)]
    return [text for text in texts if text]
