"""How entries and their revisions are written, one or thousands, always together.

Whoever calls these holds the project's lock.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.live.services import publish_all
from glossary_site.people.models import User
from projects.access import Actor, name_of
from projects.choices import Change
from projects.models import EntryRevision, GlossaryEntry, Project
from projects.services.terms.texts import language_of
from projects.terms.keys import key_of
from projects.terms.readings import index_letter, reading_of

BATCH = 500
# Everything of a row but its numbers and times: what a revision keeps, and what an undo restores.
SAVED = (
    "term",
    "key",
    "reading",
    "letter",
    "language",
    "definition",
    "confidence",
    "category",
    "aliases",
    "related",
    "evidence",
    "supported",
    "needs_review",
    "score",
    "frequency",
    "prompt_version",
    "locked",
    "run_id",
)
# What makes a revision when it differs. The rest follows the documents, and no history needs it.
CONTENT = (*GlossaryEntry.FIELDS, "evidence", "confidence", "supported", "needs_review", "locked")
IDS_IN_EVENT = 50

Snapshot = dict[str, Any]


@dataclass
class Written:
    """An entry as it is to be, and as it was; None where there was, or is to be, none."""

    before: Snapshot | None
    entry: GlossaryEntry | None
    revision: EntryRevision = field(init=False)

    @property
    def number(self) -> int:
        """Of the entry, also when it is gone."""
        return int(self.entry.pk if self.entry else (self.before or {})["id"])


@dataclass(frozen=True)
class Writer:
    """Who writes, and as what: the same for everything that is done in one go."""

    project: Project
    change: Change
    author: User | None
    run_id: int | None = None
    batch: UUID = field(default_factory=uuid4)

    def write(self, rows: Sequence[Written]) -> None:
        """The entries and a revision each."""
        _delete([row.before["id"] for row in rows if row.entry is None and row.before])
        created: list[GlossaryEntry] = []
        changed: list[GlossaryEntry] = []
        alone: list[GlossaryEntry] = []
        for row in rows:
            if row.entry is None:
                continue
            if row.before is None:
                created.append(row.entry)
                continue
            row.entry.version += 1
            is_alone = len(rows) == 1 or row.before["key"] != row.entry.key
            (alone if is_alone else changed).append(row.entry)
        GlossaryEntry.objects.bulk_create(created, batch_size=BATCH)
        save_all(changed)
        for entry in alone:
            _save(entry)
        for row in rows:
            row.revision = self._revision(row)
        EntryRevision.objects.bulk_create([row.revision for row in rows], batch_size=BATCH)

    def _revision(self, row: Written) -> EntryRevision:
        after = snapshot(row.entry) if row.entry else None
        version = row.entry.version if row.entry else (row.before or {})["version"] + 1
        return EntryRevision(
            project=self.project,
            entry=row.entry,
            term=(after or row.before or {})["term"],
            number=version,
            change=self.change,
            author=self.author,
            run_id=self.run_id,
            before=row.before,
            after=after,
            batch=self.batch,
        )


def save_all(entries: Iterable[GlossaryEntry]) -> None:
    """Rows that are there and keep their key, in a few statements. As rows without a number: the
    database finds them by the term's key."""
    now = timezone.now()
    copies = []
    for entry in entries:
        entry.updated_at = now
        values = {name: getattr(entry, name) for name in SAVED}
        copies.append(GlossaryEntry(project_id=entry.project_id, version=entry.version, **values))
    GlossaryEntry.objects.bulk_create(
        copies,
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["project", "key"],
        update_fields=[*SAVED, "version", "updated_at"],
    )


def _save(entry: GlossaryEntry) -> None:
    """One row, if it still is what it was made from."""
    entry.updated_at = timezone.now()
    values = {name: getattr(entry, name) for name in (*SAVED, "version", "updated_at")}
    rows = GlossaryEntry.objects.filter(pk=entry.pk, version=entry.version - 1)
    if rows.update(**values) != 1:
        raise entry_changed(entry)


def _delete(ids: list[int]) -> None:
    # Their revisions stay, and know the entry by the number in the snapshots.
    EntryRevision.objects.filter(entry__in=ids).update(entry=None)
    GlossaryEntry.objects.filter(pk__in=ids).only("pk").delete()


def snapshot(entry: GlossaryEntry) -> Snapshot:
    values = {name: getattr(entry, name) for name in SAVED}
    return {"id": entry.pk, "version": entry.version, **values}


def differs(before: Snapshot, entry: GlossaryEntry) -> bool:
    return any(before[name] != getattr(entry, name) for name in CONTENT)


def name_entry(entry: GlossaryEntry, term: str) -> None:
    """Give an entry its term, with everything that follows from it."""
    entry.term = term
    entry.key = key_of(term)
    entry.reading = reading_of(term)
    entry.letter = index_letter(entry.reading)
    entry.language = language_of(term)


def drop_category(entry: GlossaryEntry) -> None:
    """There is no such category any more: a run may give it another one."""
    entry.category = ""
    entry.locked = [name for name in entry.locked if name != "category"]


def present(entry: GlossaryEntry) -> GlossaryEntry:
    """The row as it is now."""
    row = GlossaryEntry.objects.select_related("project").filter(pk=entry.pk).first()
    if row is None:
        raise Refusal("entry_gone", _("This entry was deleted meanwhile."), status=404)
    return row


def check_version(entry: GlossaryEntry, version: int) -> None:
    if entry.version != version:
        raise entry_changed(entry)


def entry_changed(entry: GlossaryEntry) -> Refusal:
    return Refusal(
        "entry_changed",
        _("Somebody has changed “%(term)s” since you opened it. Look at it again.")
        % {"term": entry.term},
        version=entry.version,
    )


def entry_exists(entry: GlossaryEntry) -> Refusal:
    return Refusal(
        "entry_exists",
        _("The glossary already has an entry “%(term)s”.") % {"term": entry.term},
        entry_id=entry.pk,
    )


def tell(project: Project, actor: Actor, type: str, entries: Sequence[int], **news: Any) -> None:
    """For open pages and for the news. Last in a transaction: it locks the feed."""
    who = {"by": name_of(actor)}
    changed = {"entries": list(entries[:IDS_IN_EVENT]), "count": len(entries), **who}
    publish_all(project.stream, [("glossary.changed", changed), (type, {**news, **who})])
