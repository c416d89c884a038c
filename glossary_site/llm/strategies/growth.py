"""Requests that are still being written while the first are out.

To write one may take as long as to look through many documents: a provider that is asked as soon as
there is something to ask is done sooner.
"""

from collections.abc import Iterable

from glossary_site.llm.ids import growing_ids
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.requests import Request, decode, encode
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies.asks import Ask, ask_for
from glossary_site.llm.strategies.books import page_of


class Growth:
    """What a process does not have yet of all its requests. One that is taken up after a kill has
    some of them: they are known by their keys."""

    def __init__(
        self, process: LLMProcess, config: ProviderConfig, requests: Iterable[Request]
    ) -> None:
        there = {decode(text).key for text in _texts(process)} if process.total else set()
        self._requests = (each for each in requests if each.key not in there)
        self._config = config
        self._ids = growing_ids()
        self._ready: list[tuple[Ask, str]] = []
        self.is_dry = False

    @property
    def ready(self) -> int:
        return len(self._ready)

    @property
    def over(self) -> bool:
        return self.is_dry and not self._ready

    def think(self) -> None:
        """Have one more ready, if there is one. Not within a transaction: nobody knows how long it
        takes."""
        request = next(self._requests, None)
        if request is None:
            self.is_dry = True
            return
        ask = ask_for(next(self._ids), request, self._config)
        self._ready.append((ask, encode(request)))

    def take(self) -> list[tuple[Ask, str]]:
        ready, self._ready = self._ready, []
        return ready


def grow_up(
    process: LLMProcess, config: ProviderConfig, session: Session, requests: Iterable[Request]
) -> None:
    """All that is missing at once, for whoever does not send one by one."""
    growth = Growth(process, config, requests)
    while not growth.is_dry:
        session.check()
        growth.think()
    with page_of(process, session) as page:
        page.grown(growth.take())
        process.growing = False


def _texts(process: LLMProcess) -> Iterable[str]:
    return LLMJob.objects.of(process.pk).values_list("request_json", flat=True).iterator()
