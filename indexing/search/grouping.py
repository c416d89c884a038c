"""Which section answers for what was found: itself, or one above it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from indexing.search.rows import rows_of

# How many levels of headings there are.
DEEPEST = 6
_NODES = "SELECT id, document_id, number, depth, parent_id FROM indexing_section WHERE id IN {ids}"


@dataclass(frozen=True)
class Group:
    """An answer: the section that stands for it (None: the whole document), and the best of what
    was found in it."""

    section_id: int | None
    best_id: int
    score: float


class _Node(NamedTuple):
    document_id: int
    number: str
    depth: int
    parent_id: int | None


def group(scores: Mapping[int, float], depths: Sequence[int], *, most: int | None) -> list[Group]:
    """Best first; `most` of them, or all. Parts of one section are one answer; with depths, so is
    all below a heading of one of them. What has no such heading above it is no answer."""
    ordered = sorted(scores, key=lambda pk: (-scores[pk], pk))
    groups: dict[tuple[int, str | None], Group] = {}
    # Mostly each is an answer of its own. Where few are, look at more at once.
    start, step = 0, 2 * most if most else len(ordered)
    while start < len(ordered) and (most is None or len(groups) < most):
        some = ordered[start : start + step]
        nodes = _nodes(some, ancestors=bool(depths))
        for pk in some:
            if pk in nodes:
                _take(pk, scores[pk], nodes, depths, groups)
        start, step = start + step, 2 * step
    return list(groups.values())[:most]


def _take(
    pk: int,
    score: float,
    nodes: Mapping[int, _Node],
    depths: Sequence[int],
    groups: dict[tuple[int, str | None], Group],
) -> None:
    """Into its group, which it leads if it is the first."""
    node = nodes[pk]
    if not depths:
        groups.setdefault((node.document_id, node.number), Group(pk, pk, score))
        return
    above = _nearest(pk, nodes, depths)
    if above is not None:
        key = node.document_id, nodes[above].number
        groups.setdefault(key, Group(above, pk, score))
    elif 0 in depths:
        groups.setdefault((node.document_id, None), Group(None, pk, score))


def _nearest(pk: int, nodes: Mapping[int, _Node], depths: Sequence[int]) -> int | None:
    """Itself or the nearest above it at one of the depths. 0 is the document, which is no row."""
    current: int | None = pk
    while current is not None:
        node = nodes[current]
        if node.depth and node.depth in depths:
            return current
        current = node.parent_id
    return None


def _nodes(section_ids: Iterable[int], *, ancestors: bool) -> dict[int, _Node]:
    nodes: dict[int, _Node] = {}
    missing = set(section_ids)
    # One query for each level of headings at most.
    for _level in range(DEEPEST + 1):
        if not missing:
            break
        nodes |= {pk: _Node(*node) for pk, *node in rows_of(_NODES, missing)}
        parents = {node.parent_id for node in nodes.values() if node.parent_id is not None}
        missing = parents - nodes.keys() if ancestors else set()
    return nodes
