"""From waiting requests to a batch at the provider, and what a crash on the way has left.

PREPARING ─ file written ─► upload ─► CREATING ─ create ─► OPEN

A batch that was PREPARING was never created: it is put together anew. One that was CREATING may
exist: the provider is asked, twice, before it is created (again) from the file that is there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import IO, TYPE_CHECKING
from uuid import UUID

from django.conf import settings
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from glossary_site.llm import troubles
from glossary_site.llm.choices import BatchState, LedgerStatus, ProcessStatus
from glossary_site.llm.models import LedgerEntry, ProviderBatch
from glossary_site.llm.services import dialects, ledger, processes
from glossary_site.llm.speech import Speech
from glossary_site.llm.strategies.asks import Ask, Done, Failed, first_ask, follow
from glossary_site.llm.strategies.batch_api import NoBatches, Refused
from glossary_site.llm.strategies.batch_desk import Desk
from glossary_site.llm.strategies.batch_files import line_for
from glossary_site.llm.strategies.books import Page, page_of
from glossary_site.llm.strategies.sync import Pending
from glossary_site.llm.structured import body_of

if TYPE_CHECKING:
    from openai.types import Batch

CHUNK = 200
# A provider may need a moment until a batch that it has made is in its list.
SEARCHES = 2


@dataclass
class Load:
    """What goes into one batch."""

    file: IO[bytes]
    speech: Speech
    lines: int = 0
    size: int = 0
    full: bool = False
    # Follow-ups that are not worth a batch.
    direct: list[Ask] = field(default_factory=list)


def settle_unclear(desk: Desk) -> bool:
    """Find out about a batch that was in the making when somebody died; False: not yet known."""
    for batch in desk.batches(BatchState.PREPARING, BatchState.CREATING):
        if batch.state == BatchState.PREPARING:
            # An upload may have arrived whose answer did not.
            desk.api.remove_file_named(file_name(batch))
            _abandon(desk, batch)
            continue
        found = desk.api.find(partial(_is_ours, batch))
        if found is not None:
            _opened(desk, batch, found)
        elif not _search_is_over(desk, batch):
            return False
    return True


def _search_is_over(desk: Desk, batch: ProviderBatch) -> bool:
    """It is not there: create it, unless it is too early to tell."""
    with desk.session.atomic():
        process = processes.lock_own(desk.process_id, desk.session)
        batch.searches += 1
        batch.save(update_fields=["searches"])
    if batch.searches < SEARCHES:
        return False
    if process.status == ProcessStatus.CANCELLING:
        desk.api.remove_files(batch.file_id)
        _abandon(desk, batch)
        with desk.session.atomic():
            process = processes.lock_own(desk.process_id, desk.session)
            processes.fail_unfinished(process, desk.rows().pending(), process.error)
            process.save()
    else:
        _create(desk, batch)
    return True


def submit_rest(desk: Desk) -> None:
    """Batches for everything that waits. What the ledger knows is answered from it."""
    direct: list[Ask] = []
    while desk.rows().pending().exists():
        with tempfile.TemporaryFile(prefix="glossary-batch-") as file:
            batch = _begin(desk)
            load = Load(file, dialects.speech_for(desk.config))
            _fill(desk, load)
            direct += load.direct
            if not load.lines:
                # Duplicates of what lies in another batch, and what goes out directly.
                with desk.session.atomic():
                    batch.delete()
                break
            try:
                _submit(desk, batch, load)
            except Refused as refused:
                _refused(desk, batch, str(refused))
                break
    if direct:
        desk.send_directly(processes.find(desk.process_id), direct)


def _begin(desk: Desk) -> ProviderBatch:
    with desk.session.atomic():
        process = processes.lock_own(desk.process_id, desk.session)
        last = process.batches.aggregate(last=Max("number"))["last"] or 0
        return ProviderBatch.objects.create(process=process, number=last + 1)


def _fill(desk: Desk, load: Load) -> None:
    source = Pending(desk.process_id)
    while not load.full and (rows := source(CHUNK)):
        with page_of(processes.find(desk.process_id), desk.session) as page:
            asks = [first_ask(row, desk.config) for row in rows]
            known = ledger.look_up(page.process, asks)
            leaders = _under_way(
                desk, [each.custom_id for each in known.values() if each.custom_id]
            )
            for ask in asks:
                _place(desk, load, page, ask, known.get(ask.name, ledger.NOTHING), leaders)
                if load.full:
                    break


def _under_way(desk: Desk, job_ids: Iterable[UUID]) -> set[UUID]:
    """Of these requests, those that are in flight: their duplicates wait for them."""
    return set(desk.rows().in_flight().filter(pk__in=job_ids).values_list("pk", flat=True))


def _place(
    desk: Desk, load: Load, page: Page, ask: Ask, known: ledger.Known, leaders: set[UUID]
) -> None:
    if known.answer is not None:
        step = follow(ask, known.answer, desk.config, served=True)
        if isinstance(step, Done):
            page.completed(ask.job_id, step)
        elif isinstance(step, Failed):
            page.useless(ask, step.error)
            page.failed(ask.job_id, step.error)
        else:
            load.direct.append(step)
    elif known.error:
        page.failed(ask.job_id, known.error)
    elif known.custom_id not in leaders and ask.name not in page.names:
        _write_line(desk, load, page, replace(ask, sendings=known.sendings + 1))


def _write_line(desk: Desk, load: Load, page: Page, ask: Ask) -> None:
    body = body_of(
        ask.request,
        ask.messages,
        model=desk.config.model,
        speech=load.speech,
        most_tokens=desk.config.output_tokens,
    )
    line = line_for(ask.job_id, body)
    if len(line) > settings.LLM_BATCH_BYTES:
        words = _("The request is larger than a batch may be (%(n)s bytes).")
        page.failed(ask.job_id, words % {"n": len(line)})
        return
    if (
        load.lines >= settings.LLM_BATCH_REQUESTS
        or load.size + len(line) > settings.LLM_BATCH_BYTES
    ):
        load.full = True
        return
    load.file.write(line)
    load.lines += 1
    load.size += len(line)
    page.sent(replace(ask, sent_at=timezone.now()))


def _submit(desk: Desk, batch: ProviderBatch, load: Load) -> None:
    load.file.seek(0)
    file_id = desk.api.upload(file_name(batch), load.file)
    with desk.session.atomic():
        processes.lock_own(desk.process_id, desk.session)
        batch.state, batch.file_id, batch.requests = BatchState.CREATING, file_id, load.lines
        batch.save(update_fields=["state", "file_id", "requests"])
    try:
        _create(desk, batch)
    except NoBatches:
        desk.api.remove_files(file_id)
        raise


def _create(desk: Desk, batch: ProviderBatch) -> None:
    # Made sure a moment before: one who slept for long must not create what another one has.
    processes.check_own(desk.process_id, desk.session)
    created = desk.api.create(file_id=batch.file_id, metadata=_metadata(batch))
    _opened(desk, batch, created)


def _opened(desk: Desk, batch: ProviderBatch, there: Batch) -> None:
    """It exists, and its requests carry its name."""
    with desk.session.atomic():
        process = processes.lock_own(desk.process_id, desk.session)
        batch.state, batch.batch_id = BatchState.OPEN, there.id
        batch.note_status(there.status)
        batch.save(update_fields=["state", "batch_id", "provider_status"])
        desk.rows().in_flight().filter(batch_job_id__isnull=True).update(
            batch_job_id=there.id, updated_at=timezone.now()
        )
        LedgerEntry.objects.filter(
            process_id=process.pk, status=LedgerStatus.SENT, batch_job_id=""
        ).update(batch_job_id=there.id)


def _abandon(desk: Desk, batch: ProviderBatch) -> None:
    """It does not exist: its requests wait again."""
    with desk.session.atomic():
        processes.lock_own(desk.process_id, desk.session)
        batch.state = BatchState.ABANDONED
        batch.save(update_fields=["state"])
        processes.unsend(desk.rows().in_flight().filter(batch_job_id__isnull=True))


def _refused(desk: Desk, batch: ProviderBatch, why: str) -> None:
    """The provider takes no batch from us: what is not in one already fails."""
    desk.api.remove_files(batch.file_id)
    _abandon(desk, batch)
    error = troubles.refused_batch(why)
    with desk.session.atomic():
        process = processes.lock_own(desk.process_id, desk.session)
        processes.fail_unfinished(process, desk.rows().pending(), error)
        process.error = error
        process.save()


def file_name(batch: ProviderBatch) -> str:
    return f"glossary-{batch.process_id}-{batch.number}.jsonl"


def _metadata(batch: ProviderBatch) -> dict[str, str]:
    return {"process_id": str(batch.process_id), "number": str(batch.number)}


def _is_ours(ours: ProviderBatch, there: Batch) -> bool:
    """By its metadata; by its file where a server keeps no metadata."""
    metadata = there.metadata or {}
    named = {name: metadata.get(name) for name in ("process_id", "number")} == _metadata(ours)
    return named or there.input_file_id == ours.file_id
