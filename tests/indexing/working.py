"""Doing in a test what the workers do with requests, and looking at what comes of it."""

from django.db import connection

from indexing.models import IndexRequest, Section
from indexing.search.options import SearchOptions, SearchPage
from indexing.search.service import search
from indexing.services.drain import Tally, work_here
from indexing.services.requests import Claim, take
from projects.models import Document, Project
from tests import factories

# Each section is long enough to stay by itself.
TEXT = """# Harbour

The harbour is where ships rest. Its two moles keep the swell out, and its lights burn from dusk to
dawn throughout the year.

## Pilots

A pilot guides ships into the harbour. Pilots live on the island and row out to meet whoever asks
for one by day or by night.

## Tides

High tide lifts every ship in the basin twice a day. At low water the inner basin falls dry, and
nothing larger than a dinghy moves.
"""


def index(project: Project) -> Tally:
    """Work off everything that waits."""
    return work_here(project=project, progress=lambda current, total: None)


def make_indexed(project: Project, path: str = "", content: str = TEXT) -> Document:
    document = factories.make_document(project, path, content)
    index(project)
    return document


def take_one(project: Project) -> Claim:
    (claim,) = take(project.pk, limit=1)
    return claim


def statuses(document: Document) -> list[str]:
    """Of its requests, the oldest first."""
    requests = IndexRequest.objects.filter(document=document).order_by("pk")
    return list(requests.values_list("status", flat=True))


def headings(document: Document) -> list[str]:
    return list(Section.objects.of_document(document).values_list("heading", flat=True))


def ask(project: Project, query: str, **options) -> SearchPage:
    return search(SearchOptions(query=query, project_ids=(project.pk,), **options))


def paths(page: SearchPage) -> list[str]:
    return [result.document_path for result in page.results]


def on_sqlite() -> bool:
    return connection.vendor == "sqlite"
