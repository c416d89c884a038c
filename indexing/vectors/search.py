"""The sections of a project whose vectors are nearest to one.

By an exact scan of all of them, which at 100,000 sections is a matter of milliseconds; by pgvector
where it serves (pgvector.py). All vectors have length one, so the product of two is their cosine.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from indexing.vectors import pgvector, reading
from indexing.vectors.cache import Newer, cache
from indexing.vectors.matrix import View

# Picking rows out costs more than scanning them in passing, from this share on.
FEW_ROWS_SHARE = 0.25


def near(
    vector: np.ndarray,
    *,
    project_id: int,
    embedder: str,
    generation: int,
    documents: Sequence[int] | None,
    limit: int,
    also: Iterable[int] = (),
) -> dict[int, float]:
    """The `limit` nearest sections (of these documents, if some are given) and their cosines, the
    nearest first; then the cosines of those in `also` that have a vector.

    Answers from the index as it is at `generation`; raises Newer when it has moved on.
    """
    query = _unit(vector)
    wanted = np.unique(np.fromiter(also, dtype=np.int64))
    within = None if documents is None else np.unique(np.array(documents, dtype=np.int64))
    served = pgvector.near(
        query,
        project_id=project_id,
        embedder=embedder,
        generation=generation,
        documents=within,
        limit=limit,
        also=wanted,
    )
    if served is not None:
        return served
    view = cache.view(
        project_id=project_id, embedder=embedder, dimensions=len(query), generation=generation
    )
    if view is None:
        return _scan_database(query, project_id, embedder, generation, within, limit, wanted)
    return _scan(view, query, within, limit, wanted)


def _unit(vector: np.ndarray) -> np.ndarray:
    query = np.ascontiguousarray(vector, dtype=np.float32)
    length = float(np.linalg.norm(query))
    return query / length if length else query


def _scan(
    view: View, query: np.ndarray, documents: np.ndarray | None, limit: int, also: np.ndarray
) -> dict[int, float]:
    rows = None if documents is None else view.rows_of_documents(documents)
    if rows is not None and len(rows) < FEW_ROWS_SHARE * len(view.matrix):
        best = _best(view.section_ids[rows], np.vecdot(view.matrix[rows], query), limit)
    else:
        # Not `matrix @ query`: that calls in threads of its own, which in a process that answers
        # several people at once stand in each other's way; and memory is the limit, not counting.
        cosines = np.vecdot(view.matrix, query)
        if rows is None:
            cosines[view.dead_rows] = -np.inf
            best = _best(view.section_ids, cosines, min(limit, int(view.alive.sum())))
        else:
            best = _best(view.section_ids[rows], cosines[rows], limit)
    asked = view.rows_of_sections(also)
    return _answer(best, (view.section_ids[asked], np.vecdot(view.matrix[asked], query)))


def _scan_database(
    query: np.ndarray,
    project_id: int,
    embedder: str,
    generation: int,
    documents: np.ndarray | None,
    limit: int,
    also: np.ndarray,
) -> dict[int, float]:
    """Without keeping anything: slower with each section, but never too large."""
    before = reading.state(project_id)
    best = asked = _nothing()
    for block in reading.blocks(project_id, embedder, len(query)):
        cosines = np.vecdot(block.vectors.astype(np.float32), query)
        asked = _joined(asked, block.section_ids, cosines, np.isin(block.section_ids, also))
        inside = (
            np.ones(len(cosines), dtype=np.bool_)
            if documents is None
            else np.isin(block.document_ids, documents)
        )
        best = _best(*_joined(best, block.section_ids, cosines, inside), limit)
    if before.generation > generation or reading.state(project_id) != before:
        raise Newer
    return _answer(best, asked)


Scored = tuple[np.ndarray, np.ndarray]


def _nothing() -> Scored:
    return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float32)


def _joined(scored: Scored, ids: np.ndarray, cosines: np.ndarray, chosen: np.ndarray) -> Scored:
    return (
        np.concatenate([scored[0], ids[chosen]]),
        np.concatenate([scored[1], cosines[chosen]]),
    )


def _best(ids: np.ndarray, cosines: np.ndarray, limit: int) -> Scored:
    """The highest, in order; of equal ones the older section first."""
    if limit <= 0:
        return _nothing()
    if limit < len(ids):
        chosen = np.argpartition(cosines, len(ids) - limit)[len(ids) - limit :]
        ids, cosines = ids[chosen], cosines[chosen]
    order = np.lexsort((ids, -cosines))
    return ids[order], cosines[order]


def _answer(*parts: Scored) -> dict[int, float]:
    answer: dict[int, float] = {}
    for ids, cosines in parts:
        for section_id, cosine in zip(ids.tolist(), cosines.tolist(), strict=True):
            answer.setdefault(section_id, cosine)
    return answer
