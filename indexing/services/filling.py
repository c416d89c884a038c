"""Vectors for sections that have none yet: of an embedder that is asked over the network, or of
another one than before. The vectors that are there serve until the last new one has come.
"""

import logging
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from indexing.embedders.base import Check, Embedder, EmbedderUnavailable
from indexing.embedders.registry import embedder_for
from indexing.models import IndexedDocument, ProjectIndex, Section, SectionVector
from indexing.querysets import SectionQuerySet
from indexing.services.building import embedded, text_to_embed
from indexing.services.holding import hold
from indexing.services.replacing import next_generation, project_index
from indexing.vectors.store import remove_other_vectors, write

logger = logging.getLogger(__name__)

BATCH = 128
PLAIN = "glossary"

Progress = Callable[[int, int], object]


def without_vector(project_id: int, key: str) -> SectionQuerySet:
    there = SectionVector.objects.filter(section=OuterRef("pk"), embedder=key)
    return Section.objects.filter(~Exists(there), project_id=project_id).exclude(content="")


def needs_filling(project_id: int) -> bool:
    """Whether the wanted embedder does not serve yet, or has sections left to do."""
    wanted = embedder_for(project_id)
    if wanted is None:
        return False
    serving = ProjectIndex.objects.filter(pk=project_id, serving_embedder=wanted.key)
    return not serving.exists() or without_vector(project_id, wanted.key).exists()


def fill(project_id: int, *, check: Check, progress: Progress) -> dict[str, Any]:
    """Goes on where it was stopped: what has a vector is not asked for again."""
    embedder = embedder_for(project_id)
    if embedder is None:
        return {"filled": 0}
    filled = _fill_all(project_id, embedder, check, progress)
    removed = 0
    if serve(project_id, embedder):
        removed = remove_other_vectors(project_id=project_id, keep=[embedder.key])
    return {"filled": filled, "removed": removed}


def _is_wanted(project_id: int, embedder: Embedder) -> bool:
    """Still: an owner may change their mind while we are at it."""
    wanted = embedder_for(project_id)
    return wanted is not None and wanted.key == embedder.key


def _fill_all(project_id: int, embedder: Embedder, check: Check, progress: Progress) -> int:
    sections = without_vector(project_id, embedder.key).order_by("pk")
    total = sections.count()
    filled, last = 0, 0
    while True:
        check()
        if not _is_wanted(project_id, embedder):
            return filled
        rows = list(
            sections.filter(pk__gt=last).values_list(
                "pk", "document_id", "heading_path", "content"
            )[:BATCH]
        )
        if not rows:
            return filled
        texts = [text_to_embed(heading_path, content) for _pk, _doc, heading_path, content in rows]
        vectors = _vectors(embedder, texts, check)
        made = [
            (pk, document_id, vector)
            for (pk, document_id, _path, _content), vector in zip(rows, vectors, strict=True)
        ]
        filled += _keep(project_id, embedder.key, made)
        last = rows[-1][0]
        progress(min(filled, total), total)


def _vectors(embedder: Embedder, texts: list[str], check: Check) -> list[bytes]:
    """Of texts that a server will not have, empty ones: found by their words only, and not asked
    for again. A server that is away is another thing, and stops everything."""
    try:
        return embedded(embedder, texts, check=check)
    except EmbedderUnavailable:
        # Whoever takes a plain word is not away.
        nothing = bytes(len(embedded(embedder, [PLAIN], check=check)[0]))
    vectors = []
    for text in texts:
        try:
            vectors += embedded(embedder, [text], check=check)
        except EmbedderUnavailable as error:
            logger.warning("A section has no vector of %s: %s", embedder.key, error)
            vectors.append(nothing)
    return vectors


@transaction.atomic
def _keep(project_id: int, key: str, made: list[tuple[int, int, bytes]]) -> int:
    """Sections that were replaced meanwhile are gone; those that took their place are still to do.
    Locked against just that."""
    document_ids = {document_id for _pk, document_id, _vector in made}
    hold(project_id, document_ids)
    pks = [pk for pk, _document_id, _vector in made]
    left = set(without_vector(project_id, key).filter(pk__in=pks).values_list("pk", flat=True))
    rows = [row for row in made if row[0] in left]
    vectors = [(pk, vector) for pk, _document_id, vector in rows]
    write(vectors, embedder=key, project_id=project_id)
    # Who keeps vectors at hand learns by the generation that there are more.
    touched = {document_id for _pk, document_id, _vector in rows}
    generation = next_generation(project_id)
    IndexedDocument.objects.filter(pk__in=touched).update(generation=generation)
    return len(rows)


@transaction.atomic
def serve(project_id: int, embedder: Embedder) -> bool:
    """Let this embedder's vectors serve, if no section is without one. The row is locked: nothing
    new is written meanwhile."""
    project_index(project_id)
    index = ProjectIndex.objects.select_for_update().get(pk=project_id)
    if not _is_wanted(project_id, embedder):
        # Another job is at the vectors of the one that is wanted by now.
        return False
    if without_vector(project_id, embedder.key).exists():
        return False
    if index.serving_embedder != embedder.key:
        index.serving_embedder = embedder.key
        index.generation += 1
        index.save(update_fields=["serving_embedder", "generation"])
    return True
