"""HTTP/1.1 over asyncio streams: whole requests in, whole answers out."""

import asyncio
import json
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Response:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


def json_response(status: int, content: Any, headers: dict[str, str] | None = None) -> Response:
    body = json.dumps(content, ensure_ascii=False).encode(errors="backslashreplace")
    return Response(status, body, {"Content-Type": "application/json", **(headers or {})})


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """The next request of a connection, or None when the client has closed it."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.split(":", 1) for line in lines if line)
    headers = {name.strip().lower(): value.strip() for name, value in pairs}
    parts = urlsplit(target)
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _read_chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Request(method, unquote(parts.path), dict(parse_qsl(parts.query)), headers, body)


async def _read_chunks(reader: asyncio.StreamReader) -> bytes:
    chunks = []
    while size := int((await reader.readline()).split(b";")[0], 16):
        chunks.append(await reader.readexactly(size))
        await reader.readline()
    while (await reader.readline()).strip():
        pass  # trailers
    return b"".join(chunks)


def encode(response: Response) -> tuple[bytes, bytes]:
    """Head and body apart, so that a fault can cut between or within them."""
    headers = {**response.headers, "Content-Length": str(len(response.body))}
    lines = [f"HTTP/1.1 {response.status} {HTTPStatus(response.status).phrase}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1"), response.body


def page(items: list[dict[str, Any]], query: dict[str, str], *, most: int) -> Response:
    """One page of a list: so many at most, those behind the one that `after` names."""
    ids = [item["id"] for item in items]
    after = query.get("after")
    if after is not None and after not in ids:
        return json_response(400, {"error": {"message": f"Nothing has the id {after}."}})
    start = 0 if after is None else ids.index(after) + 1
    limit = min(int(query.get("limit", 20)), most)
    data = items[start : start + limit]
    return json_response(
        200,
        {
            "object": "list",
            "data": data,
            "first_id": data[0]["id"] if data else None,
            "last_id": data[-1]["id"] if data else None,
            "has_more": start + limit < len(items),
        },
    )
