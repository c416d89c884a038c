"""The part of a search that goes by meaning: whose vectors, and how near."""

import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
from django.utils.translation import gettext as _

from indexing.choices import Mode
from indexing.embedders.base import Embedder, EmbedderUnavailable
from indexing.embedders.registry import embedder_chosen, embedder_of_key
from indexing.models import ProjectIndex
from indexing.search.mixing import Neighbours
from indexing.search.options import SearchOptions
from indexing.search.rows import rows_of
from indexing.vectors.search import near

logger = logging.getLogger(__name__)

QUERIES_KEPT = 256
_SERVING = """
    SELECT project_id, serving_embedder, generation FROM indexing_projectindex
    WHERE project_id IN {ids}
"""


@dataclass(frozen=True)
class Aim:
    """The query as a vector among those of one project."""

    project_id: int
    embedder: str
    vector: np.ndarray
    weight: float


class Recent:
    """Vectors of the last queries: the next page of results, and a person who goes back, need not
    ask an endpoint again."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[tuple[str, str], np.ndarray] = OrderedDict()
        self._lock = Lock()

    def vector(self, embedder: Embedder, text: str) -> np.ndarray:
        key = embedder.key, text
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        vector = embedder.embed_query(text)
        with self._lock:
            self._kept[key] = vector
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return vector


_recent = Recent(QUERIES_KEPT)


def aims_for(options: SearchOptions, *, text: str, language: str, notices: list[str]) -> list[Aim]:
    """Before the snapshot: an endpoint may take its time. What cannot be had is said in a notice,
    and the words alone decide."""
    aims: list[Aim] = []
    wanting = False
    for index in ProjectIndex.objects.filter(pk__in=options.project_ids):
        try:
            aim = _aim(index, options, text, language)
        except EmbedderUnavailable as error:
            logger.warning("No meaning for project %d: %s", index.pk, error)
            notice = _("Only words were searched: %(reason)s") % {"reason": error}
            if notice not in notices:
                notices.append(notice)
            continue
        if aim is not None:
            aims.append(aim)
        wanting = wanting or not index.serving_embedder
    if options.mode is Mode.VECTOR and not aims and not notices:
        notices.append(
            _("Meaning cannot be searched yet: the vectors are being made.")
            if wanting
            else _("Meaning cannot be searched here: no embedder is switched on.")
        )
    return aims


def _aim(index: ProjectIndex, options: SearchOptions, text: str, language: str) -> Aim | None:
    if embedder_chosen(index.chosen_embedder, index.pk) is None:
        return None
    embedder = embedder_of_key(index.serving_embedder, index.pk)
    if embedder is None:
        return None
    weight = 1.0 if options.mode is Mode.VECTOR else embedder.weight(language)
    if weight <= 0:
        return None
    vector = _recent.vector(embedder, text)
    return Aim(index.pk, embedder.key, vector, weight) if vector.any() else None


def neighbours_of(
    aims: Sequence[Aim], *, documents: Sequence[int] | None, limit: int, also: Iterable[int]
) -> list[Neighbours]:
    """Inside the snapshot. Projects whose embedder changed meanwhile are left to their words."""
    rows = rows_of(_SERVING, [aim.project_id for aim in aims])
    indexes = {pk: (embedder, generation) for pk, embedder, generation in rows}
    found = []
    for aim in aims:
        embedder, generation = indexes.get(aim.project_id, ("", 0))
        if embedder != aim.embedder:
            continue
        cosines = near(
            aim.vector,
            project_id=aim.project_id,
            embedder=aim.embedder,
            generation=generation,
            documents=documents,
            limit=limit,
            also=also,
        )
        found.append(Neighbours(cosines, aim.weight))
    return found
