"""How much of a term a candidate is: a weighted sum of what was seen of it.

The base is C-value times weirdness (how much more often its words stand here than in general
texts), which is a sum on the logarithmic scale. Structure, case, spread and the words around it add
to that. One set of weights serves both languages: fitted together they did better on documentation
left out than each alone. `python -m benchmarks.terms_fit` fits them to the official glossaries of
the tuned domains; those that `benchmarks.terms` reports as held out had no part in it.
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

WEIGHTS = {
    "own": 0.217,
    "count": 0.197,
    "spread": 0.47,
    "weird_mean": 0.055,
    "weird_least": 0.09,
    "common_head": -0.21,
    "longer": 0.099,
    "begins": 0.12,
    "ends": -0.115,
    "many_words": -0.697,
    "capitals": -0.309,
    "acronym": 0.84,
    "names": 0.382,
    "paired": 1.91,
    "title": 1.332,
    "link": 0.554,
    "explained": 0.448,
    "called": 1.853,
    "counted": 0.494,
    "counted_share": 0.531,
    "topic": 0.184,
    "topic_share": -0.563,
    "one_common": -0.103,
    "one_count": -0.185,
    "number": -1.216,
    "strong": 0.24,
    "first_cell": 0.25,
    # An author who refers to a glossary says that this is a term: before all else.
    "referred": 6.0,
    # Not fitted: the glossaries, whose terms are marked so, were taken out of those texts.
    "defined": 0.6,
    "lead": 0.1,
}


@dataclass(frozen=True)
class Corpus:
    """What a candidate is measured against."""

    documents: int
    # Words of phrases, in each language, by key.
    words: Mapping[str, Mapping[str, int]]
    sizes: Mapping[str, int]
    found: Mapping[str, Found]


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


def score(features: Mapping[str, float]) -> float:
    return sum(weight * features[name] for name, weight in WEIGHTS.items())
