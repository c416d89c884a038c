"""What every step of the batch strategy works with."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.utils.translation import gettext as _

from glossary_site.llm.choices import BatchState
from glossary_site.llm.models import LLMJob, LLMProcess, ProviderBatch
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.querysets import LLMJobQuerySet
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies.asks import Ask
from glossary_site.llm.strategies.batch_api import BatchApi, Later
from glossary_site.llm.strategies.lines import Lines
from glossary_site.llm.strategies.sync import Sending, nothing


@dataclass(frozen=True)
class Desk:
    process_id: UUID
    config: ProviderConfig
    session: Session
    api: BatchApi

    def batches(self, *states: BatchState) -> list[ProviderBatch]:
        found = ProviderBatch.objects.filter(process=self.process_id, state__in=states)
        return list(found.order_by("number"))

    def rows(self) -> LLMJobQuerySet:
        return LLMJob.objects.of(self.process_id)

    def send_directly(self, process: LLMProcess, asks: Sequence[Ask]) -> None:
        """A few that another day's waiting would not be worth: follow-ups of answers that did not
        fit, and requests that have to be put in other words."""
        if not asks:
            return
        sending = Sending(process, self.config, self.session, source=nothing, asks=asks)
        with Lines() as lines, lines.to(self.config) as wire:
            sending.run(wire)
        if sending.stopped_early:
            raise Later(_("it does not take single requests now"))
