"""How much meaning counts beside the words of one query.

Words say much when a section has all of them, or many rare ones: then vectors only order what the
words have found. A question in other words than the text has little to go by, and meaning decides.
What an embedder counts in between is its usual weight (embedders/weights.py).
"""

from collections.abc import Sequence
from dataclasses import replace

from indexing.lexical.query import Query
from indexing.search.mixing import Neighbours, Scores
from indexing.search.rows import rows_of

# A score by words (BM25) that is neither much nor little.
USUAL_SCORE = 24.0
_WORDS = "SELECT heading_words, words FROM indexing_section WHERE id IN {ids}"


def weighed(neighbours: Sequence[Neighbours], words: Scores, query: Query) -> Sequence[Neighbours]:
    """Each with its weight beside these words: what they found, the best first."""
    if not (neighbours and words):
        return neighbours
    best, score = next(iter(words.items()))
    share = share_of_words(query, best)
    return [
        replace(each, weight=weight_for(each.weight, score=score, share=share))
        for each in neighbours
    ]


def weight_for(usual: float, *, score: float, share: float) -> float:
    """The less the best section by words has to show for itself, the more; but while it has all of
    them, never more than usual: below one half, no section without the words comes before it."""
    by_score = usual * USUAL_SCORE / (usual * USUAL_SCORE + (1 - usual) * score)
    by_share = usual + (1 - usual) * (1 - share)
    return min(by_score, by_share)


def share_of_words(query: Query, section_id: int) -> float:
    """How many of the words the section has. A word that somebody still types counts for none."""
    asked = set(query.words).difference(query.unfinished)
    if not asked:
        return 1.0
    there = {
        word for texts in rows_of(_WORDS, [section_id]) for text in texts for word in text.split()
    }
    return len(asked & there) / len(asked)
