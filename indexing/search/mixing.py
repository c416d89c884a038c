"""One order of what two ways of looking have found."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

Scores = Mapping[int, float]


@dataclass(frozen=True)
class Neighbours:
    """What an embedder found near the query: cosines, and how much its word counts."""

    cosines: Scores
    weight: float


def mix(lexical: Scores, neighbours: Iterable[Neighbours]) -> dict[int, float]:
    """A convex mix of scores that were brought to the range from 0 to 1 first.

    Not of ranks: a weak embedder ranks everything, and would have as many votes as the words.
    """
    found = [each for each in neighbours if each.cosines and each.weight > 0]
    weight = max((each.weight for each in found), default=0.0)
    scores = {pk: (1 - weight) * score for pk, score in _by_best(lexical).items()}
    for each in found:
        for pk, nearness in _by_range(each.cosines).items():
            scores[pk] = scores.get(pk, 0.0) + each.weight * nearness
    return scores


def _by_best(scores: Scores) -> dict[int, float]:
    best = max(scores.values(), default=0.0)
    return {pk: score / best if best > 0 else 1.0 for pk, score in scores.items()}


def _by_range(cosines: Scores) -> dict[int, float]:
    """Embedders differ in how near to each other they put everything."""
    low, high = min(cosines.values()), max(cosines.values())
    span = high - low
    return {pk: (cosine - low) / span if span > 0 else 1.0 for pk, cosine in cosines.items()}
