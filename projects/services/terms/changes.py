"""What people do to the terms of a project. Each is one transaction, told to the feed at its end.

What a person chose (`Term.chosen`) no extraction changes: see `extraction.py`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.live.services import publish
from projects.access import Actor, author_of, name_of
from projects.categories import auto_excluding, check_category
from projects.choices import TermStatus
from projects.models import Project, SynonymGroup, Term
from projects.models.terms import NOTES_LENGTH
from projects.services.locking import lock_project
from projects.services.terms.texts import clean_term, has_controls, language_of
from projects.terms.keys import key_of
from projects.terms.readings import reading_of

REASON_LENGTH = 300
# An event names the first few; pages ask for the rest.
NAMES_IN_EVENT = 10
EDITABLE = frozenset({"text", "category", "notes"})


@transaction.atomic
def add_term(
    *,
    project: Project,
    text: str,
    actor: Actor,
    status: str = TermStatus.CANDIDATE,
    category: str = "",
    notes: str = "",
    reason: str = "",
) -> Term:
    """A term that somebody misses. It stays, whether or not an extraction finds it."""
    _only_people_say(status)
    text, notes = clean_term(text), clean_notes(notes)
    lock_project(project)
    check_category(project, category)
    if other := _with_key(project, key_of(text)):
        raise term_exists(other)
    decided = {
        "text": True,
        "category": bool(category),
        "status": status != TermStatus.CANDIDATE,
    }
    term = Term.objects.create(
        project=project,
        text=text,
        key=key_of(text),
        reading=reading_of(text),
        language=language_of(text),
        status=status,
        reason=clean_reason(reason) if status == TermStatus.EXCLUDED else "",
        category=category,
        notes=notes,
        chosen=sorted(name for name, is_so in decided.items() if is_so),
        added_by=author_of(actor),
        by_hand=True,
    )
    tell(project, actor, "added", [text])
    return term


@transaction.atomic
def list_term(
    *, project: Project, text: str, status: str, actor: Actor, reason: str = ""
) -> tuple[Term, bool]:
    """Put a term on the list of the required or of the excluded ones, whether it is known or not;
    and whether it is new."""
    text = clean_term(text)
    lock_project(project)
    term = _with_key(project, key_of(text))
    if term is None:
        added = add_term(project=project, text=text, status=status, actor=actor, reason=reason)
        return added, True
    set_status(project=project, ids=[term.pk], status=status, actor=actor, reason=reason)
    return Term.objects.get(pk=term.pk), False


@transaction.atomic
def update_term(
    *, term: Term, actor: Actor, seen: Mapping[str, str] | None = None, **changes: str
) -> Term:
    """Change the spelling, the category or the notes; what is not named stays as it is now. What
    the person was shown of them is `seen`: refused when somebody has changed the same since."""
    if unknown := changes.keys() - EDITABLE:
        raise TypeError(f"not to be changed in a term: {', '.join(sorted(unknown))}")
    if "text" in changes:
        changes["text"] = clean_term(changes["text"])
    if "notes" in changes:
        changes["notes"] = clean_notes(changes["notes"])
    lock_project(term.project)
    row = Term.objects.select_related("project").filter(pk=term.pk).first()
    if row is None:
        raise term_gone()
    changed = {name for name, value in changes.items() if getattr(row, name) != value}
    if not changed:
        return row
    if any(getattr(row, name) != (seen or {}).get(name, getattr(row, name)) for name in changed):
        raise term_changed(row)
    if "text" in changed:
        _respell(row, changes["text"])
    if "category" in changed:
        check_category(row.project, changes["category"])
        row.category = changes["category"]
        _judge_by_category(row, auto_excluding(row.project))
    if "notes" in changed:
        row.notes = changes["notes"]
    row.chosen = sorted({*row.chosen, *(changed - {"notes"})})
    row.save()
    tell(row.project, actor, "changed", [row.text])
    return row


def _respell(term: Term, text: str) -> None:
    key = key_of(text)
    if key != term.key:
        if other := _with_key(term.project, key):
            raise term_exists(other)
        # It is another term now: what was counted was the old one. Somebody wants it, so it stays.
        term.key = key
        term.score, term.frequency, term.document_count = 0.0, 0, 0
        term.variants, term.occurrences = [], []
        term.by_hand = True
    term.text = text
    term.reading = reading_of(text)
    term.language = language_of(text)


def _judge_by_category(term: Term, leaving_out: frozenset[str]) -> None:
    """What left it out by itself may no longer hold, or may now; people's own word stays."""
    if term.is_decided:
        return
    if term.category in leaving_out:
        term.status, term.reason = TermStatus.AUTO_EXCLUDED, term.category
    elif term.status == TermStatus.AUTO_EXCLUDED:
        term.status, term.reason = TermStatus.CANDIDATE, ""


