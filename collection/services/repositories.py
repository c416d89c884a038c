"""Every wish about repositories: added, changed, paused, removed. Whether somebody may is the
caller's question (projects.access). Testing one is in `checking`, its branches in `branches`.

Rows are locked in one order: project, repository, collection, results, feed, job.
"""

from collections.abc import Sequence
from copy import copy
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from collection import repository_news as news
from collection.choices import Kind, State
from collection.models import Repository, RepositoryFile
from collection.origins.git.mirror import remove_mirror
from collection.services import fields
from collection.services.branches import (
    lock_repository,
    mark_branches,
    matching_branches,
    note_heads,
    note_problem,
)
from collection.services.checking import Checked, check_repository, try_connection
from collection.services.documents import DocumentsWouldGo, Loss, loss_between, ours_among
from collection.services.ending import drop_targets
from collection.services.fields import BadField
from glossary_site.errors import Refusal
from glossary_site.jobs.services import audit
from glossary_site.secrets import encrypt
from projects.access import Actor, author_of, name_of
from projects.models import Project
from projects.services import documents
from projects.services.locking import lock_project

__all__ = [
    "BadField",
    "Checked",
    "DocumentsWouldGo",
    "add_repository",
    "change_repository",
    "check_repository",
    "loss_by",
    "matching_branches",
    "note_heads",
    "note_problem",
    "remove_repository",
    "set_enabled",
    "try_connection",
]

# What people say of a repository; the secret is apart: it is written and never read.
FACTS = (
    "name",
    "kind",
    "address",
    "username",
    "branch_patterns",
    "since",
    "document_patterns",
    "document_folder",
    "document_branch",
    "enabled",
)
CHANGEABLE = frozenset([*FACTS, "secret"]) - {"enabled"}
# Found out by asking: of another address, nothing is known.
UNKNOWN = {"state": State.NEW, "state_message": "", "default_branch": "", "host_keys": ""}


def add_repository(
    *,
    project: Project | None,
    address: str,
    actor: Actor,
    kind: str | None = None,
    name: str = "",
    username: str = "",
    secret: str = "",
    branch_patterns: Sequence[str] = (),
    since: datetime | None = None,
    document_patterns: Sequence[str] = (),
    document_folder: str = "",
    document_branch: str = "",
) -> Repository:
    """Let a project have the commits of a repository, and those of its files that are documents.
    Without a project it is for all of them, and has commits only."""
    repository = Repository(project=project, added_by=author_of(actor))
    wishes = cleaned_wishes(
        repository,
        address=address,
        kind=kind,
        name=name,
        username=username,
        secret=secret,
        branch_patterns=branch_patterns,
        since=since,
        document_patterns=document_patterns,
        document_folder=document_folder,
        document_branch=document_branch,
    )
    _apply(repository, wishes)
    try:
        with transaction.atomic():
            if project is not None:
                lock_project(project)
            repository.save()
            _record(actor, "add", repository, after=_facts(repository))
            news.happened(repository, news.ADDED, by=name_of(actor))
    except IntegrityError as error:
        raise _exists(repository) from error
    return repository


def change_repository(
    *,
    repository: Repository,
    actor: Actor,
    clear_secret: bool = False,
    forget_host_keys: bool = False,
    confirm: str = "",
    **changes: Any,
) -> Repository:
    """Change what is named and leave the rest; nothing happens where nothing differs. Where
    documents would go by it, it is refused until `confirm` says which (`Loss.token`).

    An empty secret keeps the stored one. Another address or kind drops it, unless a new one comes
    along: a secret never goes to a place it was not given for. An earlier `since` has the history
    read anew, without what is there already.
    """
    if unknown := changes.keys() - CHANGEABLE:
        raise TypeError(f"not a setting of a repository: {', '.join(sorted(unknown))}")
    # Outside of the transaction: a name server may be asked.
    wishes = cleaned_wishes(repository, **changes)
    try:
        with transaction.atomic():
            if repository.project is not None:
                lock_project(repository.project)
            row = lock_repository(repository)
            if _place(row) != _place(repository) and {"secret", "kind", "address"} & wishes.keys():
                raise _changed_meanwhile()
            before, seen = _facts(row), copy(row)
            moved = _apply(row, wishes, clear_secret=clear_secret)
            loss = loss_between(seen, row)
            if loss and loss.token != confirm:
                raise DocumentsWouldGo(loss)
            if moved or forget_host_keys:
                row.host_keys = ""
            after = _facts(row, new_secret=bool(wishes.get("secret")))
            changed = sorted(key for key in after if after[key] != before[key])
            if changed or forget_host_keys:
                _save_changed(row, actor, changed, before, after)
    except IntegrityError as error:
        raise _exists(row) from error
    for field in row._meta.concrete_fields:
        setattr(repository, field.attname, getattr(row, field.attname))
    return repository


def loss_by(repository: Repository, wishes: dict[str, Any]) -> Loss:
    """The documents that a change would cost; nothing is written."""
    changed = copy(repository)
    _apply(changed, wishes)
    return loss_between(repository, changed)


def set_enabled(*, repository: Repository, enabled: bool, actor: Actor) -> Repository:
    """Collect it with the others, or leave it out until somebody lets it go on."""
    with transaction.atomic():
        row = lock_repository(repository)
        if row.enabled != enabled:
            row.enabled = enabled
            row.save(update_fields=["enabled", "updated_at"])
            _record(
                actor,
                "resume" if enabled else "pause",
                row,
                before={"enabled": not enabled},
                after={"enabled": enabled},
            )
            news.happened(
                row, news.CHANGED, by=name_of(actor), changed=["enabled"], enabled=enabled
            )
    repository.enabled = enabled
    return repository


