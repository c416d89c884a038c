"""Which strategy a process is worked on with, and what happens when that turns out impossible."""

from collections.abc import Iterable

from django.utils.translation import gettext as _

from glossary_site.llm.choices import BatchState, Notice, ProviderKind, Strategy
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.providers import ProviderConfig, provider_for
from glossary_site.llm.requests import Request
from glossary_site.llm.services import dialects, processes
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies import batch, internal, sync
from glossary_site.llm.strategies.batch_api import NoBatches
from glossary_site.llm.strategies.books import Heard
from glossary_site.llm.strategies.growth import grow_up
from glossary_site.llm.strategies.lines import Lines
from glossary_site.outbound.errors import UrlRefused
from glossary_site.secrets import SecretUnreadable


def work(
    process: LLMProcess,
    session: Session,
    *,
    seconds: float | None,
    heard: Heard | None = None,
    requests: Iterable[Request] = (),
    lines: Lines,
) -> tuple[float, str]:
    """One turn; after how many seconds it wants another, if it has not ended, and why not now."""
    if process.provider_kind == ProviderKind.BUILTIN:
        # What the engine was asked has no prompts: it stays with it, whoever was chosen since.
        if process.strategy == Strategy.BATCH:
            process = _fall_back(process, session)
        internal.run(process, session, seconds=seconds, heard=heard)
        return 0.0, ""
    config = provider_for(process.scope)
    if not _same(process, config):
        process = _change_provider(process, config, session)
    if process.strategy == Strategy.BATCH and (
        config.kind == ProviderKind.BUILTIN or dialects.has_no_batches(config)
    ):
        process = _fall_back(process, session)
    if config.kind == ProviderKind.BUILTIN:
        if process.growing:
            grow_up(process, config, session, requests)
        internal.run(process, session, seconds=seconds, heard=heard)
        return 0.0, ""
    try:
        if process.strategy == Strategy.BATCH:
            try:
                return batch.turn(process, config, session), ""
            except NoBatches:
                dialects.learn(config, no_batches=True)
                process = _fall_back(process, session)
        return sync.turn(
            process,
            config,
            session,
            seconds=seconds,
            heard=heard,
            requests=requests,
            lines=lines,
        )
    except (SecretUnreadable, UrlRefused) as error:
        # Nobody can be asked with this configuration.
        with session.atomic():
            processes.give_up(processes.lock_own(process.pk, session), str(error))
        return 0.0, ""


def _same(process: LLMProcess, config: ProviderConfig) -> bool:
    then = process.provider_kind, process.base_url, process.model
    return then == (config.kind, config.base_url, config.model)


def _change_provider(process: LLMProcess, config: ProviderConfig, session: Session) -> LLMProcess:
    """Somebody chose another provider meanwhile: the rest goes there. The key we have now is not
    shown to the old address, so what lies there in a batch is lost."""
    with session.atomic():
        process = processes.lock_own(process.pk, session)
        if process.base_url != config.base_url:
            there = process.batches.filter(state__in=[BatchState.CREATING, BatchState.OPEN])
            processes.fail_unfinished(
                process,
                LLMJob.objects.of(process.pk).in_flight(),
                _("The provider was changed while the request lay in a batch of the one before."),
            )
            there.filter(state=BatchState.CREATING).update(state=BatchState.ABANDONED)
            there.filter(state=BatchState.OPEN).update(state=BatchState.COLLECTED)
        processes.remember_provider(process, config)
        process.notice = Notice.PROVIDER_CHANGED
        process.save()
    return process


def _fall_back(process: LLMProcess, session: Session) -> LLMProcess:
    """Said openly: it takes longer to pay for, not longer to wait for."""
    with session.atomic():
        process = processes.lock_own(process.pk, session)
        process.batches.exclude(state__in=[BatchState.OPEN, BatchState.COLLECTED]).update(
            state=BatchState.ABANDONED
        )
        processes.take_back(process)
        process.strategy, process.notice = Strategy.SYNC, Notice.NO_BATCHES
        process.save()
    session.log(str(Notice.NO_BATCHES.label), "warning")
    return process
