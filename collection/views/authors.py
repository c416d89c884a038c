"""The people behind the commits: who is who, as mail maps and people say."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from collection.identities import Identity, People
from collection.models import AuthorAlias
from collection.services.authors import merge_authors, split_identity, undo_merge
from collection.statistics.asking import Filter
from collection.statistics.counting import PersonTotal, people_totals
from collection.statistics.doubles import likely_doubles
from collection.views.lists import InOrder
from glossary_site.errors import Refusal
from glossary_site.numbers import number_in
from glossary_site.pages import query_of, render_page
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context

PAGE_SIZE = 100


@require_http_methods(["GET", "HEAD", "POST"])
def author_list(request: HttpRequest, project_id: int) -> HttpResponse:
    if request.method == "POST":
        project = project_for(request.user, project_id, Action.EDIT)
        return redirect(_act(request, project))
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    # Everybody who ever wrote something, also what is not in the branches any more.
    persons = people_totals(project, Filter(include_unreachable=True))
    query = query_of(request).casefold()
    shown = [each for each in persons if _mentions(each, query)]
    context |= {
        "part": "statistics",
        "listing": InOrder(request, shown, page_size=PAGE_SIZE),
        "has_authors": bool(persons),
        "doubles": [] if query else likely_doubles(persons),
        "by_mailmap": _by_mailmap(project),
        "undo": number_in(request.GET.get("undo", "")),
    }
    return render_page(request, "collection/authors.html", "collection/_authors.html", context)


def _mentions(each: PersonTotal, query: str) -> bool:
    names = [each.person, *(name for name, _figures in each.identities)]
    return any(query in str(name).casefold() for name in names)


def _by_mailmap(project: Project) -> set[Identity]:
    rows = AuthorAlias.objects.filter(project=project, repository__isnull=False)
    return {Identity(*row) for row in rows.values_list("name", "email")}


# ---- What the forms send ------------------------------------------------------------------------


def _act(request: HttpRequest, project: Project) -> str:
    """Does it, and says where to go on."""
    page = reverse("authors", args=[project.pk])
    try:
        if entry := number_in(request.POST.get("undo", "")):
            return _undo(request, project, entry, page)
        if name := request.POST.get("split", ""):
            return _split(request, project, _identity(name), page)
        return _merge(request, project, page)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return page


def _merge(request: HttpRequest, project: Project, page: str) -> str:
    names = [_identity(name) for name in request.POST.getlist("author")]
    into = request.POST.get("into", "")
    if len(names) < 2:
        raise Refusal("nothing_to_merge", _("Choose two or more names of one person."))
    # The name that is chosen is one of the person's, ticked or not; the first where none is.
    primary = _identity(into) if into else names[0]
    merged = merge_authors(project=project, into=primary, identities=names, actor=request.user)
    words = ngettext(
        "%(n)d other name now stands for %(author)s.",
        "%(n)d other names now stand for %(author)s.",
        len(merged.identities),
    )
    told: dict[str, Any] = {"n": len(merged.identities), "author": merged.author.name}
    messages.success(request, words % told)
    return f"{page}?undo={merged.entry_id}"


def _split(request: HttpRequest, project: Project, identity: Identity, page: str) -> str:
    person = People.of(project).person(identity)
    split_identity(project=project, identity=identity, actor=request.user)
    words = _("%(name)s no longer stands for %(author)s.")
    messages.success(request, words % {"name": identity, "author": person.name})
    return page


def _undo(request: HttpRequest, project: Project, entry: int, page: str) -> str:
    undo_merge(project=project, entry_id=entry, actor=request.user)
    messages.success(request, _("The names stand for whom they stood before."))
    return page


def _identity(text: str) -> Identity:
    return Identity.read(text.replace("\0", ""))
