"""Writing the feed: publish inside the transaction that makes the news true, and prune by age."""

from collections.abc import Callable, Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone

from glossary_site.inserting import insert
from glossary_site.live.models import Event, Stream
from glossary_site.live.wake import wake

PRUNE_BATCH = 5000

# One statement on both databases. The row stays locked until the caller's transaction ends, so the
# numbers of a stream become visible in order: a reader at number 8 can never be shown 7 later.
TAKE_NUMBERS = """
    INSERT INTO live_stream (name, last_number, pruned_number) VALUES (%s, %s, 0)
    ON CONFLICT (name) DO UPDATE SET last_number = live_stream.last_number + excluded.last_number
    RETURNING id, last_number
"""


def publish(stream: str, type: str, payload: dict[str, Any]) -> int:
    """Append one event and return its number. Call it last in a transaction: it locks the feed."""
    return publish_all(stream, [(type, payload)])


def publish_all(stream: str, news: Iterable[tuple[str, dict[str, Any]]]) -> int:
    """Append several events in order and return the number of the last."""
    events = [Event(type=type, payload=payload) for type, payload in news]
    # No savepoint: nobody goes on without their news.
    with transaction.atomic(savepoint=False):
        with connection.cursor() as cursor:
            cursor.execute(TAKE_NUMBERS, [stream, len(events)])
            stream_id, last = cursor.fetchone()
        for number, event in enumerate(events, start=last - len(events) + 1):
            event.stream_id = stream_id
            event.number = number
        insert(events)
        transaction.on_commit(wake)
    return last


def prune_events(*, days: int | None = None, check: Callable[[], object] = bool) -> int:
    """Remove events older than the retention, in short transactions; returns how many. `check` is
    called before each and may raise, to stop."""
    horizon = timezone.now() - timedelta(days=days or settings.EVENT_RETENTION_DAYS)
    removed = 0
    while True:
        check()
        with transaction.atomic():
            old = Event.objects.filter(created_at__lt=horizon).order_by("pk")[:PRUNE_BATCH]
            ids = list(old.values_list("pk", flat=True))
            batch = Event.objects.filter(pk__in=ids)
            # Order matters: a reader must learn that events are gone before they are.
            for row in batch.order_by().values("stream").annotate(last=Max("number")):
                Stream.objects.filter(pk=row["stream"], pruned_number__lt=row["last"]).update(
                    pruned_number=row["last"]
                )
            count, _ = batch.delete()
        removed += count
        if count < PRUNE_BATCH:
            return removed