@transaction.atomic
def set_status(
    *, project: Project, ids: Iterable[int], status: str, actor: Actor, reason: str = ""
) -> int:
    """Exclude or require terms, or make them candidates again; returns how many changed.

    Back among the candidates, an excluded or required term is for the next extraction to judge;
    one that the extraction itself had left out is not: somebody has said that it belongs in.
    """
    _only_people_say(status)
    reason = clean_reason(reason)
    lock_project(project)
    rows = list(
        Term.objects.filter(project=project, pk__in=list(ids))
        .exclude(status=status)
        .only("text", "status", "chosen", "project")
    )
    if not rows:
        return 0
    # They differ in few ways, and each is one statement.
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for row in rows:
        undecided = status == TermStatus.CANDIDATE and row.status != TermStatus.AUTO_EXCLUDED
        chosen = {*row.chosen} - {"status"} if undecided else {*row.chosen, "status"}
        alike[tuple(sorted(chosen))].append(row.pk)
    now = timezone.now()
    for chosen_now, keys in alike.items():
        Term.objects.filter(pk__in=keys).update(
            status=status,
            reason=reason if status == TermStatus.EXCLUDED else "",
            chosen=list(chosen_now),
            updated_at=now,
        )
    done = "reset" if status == TermStatus.CANDIDATE else status
    tell(project, actor, done, [row.text for row in rows])
    return len(rows)


@transaction.atomic
def set_category(*, project: Project, ids: Iterable[int], category: str, actor: Actor) -> int:
    """Give several terms a category; returns how many changed."""
    lock_project(project)
    check_category(project, category)
    rows = list(
        Term.objects.filter(project=project, pk__in=list(ids)).exclude(category=category).listed()
    )
    if not rows:
        return 0
    leaving_out = auto_excluding(project)
    # As in `set_status`: few ways to differ, each one statement.
    alike: dict[tuple[str, str, tuple[str, ...]], list[int]] = defaultdict(list)
    for row in rows:
        row.category = category
        _judge_by_category(row, leaving_out)
        chosen = tuple(sorted({*row.chosen, "category"}))
        alike[row.status, row.reason, chosen].append(row.pk)
    now = timezone.now()
    for (status, reason, chosen), keys in alike.items():
        Term.objects.filter(pk__in=keys).update(
            category=category,
            status=status,
            reason=reason,
            chosen=list(chosen),
            updated_at=now,
        )
    tell(project, actor, "changed", [row.text for row in rows])
    return len(rows)


@transaction.atomic
def delete_terms(*, project: Project, ids: Iterable[int], actor: Actor) -> int:
    """Remove terms; one that stands in the documents is found again, unless it is excluded. A
    synonym group that loses its primary, or all but one, is dissolved."""
    lock_project(project)
    terms = Term.objects.filter(project=project, pk__in=list(ids))
    rows = list(terms.values_list("pk", "text", "group"))
    if not rows:
        return 0
    terms.filter(pk__in=[pk for pk, _text, _group in rows]).listed().delete()
    dissolve_the_lonely({group for _pk, _text, group in rows if group})
    tell(project, actor, "deleted", [text for _pk, text, _group in rows])
    return len(rows)


def dissolve_the_lonely(groups: Iterable[int]) -> None:
    """A group of one says nothing."""
    rows = SynonymGroup.objects.filter(pk__in=groups).annotate(members=Count("terms"))
    rows.filter(members__lt=2).delete()


def tell(project: Project, actor: Actor | None, action: str, names: Sequence[str]) -> None:
    """Last in a transaction: it locks the feed."""
    publish(
        project.stream,
        "terms.changed",
        {
            "action": str(action),
            "count": len(names),
            "terms": list(names[:NAMES_IN_EVENT]),
            "by": name_of(actor) if actor else "",
        },
    )


def clean_notes(text: str) -> str:
    text = text.replace("\r\n", "\n").strip()
    if has_controls(text, but="\n\t"):
        raise Refusal("notes_invalid", _("The notes have signs that are no text."), status=400)
    if len(text) > NOTES_LENGTH:
        raise Refusal(
            "notes_too_long",
            _("Notes have at most %(most)s characters.") % {"most": NOTES_LENGTH},
            status=400,
        )
    return text


def clean_reason(text: str) -> str:
    return " ".join(text.split())[:REASON_LENGTH]


def _only_people_say(status: str) -> None:
    if status == TermStatus.AUTO_EXCLUDED or status not in TermStatus.values:
        raise ValueError(f"not for people to say: {status}")


def _with_key(project: Project, key: str) -> Term | None:
    return Term.objects.filter(project=project, key=key).first()


def term_exists(term: Term) -> Refusal:
    return Refusal(
        "term_exists",
        _("There is already a term “%(text)s”.") % {"text": term.text},
        term_id=term.pk,
    )


def term_changed(term: Term) -> Refusal:
    return Refusal(
        "term_changed",
        _("Somebody has changed “%(term)s” since you opened it. Look at it again.")
        % {"term": term.text},
        term_id=term.pk,
    )


def term_gone() -> Refusal:
    return Refusal("term_gone", _("This term was deleted meanwhile."), status=404)
