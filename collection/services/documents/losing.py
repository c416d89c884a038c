"""Which documents a changed wish would cost, told before it is saved and without asking the
repository: the rows of what was last read know it."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from collection.models import Repository, RepositoryFile
from collection.services.documents.comparing import known_files
from collection.services.documents.wishes import Wanted
from collection.services.documents.writing import ours_among
from glossary_site.errors import Refusal

# A confirmation names this many.
NAMED = 20


@dataclass(frozen=True)
class Loss:
    """Documents that the next collection would delete, by their paths in the project."""

    # Their files are no longer asked for.
    certain: Sequence[str]
    # Their files are to be read from elsewhere: they go if they are not there.
    possible: Sequence[str]
    staying: int

    def __bool__(self) -> bool:
        return bool(self.certain or self.possible)

    @property
    def token(self) -> str:
        """Whoever says it has seen these, and no others."""
        seen = json.dumps([self.certain, self.possible])
        return hashlib.sha256(seen.encode()).hexdigest()

    @property
    def named(self) -> list[str]:
        return [*self.certain, *self.possible][:NAMED]

    @property
    def unnamed(self) -> int:
        return len(self.certain) + len(self.possible) - len(self.named)

    def __str__(self) -> str:
        sentences = []
        if self.certain:
            sentences.append(
                ngettext(
                    "%(n)s document is no longer asked for: the next collection would delete it.",
                    "%(n)s documents are no longer asked for: the next collection would delete "
                    "them.",
                    len(self.certain),
                )
                % {"n": len(self.certain)}
            )
        if self.possible:
            sentences.append(
                ngettext(
                    "%(n)s document would be read from elsewhere: the next collection deletes it "
                    "if its file is not there.",
                    "%(n)s documents would be read from elsewhere: the next collection deletes "
                    "those whose files are not there.",
                    len(self.possible),
                )
                % {"n": len(self.possible)}
            )
        if self.staying:
            sentences.append(
                ngettext("%(n)s document stays.", "%(n)s documents stay.", self.staying)
                % {"n": self.staying}
            )
        return " ".join(sentences)


class DocumentsWouldGo(Refusal):
    """Nobody loses documents by a change without having been told which."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(
            "documents_would_go",
            _("Nothing was saved yet. %(loss)s") % {"loss": loss},
            certain=len(loss.certain),
            possible=len(loss.possible),
            staying=loss.staying,
            paths=loss.named,
            confirm=loss.token,
        )
        self.loss = loss


def loss_between(before: Repository, after: Repository) -> Loss:
    """What goes once the repository is collected as it is to be. Another folder costs nothing:
    documents move."""
    elsewhere = _source(before) != _source(after)
    if not elsewhere and before.document_patterns == after.document_patterns:
        return Loss([], [], staying=0)
    wanted = Wanted(after.document_patterns)
    certain: dict[int, str] = {}
    possible: dict[int, str] = {}
    kept: set[int] = set()
    for file in known_files(before).values():
        if file.document_id is None or file.document_path is None:
            continue
        if not wanted(file.path):
            certain[file.document_id] = file.document_path
        elif elsewhere:
            possible[file.document_id] = file.document_path
        else:
            kept.add(file.document_id)
    documents = RepositoryFile.objects.filter(repository=before).values("document")
    others = RepositoryFile.objects.exclude(repository=before).filter(document__in=documents)
    # What another file is as well, or what people brought in, is not deleted from here.
    shared = kept | set(others.values_list("document_id", flat=True))
    ours = ours_among(documents) - shared
    goes = {pk: path for pk, path in certain.items() if pk in ours and pk not in possible}
    may_go = {pk: path for pk, path in possible.items() if pk in ours}
    return Loss(
        certain=sorted(goes.values()),
        possible=sorted(may_go.values()),
        staying=len((certain.keys() | possible.keys() | kept) - goes.keys() - may_go.keys()),
    )


def _source(repository: Repository) -> tuple[str, str, str]:
    """Where documents are read from."""
    branch = repository.document_branch or repository.default_branch
    return (repository.kind, repository.address, branch)
