"""How common a word is in general, by the lists of wordfreq."""

import gzip
from functools import lru_cache
from typing import Final

import msgpack

from indexing.embedders.files import folder_of

# On the Zipf scale, from 0 (once in a thousand million words) to 8. Rarer words are not listed.
UNLISTED: Final = 0.0
# wordfreq counts hundredths of a power of ten below "every word"; a thousand million has nine.
_STEPS: Final = 100
_TOP: Final = 9.0


def commonness(word: str, language: str) -> float:
    """Of a compound in one word (`message-queue`): of its most unusual part."""
    listed = _listed(language)
    word = word.strip().lower()
    if (steps := listed.get(word)) is not None:
        return _TOP - steps / _STEPS
    if "-" in word:
        return min((commonness(part, language) for part in word.split("-") if part), default=0.0)
    return UNLISTED


@lru_cache(maxsize=2)
def _listed(language: str) -> dict[str, int]:
    """The list alone: the package itself takes a second to import, for languages nobody asked for.
    A file begins with a word about its format; then come the words of each step, in order."""
    folder = folder_of("wordfreq")
    assert folder is not None, "wordfreq is one of our requirements"
    with gzip.open(folder / "data" / f"large_{language}.msgpack.gz", "rb") as file:
        _header, *steps = msgpack.load(file, raw=False)
    return {word: step for step, words in enumerate(steps) for word in words}
