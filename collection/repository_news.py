"""What the live feed of a project is told about its repositories. Those for all projects have no
feed: they are the operators' business, and their commits come with a collection."""

from typing import Any

from django.db import transaction

from collection.models import Repository
from glossary_site.live.services import publish, publish_all

ADDED = "repository.added"
CHANGED = "repository.changed"
REMOVED = "repository.removed"
# No news for the activity: a hint to look at the repositories again.
HINT = "repositories.changed"


def happened(repository: Repository, type: str, **payload: Any) -> None:
    """In the transaction that makes it true. Call it last: the feed is locked by it."""
    if repository.project is None:
        return
    about = {"repository_id": repository.pk}
    told = {**about, "name": repository.name, **payload}
    publish_all(repository.project.stream, [(type, told), (HINT, about)])


def hint(repository: Repository) -> None:
    """Told when it is committed: one that got lost in a crash costs nothing."""
    if repository.project is None:
        return
    stream, about = repository.project.stream, {"repository_id": repository.pk}
    transaction.on_commit(lambda: publish(stream, HINT, about), robust=True)
