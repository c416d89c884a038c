"""Terms as others find them, to look at beside ours.

    python benchmarks/terms_peers.py < {"language", "documents", "count"} > YAKE's terms

Runs on its own, in a virtualenv that has `yake`. pyate asks for a model of spaCy that must be
downloaded, so its C-value is written here as pyate defines it: phrases of nouns and adjectives that
end in a noun, `log2(words + 0.1)` times the occurrences, less the mean of those of the longer
phrases around. Parts of speech come from our own analysis: what is compared is the measure.
"""

import json
import math
import sys
from collections import Counter, defaultdict

MOST_WORDS = 4


def yake_terms(language: str, documents: list[str], count: int) -> list[str]:
    from yake import KeywordExtractor  # type: ignore[import-not-found]

    text = "\n\n".join(documents)
    extractor = KeywordExtractor(lan=language, n=3, top=count)
    return [term for term, _score in extractor.extract_keywords(text)]


def c_value_terms(phrases: list[tuple[list[str], int]], count: int, joint: str) -> list[str]:
    """`phrases`: runs of nouns and adjectives with how often each stands in the texts."""
    counts: Counter[tuple[str, ...]] = Counter()
    for words, often in phrases:
        for start in range(len(words)):
            for end in range(start + 1, min(start + MOST_WORDS, len(words)) + 1):
                counts[tuple(words[start:end])] += often
    longer: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for phrase, often in counts.items():
        for start in range(len(phrase)):
            for end in range(start + 1, len(phrase) + 1):
                if end - start < len(phrase):
                    longer[phrase[start:end]].append(often)
    values: dict[tuple[str, ...], float] = {}
    for phrase, often in counts.items():
        around = longer.get(phrase)
        own = often - (sum(around) / len(around) if around else 0.0)
        values[phrase] = math.log2(len(phrase) + 0.1) * own
    best = sorted(values, key=lambda phrase: (-values[phrase], phrase))
    return [joint.join(phrase) for phrase in best[:count]]


def main() -> None:
    given = json.load(sys.stdin)
    terms = yake_terms(given["language"], given["documents"], given["count"])
    json.dump(terms, sys.stdout, ensure_ascii=False)


if __name__ == "__main__":
    main()
