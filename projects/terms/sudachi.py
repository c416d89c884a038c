"""Sudachi's dictionary, loaded once for the whole process."""

import threading

from sudachipy import Dictionary

_lock = threading.Lock()
_dictionary: Dictionary | None = None


def dictionary() -> Dictionary:
    """Shared by all threads. A tokenizer made from it must not be: one for each."""
    global _dictionary
    with _lock:
        if _dictionary is None:
            _dictionary = Dictionary()
        return _dictionary
