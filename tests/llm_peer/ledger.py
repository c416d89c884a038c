"""A row for each request the peer saw, in a SQLite file that other processes can read.

The row is there before anything is answered, so whoever is killed while waiting for an answer has
left a trace. What was done is written before the answer leaves.
"""

import hashlib
import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHAT = "/v1/chat/completions"
EMBEDDINGS = "/v1/embeddings"
MODEL_PATHS = (CHAT, EMBEDDINGS)

# A row whose outcome is still WAITING was on the wire when somebody looked.
WAITING = "waiting"
# The answer was ready, and the client had gone by then.
ABANDONED = "abandoned"

COLUMNS = "id, at, method, path, fingerprint, body, batch_id, custom_id, outcome, charged, ended_at"
SCHEMA = """
CREATE TABLE IF NOT EXISTS requests (
    id INTEGER PRIMARY KEY,
    at REAL NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    body TEXT NOT NULL,
    batch_id TEXT NOT NULL,
    custom_id TEXT NOT NULL,
    outcome TEXT NOT NULL,
    charged INTEGER NOT NULL,
    ended_at REAL
)
"""


@dataclass(frozen=True)
class Entry:
    """One request. `charged` is 1 where a provider would want money, even if nobody got the answer.

    `batch_id` is empty for a request of its own.
    """

    id: int
    at: float
    method: str
    path: str
    fingerprint: str
    body: str
    batch_id: str
    custom_id: str
    outcome: str
    charged: int
    ended_at: float | None

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def plain(body: bytes | str) -> str:
    """The body as text in which words can be looked for, whatever its JSON escapes."""
    text = body if isinstance(body, str) else body.decode(errors="replace")
    if "\\u" not in text:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def fingerprint(body: bytes | str) -> str:
    """The same for the same request, however its JSON was written down."""
    try:
        canonical = json.dumps(json.loads(body), sort_keys=True, ensure_ascii=False)
    except ValueError:
        canonical = body if isinstance(body, str) else body.decode(errors="replace")
    return hashlib.sha256(canonical.encode()).hexdigest()


class Ledger:
    """The writing end; there is one, in the server."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode=WAL")
        # The machine is not going to lose its power; a process may die, which costs nothing.
        self._connection.execute("PRAGMA synchronous=OFF")
        self._connection.execute(SCHEMA)

    def open_entry(
        self, method: str, path: str, body: str, *, batch_id: str = "", custom_id: str = ""
    ) -> int:
        row = (time.time(), method, path, fingerprint(body), body, batch_id, custom_id, WAITING, 0)
        with self._lock:
            cursor = self._connection.execute(
                "INSERT INTO requests (at, method, path, fingerprint, body, batch_id, custom_id,"
                " outcome, charged) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                row,
            )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def close_entry(self, entry: int, outcome: str, *, charged: bool) -> None:
        with self._lock:
            self._connection.execute(
                "UPDATE requests SET outcome = ?, charged = ?, ended_at = ? WHERE id = ?",
                (outcome, int(charged), time.time(), entry),
            )

    def add_answered(self, rows: Iterable[tuple[str, str, str, str, str, bool]]) -> None:
        """Lines of a batch: path, body, batch id, custom id, outcome, charged. One transaction."""
        now = time.time()
        with self._lock, self._connection:
            self._connection.execute("BEGIN")
            self._connection.executemany(
                "INSERT INTO requests (at, method, path, fingerprint, body, batch_id, custom_id,"
                " outcome, charged, ended_at) VALUES (?, 'POST', ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (now, path, fingerprint(body), body, batch, custom, outcome, int(charged), now)
                    for path, body, batch, custom, outcome, charged in rows
                ),
            )

    def close(self) -> None:
        self._connection.close()


class LedgerReader:
    """The reading end, for any process, also after the server has gone."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    def entries(self, *, path: str = "", match: str = "") -> list[Entry]:
        """In order of arrival; `match` is a substring of the body."""
        rows = self._query(
            f"SELECT {COLUMNS} FROM requests"
            " WHERE (? = '' OR path = ?) AND (? = '' OR instr(body, ?) > 0) ORDER BY id",
            (path, path, match, match),
        )
        return [Entry(*row) for row in rows]

    def wait_for(self, count: int, *, path: str = CHAT, timeout: float = 10) -> list[Entry]:
        """The first so many requests, as soon as they have arrived."""
        deadline = time.monotonic() + timeout
        while len(entries := self.entries(path=path)) < count:
            assert time.monotonic() < deadline, f"Only {len(entries)} requests of {count} came."
            time.sleep(0.01)
        return entries[:count]

    def seen(self, *, path: str = CHAT) -> Counter[str]:
        """How often each distinct request arrived, alone or within a batch that executed it."""
        return Counter(dict(self._query(_PER_FINGERPRINT, (path, 0))))

    def charged(self, *, path: str = CHAT) -> Counter[str]:
        """How often each distinct request was worked on: what a provider would bill."""
        return Counter(dict(self._query(_PER_FINGERPRINT, (path, 1))))

    def outcomes(self) -> Counter[str]:
        return Counter(dict(self._query("SELECT outcome, count(*) FROM requests GROUP BY 1", ())))

    def _query(self, sql: str, parameters: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.path, timeout=10)) as connection:
            return connection.execute(sql, parameters).fetchall()


_PER_FINGERPRINT = (
    "SELECT fingerprint, count(*) FROM requests WHERE path = ? AND charged >= ? GROUP BY 1"
)
