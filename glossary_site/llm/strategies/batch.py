"""Sending many at once, through the provider's Batch API.

A turn asks how the batches are, takes in what is done, sends off what is left, and goes: nobody
waits for a day. Every step is written down before it is made, so that after a crash a batch that
exists is found by its metadata, and never sent a second time.
"""

from django.conf import settings
from django.utils.translation import gettext as _

from glossary_site.llm.choices import UNFINISHED, BatchState, ProcessStatus
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.services import processes
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies.batch_api import BatchApi, Later
from glossary_site.llm.strategies.batch_collect import look_after
from glossary_site.llm.strategies.batch_desk import Desk
from glossary_site.llm.strategies.batch_submit import settle_unclear, submit_rest

# Polls come less and less often, up to this many seconds.
LONGEST_POLL = 600.0
GROWTH = 1.5


def turn(process: LLMProcess, config: ProviderConfig, session: Session) -> float:
    """After how many seconds it is worth looking again."""
    with BatchApi(config, session) as api:
        desk = Desk(process.pk, config, session, api)
        try:
            clear = settle_unclear(desk)
            for batch in desk.batches(BatchState.OPEN):
                look_after(desk, batch)
            if clear and process.status != ProcessStatus.CANCELLING:
                submit_rest(desk)
        except Later as later:
            words = _("The provider is to be asked again later: %(why)s")
            session.log(words % {"why": later}, "warning")
    _end_if_done(process, session)
    return _pause(process)


def _end_if_done(process: LLMProcess, session: Session) -> None:
    with session.atomic():
        process = processes.lock_own(process.pk, session)
        if not LLMJob.objects.of(process.pk).filter(status__in=UNFINISHED).exists():
            processes.complete(process)


def _pause(process: LLMProcess) -> float:
    """As the batch wants that was looked at least often; short, where one is still to be made."""
    polls = process.batches.filter(state=BatchState.OPEN).values_list("polls", flat=True)
    growth = GROWTH ** min(min(polls, default=0), 20)
    return float(min(settings.LLM_BATCH_POLL_SECONDS * growth, LONGEST_POLL))
