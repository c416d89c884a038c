"""Taking back a change of status: every term as it was before, also what nobody may say by hand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from projects.access import Actor
from projects.choices import TermStatus
from projects.models import Project, Term
from projects.services.locking import lock_project
from projects.services.terms.changes import tell


@dataclass(frozen=True)
class Former:
    """What some terms had in common before they were changed together."""

    status: str
    reason: str
    # Whether a person had said so.
    was_chosen: bool
    ids: tuple[int, ...]


def former_states(*, project: Project, ids: Iterable[int], status: str) -> list[Former]:
    """What `restore_status` needs to take back a change to this status; taken before it."""
    alike: dict[tuple[str, str, bool], list[int]] = {}
    rows = Term.objects.filter(project=project, pk__in=list(ids)).exclude(status=status)
    for term in rows.order_by("pk").only("status", "reason", "chosen"):
        state = (term.status, term.reason, "status" in term.chosen)
        alike.setdefault(state, []).append(term.pk)
    return [Former(*state, ids=tuple(keys)) for state, keys in alike.items()]


@transaction.atomic
def restore_status(
    *, project: Project, formers: Sequence[Former], changed_to: str, actor: Actor
) -> int:
    """Only terms that are still what the change made them: a later choice stays."""
    lock_project(project)
    before = {pk: former for former in formers for pk in former.ids}
    rows = list(
        Term.objects.filter(project=project, pk__in=before, status=changed_to).only(
            "text", "status", "reason", "chosen"
        )
    )
    now = timezone.now()
    for row in rows:
        former = before[row.pk]
        row.status, row.reason = TermStatus(former.status), former.reason
        rest = {*row.chosen} - {"status"}
        row.chosen = sorted(rest | {"status"} if former.was_chosen else rest)
        row.updated_at = now
    Term.objects.bulk_update(rows, ["status", "reason", "chosen", "updated_at"], batch_size=500)
    if rows:
        tell(project, actor, "restored", [row.text for row in rows])
    return len(rows)
