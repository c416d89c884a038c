"""Other names of a term, where the documents or people give them."""

import re
from collections.abc import Sequence

from runs.engine.definitions import layout
from runs.engine.definitions.plain import plain
from runs.engine.definitions.reading import cells
from runs.engine.definitions.spelling import IS_JAPANESE, MASK, SPACES, Subject, folded
from runs.pipeline.data import Context

MOST = 8
LONGEST = 60
IN_BRACKETS = re.compile(rf"{MASK}[」』\"”]?\s?[（(](?P<inside>[^（）(){MASK}]{{2,60}})[）)]")
BEFORE_BRACKETS = re.compile(rf"(?P<long>[\w\- ]{{4,60}})\s?[（(]{MASK}[）)]")
KNOWN_AS = re.compile(
    rf"{MASK},?\s+(?:also|sometimes|often|commonly|formerly)\s+(?:known as|called|referred to as"
    r"|abbreviated(?: as| to)?|written(?: as)?)\s+(?:an?\s|the\s)?[\"“'‘]?"
    r"(?P<known>[\w\- ]{2,40}?)[\"”'’]?(?=[,.;)]|\s(?:is|are|and)\b)"
)
CALLED_SHORT = re.compile(
    r"^(?:以下|以降|略称|略して|通称|別名|英語名?|英|略|also|aka|a\.k\.a\.|or|short)[、：:,\s]*"
)
CAPITALS = re.compile(r"[A-Z][A-Za-z0-9]*[A-Z0-9][A-Za-z0-9]*")
WORDS = re.compile(r"[A-Za-z0-9]+")


def aliases_of(subject: Subject, contexts: Sequence[Context]) -> tuple[str, ...]:
    """From spellings that differ, from synonyms, and from "X (Y)" in the contexts."""
    term = subject.term
    found = [each for each in (*term.synonyms, *term.variants) if _differs(each, subject)]
    for context in contexts:
        if context.pattern.startswith("table"):
            _meaning, others = layout.columns(context.pattern)
            row = [plain(cell) for cell in cells(context.text)]
            names = [row[n] for n in others if n < len(row)]
            found.extend(part.strip() for name in names for part in re.split(r"[,、;/]", name))
        else:
            found.extend(_in_text(plain(context.text), subject))
    aliases: dict[str, str] = {}
    own = folded(term.text)
    for name in found:
        key = SPACES.sub(" ", folded(name)).strip()
        if 1 < len(name) <= LONGEST and key != own and key.strip("-–— "):
            aliases.setdefault(key, name)
    return tuple(aliases.values())[:MOST]


def _differs(name: str, subject: Subject) -> bool:
    """By more than capitals, a plural or a hyphen."""
    own = Subject.ways_of(subject.term.text)
    return SPACES.sub(" ", folded(name)).strip().replace(" ", "") not in {
        way.replace(" ", "") for way in own
    }


def _in_text(text: str, subject: Subject) -> list[str]:
    found = []
    masked = subject.masked(text)
    for match in IN_BRACKETS.finditer(masked):
        for part in re.split(r"[、,;；/]|\bor\b", match["inside"]):
            name = CALLED_SHORT.sub("", part.strip().strip("「」\"“”'")).strip("「」\"“”' ")
            if is_other_name(name, subject.term.text):
                found.append(name)
    for match in BEFORE_BRACKETS.finditer(masked):
        words = match["long"].split()
        names = (" ".join(words[n:]) for n in range(len(words)))
        found.extend([name for name in names if is_short_for(subject.term.text, name)][:1])
    found.extend(match["known"].strip() for match in KNOWN_AS.finditer(masked))
    return found


def is_other_name(name: str, of: str) -> bool:
    """Whether words in brackets behind a term are another name of it: its initials, or the same
    in the other language."""
    if not name or len(name.split()) > 5 or re.search(r"[。.=<>%％]|\d{3}|^\d+$", name):
        return False
    if is_short_for(name, of) or is_short_for(of, name):
        return True
    is_japanese = bool(IS_JAPANESE.search(of))
    if is_japanese and name.isascii():
        return len(name) > 2 and name[0].isalpha() and not re.match(r"(?:e\.g|i\.e|see)\b", name)
    return False


def is_short_for(short: str, long: str) -> bool:
    """`UFLS` and `under-frequency load shedding`."""
    letters = re.sub(r"[^A-Za-z0-9]", "", short).lower()
    if short.endswith("s") and short[:-1].isupper():
        letters = letters[:-1]
    words = [word.lower() for word in WORDS.findall(long)]
    if len(letters) < 2 or not CAPITALS.fullmatch(short.rstrip("s")) or len(words) < 2:
        return False
    return "".join(word[0] for word in words) == letters
