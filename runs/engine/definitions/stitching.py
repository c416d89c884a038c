"""Making a definition of sentences: what a pronoun stands for, and whether the next one belongs."""

import re

from runs.engine.definitions import english, japanese
from runs.engine.definitions.spelling import MASK, Subject, is_japanese

# A first sentence of this length says enough alone.
ENOUGH_WORDS, ENOUGH_CHARACTERS = 24, 70
MOST_WORDS, MOST_CHARACTERS = 50, 150
PRONOUN = re.compile(
    r"(?P<pronoun>It|They|This|These)(?=\s+(?:is|are|was|were|has|have|can|may|will|must|lets?|allows?"
    r"|enables?|provides?|contains?|consists?|describes?|defines?|holds?|stores?|manages?|runs?|acts?"
    r"|serves?|helps?|represents?|refers?|includes?|uses?|makes?|gives?|keeps?|specif(?:y|ies)"
    r"|controls?|determines?|supports?|handles?|maps?|works?|usually|typically|also|often)\b)"
)
JAPANESE_PRONOUN = re.compile(r"(?:これ|それ)(?:ら)?(?=は|が|には|を(?:使|用|利用))")
LEAVES = re.compile(
    r"\b(?:see|below|above|following|example|note|figure|section|chapter|page|tutorial|if you|click"
    r"|deprecated|currently|please|you should|you must|therefore|however|default"
    r"|can be done)\b|[:?](?:\s|$)",
    re.I,
)
JAPANESE_LEAVES = re.compile(
    r"参照|以下|次の|上記|下記|例えば|たとえば|ください|ましょう|注意|詳細|詳しく|しかし|ただし"
    r"|この(?:章|節|例|ページ)|[：:？?か]。?$"
)
# Says next to nothing: what sets it apart comes with the next sentence, which need not name it.
ONE_OF_SEVERAL = re.compile(r"の(?:一つ|1つ|１つ|ひとつ)(?:です|である|だ)?。?$")
ANOTHER_TOPIC = re.compile(
    r"[^、。]{1,20}[はが]|また|なお|一方|そして|ほか|他に|さらに|もし|この|その"
)
LOOSE = re.compile(r"\s+([,.;:)])(?=\s|$)")
NAME = re.compile(f"(?:(?:an?|the) )?{MASK}", re.I)


def tidy(text: str) -> str:
    """Without loose ends: what a mark or a template left behind when it was taken out."""
    return LOOSE.sub(r"\1", text.strip().lstrip(":： ").rstrip(",;"))


def capital(text: str) -> str:
    """A meaning begins like a sentence. A name keeps its own way: `kubectl`, `v-if`."""
    first = text.partition(" ")[0]
    return text[:1].upper() + text[1:] if first.isascii() and first.islower() else text


def goes_on(first: str, second: str, subject: Subject) -> bool:
    """Whether a second sentence says more of what the term is."""
    if is_japanese(first):
        core = second.rstrip("。")
        return (
            len(first) < ENOUGH_CHARACTERS
            and len(first) + len(second) <= MOST_CHARACTERS
            and len(core) >= japanese.SHORTEST
            and JAPANESE_LEAVES.search(second) is None
            and japanese.NEGATIVE.search(core) is None
            and (
                JAPANESE_PRONOUN.match(second) is not None
                or _begins(second, subject, r"\s?[はが]")
                or (
                    ONE_OF_SEVERAL.search(first) is not None and ANOTHER_TOPIC.match(second) is None
                )
            )
        )
    return (
        len(first.split()) < ENOUGH_WORDS
        and len(second.split()) >= english.SHORTEST
        and len(first.split()) + len(second.split()) <= MOST_WORDS
        and LEAVES.search(second) is None
        and english.DEICTIC.search(second) is None
        and (PRONOUN.match(second) is not None or _begins(second, subject, r"\s+[a-z]"))
    )


def expanded(sentence: str, subject: Subject, *, after: str = "") -> str:
    """With the term in place of the pronoun that it begins with."""
    if is_japanese(sentence):
        pronoun = JAPANESE_PRONOUN.match(sentence)
        return subject.term.text + sentence[pronoun.end() :] if pronoun else sentence
    found = PRONOUN.match(sentence)
    if found is None:
        return sentence
    return _name(found["pronoun"], subject, after) + sentence[found.end() :]


def _name(pronoun: str, subject: Subject, after: str) -> str:
    """The term as the sentence before calls it, so that its verb still agrees."""
    before = NAME.match(subject.masked(after))
    is_plural = pronoun in ("They", "These")
    _start, end = next(subject.places(after), (0, 0))
    if before and end and (after[end - 1] == "s") == is_plural:
        return after[:end]
    return pronoun if after else subject.term.text


def _begins(sentence: str, subject: Subject, then: str) -> bool:
    return re.match(f"(?:(?:an?|the) )?{MASK}{then}", subject.masked(sentence), re.I) is not None
