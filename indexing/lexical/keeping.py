"""Where frequent words are, as a process keeps it at hand.

Reading that is most of the work of a search in a large index, and the same few hundred words come
again and again. It is good for as long as nothing has changed in the projects that are searched;
what was not used for longest goes when there is no more room (WORD_CACHE_MB).
"""

import threading
from collections import OrderedDict
from typing import NamedTuple

from django.conf import settings

from indexing.lexical.bm25 import Numbers, Postings, Totals, packed, unpacked

# Fewer are read as quickly as they are kept.
FEWEST = 256


class Scope(NamedTuple):
    """What is searched, as it is now: with every change of an index its totals are others."""

    database: str
    projects: tuple[int, ...]
    totals: Totals


class _Kept(NamedTuple):
    totals: Totals
    entries: Numbers


class Keeper:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        # The one that was used last is at the end.
        self._kept: OrderedDict[tuple[str, tuple[int, ...], str], _Kept] = OrderedDict()
        self._bytes = 0

    def count(self, scope: Scope, word: str) -> int:
        """In how many sections it is; 0 if that is not known here."""
        entries = self._entries(scope, word)
        return 0 if entries is None else len(entries)

    def get(self, scope: Scope, word: str) -> Postings | None:
        entries = self._entries(scope, word)
        return None if entries is None else unpacked(entries)

    def put(self, scope: Scope, word: str, postings: Postings) -> None:
        if postings.count < FEWEST:
            return
        entries = packed(postings)
        key = (scope.database, scope.projects, word)
        with self._lock:
            # What was true of an earlier state of the index is of no more use.
            if old := self._kept.pop(key, None):
                self._bytes -= old.entries.nbytes
            self._kept[key] = _Kept(scope.totals, entries)
            self._bytes += entries.nbytes
            while self._bytes > settings.WORD_CACHE_MB * settings.MEGABYTE:
                _key, oldest = self._kept.popitem(last=False)
                self._bytes -= oldest.entries.nbytes

    def bytes(self) -> int:
        return self._bytes

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _entries(self, scope: Scope, word: str) -> Numbers | None:
        key = (scope.database, scope.projects, word)
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept.totals != scope.totals:
                return None
            self._kept.move_to_end(key)
            return kept.entries


keeper = Keeper()
