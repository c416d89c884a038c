"""Which names in commits are one person: as a repository's mail map says, and as people say, who
win over it.

The lock that comes first is the project's row, for people and for collections. A collection only
ever adds, takes back what it added, and gives way to what people have written.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from collection.identities import Identity
from collection.models import Author, AuthorAlias, Commit, Repository
from collection.models.commit import PERSON_LENGTH
from collection.services.mailmap import MailMap
from glossary_site.errors import Refusal
from glossary_site.jobs.models import AuditEntry
from glossary_site.jobs.services import audit
from glossary_site.live.services import publish
from projects.access import Actor, name_of
from projects.models import Project
from projects.services.locking import lock_project

# No news for the activity: a hint to look at the statistics again.
CHANGED = "authors.changed"
MERGE, SPLIT, UNDO = "merge authors", "split author", "undo merge of authors"


@dataclass(frozen=True)
class Merged:
    author: Author
    # What now stands for the author and did not before; what takes it back.
    identities: list[Identity]
    entry_id: int


# ---- Mail maps ----------------------------------------------------------------------------------


@transaction.atomic
def take_mailmap(*, repository: Repository, text: str) -> int:
    """What the mail map of a repository says about the people in its commits, in the place of what
    it said before; returns how many of their names stand for another. One that people have written
    about, or an earlier repository, stays with what they said."""
    project = repository.project
    if project is None:
        return 0
    ours = AuthorAlias.objects.filter(project=project, repository=repository)
    if not text.strip() and not ours.exists():
        return 0
    wanted = _proper_names(repository, text)
    before = {Identity(row.name, row.email): row for row in ours.select_related("author")}
    gone = [
        row.pk
        for identity, row in before.items()
        if wanted.get(identity) != Identity(row.author.name, row.author.email)
    ]
    AuthorAlias.objects.filter(pk__in=gone, repository=repository).delete()
    kept = {identity for identity, row in before.items() if row.pk not in gone}
    new = {identity: proper for identity, proper in wanted.items() if identity not in kept}
    authors = _authors(project, new.values())
    AuthorAlias.objects.bulk_create(
        (
            AuthorAlias(
                project=project,
                author=authors[proper],
                name=identity.name,
                email=identity.email,
                repository=repository,
            )
            for identity, proper in new.items()
            if proper in authors
        ),
        ignore_conflicts=True,
        batch_size=500,
    )
    after = ours.count()
    if gone or after != len(kept):
        stream = project.stream
        transaction.on_commit(lambda: publish(stream, CHANGED, {"by": ""}), robust=True)
    return after


def _proper_names(repository: Repository, text: str) -> dict[Identity, Identity]:
    """The identities in its commits that the map gives another name or address."""
    mailmap = MailMap(text)
    by_hand = AuthorAlias.objects.filter(project=repository.project_id, repository=None)
    said = {
        Identity(*row[:2]): Identity(*row[2:])
        for row in by_hand.values_list("name", "email", "author__name", "author__email")
    }
    found: dict[Identity, Identity] = {}
    for row in _identities(Commit.objects.filter(repository=repository)):
        proper = mailmap.proper(row)
        if proper != row and row not in said and _fits(proper):
            # The person it names may have been merged into another by hand.
            found[row] = said.get(proper, proper)
    return found


def _fits(identity: Identity) -> bool:
    return all(len(part) <= PERSON_LENGTH and "\0" not in part for part in identity)


# ---- By hand ------------------------------------------------------------------------------------


@transaction.atomic
def merge_authors(
    *, project: Project, into: Identity, identities: Iterable[Identity], actor: Actor
) -> Merged:
    """All of these are one person, who is called `into`. One that has other names itself brings
    them along."""
    lock_project(project)
    asked = list(dict.fromkeys(identities))
    _are_known(project, {into, *asked})
    present = _aliases(project)
    moving = [identity for identity in _with_others(present, asked) if identity != into]
    # Whoever is chosen stands for nobody else any more.
    if _stands_for(present, into) != into:
        moving.append(into)
    moved = [identity for identity in moving if _stands_for(present, identity) != into]
    if not set(moved) - {into}:
        raise Refusal("nothing_to_merge", _("Choose two or more names of one person."), status=400)
    author = _authors(project, [into])[into]
    before = [_facts(identity, present.get(identity)) for identity in moved]
    for identity in moved:
        _say(project, identity, author)
    _forget_the_nameless(project)
    entry = audit.record(
        _who(actor),
        MERGE,
        author,
        before={"identities": before},
        after={"author": list(into), "identities": [list(identity) for identity in moved]},
    )
    _tell(project, actor)
    return Merged(author, [identity for identity in moved if identity != into], entry.pk)


@transaction.atomic
def undo_merge(*, project: Project, entry_id: int, actor: Actor) -> int:
    """Each identity of a merge is what it was before; those that somebody has moved on since stay.
    Returns how many went back."""
    lock_project(project)
    entry = AuditEntry.objects.filter(
        pk=entry_id, action=MERGE, target_type=Author._meta.label_lower
    ).first()
    author = Author.objects.filter(project=project, pk=entry.target_id).first() if entry else None
    present = _aliases(project)
    back = [
        fact
        for fact in (entry.before["identities"] if entry else [])
        if author is not None and _is_at(present, Identity(*fact["identity"]), author)
    ]
    if entry is None or author is None or not back:
        raise Refusal("nothing_to_undo", _("There is nothing left to undo."), status=409)
    for fact in back:
        _restore(project, Identity(*fact["identity"]), fact)
    _forget_the_nameless(project)
    audit.record(_who(actor), UNDO, author, before={"entry": entry.pk}, after={"identities": back})
    _tell(project, actor)
    return len(back)


@transaction.atomic
def split_identity(*, project: Project, identity: Identity, actor: Actor) -> None:
    """A name is a person of its own again. What people said is taken back; what a mail map says is
    contradicted, so that the next collection does not bring it back."""
    lock_project(project)
    row = _aliases(project).get(identity)
    if row is None or _person(row) == identity:
        raise Refusal("not_merged", _("This name is a person of its own already."), status=404)
    author = row.author
    audit.record(_who(actor), SPLIT, author, before={"identities": [_facts(identity, row)]})
    if row.repository_id is None:
        row.delete()
    else:
        _say(project, identity, _authors(project, [identity])[identity])
    _forget_the_nameless(project)
    _tell(project, actor)


# ---- Rows ---------------------------------------------------------------------------------------


def _aliases(project: Project) -> dict[Identity, AuthorAlias]:
    rows = AuthorAlias.objects.select_related("author").filter(project=project)
    return {Identity(row.name, row.email): row for row in rows}


def _person(row: AuthorAlias) -> Identity:
    return Identity(row.author.name, row.author.email)


def _stands_for(present: dict[Identity, AuthorAlias], identity: Identity) -> Identity:
    row = present.get(identity)
    return _person(row) if row else identity


def _is_at(present: dict[Identity, AuthorAlias], identity: Identity, author: Author) -> bool:
    row = present.get(identity)
    # Who gave the author the name may have no row: they stood for themselves before, too.
    return row.author_id == author.pk if row else False


def _with_others(present: dict[Identity, AuthorAlias], asked: Iterable[Identity]) -> list[Identity]:
    others: dict[Identity, list[Identity]] = {}
    for identity, row in present.items():
        others.setdefault(_person(row), []).append(identity)
    every = (each for identity in asked for each in (identity, *others.get(identity, ())))
    return list(dict.fromkeys(every))


def _are_known(project: Project, identities: Collection[Identity]) -> None:
    commits = Commit.objects.seen_by(project).filter(
        author_name__in={each.name for each in identities},
        author_email__in={each.email for each in identities},
    )
    authors = Author.objects.filter(project=project).values_list("name", "email")
    known = set(_identities(commits)) | {Identity(*row) for row in authors}
    missing = [str(identity) for identity in identities if identity not in known]
    if missing:
        raise Refusal(
            "unknown_author",
            _("No commit is by %(name)s.") % {"name": ", ".join(sorted(missing))},
            status=404,
        )


def _identities(commits: Any) -> list[Identity]:
    rows = commits.order_by().values_list("author_name", "author_email").distinct()
    return [Identity(*row) for row in rows]


def _authors(project: Project, identities: Iterable[Identity]) -> dict[Identity, Author]:
    """Their rows, made where they are missing, and kept from being forgotten meanwhile."""
    wanted = set(identities)
    if not wanted:
        return {}
    Author.objects.bulk_create(
        (Author(project=project, name=each.name, email=each.email) for each in sorted(wanted)),
        ignore_conflicts=True,
        batch_size=500,
    )
    rows = Author.objects.select_for_update(no_key=True).filter(
        project=project, name__in={each.name for each in wanted}
    )
    found = {Identity(row.name, row.email): row for row in rows.order_by("pk")}
    return {identity: found[identity] for identity in wanted if identity in found}


def _say(project: Project, identity: Identity, author: Author) -> None:
    AuthorAlias.objects.update_or_create(
        project=project,
        name=identity.name,
        email=identity.email,
        defaults={"author": author, "repository": None},
    )


def _restore(project: Project, identity: Identity, fact: dict[str, Any]) -> None:
    rows = AuthorAlias.objects.filter(project=project, name=identity.name, email=identity.email)
    if fact["author"] is None:
        rows.delete()
        return
    person = Identity(*fact["author"])
    # A repository may have gone meanwhile, and its mail map with it.
    repository = Repository.objects.filter(project=project, pk=fact["repository"] or 0).first()
    if fact["repository"] and repository is None:
        rows.delete()
        return
    rows.update(author=_authors(project, [person])[person], repository=repository)


def _forget_the_nameless(project: Project) -> None:
    """Authors whom no name stands for any more. Locked first, and asked again: a collection may
    just be giving one of them a name."""
    nameless = Author.objects.filter(project=project, aliases=None).values_list("pk", flat=True)
    pks = sorted(nameless)
    locked = Author.objects.select_for_update().filter(pk__in=pks).order_by("pk")
    if [row.pk for row in locked]:
        Author.objects.filter(pk__in=pks, aliases=None).delete()


def _facts(identity: Identity, row: AuthorAlias | None) -> dict[str, Any]:
    return {
        "identity": list(identity),
        "author": list(_person(row)) if row else None,
        "repository": row.repository_id if row else None,
    }


def _who(actor: Actor) -> str:
    return name_of(actor) or audit.SITE


def _tell(project: Project, actor: Actor) -> None:
    publish(project.stream, CHANGED, {"by": name_of(actor)})
