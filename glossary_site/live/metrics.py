"""The live feed in numbers, read from its rows when `/metrics` is asked."""

from collections.abc import Iterator

from django.db.models import Sum
from prometheus_client import Metric

from glossary_site.live.models import Stream
from glossary_site.observe.metrics import gauge, register


@register
def collect() -> Iterator[Metric]:
    # No counter: it falls when a project goes, and its feed with it.
    last = Stream.objects.aggregate(last=Sum("last_number"))["last"] or 0
    yield gauge("glossary_live_events_last_number", "Last numbers of all feeds together.", last)
