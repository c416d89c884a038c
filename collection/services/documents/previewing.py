"""What other patterns would do to a repository's documents, before anybody asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass

from collection.models import Repository
from collection.origins.data import Origin
from collection.services.documents.comparing import known_files, tree_of
from collection.services.documents.wishes import Wanted


@dataclass(frozen=True)
class Preview:
    """Paths of files, in order."""

    added: Sequence[str]
    # Their documents would be deleted, but for those that began elsewhere.
    removed: Sequence[str]
    unchanged: Sequence[str]


def preview_documents(
    repository: Repository, origin: Origin, head: str, patterns: Sequence[str]
) -> Preview:
    """The branch of `head` has to be at hand (`Origin.bring`)."""
    files = tree_of(origin, head, Wanted(patterns), check=lambda: None).files
    known = known_files(repository) if repository.pk else {}
    documents = {path for path, row in known.items() if row.document_id is not None}
    return Preview(
        added=sorted(path for path in files if path not in known),
        removed=sorted(path for path in documents if path not in files),
        unchanged=sorted(path for path in documents if path in files),
    )
