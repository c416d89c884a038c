"""Extraction of terms beside that of others, on documentation with an official glossary.

python -m benchmarks.terms_sets SETS                      builds the judged sets
python -m benchmarks.terms SETS [--yake PYTHON] [NAME …]  PYTHON: one that has YAKE installed
"""

import argparse
import json
import os
import resource
import subprocess
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from statistics import mean

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")

from benchmarks.terms_measures import AT, Judged, judged_sets, quality
from benchmarks.terms_peers import c_value_terms
from runs.engine.terms import DocumentAnalysis, analyse, rank
from runs.engine.terms.phrases import text_of
from runs.pipeline.data import TermLists

PEERS = Path(__file__).with_name("terms_peers.py")
MOST = max(AT)
Ranked = list[tuple[str, ...]]


def ours(analyses: dict[int, DocumentAnalysis]) -> Ranked:
    terms = rank(analyses, lists=TermLists(), limit=MOST)
    return [(term.text, *term.variants) for term in terms if not term.excluded_because]


def frequency(analyses: dict[int, DocumentAnalysis]) -> Ranked:
    """Of phrases as long as they go."""
    counts: Counter[str] = Counter()
    for analysis in analyses.values():
        for (_language, words), seen in analysis.phrases.items():
            counts[text_of(words).lower()] += len(seen.lines)
    return [
        (text,) for text, _count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]


def c_value(analyses: dict[int, DocumentAnalysis], language: str) -> Ranked:
    counts: Counter[tuple[str, ...]] = Counter()
    for analysis in analyses.values():
        for (_language, words), seen in analysis.phrases.items():
            counts[tuple(word.surface.strip().lower() for word in words)] += len(seen.lines)
    phrases = [(list(words), count) for words, count in counts.items()]
    return [(term,) for term in c_value_terms(phrases, MOST, " " if language == "en" else "")]


def yake(judged: Judged, python: str) -> Ranked:
    given = {"language": judged.language, "documents": judged.documents, "count": MOST}
    done = subprocess.run(
        [python, str(PEERS)],
        input=json.dumps(given),
        capture_output=True,
        text=True,
        check=True,
    )
    return [(term,) for term in json.loads(done.stdout)]


def measure(judged: Judged, python: str | None) -> dict[str, Ranked]:
    size = sum(len(document.encode()) for document in judged.documents) / 1e6
    began = time.perf_counter()
    analyses = {number: analyse(text) for number, text in enumerate(judged.documents)}
    analysed = time.perf_counter()
    found = {"ours": ours(analyses)}
    ended = time.perf_counter()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"\n## {judged.name} ({'tuned' if judged.is_tuned else 'held out'}): {size:.1f} MB, "
        f"{len(judged.glossary)} terms; analysed in {analysed - began:.1f} s, ranked in "
        f"{ended - analysed:.1f} s, {memory:.0f} MB\n"
    )
    found["C-value"] = c_value(analyses, judged.language)
    found["frequency"] = frequency(analyses)
    # YAKE knows words by the spaces between them.
    if python and judged.language == "en":
        found["YAKE"] = yake(judged, python)
    return found


def show(found: dict[str, Ranked], judged: Judged) -> None:
    print("| | " + " | ".join(f"P / R / F1 at {at}" for at in AT) + " |")
    print("|---" * (len(AT) + 1) + "|")
    for name, ranked in found.items():
        cells = []
        for at in AT:
            result = quality(ranked, judged.glossary, at)
            cells.append(f"{result.precision:.2f} / {result.recall:.2f} / {result.f1:.2f}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def summary(results: Iterable[tuple[Judged, dict[str, Ranked]]]) -> None:
    print("\n## Mean recall at 500\n")
    kept = list(results)
    for language in ("en", "ja"):
        for is_tuned in (True, False):
            group = [(j, f) for j, f in kept if j.language == language and j.is_tuned == is_tuned]
            if not group:
                continue
            names = [name for name in group[0][1] if all(name in found for _, found in group)]
            means = {
                name: mean(
                    quality(found[name], judged.glossary, MOST).recall for judged, found in group
                )
                for name in names
            }
            kind = "tuned" if is_tuned else "held out"
            print(f"{language}, {kind}:", ", ".join(f"{n} {v:.3f}" for n, v in means.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--yake", help="a Python that has YAKE installed")
    options = parser.parse_intermixed_args()
    results = []
    for judged in judged_sets(options.sets):
        if not options.names or judged.name in options.names:
            found = measure(judged, options.yake)
            show(found, judged)
            results.append((judged, found))
    summary(results)


if __name__ == "__main__":
    main()
