"""Links between documents: what they name, and the reader page of what they name."""

import posixpath
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from urllib.parse import quote, unquote, urlsplit

from django.urls import reverse

from projects.intake.paths import MAX_RAW_CHARACTERS
from projects.models import Document, Project

# Takes the relative links of a page, answers with an address for each that leads somewhere.
Resolve = Callable[[Collection[str]], Mapping[str, str]]

# A link to a folder means the page that introduces it, as on most sites that show repositories.
FOLDER_PAGES = ("README.md", "readme.md", "index.md")
# Databases limit the values in one query; a page within reason needs only one.
PATHS_A_QUERY = 5000


def nowhere(hrefs: Collection[str]) -> Mapping[str, str]:
    return {}


def is_relative(href: str) -> bool:
    """Whether a link names something by its place beside this document."""
    try:
        parts = urlsplit(href)
    except ValueError:
        return False
    return not parts.scheme and not parts.netloc and bool(parts.path)


def candidates(href: str, origin: str) -> list[str]:
    """The paths in the project that a link in the document at `origin` may mean, best first."""
    path = _composed(urlsplit(href).path)
    if "\0" in path:  # no stored path has it, and PostgreSQL will not even be asked
        return []
    # A leading slash means the top of the project, not of the site.
    folder = "" if path.startswith("/") else posixpath.dirname(origin)
    target = posixpath.normpath(posixpath.join(folder, path.lstrip("/")))
    if target == ".." or target.startswith("../"):
        return []
    pages = [page if target == "." else f"{target}/{page}" for page in FOLDER_PAGES]
    if target == "." or path.endswith("/"):
        return pages
    return [target, f"{target}.md", *pages]


def fragment(href: str) -> str:
    """`#…` as the ids of headings are written, or nothing."""
    wanted = _composed(urlsplit(href).fragment)
    return f"#{quote(wanted)}" if wanted else ""


def _composed(part: str) -> str:
    """Written as paths and ids are. Nothing here has so long a name, and to put a long row of
    accents in order takes quadratic time."""
    return unicodedata.normalize("NFC", unquote(part)[:MAX_RAW_CHARACTERS])


def resolver(project: Project, origin: str) -> Resolve:
    """Finds the reader pages of a project's documents, in one query for all links of a page."""

    def resolve(hrefs: Collection[str]) -> Mapping[str, str]:
        wanted = {href: candidates(href, origin) for href in hrefs}
        present: dict[str, int] = {}
        for batch in _batches({path for paths in wanted.values() for path in paths}):
            rows = Document.objects.filter(project=project, path__in=batch)
            present.update(rows.order_by().values_list("path", "pk"))
        return {
            href: reverse("document", args=[project.pk, present[found]]) + fragment(href)
            for href, paths in wanted.items()
            if (found := next((path for path in paths if path in present), None))
        }

    return resolve


def _batches(paths: Collection[str]) -> Iterator[list[str]]:
    rest = iter(sorted(paths))
    while batch := list(islice(rest, PATHS_A_QUERY)):
        yield batch
