"""Weeks and months of the site's time zone: in Python, and in the database."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from django.db import connection
from django.db.models import Case, DateField, F, Func, TextField, Value, When
from django.db.models.expressions import Combinable
from django.db.models.functions import TruncMonth, TruncWeek
from django.utils import timezone

from collection.statistics.asking import Per

# Clocks are not changed twice within it.
STEP = timedelta(days=7)


def start_of(per: Per, day: date) -> date:
    """Weeks begin on Monday."""
    return day - timedelta(days=day.weekday()) if per == Per.WEEK else day.replace(day=1)


def next_after(per: Per, start: date) -> date:
    if per == Per.WEEK:
        return start + timedelta(days=7)
    return start.replace(year=start.year + start.month // 12, month=start.month % 12 + 1)


def periods_between(per: Per, first: date, last: date) -> Iterator[date]:
    period, end = start_of(per, first), start_of(per, last)
    while period <= end:
        yield period
        period = next_after(per, period)


def count_between(per: Per, first: date, last: date) -> int:
    start, end = start_of(per, first), start_of(per, last)
    if per == Per.WEEK:
        return (end - start).days // 7 + 1
    return (end.year - start.year) * 12 + end.month - start.month + 1


def midnight(day: date) -> datetime:
    return datetime.combine(day, time(), timezone.get_default_timezone())


def period_in_database(per: Per, field: str, first: datetime, last: datetime) -> Combinable:
    """The period that a moment between `first` and `last` falls into, reckoned by the database."""
    zone = timezone.get_default_timezone()
    if connection.vendor == "sqlite":
        return _in_sqlite(per, field, zone, first, last)
    trunc = TruncWeek if per == Per.WEEK else TruncMonth
    return trunc(field, output_field=DateField(), tzinfo=zone)


def _in_sqlite(per: Per, field: str, zone: tzinfo, first: datetime, last: datetime) -> Combinable:
    """Django's own truncation calls Python for every row there, which takes three times as long.
    SQLite's functions know no time zones, so they are told what to add, and from when on."""
    steps = ("weekday 0", "-6 days") if per == Per.WEEK else ("start of month",)
    shift: Combinable = Value(_seconds(zone, last))
    changes = [
        When(**{f"{field}__lt": moment}, then=Value(_seconds(zone, before)))
        for before, moment in _changes(zone, first, last)
    ]
    if changes:
        shift = Case(*changes, default=shift, output_field=TextField())
    return Func(F(field), shift, *map(Value, steps), function="DATE", output_field=DateField())


def _offset(zone: tzinfo, moment: datetime) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def _seconds(zone: tzinfo, moment: datetime) -> str:
    return f"{int(_offset(zone, moment).total_seconds()):+d} seconds"


def _changes(zone: tzinfo, first: datetime, last: datetime) -> Iterator[tuple[datetime, datetime]]:
    """When clocks were changed in that time: a moment before each change, and the change."""
    before = first.astimezone(UTC).replace(microsecond=0)
    old = _offset(zone, before)
    while before < last:
        after = before + STEP
        new = _offset(zone, after)
        if new != old:
            yield before, _moment_of_change(zone, before, after)
        before, old = after, new


def _moment_of_change(zone: tzinfo, before: datetime, after: datetime) -> datetime:
    old = _offset(zone, before)
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        before, after = (middle, after) if _offset(zone, middle) == old else (before, middle)
    return after
