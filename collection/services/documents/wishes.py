"""What a repository's settings ask for: which files become documents, and at which paths."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence

from django.utils.translation import gettext as _

from collection.models import Repository
from collection.models.documents import PATH_LENGTH
from glossary_site.errors import Refusal
from projects.intake.formats import ENDINGS, ending_of, is_litter
from projects.intake.globs import spec_of
from projects.intake.paths import clean_path

# As UTF-8: beside a commit's name in an index, PostgreSQL takes no more than 2,700 in all.
MOST_PATH_BYTES = 2400


def documents_key(repository: Repository) -> str:
    """The same for the same wish; empty where no documents are wanted."""
    patterns = repository.document_patterns
    if not patterns:
        return ""
    wish = [patterns, repository.document_folder, repository.document_branch]
    return hashlib.sha256(json.dumps(wish).encode()).hexdigest()


class Wanted:
    """Does a path become a document? Told by its name: of the files that the patterns let through,
    those that can be read. Archives stay closed: what is in them has no history of its own."""

    def __init__(self, patterns: Sequence[str]) -> None:
        try:
            self._spec = spec_of(patterns)
        except (ValueError, re.error) as error:
            raise Refusal(
                "bad_document_pattern",
                _("One of the patterns for documents is none."),
                status=400,
            ) from error

    def __bool__(self) -> bool:
        return bool(self._spec.patterns)

    def __call__(self, path: str) -> bool:
        if ending_of(path) not in ENDINGS or is_litter(path):
            return False
        # Patterns are kept in this form; names that come from a Mac are not.
        return self._spec.match_file(unicodedata.normalize("NFC", path))


def is_storable(path: str) -> bool:
    """Git takes any bytes for a name, of any length."""
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return False
    return size <= MOST_PATH_BYTES and len(path) <= PATH_LENGTH and "\0" not in path


class Places:
    """Where in the project a file belongs. A path that no document can have is `Refused`."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def of(self, path: str) -> str:
        return clean_path(f"{self._folder}/{path}" if self._folder else path)
