from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.strategies.wire import Line, Outcome
from glossary_site.llm.structured import Speech
from glossary_site.llm.vectors import Batch, Embedded, read_vectors

Heard = Outcome[Batch, Embedded]


class VectorWire(Line[Batch, Embedded]):
    """Vectors of texts. There is one way to ask for them."""

    def __init__(self, config: ProviderConfig) -> None:
        super().__init__(config, Speech())

    async def _ask_once(self, ask: Batch, speech: Speech) -> Embedded:
        body = {"model": self.config.model, "input": list(ask.texts)}
        return read_vectors(await self._post("/embeddings", body), ask)
