"""A change of status or category that can be taken back: every term as it was before, also what
nobody may say by hand."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from projects.access import Actor
from projects.categories import category_keys
from projects.choices import TermStatus
from projects.models import Project, Term
from projects.services.locking import lock_project
from projects.services.terms.changes import set_category, set_status, tell

STATUS, CATEGORY = "status", "category"


@dataclass(frozen=True)
class Former:
    """What some terms had in common before they were changed together."""

    status: str
    reason: str
    category: str
    # Whether a person had said so.
    status_was_chosen: bool
    category_was_chosen: bool
    ids: tuple[int, ...]


@transaction.atomic
def change(
    *,
    project: Project,
    ids: Iterable[int],
    field: str,
    to: str,
    actor: Actor,
    reason: str = "",
) -> list[Former]:
    """Set the status or the category; what `restore` needs to take that back."""
    lock_project(project)
    rows = Term.objects.filter(project=project, pk__in=list(ids)).exclude(**{field: to})
    alike: dict[tuple[str, str, str, bool, bool], list[int]] = {}
    for term in rows.order_by("pk").only("status", "reason", "category", "chosen"):
        said = (STATUS in term.chosen, CATEGORY in term.chosen)
        alike.setdefault((term.status, term.reason, term.category, *said), []).append(term.pk)
    changed = [pk for keys in alike.values() for pk in keys]
    if field == STATUS:
        set_status(project=project, ids=changed, status=to, actor=actor, reason=reason)
    else:
        set_category(project=project, ids=changed, category=to, actor=actor)
    return [Former(*state, ids=tuple(keys)) for state, keys in alike.items()]


@transaction.atomic
def restore(
    *, project: Project, formers: Sequence[Former], field: str, changed_to: str, actor: Actor
) -> int:
    """Only terms that are still what the change made them: a later choice stays."""
    lock_project(project)
    before = {pk: former for former in formers for pk in former.ids}
    rows = list(
        Term.objects.filter(project=project, pk__in=before, **{field: changed_to}).only(
            "text", "status", "reason", "category", "chosen"
        )
    )
    categories = category_keys(project)
    # As in `set_status`: few ways to differ, each one statement.
    alike: dict[tuple[str, str, str, tuple[str, ...]], list[int]] = defaultdict(list)
    for row in rows:
        former, chosen = before[row.pk], {*row.chosen}
        if field == CATEGORY:
            # One that was deleted since is none.
            row.category = former.category if former.category in categories else ""
            chosen = _with(chosen, CATEGORY, former.category_was_chosen)
        # A category may have left a term out, or brought it back, where no person had said a word.
        if field == STATUS or STATUS not in chosen:
            row.status, row.reason = TermStatus(former.status), former.reason
            chosen = _with(chosen, STATUS, former.status_was_chosen)
        alike[row.status, row.reason, row.category, tuple(sorted(chosen))].append(row.pk)
    now = timezone.now()
    for (status, reason, category, chosen_now), keys in alike.items():
        Term.objects.filter(pk__in=keys).update(
            status=status,
            reason=reason,
            category=category,
            chosen=list(chosen_now),
            updated_at=now,
        )
    if rows:
        tell(project, actor, "restored", [row.text for row in rows])
    return len(rows)


def _with(chosen: set[str], name: str, is_in: bool) -> set[str]:
    return chosen | {name} if is_in else chosen - {name}
