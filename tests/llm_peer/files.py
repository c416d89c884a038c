"""The Files API: what a client uploads, and what a batch leaves behind."""

import re
import threading
import time
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from tests.llm_peer.faults import error
from tests.llm_peer.wire import Request, Response, json_response, page


@dataclass(frozen=True)
class StoredFile:
    filename: str
    purpose: str
    content: bytes
    id: str = field(default_factory=lambda: f"file-{uuid4().hex}")
    created_at: int = field(default_factory=lambda: int(time.time()))

    def described(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "file",
            "bytes": len(self.content),
            "created_at": self.created_at,
            "filename": self.filename,
            "purpose": self.purpose,
            "status": "processed",
        }


class Files:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._files: dict[str, StoredFile] = {}
        self.most_bytes = 200 * 1024 * 1024

    def add(self, filename: str, purpose: str, content: bytes) -> StoredFile:
        file = StoredFile(filename, purpose, content)
        with self._lock:
            self._files[file.id] = file
        return file

    def find(self, file_id: str) -> StoredFile | None:
        with self._lock:
            return self._files.get(file_id)

    def all(self) -> list[StoredFile]:
        """The newest first, as they are listed."""
        with self._lock:
            return list(reversed(self._files.values()))

    def handle(self, request: Request, path: str) -> Response | None:
        if path == "/v1/files":
            if request.method == "POST":
                return self._upload(request)
            if request.method == "GET":
                wanted = request.query.get("purpose")
                files = [f for f in self.all() if wanted in {None, f.purpose}]
                return page([f.described() for f in files], request.query, most=10_000)
        match = re.fullmatch(r"/v1/files/([^/]+)(/content)?", path)
        if not match:
            return None
        file = self.find(match[1])
        if file is None:
            return json_response(404, error("not_found", f"No such File object: {match[1]}"))
        if request.method == "DELETE":
            with self._lock:
                self._files.pop(file.id, None)
            return json_response(200, {"id": file.id, "object": "file", "deleted": True})
        if match[2]:
            return Response(200, file.content, {"Content-Type": "application/octet-stream"})
        return json_response(200, file.described())

    def _upload(self, request: Request) -> Response:
        parts = _form(request)
        _, purpose = parts.get("purpose", ("", b""))
        filename, content = parts.get("file", ("", b""))
        if not filename or not purpose:
            message = "An upload has a purpose and a file."
            return json_response(400, error("missing_required_parameter", message))
        if len(content) > self.most_bytes:
            return json_response(413, error("file_too_large", "The file is too large."))
        return json_response(200, self.add(filename, purpose.decode(), content).described())


def _form(request: Request) -> dict[str, tuple[str, bytes]]:
    """The parts of a multipart body by their names: file name and content."""
    boundary = re.search(r'boundary="?([^";]+)', request.headers.get("content-type", ""))
    parts: dict[str, tuple[str, bytes]] = {}
    if not boundary:
        return parts
    for piece in request.body.split(b"--" + boundary[1].encode())[1:-1]:
        head, _, content = piece.partition(b"\r\n\r\n")
        names = dict(re.findall(r'(name|filename)="([^"]*)"', head.decode()))
        parts[names["name"]] = (names.get("filename", ""), content.removesuffix(b"\r\n"))
    return parts