@transaction.atomic
def remove_repository(
    *, repository: Repository, actor: Actor, delete_documents: bool = False
) -> int:
    """Forget a repository with its branches, its commits and its part in collections; returns how
    many documents went with it, which is none unless it is asked for. A collection that is just
    writing comes to the end of what it writes, and then finds it gone."""
    if repository.project is not None:
        lock_project(repository.project)
    row = lock_repository(repository, to_delete=True)
    before = _facts(row)
    deleted = _delete_documents(row, actor) if delete_documents else 0
    drop_targets(Q(repository=row))
    _record(actor, "remove", row, before=before, after={"deleted_documents": deleted})
    pk = row.pk
    row.delete()
    row.pk = pk
    transaction.on_commit(lambda: remove_mirror(pk), robust=True)
    news.happened(row, news.REMOVED, by=name_of(actor), deleted=deleted)
    return deleted


def cleaned_wishes(repository: Repository, **wishes: Any) -> dict[str, Any]:
    """Each in its one spelling, for a repository that is there or is to be; a `BadField` says what
    cannot be. Nothing is written."""
    kind, address = repository.kind, repository.address
    if {"address", "kind"} & wishes.keys():
        address = wishes.get("address") or address
        # The API of a host stays that. Else a new address says by its looks what it is.
        kept = kind if kind in (Kind.GITLAB, Kind.GITHUB) else None
        kind = fields.clean_kind(wishes.get("kind") or kept, address)
        address = fields.clean_address(kind, address)
        wishes |= {"kind": kind, "address": address}
    if "secret" in wishes:
        wishes["secret"] = fields.clean_secret(wishes["secret"], address=address, kind=kind)
    if "name" in wishes:
        name = fields.clean_name(wishes["name"])
        wishes["name"] = name or _free_name(repository, address)
    for key, clean in CLEANERS.items():
        if key in wishes:
            wishes[key] = clean(wishes[key])
    if repository.project is None and wishes.get("document_patterns"):
        raise BadField(
            "document_patterns",
            "bad_document_pattern",
            _("A repository for all projects has commits only: documents need one project."),
        )
    return wishes


CLEANERS: dict[str, Any] = {
    "username": fields.clean_username,
    "branch_patterns": fields.clean_branch_patterns,
    "since": fields.clean_since,
    "document_patterns": fields.clean_document_patterns,
    "document_folder": fields.clean_folder,
    "document_branch": fields.clean_document_branch,
}


def _free_name(repository: Repository, address: str) -> str:
    """From the address; with the owner before it where two would be called the same."""
    name = fields.name_from(address)
    others = Repository.objects.filter(project=repository.project).exclude(pk=repository.pk or 0)
    return fields.name_from(address, parts=2) if others.filter(name=name).exists() else name


def _apply(row: Repository, wishes: dict[str, Any], *, clear_secret: bool = False) -> bool:
    """Put the wishes into the row; True if it is somewhere else from now on."""
    place = _place(row)
    for key, value in wishes.items():
        if key != "secret":
            setattr(row, key, value)
    moved = _place(row) != place
    if secret := wishes.get("secret"):
        row.secret = encrypt(secret)
    elif moved or clear_secret:
        row.secret = ""
    return moved


def _save_changed(
    row: Repository,
    actor: Actor,
    changed: list[str],
    before: dict[str, Any],
    after: dict[str, Any],
) -> None:
    if {"kind", "address"} & set(changed):
        for key, value in UNKNOWN.items():
            setattr(row, key, value)
    row.save()
    if {"branch_patterns", "document_patterns", "document_branch"} & set(changed):
        mark_branches(row)
    if "since" in changed and _is_earlier(row.since, before["since"]):
        # Behind the checkpoint nothing would be looked for.
        row.branches.update(head="", complete=False)
    _record(
        actor,
        "change",
        row,
        before={key: before[key] for key in changed},
        after={key: after[key] for key in changed},
    )
    news.happened(row, news.CHANGED, by=name_of(actor), changed=changed)


def _is_earlier(now: datetime | None, before: datetime | None) -> bool:
    return before is not None and (now is None or now < before)


def _delete_documents(row: Repository, actor: Actor) -> int:
    """Those that are files of another repository, too, stay, and so do those that people brought
    in before they were files of this one."""
    if row.project is None:
        return 0
    files = RepositoryFile.objects.filter(document__isnull=False)
    elsewhere = files.exclude(repository=row).values("document")
    ids = files.filter(repository=row).exclude(document__in=elsewhere)
    found = [pk for pk in ids.values_list("document_id", flat=True) if pk is not None]
    return documents.delete_documents(project=row.project, ids=ours_among(found), actor=actor)


def _facts(row: Repository, *, new_secret: bool = False) -> dict[str, Any]:
    """What may be told of a repository: everything but its secret."""
    secret = "new" if new_secret else "stored" if row.secret else "none"
    return {name: getattr(row, name) for name in FACTS} | {"secret": secret}


def _place(row: Repository) -> tuple[str, str]:
    return (row.kind, row.address)


def _record(actor: Actor, action: str, row: Repository, **values: dict[str, Any]) -> None:
    audit.record(name_of(actor) or "operator", action, row, **values)


def _changed_meanwhile() -> Refusal:
    """A secret was given for the address that was seen, and for no other."""
    return Refusal(
        "repository_changed",
        _("Somebody else changed the address meanwhile. Look at it before you save yours."),
    )


def _exists(repository: Repository) -> Refusal:
    other = Repository.objects.filter(project=repository.project, address=repository.address)
    present = other.exclude(pk=repository.pk).first()
    return Refusal(
        "repository_exists",
        _("%(address)s is here already, as “%(name)s”.")
        % {
            "address": repository.address,
            "name": present.name if present else fields.name_from(repository.address),
        },
        **({"repository_id": present.pk} if present else {}),
    )
