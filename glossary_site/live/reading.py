"""Reading the feed: plain queries, and the shape in which an event leaves the site."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from glossary_site.live.models import Event, Stream

PAGE = 500


def as_dict(event: Event) -> dict[str, Any]:
    return {
        "number": event.number,
        "type": event.type,
        "payload": event.payload,
        "time": event.created_at.isoformat(),
    }


@dataclass(frozen=True)
class Batch:
    """Events of one stream with consecutive numbers, encoded once for however many readers."""

    events: list[dict[str, Any]]

    @property
    def first(self) -> int:
        return int(self.events[0]["number"])

    @property
    def last(self) -> int:
        return int(self.events[-1]["number"])

    def after(self, number: int) -> "Batch":
        return Batch([event for event in self.events if event["number"] > number])

    @cached_property
    def json(self) -> str:
        return json.dumps({"type": "events", "events": self.events}, ensure_ascii=False)

    @cached_property
    def sse(self) -> str:
        return "".join(
            f"id: {event['number']}\nevent: {event['type']}\n"
            f"data: {json.dumps(event, ensure_ascii=False)}\n\n"
            for event in self.events
        )

    @cached_property
    def types(self) -> frozenset[str]:
        return frozenset(event["type"] for event in self.events)


@dataclass(frozen=True)
class Position:
    last: int = 0
    pruned: int = 0


def positions(names: Iterable[str]) -> dict[str, Position]:
    rows = Stream.objects.filter(name__in=list(names)).values_list(
        "name", "last_number", "pruned_number"
    )
    return {name: Position(last, pruned) for name, last, pruned in rows}


def position(name: str) -> Position:
    return positions([name]).get(name, Position())


def events_after(name: str, number: int, limit: int = PAGE) -> list[dict[str, Any]]:
    rows = Event.objects.filter(stream__name=name, number__gt=number).order_by("number")[:limit]
    return [as_dict(event) for event in rows]
