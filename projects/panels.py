"""What the pages of a project, a document and a term show beyond what this app knows.

Apps above this one enter theirs when they are ready (the way from documents to glossary, the
commits that touched a document): the pages cannot ask them, because imports point the other way.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.http import HttpRequest
from django.utils.safestring import SafeString

from projects.models import Document, Project, Term

Subject = TypeVar("Subject")


@dataclass(frozen=True)
class Panel(Generic[Subject]):
    key: str
    # Empty where there is nothing to show of this one.
    render: Callable[[HttpRequest, Subject], SafeString]
    # Names of static files that it needs in the head of the page.
    stylesheets: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """A panel as a request sees it."""

    panel: Panel[Any]
    html: SafeString


PANELS: list[Panel[Project]] = []
DOCUMENT_PANELS: list[Panel[Document]] = []
TERM_PANELS: list[Panel[Term]] = []


def panels_of(
    request: HttpRequest, subject: Subject, panels: Sequence[Panel[Subject]]
) -> list[Shown]:
    shown = [Shown(panel, panel.render(request, subject)) for panel in panels]
    return [each for each in shown if each.html.strip()]
