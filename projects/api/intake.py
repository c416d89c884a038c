"""Texts and files that programs hand in, and the answer to them: what became of each."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.response import Response

from projects.access import Actor
from projects.choices import Format, Source
from projects.intake.encoding import CONTROL
from projects.intake.errors import Refused, readable_size
from projects.intake.limits import Limits
from projects.intake.paths import clean_path
from projects.intake.reader import Draft, Rejected, title_of
from projects.models import Project
from projects.services.documents import Stored, store_documents


def draft_of(*, path: str, content: str, limits: Limits) -> Draft:
    """A text that is already Markdown, held to the rules for files."""
    path = clean_path(path)
    content = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if CONTROL.search(content):
        raise Refused("binary_content", _("The text has control characters."))
    if not content.strip():
        raise Refused("file_empty", _("There is no text in it."))
    if len(content.encode()) > limits.max_file_bytes:
        raise Refused(
            "file_too_large",
            _("The text is larger than %(limit)s."),
            limit=readable_size(limits.max_file_bytes),
        )
    return Draft(path=path, content=content, title=title_of(content, path), format=Format.MARKDOWN)


def drafts_of(documents: Iterable[dict[str, str]], limits: Limits) -> Iterator[Draft | Rejected]:
    """Each text on its own: one that cannot go in does not stop the others."""
    for document in documents:
        try:
            yield draft_of(**document, limits=limits)
        except Refused as error:
            yield Rejected.because(document["path"], error)


def store_all(*, project: Project, drafts: Iterable[Draft | Rejected], actor: Actor) -> Response:
    """Store what can be stored, and say of each draft, in their order, what became of it."""
    refused: list[bool] = []

    def noted() -> Iterator[Draft | Rejected]:
        for draft in drafts:
            refused.append(isinstance(draft, Rejected))
            yield draft

    # Drafts are written in chunks, so the refused ones among them are reported earlier.
    results: dict[bool, deque[dict[str, Any]]] = {True: deque(), False: deque()}
    for became in store_documents(project=project, drafts=noted(), source=Source.API, actor=actor):
        results[isinstance(became, Rejected)].append(_result(became))
    ordered = [results[is_refused].popleft() for is_refused in refused]
    counts = Counter(result["outcome"] for result in ordered)
    return Response(
        {
            "results": ordered,
            **{key: counts[key] for key in ("created", "updated", "unchanged", "refused")},
        }
    )


def _result(became: Stored | Rejected) -> dict[str, Any]:
    if isinstance(became, Rejected):
        return {
            "path": became.path,
            "outcome": "refused",
            "document": None,
            "version": None,
            "code": became.code,
            "detail": became.message,
        }
    return {
        "path": became.path,
        "outcome": became.outcome,
        "document": became.document_id,
        "version": became.version,
        "code": None,
        "detail": None,
    }
