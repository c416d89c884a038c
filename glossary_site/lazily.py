"""Packages that take long to load and that most processes never use.

    if TYPE_CHECKING:
        import redis
    else:
        redis = Lazily("redis")

The import is put off until something of the package is first asked for.
"""

from importlib import import_module
from typing import Any


class Lazily:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
