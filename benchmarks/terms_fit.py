"""Fits the weights of `runs/engine/terms/scoring.py` to the tuned sets, and to nothing else.

    python -m benchmarks.terms_fit SETS

A logistic regression for each language, over the candidates that are neither common nouns nor
pieces of others, each set with a level of its own, terms and others of a set weighing the same.
Short glossaries count less, and so do those of a whole field, of which a text has only some terms.
Then half of the way back to the weights that both languages shared: what a few sets say alone finds
less in others. Only the Japanese weights in use come from here; the English ones of this fit find
hardly more, and everyday words come into the first 50.

Before the weights it prints what they are worth: the recall on each tuned set with weights fitted
to the others. Read the first 50 terms of a few sets before taking weights over: recall at 500 can
rise while common words move to the top.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
import numpy.typing as npt

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")

from benchmarks.terms_measures import AT, Judged, judged_sets, quality
from projects.terms.keys import key_of
from runs.engine.terms import analyse
from runs.engine.terms.categories import is_common
from runs.engine.terms.gathering import candidates_of, is_piece, totals_of, word_counts
from runs.engine.terms.phrases import text_of
from runs.engine.terms.ranking import is_marked
from runs.engine.terms.scoring import WEIGHTS, Corpus, features_of

REGULARISATION = 0.1
ROUNDS = 12
LESS = {"openstack-en": 0.4, "openstack-ja": 0.4, "mdn-ja": 0.6}
# From so many terms on a glossary counts in full.
MANY_TERMS = 60
LEAST_COUNT = 2
# A sample of those that are no terms does as well as all of them.
MOST_OTHERS = 2500
# Set by hand: the glossaries, whose terms are marked so, were taken out of these texts; and what an
# author calls a term is one.
BY_HAND = ("defined", "lead", "referred")
FITTED = [name for name in WEIGHTS if name not in BY_HAND]
# In use for English, and fitted to both languages together, to the eight sets there were at first.
SHARED = [WEIGHTS[name][0] for name in FITTED]
LANGUAGES = ("en", "ja")
MOST = max(AT)

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Table:
    """The candidates of a set, what was seen of each, and whether the glossary has it."""

    judged: Judged
    texts: list[str]
    rows: Matrix
    labels: Matrix

    @property
    def project(self) -> str:
        return self.judged.name.removesuffix("-en").removesuffix("-ja")

    def sampled(self) -> "Table":
        others = np.random.default_rng(1).permutation(np.flatnonzero(self.labels == 0))
        kept = np.sort(np.r_[np.flatnonzero(self.labels), others[:MOST_OTHERS]])
        texts = [self.texts[place] for place in kept]
        return Table(self.judged, texts, self.rows[kept], self.labels[kept])

    def recall(self, weights: Matrix) -> float:
        best = np.argsort(-(self.rows @ weights), kind="stable")[:MOST]
        return quality([(self.texts[place],) for place in best], self.judged.glossary, MOST).recall


def table_of(judged: Judged) -> Table:
    analyses = {number: analyse(text) for number, text in enumerate(judged.documents)}
    totals = totals_of(analyses)
    found, counts = candidates_of(totals), word_counts(totals)
    sizes = {language: sum(words.values()) for language, words in counts.items()}
    corpus = Corpus(len(analyses), counts, sizes, found)
    pairs = {pair for analysis in analyses.values() for pair in analysis.pairs}
    paired = {key_of(form) for pair in pairs for form in (pair.short, pair.long)}
    wanted = {key_of(name) for names in judged.glossary for name in names}
    texts, rows, labels = [], [], []
    for key, candidate in found.items():
        marked = is_marked(candidate)
        is_kept = marked or key in paired or not is_piece(candidate, found)
        if candidate.count < LEAST_COUNT or not is_kept:
            continue
        features = features_of(candidate, corpus, is_paired=key in paired)
        if not is_common(candidate, weirdness=features["weird_mean"], is_marked=marked):
            texts.append(text_of(candidate.words))
            rows.append([features[name] for name in FITTED])
            labels.append(float(key in wanted))
    return Table(judged, texts, np.array(rows), np.array(labels))


def fitted(tables: Sequence[Table]) -> Matrix:
    """Newton's method on the regularised likelihood, then half of the way."""
    tables = [table.sampled() for table in tables]
    every = np.vstack([table.rows for table in tables])
    middle, width = every.mean(0), every.std(0) + 1e-9
    levels = np.repeat(np.eye(len(tables)), [len(table.rows) for table in tables], axis=0)
    cells = np.hstack([(every - middle) / width, levels])
    labels = np.concatenate([table.labels for table in tables])
    weights = np.concatenate([_weights(table) for table in tables])
    penalty = np.r_[np.full(every.shape[1], REGULARISATION), np.full(len(tables), 1e-6)]
    solution = np.zeros(cells.shape[1])
    for _round in range(ROUNDS):
        likely = 1 / (1 + np.exp(-cells @ solution))
        slope = cells.T @ (weights * (likely - labels)) + penalty * solution
        bend = (cells * (weights * likely * (1 - likely))[:, None]).T @ cells + np.diag(penalty)
        solution -= np.linalg.solve(bend, slope)
    return np.asarray((solution[: every.shape[1]] / width + np.array(SHARED)) / 2)


def _weights(table: Table) -> Matrix:
    terms = table.labels.sum()
    share = np.where(table.labels > 0, 1 / terms, 1 / (len(table.labels) - terms))
    much = min(terms / MANY_TERMS, 1.0) ** 0.5 * LESS.get(table.judged.name, 1.0)
    return np.asarray(share * much)


def left_out(tables: Sequence[Table]) -> Iterator[tuple[Table, float]]:
    """The recall on each set with weights fitted to the other projects'; without references."""
    for table in tables:
        others = [other for other in tables if other.project != table.project]
        others = _in_language(others, table.judged.language)
        yield table, table.recall(fitted(others))


def _in_language(tables: Sequence[Table], language: str) -> list[Table]:
    return [table for table in tables if table.judged.language == language]


def main() -> None:
    tables = [table_of(judged) for judged in judged_sets(Path(sys.argv[1])) if judged.is_tuned]
    results = list(left_out(tables))
    for table, recall in results:
        print(f"{table.judged.name}: {recall:.3f}")
    for language in LANGUAGES:
        recalls = [recall for table, recall in results if table.judged.language == language]
        print(f"{language}, each left out in turn: {mean(recalls):.3f}")
    both = (fitted(_in_language(tables, language)) for language in LANGUAGES)
    for name, english, japanese in zip(FITTED, *both, strict=True):
        print(f"{name}: {english:.3f}, {japanese:.3f}; in use {WEIGHTS[name]}")


if __name__ == "__main__":
    main()
