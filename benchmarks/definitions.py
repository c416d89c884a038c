"""Definitions without a model: a sample to be read and judged, and how many terms have one.

    python -m benchmarks.definitions FOLDER… [--terms FILE] [--first 300] [--sample 50] [--seed 7]

Each folder is one set of documents (.md, .txt, .html, .rst), such as an unpacked manual or the
checked out documentation of a project. Its terms are the lines of FILE, or else the first ones
that the engine itself finds. Printed are, for each set, the share of terms with a definition by a
strong pattern and the time taken; then the sample, drawn evenly from all sets, for reading: is
this a sensible definition of this term?
"""

import argparse
import os
import random
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")
import django

django.setup()

from projects.intake.convert import html, rst  # noqa: E402
from projects.terms.keys import key_of  # noqa: E402
from runs.engine.definitions import ContextFinder, define  # noqa: E402
from runs.engine.definitions.findings import STRONG  # noqa: E402
from runs.engine.definitions.spelling import IS_JAPANESE  # noqa: E402
from runs.engine.terms import analyse, rank  # noqa: E402
from runs.pipeline.data import Entry, SourceDocument, Term, TermLists  # noqa: E402

CONVERTERS = {".html": html.convert, ".rst": rst.convert}
PLAIN = {".md", ".txt", ".markdown"}


def documents(folder: Path) -> list[SourceDocument]:
    found = []
    for number, path in enumerate(sorted(p for p in folder.rglob("*") if p.is_file())):
        if path.suffix in PLAIN:
            text = path.read_text(errors="replace")
        elif path.suffix in CONVERTERS:
            text = CONVERTERS[path.suffix](path.read_bytes())
        else:
            continue
        found.append(SourceDocument(number, str(path.relative_to(folder)), "", text))
    return found


def listed(names: list[str]) -> list[Term]:
    terms = {}
    for name in filter(None, map(str.strip, names)):
        language = "ja" if IS_JAPANESE.search(name) else "en"
        terms[key_of(name)] = Term(name, key_of(name), language, name)
    return list(terms.values())


def extracted(texts: list[SourceDocument], first: int) -> list[Term]:
    analyses = {text.id: analyse(text.text) for text in texts}
    terms = []
    for found in rank(analyses, lists=TermLists()):
        if not found.excluded_because and len(terms) < first:
            terms.append(
                Term(
                    text=found.text,
                    key=found.key,
                    language=found.language,
                    reading=found.reading,
                    variants=found.variants,
                    frequency=found.frequency,
                )
            )
    return terms


def defined(folder: Path, arguments: argparse.Namespace) -> list[tuple[str, Entry]]:
    """The entries with a strong pattern, each with the pattern's name."""
    texts = documents(folder)
    if arguments.terms:
        terms = listed(arguments.terms.read_text().splitlines())
    else:
        terms = extracted(texts, arguments.first)
    begin = time.process_time()
    finder = ContextFinder(texts)
    finder.prepare(terms)
    offered = []
    patterns: Counter[str] = Counter()
    found = 0
    for term in terms:
        contexts = finder.contexts(term)
        found += bool(contexts)
        entry = define(term, contexts)
        if entry.confidence >= STRONG:
            pattern = max(contexts, key=lambda each: each.definitional).pattern.partition(":")[0]
            patterns[pattern] += 1
            offered.append((pattern, entry))
    seconds = time.process_time() - begin
    size = sum(len(text.text.encode()) for text in texts) / 1e6
    print(
        f"{folder.name}: {len(texts)} documents, {size:.1f} MB, {len(terms)} terms, "
        f"{found} in the documents, {len(offered)} defined "
        f"({len(offered) / max(1, found):.0%}), {seconds:.1f} s; {dict(patterns.most_common())}"
    )
    return offered


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--terms", type=Path)
    parser.add_argument("--first", type=int, default=300)
    parser.add_argument("--sample", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    sets = [defined(folder, arguments) for folder in arguments.folders]
    for each in sets:
        chance.shuffle(each)
    # One from each set in turn, until there are enough.
    turns = [
        entry for n in range(max(map(len, sets))) for each in sets for entry in each[n : n + 1]
    ]
    for number, (pattern, entry) in enumerate(turns[: arguments.sample], 1):
        print(f"{number:3} {entry.confidence:.2f} {pattern:<15} [{entry.term}] {entry.definition}")


if __name__ == "__main__":
    main()
