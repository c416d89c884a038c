"""How much of a term a candidate is: a weighted sum of what was seen of it.

The base is C-value times weirdness (how much more often its words stand here than in general
texts), which is a sum on the logarithmic scale. Structure, case, spread and the words around it add
to that. The weights for English were fitted to both languages together; those for Japanese lie
between them and what `python -m benchmarks.terms_fit` fits to the official glossaries of the tuned
domains in Japanese. Those that `benchmarks.terms` reports as held out had no part in it. The
language that the texts are mostly in tells which count, so that all candidates are measured alike.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from projects.terms.keys import key_of
from runs.engine.terms.frequencies import commonness
from runs.engine.terms.gathering import Found, c_value
from runs.engine.terms.phrases import NAMES

_LEAST = 0.5
# wordfreq knows no rarer words than about this.
_RAREST = 1.0
_MANY_WORDS = 3

# English, Japanese.
WEIGHTS = {
    "own": (0.217, 0.17),
    "count": (0.197, 0.271),
    "spread": (0.47, 0.47),
    "weird_mean": (0.055, 0.194),
    "weird_least": (0.09, -0.011),
    "common_head": (-0.21, -0.231),
    "longer": (0.099, 0.086),
    "begins": (0.12, 0.119),
    "ends": (-0.115, -0.073),
    "many_words": (-0.697, -0.443),
    "capitals": (-0.309, -0.444),
    "acronym": (0.84, 0.736),
    "names": (0.382, 0.403),
    "paired": (1.91, 1.913),
    "title": (1.332, 1.397),
    "link": (0.554, 0.543),
    "explained": (0.448, 0.251),
    "called": (1.853, 1.223),
    "counted": (0.494, 0.551),
    "counted_share": (0.531, -0.026),
    "topic": (0.184, 0.356),
    "topic_share": (-0.563, -0.798),
    "one_common": (-0.103, -0.083),
    "one_count": (-0.185, -0.218),
    "number": (-1.216, -0.992),
    "strong": (0.24, 0.368),
    "first_cell": (0.25, -0.03),
    # An author who refers to a glossary says that this is a term: before all else.
    "referred": (6.0, 6.0),
    # Not fitted: the glossaries, whose terms are marked so, were taken out of those texts.
    "defined": (0.6, 0.6),
    "lead": (0.1, 0.1),
}
_LANGUAGES = ("en", "ja")


@dataclass(frozen=True)
class Corpus:
    """What a candidate is measured against."""

    documents: int
    # Words of phrases, in each language, by key.
    words: Mapping[str, Mapping[str, int]]
    sizes: Mapping[str, int]
    found: Mapping[str, Found]

    @property
    def language(self) -> str:
        """The one that most of the texts are in."""
        return max(self.sizes, key=lambda language: (self.sizes[language], language))


def features_of(candidate: Found, corpus: Corpus, *, is_paired: bool) -> dict[str, float]:
    counts = corpus.words[candidate.language]
    size = corpus.sizes[candidate.language]
    common, weird = [], []
    for word in candidate.words:
        general = max(commonness(word.surface, candidate.language), _RAREST)
        here = math.log10(max(counts.get(key_of(word.surface), 1), 1) / size) + 9
        common.append(general)
        weird.append(here - general)
    count = max(candidate.count, 1)
    length = len(candidate.words)
    text = "".join(word.surface for word in candidate.words)
    marks = candidate.marks
    return {
        "own": math.log(max(c_value(candidate, corpus.found), _LEAST)),
        "count": math.log(count),
        "spread": math.log(len(candidate.documents) or 1),
        "weird_mean": sum(weird) / length,
        "weird_least": min(weird),
        "common_head": common[-1],
        "longer": math.log1p(len(candidate.longer)),
        "begins": math.log1p(candidate.begins),
        "ends": math.log1p(candidate.ends),
        "many_words": float(length > _MANY_WORDS),
        "capitals": candidate.capitals / max(candidate.with_case, 1),
        "acronym": float(length == 1 and text.isupper() and len(text) > 1),
        "names": sum(word.sort in NAMES for word in candidate.words) / length,
        "paired": float(is_paired),
        "title": math.log1p(marks["T"]),
        "link": math.log1p(marks["k"]),
        "explained": math.log1p(marks["x"]),
        "called": math.log1p(marks["n"]),
        "counted": math.log1p(marks["a"]),
        "counted_share": marks["a"] / count,
        "topic": math.log1p(marks["t"]),
        "topic_share": (marks["t"] + marks["x"]) / count,
        "one_common": common[0] if length == 1 else 0.0,
        "one_count": math.log(count) if length == 1 else 0.0,
        "number": float(any(letter.isdigit() for letter in text)),
        "strong": math.log1p(marks["s"]),
        "first_cell": math.log1p(marks["f"]),
        "referred": math.log1p(marks["g"]),
        "defined": math.log1p(marks["d"]),
        "lead": math.log1p(marks["l"]),
    }


def score(features: Mapping[str, float], language: str) -> float:
    place = _LANGUAGES.index(language)
    return sum(weights[place] * features[name] for name, weights in WEIGHTS.items())
