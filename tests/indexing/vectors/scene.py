"""Documents with sections and vectors, written as the indexer writes them."""

import numpy as np
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from indexing.models import IndexedDocument, ProjectIndex, Section
from indexing.vectors.store import write
from projects.choices import Format, Source
from projects.models import Document, Project

EMBEDDER = "test-16"
DIMENSIONS = 16


def unit(vectors) -> np.ndarray:
    vectors = np.asarray(vectors, dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def some_vectors(count: int, seed: int = 0, dimensions: int = DIMENSIONS) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return unit(rng.standard_normal((count, dimensions), dtype=np.float32))


def topics(count: int, seed: int = 0, dimensions: int = DIMENSIONS, about: int = 40) -> np.ndarray:
    """Vectors in heaps, as those of texts are."""
    centres = some_vectors(about, seed + 1000, dimensions)
    rng = np.random.default_rng(seed)
    spread = some_vectors(count, seed, dimensions)
    return unit(centres[rng.integers(about, size=count)] + 0.7 * spread)


def make_documents(project: Project, count: int) -> list[Document]:
    now = timezone.now()
    start = Document.objects.filter(project=project).count()
    return Document.objects.bulk_create(
        Document(
            project=project,
            path=f"{start + n}.md",
            title=str(start + n),
            content="",
            file_hash="0" * 64,
            byte_size=0,
            format=Format.MARKDOWN,
            source=Source.UPLOAD,
            updated_at=now,
        )
        for n in range(count)
    )


def raise_generation(project: Project) -> int:
    ProjectIndex.objects.get_or_create(project=project)
    ProjectIndex.objects.filter(project=project).update(generation=F("generation") + 1)
    return generation_of(project)


def generation_of(project: Project) -> int:
    row = ProjectIndex.objects.filter(project=project).values_list("generation", flat=True)
    return row.first() or 0


@transaction.atomic
def replace(
    document: Document, vectors: np.ndarray, *, embedder: str = EMBEDDER, version: int = 1
) -> list[int]:
    """New sections instead of the old, a vector each, in one transaction."""
    return replace_many([(document, vectors)], embedder=embedder, version=version)[document.pk]


@transaction.atomic
def replace_many(
    batch: list[tuple[Document, np.ndarray]], *, embedder: str = EMBEDDER, version: int = 1
) -> dict[int, list[int]]:
    project = batch[0][0].project
    generation = raise_generation(project)
    now = timezone.now()
    Section.objects.filter(document__in=[document for document, _ in batch]).delete()
    sections = Section.objects.bulk_create(
        Section(
            project=project,
            document=document,
            order=order,
            depth=1,
            heading=f"v{version}",
            heading_path=[],
            line_start=1,
            line_end=1,
            content="",
            token_count=1,
            document_hash="0" * 64,
            text_hash=f"{document.pk}:{order}",
            created_at=now,
        )
        for document, vectors in batch
        for order in range(len(vectors))
    )
    rows = [vector for _, vectors in batch for vector in vectors]
    write(
        zip([section.pk for section in sections], rows, strict=True),
        embedder=embedder,
        project_id=project.pk,
    )
    IndexedDocument.objects.bulk_create(
        [
            IndexedDocument(
                document=document,
                project=project,
                document_hash="0" * 64,
                document_version=version,
                section_count=len(vectors),
                token_count=1,
                generation=generation,
                indexed_at=now,
            )
            for document, vectors in batch
        ],
        update_conflicts=True,
        unique_fields=["document"],
        update_fields=["document_version", "section_count", "generation", "indexed_at"],
    )
    ids: dict[int, list[int]] = {document.pk: [] for document, _ in batch}
    for section in sections:
        ids[section.document_id].append(section.pk)
    return ids


def fill(project: Project, vectors: np.ndarray, *, each: int = 10, embedder: str = EMBEDDER):
    """Documents of some sections each; the ids of all sections, in the order of their vectors."""
    parts = [vectors[start : start + each] for start in range(0, len(vectors), each)]
    documents = make_documents(project, len(parts))
    ids = replace_many(list(zip(documents, parts, strict=True)), embedder=embedder)
    return documents, [section for document in documents for section in ids[document.pk]]
