"""How good an order of answers is, and whether one way is better than another by more than luck."""

import math
import random
from collections.abc import Mapping, Sequence

AT = 10
DRAWS = 10_000


def ndcg(answers: Sequence[str], grades: Mapping[str, int], at: int = AT) -> float:
    """The sum of the grades, those further down counting less, to the best sum there can be."""
    best = _gain(sorted(grades.values(), reverse=True)[:at])
    return _gain([grades.get(answer, 0) for answer in answers[:at]]) / best if best else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(place + 2) for place, grade in enumerate(grades))


def recall(answers: Sequence[str], grades: Mapping[str, int], at: int = AT) -> float:
    """The share of what could be among the first ten."""
    good = {answer for answer, grade in grades.items() if grade > 0}
    return len(good.intersection(answers[:at])) / min(len(good), at) if good else 0.0


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def difference(ours: Sequence[float], theirs: Sequence[float]) -> tuple[float, float, float]:
    """The mean of ours - theirs over the same queries, and where it lies in 95 of 100 drawings of
    as many queries from these (a paired bootstrap)."""
    pairs = [one - other for one, other in zip(ours, theirs, strict=True)]
    chance = random.Random(1)
    means = sorted(mean(chance.choices(pairs, k=len(pairs))) for _ in range(DRAWS))
    return mean(pairs), means[int(DRAWS * 0.025)], means[int(DRAWS * 0.975)]
