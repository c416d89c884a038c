"""Is everything well, and if not, why? And taking a node out of service."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from glossary_site.errors import Refusal
from glossary_site.jobs.overview import overview
from glossary_site.jobs.reasons import reasons
from glossary_site.jobs.services.workers import drain_node
from glossary_site.jobs.views.frame import for_operators, for_watchers, operations_context
from glossary_site.pages import render_page


@require_safe
@for_watchers
def operations(request: HttpRequest) -> HttpResponse:
    context = operations_context(request, "overview")
    view = overview()
    context |= {"view": view, "reasons": reasons(view)}
    return render_page(request, "jobs/overview.html", "jobs/_overview.html", context)


@require_POST
@for_operators
def drain(request: HttpRequest) -> HttpResponse:
    return _drain(request, draining=True)


@require_POST
@for_operators
def undrain(request: HttpRequest) -> HttpResponse:
    return _drain(request, draining=False)


def _drain(request: HttpRequest, *, draining: bool) -> HttpResponse:
    # In the form and not in the address: the name of a node has a slash in it.
    node = request.POST.get("node", "").replace("\0", "")
    try:
        drain_node(node, actor=request.user, draining=draining)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        sentence = (
            _("The node %(node)s finishes what it has in hand and takes nothing new.")
            if draining
            else _("The node %(node)s takes work again.")
        )
        messages.success(request, sentence % {"node": node})
    return redirect("operations")
