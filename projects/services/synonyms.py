"""Terms that mean the same. A group has a primary, under whose name the entry stands, and at least
one other; a term is in one group at most."""

from collections.abc import Collection, Iterable

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.access import Actor
from projects.choices import LEFT_OUT, TermStatus
from projects.models import Project, SynonymGroup, Term
from projects.services.locking import lock_project
from projects.services.terms.changes import add_term, dissolve_the_lonely, tell, term_gone
from projects.services.terms.texts import clean_term
from projects.terms.keys import key_of


@transaction.atomic
def make_group(
    *, project: Project, primary: Term, terms: Iterable[Term], actor: Actor
) -> SynonymGroup:
    """`terms` with or without the primary."""
    lock_project(project)
    members = _present(project, [primary, *terms])
    if len(members) < 2:
        raise _too_small()
    for member in members:
        _is_free(member)
    group = SynonymGroup.objects.create(project=project, primary=members[0])
    _put(members, group)
    _wanted(members[0])
    tell(project, actor, "grouped", [member.text for member in members])
    return group


@transaction.atomic
def add_to_group(*, group: SynonymGroup, term: Term, actor: Actor) -> SynonymGroup:
    lock_project(group.project)
    row = _group(group)
    (member,) = _present(row.project, [term])
    if member.group_id != row.pk:
        _is_free(member)
        _put([member], row)
        tell(row.project, actor, "grouped", [member.text])
    return row


@transaction.atomic
def remove_from_group(*, term: Term, actor: Actor) -> SynonymGroup | None:
    """What is left of its group; None where that is only one, which is no group any more."""
    lock_project(term.project)
    (member,) = _present(term.project, [term])
    if member.group_id is None:
        return None
    row = SynonymGroup.objects.get(pk=member.group_id)
    if member.pk == row.primary_id:
        raise Refusal(
            "term_is_primary",
            _("“%(text)s” is the primary of its group. Choose another one first.")
            % {"text": member.text},
        )
    _put([member], None)
    dissolve_the_lonely([row.pk])
    tell(term.project, actor, "ungrouped", [member.text])
    return SynonymGroup.objects.filter(pk=row.pk).first()


@transaction.atomic
def set_primary(*, group: SynonymGroup, term: Term, actor: Actor) -> SynonymGroup:
    """Another member gives the group its name."""
    lock_project(group.project)
    row = _group(group)
    member = _member(row, term)
    if member.pk != row.primary_id:
        row.primary = member
        row.save(update_fields=["primary"])
        _put([member], row)
        _wanted(member)
        tell(row.project, actor, "grouped", [member.text])
    return row


@transaction.atomic
def dissolve(*, group: SynonymGroup, actor: Actor) -> None:
    """Its terms are terms of their own again."""
    lock_project(group.project)
    row = _group(group)
    members = list(row.terms.all())
    _put(members, None)
    row.delete()
    tell(row.project, actor, "ungrouped", [member.text for member in members])


@transaction.atomic
def undo_group(*, project: Project, number: int, ids: Collection[int], actor: Actor) -> int:
    """Dissolve a group that is still of these terms; how many they were. What somebody has made of
    it since stays."""
    lock_project(project)
    row = SynonymGroup.objects.filter(project=project, pk=number).first()
    if row is None or {*row.terms.values_list("pk", flat=True)} != {*ids}:
        return 0
    dissolve(group=row, actor=actor)
    return len(ids)


@transaction.atomic
def terms_named(*, project: Project, texts: Iterable[str], actor: Actor) -> list[Term]:
    """The terms of these names, in their order; those that are not known yet are added."""
    lock_project(project)
    wanted = {key_of(text): text for text in map(clean_term, texts)}
    known = {term.key: term for term in Term.objects.filter(project=project, key__in=wanted)}
    return [
        known.get(key) or add_term(project=project, text=text, actor=actor)
        for key, text in wanted.items()
    ]


def _present(project: Project, terms: Iterable[Term]) -> list[Term]:
    """As they are now, each once, in their order."""
    numbers = list(dict.fromkeys(term.pk for term in terms))
    rows = Term.objects.filter(project=project).in_bulk(numbers)
    if len(rows) < len(numbers):
        raise term_gone()
    return [rows[number] for number in numbers]


def _group(group: SynonymGroup) -> SynonymGroup:
    row = SynonymGroup.objects.select_related("project").filter(pk=group.pk).first()
    if row is None:
        raise Refusal("group_gone", _("This synonym group was dissolved meanwhile."), status=404)
    return row


def _member(group: SynonymGroup, term: Term) -> Term:
    row = Term.objects.filter(pk=term.pk, group=group).first()
    if row is None:
        raise Refusal("not_in_group", _("This term is not in the group."), status=404)
    return row


def _is_free(term: Term) -> None:
    if term.group_id is not None:
        raise Refusal(
            "term_in_group",
            _("“%(text)s” is in a synonym group already.") % {"text": term.text},
            term_id=term.pk,
            group_id=term.group_id,
        )


def _put(terms: Iterable[Term], group: SynonymGroup | None) -> None:
    changed = Term.objects.filter(pk__in=[term.pk for term in terms])
    changed.update(group=group, updated_at=timezone.now())


def _wanted(primary: Term) -> None:
    """Whoever makes a term the name of an entry wants it in, even if it was left out before."""
    if primary.status in LEFT_OUT:
        Term.objects.filter(pk=primary.pk).update(
            status=TermStatus.CANDIDATE,
            reason="",
            chosen=sorted({*primary.chosen, "status"}),
        )


def _too_small() -> Refusal:
    return Refusal("group_too_small", _("A synonym group needs at least two terms."), status=400)
