"""Fits the weights of `runs/engine/terms/scoring.py` to the tuned sets, and to nothing else.

    python -m benchmarks.terms_fit SETS

A logistic regression over all candidates, each set with a level of its own, terms and others of a
set weighing the same. Glossaries of a whole field, of which a text has only some terms, count less.
Strong regularisation: fitted closely it lost on sets left out.
"""

import os
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "glossary_site.settings")

from benchmarks.terms_measures import Judged, judged_sets
from projects.terms.keys import key_of
from runs.engine.terms import analyse
from runs.engine.terms.gathering import candidates_of, totals_of, word_counts
from runs.engine.terms.scoring import WEIGHTS, Corpus, features_of

REGULARISATION = 0.3
ROUNDS = 30
LESS = {"openstack-en": 0.4, "openstack-ja": 0.4, "mdn-ja": 0.6}
LEAST_COUNT = 2

Matrix = npt.NDArray[np.float64]


def rows_of(judged: Judged) -> tuple[Matrix, Matrix]:
    """The features of each candidate, and whether the glossary has it."""
    analyses = {number: analyse(text) for number, text in enumerate(judged.documents)}
    totals = totals_of(analyses)
    found, counts = candidates_of(totals), word_counts(totals)
    sizes = {language: sum(words.values()) for language, words in counts.items()}
    corpus = Corpus(len(analyses), counts, sizes, found)
    pairs = {pair for analysis in analyses.values() for pair in analysis.pairs}
    paired = {key_of(form) for pair in pairs for form in (pair.short, pair.long)}
    wanted = {key_of(name) for names in judged.glossary for name in names}
    rows, labels = [], []
    for key, candidate in found.items():
        if candidate.count >= LEAST_COUNT:
            features = features_of(candidate, corpus, is_paired=key in paired)
            rows.append([features[name] for name in WEIGHTS])
            labels.append(float(key in wanted))
    return np.array(rows), np.array(labels)


def fitted(sets: list[tuple[str, Matrix, Matrix]]) -> Matrix:
    """Newton's method on the regularised likelihood."""
    every = np.vstack([rows for _name, rows, _labels in sets])
    middle, width = every.mean(0), every.std(0) + 1e-9
    levels = np.repeat(np.eye(len(sets)), [len(rows) for _name, rows, _labels in sets], axis=0)
    table = np.hstack([(every - middle) / width, levels])
    labels = np.concatenate([labels for _name, _rows, labels in sets])
    weights = np.concatenate(
        [
            np.where(labels > 0, 1 / labels.sum(), 1 / (len(labels) - labels.sum()))
            * LESS.get(name, 1.0)
            for name, _rows, labels in sets
        ]
    )
    penalty = np.r_[np.full(every.shape[1], REGULARISATION), np.full(len(sets), 1e-6)]
    solution = np.zeros(table.shape[1])
    for _round in range(ROUNDS):
        likely = 1 / (1 + np.exp(-table @ solution))
        slope = table.T @ (weights * (likely - labels)) + penalty * solution
        bend = (table * (weights * likely * (1 - likely))[:, None]).T @ table + np.diag(penalty)
        solution -= np.linalg.solve(bend, slope)
    return np.asarray(solution[: every.shape[1]] / width)


def main() -> None:
    tuned = [judged for judged in judged_sets(Path(sys.argv[1])) if judged.is_tuned]
    weights = fitted([(judged.name, *rows_of(judged)) for judged in tuned])
    for name, weight in zip(WEIGHTS, weights, strict=True):
        print(f'    "{name}": {weight:.3f},  # now {WEIGHTS[name]}')


if __name__ == "__main__":
    main()
