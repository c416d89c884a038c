"""What a project's page shows beyond what this app knows.

Apps above this one enter theirs when they are ready (the way from documents to glossary): the page
cannot ask them, because imports point the other way.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.http import HttpRequest
from django.utils.safestring import SafeString

from projects.models import Project


@dataclass(frozen=True)
class Panel:
    key: str
    render: Callable[[HttpRequest, Project], SafeString]
    # Names of static files that it needs in the head of the page.
    stylesheets: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """A panel as a request sees it."""

    panel: Panel
    html: SafeString


PANELS: list[Panel] = []


def panels_of(request: HttpRequest, project: Project) -> list[Shown]:
    return [Shown(panel, panel.render(request, project)) for panel in PANELS]
