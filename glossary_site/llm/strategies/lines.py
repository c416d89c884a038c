"""The line to a provider, kept open for who has several processes one after the other.

A new one is a new connection for every call that is made at a time, with all the greetings that go
with it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.services import dialects
from glossary_site.llm.strategies.wire import Wire


class Lines:
    def __init__(self) -> None:
        self._wire: Wire | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    @contextmanager
    def to(self, config: ProviderConfig) -> Iterator[Wire]:
        """One that nobody is speaking on; after trouble it is not used again."""
        if self._wire is None or self._wire.config != config:
            self.close()
            self._wire = Wire(config, dialects.speech_for(config))
        try:
            yield self._wire
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Whatever is still in flight is aborted."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
