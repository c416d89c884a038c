"""The state of the index beside each document: in their list, and on the page of one."""

from collections.abc import Mapping, Sequence

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from indexing.services.states import states_of
from indexing.templatetags.index_state import state_badge
from projects.access import Action, project_for
from projects.document_facts import DocumentFact
from projects.models import Document
from projects.views.documents import document_of


def of_many(documents: Sequence[Document]) -> Mapping[int, SafeString]:
    states = states_of([document.pk for document in documents])
    return {document.pk: state_badge(states.get(document.pk)) for document in documents}


def of_one(document: Document) -> SafeString:
    state = states_of([document.pk]).get(document.pk)
    html = render_to_string("indexing/_document_state.html", {"document": document, "state": state})
    return mark_safe(html)  # noqa: S308  # a template's output, which escapes


INDEX_STATE = DocumentFact(
    key="index", label=_("Index"), of_many=of_many, of_one=of_one, live="index"
)


@require_safe
def document_state(request: HttpRequest, project_id: int, document_id: int) -> HttpResponse:
    """The state alone, for a page that stays open."""
    project = project_for(request.user, project_id, Action.VIEW)
    return HttpResponse(of_one(document_of(project, document_id)))
