"""What can be wrong with an entry by itself."""

import re
import unicodedata

from django.utils.translation import gettext as _

from indexing.lexical.analysis import words_of
from runs.choices import IssueKind
from runs.pipeline.data import Entry, Issue

# A definition with less than this says nothing. A Japanese character counts for two.
SHORTEST = 12
# What is surer than this has been defined somewhere; the rest is an example of its use.
DEFINED = 0.5
COMMON_NOUN = "common_noun"
# Besides the term itself, a definition has at least so many words that mean something.
FEWEST_WORDS = 2

_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HIRAGANA = re.compile(r"[\u3041-\u309f]+")
# Words that say nothing of what a thing is, as the index writes them: to call it a term, or a kind
# of something, explains nothing.
_EMPTY_WORDS = frozenset(
    words_of(
        "a an the this that these those it its is are was were be been being as of for in on at to "
        "by with from into and or not which who what when where how can may will would should does "
        "do did has have had means mean meaning refers refer called known used use term word name "
        "something thing kind type sort"
    )
) | {"用語", "言葉", "事", "物", "意味", "一種"}
_ARTICLE = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
_COPULA = re.compile(
    r"\s*(?:[:：—–-]|\b(?:is|are|was|were|means?|refers?\s+to)\b|とは|は)[\s、,]*", re.IGNORECASE
)
# What follows a noun without making another one of it.
_GOES_ON = re.compile(
    r"\s*(?:$|[.,;:。、]|\b(?:that|which|who|of|for|in|on|to|used|where|with|from|and|or)\b)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^。．\n]*")
_JAPANESE_END = re.compile(r"(?:のこと)?(?:である|です|だ|をいう|を指す|を意味する)?[」』）)\s]*$")


def is_defined(entry: Entry) -> bool:
    """An example of use is no definition, and cannot be compared with one."""
    return entry.supported and entry.confidence >= DEFINED


def unsupported(entry: Entry) -> Issue | None:
    if entry.supported:
        return None
    return Issue(
        entry.key,
        IssueKind.UNSUPPORTED,
        _("What the definition rests on cannot be found in the documents."),
        _("Define it by words that stand in the documents, or add a document that defines it."),
    )


def unnecessary(entry: Entry) -> Issue | None:
    if entry.category != COMMON_NOUN:
        return None
    return Issue(
        entry.key,
        IssueKind.UNNECESSARY,
        _("It is a word of everyday language."),
        _("Leave it out, or require it if it means something special here."),
        exclude=True,
    )


def too_little(entry: Entry) -> Issue | None:
    # An example of its use is marked as such in the entry: to find that out again helps nobody.
    if is_defined(entry) and weight(entry.definition) < SHORTEST:
        return Issue(
            entry.key,
            IssueKind.UNCLEAR,
            _("The definition is too short to say what it means."),
            _("Say what kind of thing it is and what sets it apart."),
        )
    return None


def circular(entry: Entry) -> Issue | None:
    if not _is_circular(entry):
        return None
    return Issue(
        entry.key,
        IssueKind.UNCLEAR,
        _("The definition explains the term by itself."),
        _("Say in other words what kind of thing it is and what sets it apart."),
    )


def weight(text: str) -> int:
    return sum(2 if _WIDE.match(letter) else 1 for letter in text if letter.isalnum())


def content_words(text: str) -> list[str]:
    """The words that mean something: no particles, no auxiliaries."""
    return [
        word
        for word in words_of(text)
        if word not in _EMPTY_WORDS and not _HIRAGANA.fullmatch(word)
    ]


def _is_circular(entry: Entry) -> bool:
    own = set(words_of(entry.term))
    words = content_words(entry.definition)
    if own & set(words) and len(set(words) - own) < FEWEST_WORDS:
        return True
    name = re.escape(unicodedata.normalize("NFKC", entry.term))
    text = unicodedata.normalize("NFKC", entry.definition).strip()
    return _begins_with_itself(name, text) or _ends_with_itself(name, text)


def _begins_with_itself(name: str, text: str) -> bool:
    """A kind of thing that is the term again: “X is an X that …”, or only “an X that …”."""
    itself = re.compile(rf"{name}s?\b", re.IGNORECASE)
    rest = _ARTICLE.sub("", text, count=1) if _ARTICLE.match(text) else text
    first = itself.match(rest)
    if first is None:
        return False
    rest = rest[first.end() :]
    if copula := _COPULA.match(rest):
        rest = _ARTICLE.sub("", rest[copula.end() :], count=1)
        first = itself.match(rest)
        return first is not None and _GOES_ON.match(rest[first.end() :]) is not None
    return _GOES_ON.match(rest) is not None and not rest.lstrip().startswith((",", "、"))


def _ends_with_itself(name: str, text: str) -> bool:
    """In Japanese the kind of thing comes last: 「…するX」."""
    if not _WIDE.search(text):
        return False
    sentence = _SENTENCE.match(text)
    said = _JAPANESE_END.sub("", sentence[0] if sentence else "")
    # A longer word that ends like the term is another thing.
    return re.search(rf"(?<=[\u3041-\u3096\s、]){name}$", said, re.IGNORECASE) is not None
