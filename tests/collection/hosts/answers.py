"""What both servers are asked, and how they answer."""

import json
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlencode

from tests.collection.hosts.git import GitRepository


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: list[tuple[str, str]]
    headers: dict[str, str]
    body: bytes

    def get(self, name: str, default: str = "") -> str:
        return dict(self.query).get(name, default)

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.query if key == name]


@dataclass(frozen=True)
class Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


class Host(Protocol):
    """What an API has to know of the server that it is part of."""

    repository: GitRepository
    project: str
    token: str
    former: tuple[str, ...]
    forgotten: set[str]
    tree_limit: int
    origin: str
    number: int

    def knows(self, *shas: str) -> bool: ...


def as_json(value: Any, status: int = 200, **headers: str) -> Reply:
    told = {name.replace("_", "-"): text for name, text in headers.items()}
    return Reply(status, json.dumps(value).encode(), {"Content-Type": "application/json", **told})


def raw(body: bytes) -> Reply:
    return Reply(200, body, {"Content-Type": "application/octet-stream"})


def page_of(host: Host, asked: Asked, rows: list[Any]) -> tuple[list[Any], int, int]:
    """The rows of the page that was asked for, its number, and that of the last."""
    number = int(asked.get("page", "1"))
    size = min(int(asked.get("per_page", "20")), 100)
    last = max(1, -(-len(rows) // size))
    return rows[(number - 1) * size : number * size], number, last


def link(host: Host, asked: Asked, rel: str, **changes: str) -> str:
    query = urlencode({**dict(asked.query), **changes})
    return f'<{host.origin}{asked.path}?{query}>; rel="{rel}"'
