"""Putting terms into another list, together, or into a category; the message that says so has a
button that takes it back."""

from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from glossary_site.errors import Refusal
from glossary_site.templatetags.site import icon
from projects.categories import categories_of
from projects.choices import LEFT_OUT, TermStatus
from projects.models import Project
from projects.services.synonyms import make_group, undo_group
from projects.services.terms.restoring import CATEGORY, STATUS, Former, change, restore

SALT = "terms.way-back"
# What was done, where no field was changed.
GROUP = "group"
# A page that was left open over night still can; after that, the lists have moved on.
SECONDS = 24 * 3600
# The form of the page that the button belongs to.
FORM = "chosen"
# What people may say; the extraction alone excludes automatically.
BY_HAND = (TermStatus.CANDIDATE, TermStatus.REQUIRED, TermStatus.EXCLUDED)


def change_status(
    request: HttpRequest, project: Project, ids: Sequence[int], wish: str, *, reason: str = ""
) -> None:
    """Set the status of these terms, and say so with a way back."""
    if wish not in BY_HAND:
        messages.error(request, _("There is no such list."))
        return
    status = TermStatus(wish)
    formers = change(
        project=project, ids=ids, field=STATUS, to=status, actor=request.user, reason=reason
    )
    if count := _count(request, formers):
        first = project.terms.filter(pk=formers[0].ids[0]).values_list("text", flat=True).first()
        said = _said(status, count, first or "")
        _say_with_a_way_back(request, said, [STATUS, status, *map(astuple, formers)])


def change_category(
    request: HttpRequest, project: Project, ids: Sequence[int], category: str
) -> None:
    try:
        formers = change(project=project, ids=ids, field=CATEGORY, to=category, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return
    if count := _count(request, formers):
        said = _said_of_category(count, category and _label(project, category))
        _say_with_a_way_back(request, said, [CATEGORY, category, *map(astuple, formers)])


def _count(request: HttpRequest, formers: Sequence[Former]) -> int:
    """How many terms were changed; says so where that is none."""
    if not formers:
        messages.info(request, _("Nothing was changed: that is how it was."))
    return sum(len(former.ids) for former in formers)


def make_synonyms(request: HttpRequest, project: Project, ids: Sequence[int]) -> None:
    """Make synonyms of these terms. The best of them gives the group its name; its page can choose
    another."""
    terms = list(project.terms.filter(pk__in=ids).order_by("-score", "pk"))
    if len(terms) < 2:
        messages.warning(request, _("Choose two or more terms that mean the same."))
        return
    first, *others = terms
    try:
        made = make_group(project=project, primary=first, terms=others, actor=request.user)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return
    words = ngettext(
        "“%(others)s” now stands under “%(term)s”.",
        "“%(others)s” now stand under “%(term)s”.",
        len(others),
    )
    said = words % {"others": ", ".join(term.text for term in others), "term": first.text}
    if first.status in LEFT_OUT:
        # To be the name of a group, it was put back among the candidates as well.
        messages.success(request, said)
    else:
        _say_with_a_way_back(request, said, [GROUP, made.pk, [term.pk for term in terms]])


def _say_with_a_way_back(request: HttpRequest, said: str, what: list[Any]) -> None:
    token = signing.dumps(what, salt=SALT, compress=True)
    button = format_html(
        '<button class="button button-small undo" form="{}" name="undo" value="{}" data-key="z">'
        "{}{}</button>",
        FORM,
        token,
        icon("undo"),
        _("Undo"),
    )
    messages.success(request, format_html("{} {}", said, button))


def take_back(request: HttpRequest, project: Project, token: str) -> None:
    """What the button of such a message does."""
    try:
        done, *before = signing.loads(token, salt=SALT, max_age=SECONDS)
    except signing.BadSignature:
        messages.warning(request, _("This can no longer be undone."))
        return
    if done == GROUP:
        number, ids = before
        count = undo_group(project=project, number=number, ids=ids, actor=request.user)
    else:
        changed_to, *states = before
        formers = [Former(*state) for state in states]
        count = restore(
            project=project, formers=formers, field=done, changed_to=changed_to, actor=request.user
        )
    if not count:
        messages.info(request, _("There is nothing left to undo: it was changed again since."))
        return
    words = ngettext("%(n)d term is as it was.", "%(n)d terms are as they were.", count)
    messages.success(request, words % {"n": count})


def _said(status: TermStatus, n: int, term: str) -> str:
    """Of one by its name. In Japanese there is no form for one: it has words of its own."""
    if n == 1:
        one = {
            TermStatus.EXCLUDED: _("“%(term)s” is excluded."),
            TermStatus.REQUIRED: _("“%(term)s” is required."),
        }
        return one.get(status, _("“%(term)s” is a candidate again.")) % {"term": term}
    many = {
        TermStatus.EXCLUDED: _("%(n)d terms are excluded."),
        TermStatus.REQUIRED: _("%(n)d terms are required."),
    }
    return many.get(status, _("%(n)d terms are candidates again.")) % {"n": n}


def _said_of_category(n: int, name: str) -> str:
    if not name:
        words = ngettext("%(n)d term has no category.", "%(n)d terms have no category.", n)
        return words % {"n": n}
    words = ngettext(
        "%(n)d term has the category “%(name)s”.",
        "%(n)d terms have the category “%(name)s”.",
        n,
    )
    return words % {"n": n, "name": name}


def _label(project: Project, key: str) -> str:
    return next(str(each.label) for each in categories_of(project) if each.key == key)
