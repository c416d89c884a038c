"""Commits and lines by week or month: chart, table and totals; filters kept under a name."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from collection.identities import Identity
from collection.models import Commit, Repository, SavedFilter
from collection.services.filters import delete_filter, rename_filter, save_filter
from collection.statistics.asking import BadFilter, By, Filter, Per
from collection.statistics.chart import commits_chart, lines_chart
from collection.statistics.counting import Figures, PersonTotal, people_totals, statistics
from collection.statistics.table import lines_of
from collection.views.choosing import choices_of
from collection.views.lists import InOrder
from glossary_site.errors import Refusal
from glossary_site.pages import render_page, wants_part
from projects.access import Action, project_for
from projects.models import Project
from projects.views.pages import project_context

MOST_TOTALS = 10


@dataclass(frozen=True)
class Total:
    label: str
    title: str
    url: str
    figures: Figures


@dataclass(frozen=True)
class Saved:
    """A filter that people kept, as a link."""

    row: SavedFilter
    url: str
    is_current: bool


@require_safe
def statistics_page(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.VIEW)
    context = project_context(request, project, "repositories")
    context |= {"part": "statistics", "pers": Per, "bys": By, "errors": {}}
    try:
        asked = Filter.from_query(request.GET)
    except BadFilter as bad:
        asked = Filter()
        context |= {"errors": bad.errors, "persons": []}
    else:
        context |= _figures(request, project, asked)
    authors = ((str(each.person), each.person.name) for each in context["persons"])
    saved = _saved(project, asked)
    context |= {
        "asked": asked,
        # What was typed, right or wrong.
        "typed": {key: request.GET.get(key, "") for key in ("since", "until")},
        "choices": choices_of(project, request.GET, authors),
        "saved": saved,
        "is_saved": any(each.is_current for each in saved),
        "query": asked.urlencode(),
    }
    status = 400 if context["errors"] and not wants_part(request) else 200
    return render_page(
        request, "collection/statistics.html", "collection/_statistics.html", context, status=status
    )


def _figures(request: HttpRequest, project: Project, asked: Filter) -> dict[str, Any]:
    found = statistics(project, asked)
    # Those who could be chosen as well, and of them those who are.
    persons = people_totals(project, replace(asked, authors=()))
    context: dict[str, Any] = {
        "found": found,
        "listing": InOrder(request, lines_of(found)),
        "persons": persons,
        "group_totals": _group_totals(request, asked, persons, found.group_totals),
        "people_count": len(_chosen(persons, asked)),
        "more_totals": 0,
    }
    if found.totals.commits:
        context["charts"] = [commits_chart(found), lines_chart(found)]
    else:
        seen = Repository.objects.seen_by(project)
        context["has_repositories"] = seen.exists()
        context["has_commits"] = Commit.objects.filter(repository__in=seen).exists()
    total = len(context["group_totals"])
    context["more_totals"] = max(0, total - MOST_TOTALS)
    context["group_totals"] = context["group_totals"][:MOST_TOTALS]
    return context


def _chosen(persons: list[PersonTotal], asked: Filter) -> list[PersonTotal]:
    if not asked.authors:
        return persons
    wanted = {Identity.read(author) for author in asked.authors}
    return [
        each
        for each in persons
        if each.person in wanted or any(name in wanted for name, _figures in each.identities)
    ]


def _group_totals(
    request: HttpRequest, asked: Filter, persons: list[PersonTotal], groups: Any
) -> list[Total]:
    """By what the table is grouped; by persons where it is not. Each leads to itself alone."""
    if asked.by in (By.NONE, By.AUTHOR):
        names = Counter(each.person.name for each in persons)
        return [
            Total(
                # A name that several have tells nobody apart.
                label=each.person.name if names[each.person.name] == 1 else str(each.person),
                title=str(each.person),
                url=_address(request, replace(asked, authors=(str(each.person),))),
                figures=each.figures,
            )
            for each in _chosen(persons, asked)
        ]
    found = []
    for each in groups:
        if asked.by == By.REPOSITORY:
            only = replace(asked, repositories=(int(each.group.key),), by=By.NONE)
        else:
            here = (each.group.repository_id,)
            only = replace(asked, repositories=here, branches=(each.group.key,), by=By.NONE)
        url = _address(request, only)
        found.append(Total(each.group.label, each.group.label, url, each.figures))
    return found


def _address(request: HttpRequest, asked: Filter) -> str:
    return f"{request.path}?{asked.urlencode()}"


def _saved(project: Project, asked: Filter) -> list[Saved]:
    page = reverse("statistics", args=[project.pk])
    found = []
    for row in project.statistics_filters.all():
        query = QueryDict(mutable=True)
        for key, values in row.query.items():
            query.setlist(key, values)
        is_current = row.query == asked.as_query()
        found.append(Saved(row, f"{page}?{query.urlencode()}", is_current))
    return found


# ---- Filters kept under a name ------------------------------------------------------------------


@require_POST
def filter_save(request: HttpRequest, project_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    query = request.POST.get("query", "")
    try:
        saved = save_filter(
            project=project,
            name=request.POST.get("name", ""),
            filter=Filter.from_query(query),
            actor=request.user,
        )
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("“%(name)s” is saved.") % {"name": saved.name})
    return _back(project, query)


@require_POST
def filter_rename(request: HttpRequest, project_id: int, filter_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    saved = get_object_or_404(project.statistics_filters, pk=filter_id)
    try:
        rename_filter(saved=saved, name=request.POST.get("name", ""), actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    return _back(project, request.POST.get("query", ""))


@require_POST
def filter_delete(request: HttpRequest, project_id: int, filter_id: int) -> HttpResponse:
    project = project_for(request.user, project_id, Action.EDIT)
    saved = get_object_or_404(project.statistics_filters, pk=filter_id)
    try:
        delete_filter(saved=saved, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("“%(name)s” was deleted.") % {"name": saved.name})
    return _back(project, request.POST.get("query", ""))


def _back(project: Project, query: str) -> HttpResponse:
    """To the page as it was; written anew, so that nobody is led elsewhere."""
    page = reverse("statistics", args=[project.pk])
    return redirect(f"{page}?{QueryDict(query).urlencode()}" if query else page)
