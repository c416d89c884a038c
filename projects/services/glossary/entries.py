"""What people do to single entries. A field that somebody wrote is locked: no run replaces it."""

from collections.abc import Iterable, Sequence
from typing import Any
from unicodedata import normalize

from django.db import transaction
from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from projects.access import Actor, author_of
from projects.categories import check_category
from projects.choices import Change
from projects.models import GlossaryEntry, Project
from projects.services.glossary.rows import (
    Writer,
    Written,
    check_version,
    differs,
    drop_category,
    entry_exists,
    name_entry,
    present,
    snapshot,
    tell,
)
from projects.services.locking import lock_project
from projects.services.terms.texts import clean_term, has_controls

DEFINITION_LENGTH = 10_000
MOST_NAMES = 50
EDITABLE = frozenset({*GlossaryEntry.FIELDS, "needs_review"})


@transaction.atomic
def add_entry(
    *,
    project: Project,
    actor: Actor,
    term: str,
    definition: str,
    category: str = "",
    aliases: Sequence[str] = (),
    related: Sequence[str] = (),
) -> GlossaryEntry:
    """An entry written by hand."""
    fields = _cleaned(
        {
            "term": term,
            "definition": definition,
            "category": category,
            "aliases": aliases,
            "related": related,
        }
    )
    _check_number(fields)
    lock_project(project)
    check_category(project, category)
    entry = GlossaryEntry(project=project)
    name_entry(entry, fields["term"])
    _key_is_free(entry)
    _apply(entry, fields)
    entry.locked = _in_order(name for name, value in fields.items() if value)
    row = Written(None, entry)
    Writer(project, Change.CREATED, author_of(actor)).write([row])
    tell(project, actor, "glossary.added", [entry.pk], term=entry.term)
    return entry


@transaction.atomic
def edit_entry(*, entry: GlossaryEntry, actor: Actor, version: int, **fields: Any) -> GlossaryEntry:
    """Change fields of an entry that the person saw at this version. Those that differ are locked
    from now on; `needs_review=False` says that somebody has looked at it."""
    if unknown := fields.keys() - EDITABLE:
        raise TypeError(f"not to be edited in an entry: {', '.join(sorted(unknown))}")
    fields = _cleaned(fields)
    lock_project(entry.project)
    row = present(entry)
    check_version(row, version)
    before = snapshot(row)
    changed = {name: value for name, value in fields.items() if getattr(row, name) != value}
    _check_number(changed, there=row)
    if "category" in changed:
        check_category(row.project, changed["category"])
    if "term" in changed:
        _rename(row, changed, aliases_given="aliases" in fields)
    _apply(row, changed)
    # Names that only repeat the term go, however the two came together.
    row.aliases = [name for name in dict.fromkeys(row.aliases) if name != row.term]
    row.locked = _in_order({*row.locked, *(changed.keys() - {"needs_review"})})
    if not differs(before, row):
        return row
    Writer(row.project, Change.EDITED, author_of(actor)).write([Written(before, row)])
    tell(row.project, actor, "glossary.edited", [row.pk], term=row.term, fields=sorted(changed))
    return row


def _rename(entry: GlossaryEntry, changed: dict[str, Any], *, aliases_given: bool) -> None:
    before, key = entry.term, entry.key
    name_entry(entry, changed["term"])
    if entry.key == key:
        return
    _key_is_free(entry)
    # By its old name runs still find it: `publish_entries` looks among the aliases of renamed ones.
    if not aliases_given:
        changed["aliases"] = [before, *entry.aliases]


@transaction.atomic
def unlock(*, entry: GlossaryEntry, field: str, actor: Actor) -> GlossaryEntry:
    """Let runs write this field again."""
    lock_project(entry.project)
    row = present(entry)
    if field not in row.locked:
        return row
    before = snapshot(row)
    row.locked = [name for name in row.locked if name != field]
    Writer(row.project, Change.EDITED, author_of(actor)).write([Written(before, row)])
    tell(row.project, actor, "glossary.unlocked", [row.pk], term=row.term, fields=[field])
    return row


@transaction.atomic
def delete_entry(*, entry: GlossaryEntry, actor: Actor, version: int | None = None) -> None:
    """Take an entry out of the glossary. Its history stays, and brings it back on demand."""
    lock_project(entry.project)
    row = present(entry)
    if version is not None:
        check_version(row, version)
    written = Written(snapshot(row), None)
    Writer(row.project, Change.DELETED, author_of(actor)).write([written])
    tell(row.project, actor, "glossary.deleted", [row.pk], term=row.term)


def clear_category(*, project: Project, category: str, actor: Actor) -> int:
    """For the end of a category, under the project's lock: its entries have none then."""
    rows = []
    for entry in GlossaryEntry.objects.filter(project=project, category=category):
        before = snapshot(entry)
        drop_category(entry)
        rows.append(Written(before, entry))
    if rows:
        Writer(project, Change.EDITED, author_of(actor)).write(rows)
    return len(rows)


def _apply(entry: GlossaryEntry, fields: dict[str, Any]) -> None:
    for name, value in fields.items():
        if name != "term":
            setattr(entry, name, value)
    if "definition" in fields:
        # A person answers for it.
        entry.confidence, entry.supported = 1.0, True
        entry.needs_review = fields.get("needs_review", False)


def _key_is_free(entry: GlossaryEntry) -> None:
    others = GlossaryEntry.objects.filter(project=entry.project, key=entry.key)
    if other := others.exclude(pk=entry.pk).first():
        raise entry_exists(other)


def _cleaned(fields: dict[str, Any]) -> dict[str, Any]:
    clean = dict(fields)
    if "term" in clean:
        clean["term"] = clean_term(clean["term"])
    if "definition" in clean:
        clean["definition"] = _clean_definition(clean["definition"])
    if "aliases" in clean:
        clean["aliases"] = _names_but(clean.get("term", ""), clean["aliases"])
    if "related" in clean:
        clean["related"] = _names_but(clean.get("term", ""), clean["related"])
    return clean


def _clean_definition(text: str) -> str:
    text = normalize("NFC", text).replace("\r\n", "\n").strip()
    if not text or has_controls(text, but="\n\t"):
        raise Refusal("definition_invalid", _("An entry needs a definition."), status=400)
    if len(text) > DEFINITION_LENGTH:
        raise Refusal(
            "definition_too_long",
            _("A definition has at most %(most)s characters.") % {"most": DEFINITION_LENGTH},
            status=400,
        )
    return text


def _names_but(term: str, names: Iterable[str]) -> list[str]:
    """Each once, in their order, without the term itself. Spellings that only differ in form are
    names of their own: people look for both."""
    kept = dict.fromkeys(clean_term(name) for name in names)
    kept.pop(term, None)
    return list(kept)


def _check_number(fields: dict[str, Any], *, there: GlossaryEntry | None = None) -> None:
    """Of the names that a person gives. A run may have found more: those can be kept."""
    for field in ("aliases", "related"):
        found = len(getattr(there, field)) if there is not None else 0
        if len(fields.get(field, ())) > max(MOST_NAMES, found):
            raise Refusal(
                "too_many_names",
                _("At most %(most)s names are possible here.") % {"most": MOST_NAMES},
                status=400,
            )


def _in_order(names: Iterable[str]) -> list[str]:
    names = set(names)
    return [name for name in GlossaryEntry.FIELDS if name in names]
