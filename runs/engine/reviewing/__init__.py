"""A review without a model: only what can be told for certain from the entries themselves.

What two definitions of the same thing say is not compared in its meaning: two different numbers in
them may both be right.
"""

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt
from django.utils.translation import override

from runs.engine.reviewing.alone import circular, too_little, unnecessary, unsupported
from runs.engine.reviewing.duplicates import duplicates
from runs.engine.reviewing.improving import improve
from runs.engine.reviewing.mentions import missing_relations, undefined
from runs.pipeline.data import Entry, Issue

__all__ = ["improve", "review", "unsupported"]


def review(
    entries: Sequence[Entry],
    *,
    language: str,
    vectors: npt.NDArray[np.float32] | None = None,
    required: Collection[str] = (),
) -> list[Issue]:
    """In the order of the entries, described in `language`. `vectors`: a row of length 1 for the
    definition of each. `required` are the keys of terms that stay whatever they are."""
    found: list[Issue] = []
    with override(language):
        for entry in entries:
            # What rests on nothing or says nothing has no other fault worth a word.
            first = unsupported(entry) or too_little(entry) or circular(entry)
            found += [first] if first else []
            if entry.key not in required and (issue := unnecessary(entry)):
                found.append(issue)
        found += duplicates(entries, vectors)
        found += missing_relations(entries)
        found += undefined(entries)
    order = {entry.key: number for number, entry in enumerate(entries)}
    return sorted(found, key=lambda issue: order[issue.key])
