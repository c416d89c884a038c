from glossary_site.llm.speech import Way
from glossary_site.llm.strategies.wire import Line, Outcome
from glossary_site.llm.vectors import Batch, Embedded, read_vectors

Heard = Outcome[Batch, Embedded]


class VectorWire(Line[Batch, Embedded]):
    """Vectors of texts. There is one way to ask for them."""

    async def _ask_once(self, ask: Batch, way: Way) -> Embedded:
        body = {"model": self.config.model, "input": list(ask.texts)}
        return read_vectors(await self._post("/embeddings", body), ask)
