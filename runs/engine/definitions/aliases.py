"""Other names of a term, where the documents or people give them."""

import re
from collections.abc import Sequence

from indexing.lexical.analysis import words_of
from runs.engine.definitions import layout
from runs.engine.definitions.plain import plain
from runs.engine.definitions.reading import cells
from runs.engine.definitions.sounding import begins_alike, sounds_alike
from runs.engine.definitions.spelling import IS_JAPANESE, MASK, SPACES, Subject, folded
from runs.pipeline.data import Context

MOST = 8
LONGEST = 60
LONG_KATAKANA = 8
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
INITIALS = re.compile(r"[A-Z0-9]+|(?=.{3,4}$)[A-Z][a-z]?[A-Z0-9]+")
KANJI = re.compile(r"[\u3400-\u9fff]")
KATAKANA = re.compile(r"[\u30a0-\u30ff]+")
# Plain words: a name has capitals, or signs. Two words with capitals are a person's.
GLOSS = re.compile(
    r"(?=.*[aeiou])(?!(?:e\.g|i\.e|see)\b)[a-z]+(?:[ -][a-z]+)*"
    r"|[A-Z][a-z]+(?:[ -][A-Za-z][a-z]*){2,}"
)


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
        parts = re.split(r"[、,;；/]|\bor\b|など", match["inside"])
        for part in parts:
            name = CALLED_SHORT.sub("", part.strip().strip("「」\"“”'")).strip("「」\"“”' ")
            if is_other_name(name, subject.term.text, alone=len(parts) == 1):
                found.append(name)
    for match in BEFORE_BRACKETS.finditer(masked):
        words = match["long"].split()
        names = (" ".join(words[n:]) for n in range(len(words)))
        found.extend([name for name in names if is_short_for(subject.term.text, name)][:1])
    found.extend(match["known"].strip() for match in KNOWN_AS.finditer(masked))
    return found


def is_other_name(name: str, of: str, *, alone: bool = True) -> bool:
    """Whether words in brackets behind a term are another name of it: its initials, or the same
    in the other language. What stands there with others is rather an example of it."""
    if not name or len(name.split()) > 5 or re.search(r"[。.=<>%％]|\d{3}|^\d+$", name):
        return False
    if is_short_for(name, of) or is_short_for(of, name):
        return True
    if not (IS_JAPANESE.search(of) and name.isascii() and name[0].isalpha()) or len(name) < 3:
        return False
    if INITIALS.fullmatch(name):
        return _may_be_initials(name, of, alone)
    # Katakana says how it sounds. Kanji may be a translation, but not of the name of something.
    return sounds_alike(of, name) or (
        alone and bool(KANJI.search(of)) and bool(GLOSS.fullmatch(name))
    )


def _may_be_initials(name: str, of: str, alone: bool) -> bool:
    """As many letters as words: `画像（PNG）` is an example. An "of" or "in" of the other language
    has no word of its own in Japanese."""
    if KATAKANA.fullmatch(of) and not begins_alike(of, name):
        return False
    # Beside kanji the order may be another (サービス品質, QoS), but no sound and no letter is lost:
    # `ジョブID（UUID）` and `LLMリクエスト（JSON）` say of what type they are.
    if KATAKANA.match(of) and not any(begins_alike(of, letter) for letter in name):
        return False
    letters = iter(name.lower())
    if not all(letter in letters for word in WORDS.findall(of) for letter in word.lower()):
        return False
    words = sum(map(_weight, words_of(of)))
    return words > 1 and abs(words - len(name)) <= (1 if alone else 0)


def _weight(word: str) -> int:
    """Of how many words it is: letters may be initials themselves, and what no dictionary knows in
    katakana is several in one."""
    if word.isascii():
        return min(len(word), 3)
    return round(len(word) / 4) if len(word) >= LONG_KATAKANA and KATAKANA.fullmatch(word) else 1


def is_short_for(short: str, long: str) -> bool:
    """`UFLS` and `under-frequency load shedding`."""
    letters = re.sub(r"[^A-Za-z0-9]", "", short).lower()
    if short.endswith("s") and short[:-1].isupper():
        letters = letters[:-1]
    words = [word.lower() for word in WORDS.findall(long)]
    if len(letters) < 2 or not CAPITALS.fullmatch(short.rstrip("s")) or len(words) < 2:
        return False
    return "".join(word[0] for word in words) == letters
