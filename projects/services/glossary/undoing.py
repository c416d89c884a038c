"""Taking changes of the glossary back. Taking back is a change too, with an author and a revision:
nothing is ever erased, and an undo can be undone."""

from uuid import UUID

from django.db import transaction
from django.db.models import BigIntegerField, F
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.access import Actor, author_of
from projects.categories import category_keys
from projects.choices import Change
from projects.models import EntryRevision, GlossaryEntry, Project
from projects.services.glossary.rows import (
    BATCH,
    SAVED,
    Snapshot,
    Writer,
    Written,
    drop_category,
    entry_exists,
    snapshot,
    tell,
)
from projects.services.locking import lock_project

# What stands against an undo when it was changed again. The rest goes along with these.
OPPOSING = (*GlossaryEntry.FIELDS, "evidence")


@transaction.atomic
def undo(*, revision: EntryRevision, actor: Actor) -> GlossaryEntry | None:
    """Take one revision back, and only what it changed: the entry as it is then, None if there is
    none any more. Refused when the same fields were changed again since."""
    project = revision.project
    lock_project(project)
    row = EntryRevision.objects.select_related("entry").filter(pk=revision.pk).first()
    if row is None:
        raise Refusal("revision_gone", _("This revision is no longer kept."), status=404)
    if row.undone_by_id is not None:
        raise Refusal("already_undone", _("This change was taken back already."))
    taken_back = _without(row, _taken_keys(project))
    if isinstance(taken_back, Refusal):
        raise taken_back
    _write(project, actor, {row: taken_back})
    tell(project, actor, "glossary.undone", [taken_back.number], term=row.term, undone=1)
    return taken_back.entry


def can_undo(revision: EntryRevision) -> bool:
    """Whether to offer it; only trying tells for certain. Reads the revision's entry."""
    if revision.undone_by_id is not None:
        return False
    if revision.after is None:
        return True
    if revision.entry is None:
        return False
    return not _is_overtaken(revision.before, revision.after, snapshot(revision.entry))


@transaction.atomic
def undo_batch(*, project: Project, batch: UUID, actor: Actor) -> int:
    """Take back everything that was published, or undone, in one go; returns how many entries.
    Those that somebody has changed since keep what they have."""
    lock_project(project)
    revisions = EntryRevision.objects.filter(project=project, batch=batch)
    if not revisions.exists():
        raise Refusal("batch_unknown", _("There is no such publication."), status=404)
    keys = _taken_keys(project)
    done: dict[EntryRevision, Written] = {}
    for revision in revisions.filter(undone_by=None).select_related("entry").order_by("pk"):
        taken_back = _without(revision, keys)
        if isinstance(taken_back, Written):
            done[revision] = taken_back
    if not done:
        raise Refusal(
            "nothing_to_undo",
            _("Nothing of it can be taken back: it was already, or was changed again since."),
        )
    _write(project, actor, done)
    numbers = [row.number for row in done.values()]
    tell(project, actor, "glossary.undone", numbers, undone=len(done), batch=str(batch))
    return len(done)


def _taken_keys(project: Project) -> dict[str, GlossaryEntry]:
    """Which keys have an entry: one that comes back, or gets its old name, needs its own free."""
    rows = GlossaryEntry.objects.filter(project=project).only("term", "key")
    return {row.key: row for row in rows}


def _without(revision: EntryRevision, keys: dict[str, GlossaryEntry]) -> Written | Refusal:
    """The entry without what this revision did to it, or why that is not possible."""
    before, after = revision.before, revision.after
    if after is None:
        assert before is not None  # else it changed nothing
        if before["key"] in keys:
            return entry_exists(keys[before["key"]])
        return Written(None, _restored(revision, before))
    entry = revision.entry
    if entry is None:
        return Refusal("entry_gone", _("This entry was deleted meanwhile."))
    now = snapshot(entry)
    if _is_overtaken(before, after, now):
        return _changed_since(entry)
    if before is None:
        return Written(now, None)
    changed = _changed(before, after)
    if before["key"] != now["key"] and before["key"] in keys and "key" in changed:
        return entry_exists(keys[before["key"]])
    for name in changed:
        setattr(entry, name, before[name])
    entry.locked = _locks(before, after, now)
    return Written(now, entry)


def _changed(before: Snapshot, after: Snapshot) -> list[str]:
    return [name for name in SAVED if before[name] != after[name] and name != "locked"]


def _is_overtaken(before: Snapshot | None, after: Snapshot, now: Snapshot) -> bool:
    """Whether what was changed then was changed again since."""
    changed = OPPOSING if before is None else _changed(before, after)
    opposing = [name for name in changed if name in OPPOSING] or changed
    return any(now[name] != after[name] for name in opposing)


def _locks(before: Snapshot, after: Snapshot, now: Snapshot) -> list[str]:
    """Locks of other fields stay, whoever set them when."""
    gained = {*after["locked"]} - {*before["locked"]}
    lost = {*before["locked"]} - {*after["locked"]}
    locked = ({*now["locked"]} - gained) | lost
    return [name for name in GlossaryEntry.FIELDS if name in locked]


def _restored(revision: EntryRevision, before: Snapshot) -> GlossaryEntry:
    """With its number: addresses of it are good again, and its history finds it."""
    values = {name: before[name] for name in SAVED}
    return GlossaryEntry(
        pk=before["id"],
        project_id=revision.project_id,
        # Numbers of revisions go on where they were.
        version=revision.number + 1,
        **values,
    )


def _write(project: Project, actor: Actor, done: dict[EntryRevision, Written]) -> None:
    categories = category_keys(project)
    for row in done.values():
        # One that was deleted since does not come back with its entries.
        if row.entry and row.entry.category and row.entry.category not in categories:
            drop_category(row.entry)
    Writer(project, Change.UNDONE, author_of(actor)).write(list(done.values()))
    _mark_undone(done)
    _find_their_histories(project, {row.number for row in done.values() if row.before is None})


def _mark_undone(done: dict[EntryRevision, Written]) -> None:
    """In a few statements, and without the snapshots: as rows of which the database takes the one
    column, because it has their numbers. No revision goes while the project is locked."""
    marked = [
        EntryRevision(
            pk=revision.pk,
            project_id=revision.project_id,
            number=revision.number,
            batch=revision.batch,
            undone_by=row.revision,
        )
        for revision, row in done.items()
    ]
    EntryRevision.objects.bulk_create(
        marked,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["pk"],
        update_fields=["undone_by"],
    )


def _find_their_histories(project: Project, restored: set[int]) -> None:
    """The revisions of a deleted entry know it by the number in their snapshots only."""
    orphans = EntryRevision.objects.filter(project=project, entry=None)
    of_entry = orphans.annotate(known_as=Coalesce(_number_in("before"), _number_in("after")))
    of_entry.filter(known_as__in=restored).update(entry=F("known_as"))


def _number_in(snapshot: str) -> Cast:
    return Cast(KT(f"{snapshot}__id"), BigIntegerField())


def _changed_since(entry: GlossaryEntry) -> Refusal:
    return Refusal(
        "entry_changed_since",
        _("“%(term)s” was changed again since. Take the later changes back first.")
        % {"term": entry.term},
        version=entry.version,
    )
