"""A project's own kinds of terms: added, changed, deleted. `projects/categories.py` reads them."""

from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.live.services import publish
from projects.access import Actor, name_of
from projects.categories import category_keys
from projects.choices import TermStatus
from projects.models import Project, Term, TermCategory
from projects.services.glossary import clear_category
from projects.services.locking import lock_project

KEY_LENGTH = 40
NAME_LENGTH = 60
MOST_CATEGORIES = 100


@transaction.atomic
def add_category(
    *, project: Project, name: str, actor: Actor, key: str = "", auto_exclude: bool = False
) -> TermCategory:
    """A kind of terms that this project alone has. Its key never changes, its name may."""
    name = _clean_name(name)
    lock_project(project)
    taken = category_keys(project)
    if len(taken) >= MOST_CATEGORIES:
        raise Refusal("too_many_categories", _("The project has too many categories already."))
    key = key or _key_for(name, taken)
    if key in taken:
        raise _exists(key)
    _name_is_free(project, name)
    category = TermCategory.objects.create(
        project=project, key=key, name=name, auto_exclude=auto_exclude
    )
    _tell(project, actor)
    return category


@transaction.atomic
def update_category(
    *,
    category: TermCategory,
    actor: Actor,
    name: str | None = None,
    auto_exclude: bool | None = None,
) -> TermCategory:
    """Give it another name, or say whether its terms are left out. Terms that the extraction
    judged follow at once."""
    clean = category.name if name is None else _clean_name(name)
    lock_project(category.project)
    row = _present(category)
    leave_out = row.auto_exclude if auto_exclude is None else auto_exclude
    if name is None:
        clean = row.name
    if (row.name, row.auto_exclude) == (clean, leave_out):
        return row
    if row.name != clean:
        _name_is_free(row.project, clean, but=row)
    if row.auto_exclude != leave_out:
        _judge_terms(row, leave_out)
    row.name, row.auto_exclude = clean, leave_out
    row.save(update_fields=["name", "auto_exclude"])
    _tell(row.project, actor)
    return row


@transaction.atomic
def delete_category(*, category: TermCategory, actor: Actor) -> None:
    """Its terms and entries have no category then; the entries' history says so."""
    project = category.project
    lock_project(project)
    row = _present(category)
    _judge_terms(row, False)
    terms = list(Term.objects.filter(project=project, category=row.key).only("chosen"))
    for term in terms:
        term.category = ""
        term.chosen = [name for name in term.chosen if name != "category"]
    Term.objects.bulk_update(terms, ["category", "chosen"], batch_size=500)
    key = row.key
    row.delete()
    clear_category(project=project, category=key, actor=actor)
    _tell(project, actor)


def _judge_terms(category: TermCategory, leave_out: bool) -> None:
    """Only those about which nobody has said anything: a person's choice of status stays. Back come
    those that are left out for being of this kind, not those with a reason of their own."""
    before = TermStatus.CANDIDATE if leave_out else TermStatus.AUTO_EXCLUDED
    after = TermStatus.AUTO_EXCLUDED if leave_out else TermStatus.CANDIDATE
    rows = Term.objects.filter(project=category.project, category=category.key, status=before)
    if not leave_out:
        rows = rows.filter(reason=category.key)
    judged = [row.pk for row in rows.only("chosen", "status", "by_hand") if not row.is_decided]
    Term.objects.filter(pk__in=judged).update(
        status=after, reason=category.key if leave_out else "", updated_at=timezone.now()
    )


def _present(category: TermCategory) -> TermCategory:
    row = TermCategory.objects.select_related("project").filter(pk=category.pk).first()
    if row is None:
        raise Refusal("category_gone", _("This category was deleted meanwhile."), status=404)
    return row


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable() or len(name) > NAME_LENGTH:
        raise Refusal(
            "category_invalid",
            _("A category needs a name of at most %(most)s characters.") % {"most": NAME_LENGTH},
            status=400,
        )
    return name


def _name_is_free(project: Project, name: str, but: TermCategory | None = None) -> None:
    """Two of one name could not be told apart in a list."""
    for row in TermCategory.objects.filter(project=project):
        if row != but and row.name.casefold() == name.casefold():
            raise _exists(row.key)


def _key_for(name: str, taken: frozenset[str]) -> str:
    """Letters that an address can have; a name without any gets a number."""
    key = slugify(name).replace("-", "_")[:KEY_LENGTH]
    if key:
        return key
    number = 1
    while f"category_{number}" in taken:
        number += 1
    return f"category_{number}"


def _exists(key: str) -> Refusal:
    return Refusal("category_exists", _("There is already such a category."), key=key)


def _tell(project: Project, actor: Actor) -> None:
    publish(
        project.stream,
        "terms.changed",
        {"action": "categories", "count": 0, "terms": [], "by": name_of(actor)},
    )
