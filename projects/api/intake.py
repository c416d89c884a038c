"""Texts and files that programs hand in, and the answer to them: what became of each."""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from rest_framework.response import Response

from projects.access import Actor
from projects.choices import Outcome, Source
from projects.intake.errors import Refused
from projects.intake.files import Draft, Rejected
from projects.intake.limits import Limits
from projects.intake.texts import draft_of
from projects.models import Project
from projects.services.documents import Stored, store_documents


def drafts_of(documents: Iterable[dict[str, str]], limits: Limits) -> Iterator[Draft | Rejected]:
    """Each text on its own: one that cannot go in does not stop the others."""
    for document in documents:
        try:
            yield draft_of(**document, limits=limits)
        except Refused as error:
            yield Rejected.because(document["path"], error)


def store_all(*, project: Project, drafts: Iterable[Draft | Rejected], actor: Actor) -> Response:
    """Store what can be stored, and say of each draft, in their order, what became of it."""
    became = store_documents(project=project, drafts=drafts, source=Source.API, actor=actor)
    results = [_result(each) for each in became]
    counts = Counter(result["outcome"] for result in results)
    return Response({"results": results, **{outcome: counts[outcome] for outcome in Outcome}})


def _result(became: Stored | Rejected) -> dict[str, Any]:
    told: dict[str, Any]
    if isinstance(became, Rejected):
        told = {"code": became.code, "detail": became.message}
    else:
        told = {"document": became.document_id, "version": became.version}
    nothing = dict.fromkeys(("document", "version", "code", "detail"))
    return {"path": became.path, "outcome": became.outcome, **nothing, **told}
