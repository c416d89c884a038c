"""The built-in engine: no network, no tokens, no ledger. An answer costs nothing but the time it
takes to work it out, and the engine may have learned since the last one."""

import logging
import time

from django.utils.translation import gettext as _

from glossary_site.llm import builtin
from glossary_site.llm.models import LLMJob, LLMProcess
from glossary_site.llm.requests import Request, decode, written
from glossary_site.llm.sessions import Session
from glossary_site.llm.strategies.asks import Done, Failed
from glossary_site.llm.strategies.books import Heard, page_of
from glossary_site.llm.structured import Unfit, read

logger = logging.getLogger(__name__)

# Answers go into the database together, but none waits for long.
TOGETHER = 100
TOGETHER_SECONDS = 0.5


def run(
    process: LLMProcess, session: Session, *, seconds: float | None, heard: Heard | None = None
) -> None:
    until = None if seconds is None else time.monotonic() + seconds
    while until is None or time.monotonic() < until:
        waiting = LLMJob.objects.of(process.pk).pending().after(None)
        rows = list(waiting.only("pk", "request_json")[:TOGETHER])
        answers: list[tuple[LLMJob, str, Done | Failed]] = []
        write_at = time.monotonic() + TOGETHER_SECONDS
        for row in rows:
            session.check()
            request = decode(row.request_json)
            answers.append((row, request.key, _answer(request)))
            if time.monotonic() > write_at:
                break
        with page_of(process, session, heard=heard) as page:
            for row, key, answer in answers:
                if isinstance(answer, Done):
                    page.completed(row.pk, answer, key=key)
                else:
                    page.failed(row.pk, answer.error, key=key)
            if not rows:
                page.complete()
        if not rows:
            return
        session.progress(process.done, process.total)


def _answer(request: Request) -> Done | Failed:
    try:
        said = builtin.answer(request)
    except builtin.NoSuchTask as error:
        return Failed(str(error))
    except Exception as error:
        # A mistake of the engine about one document leaves the others alone. What it says may name
        # files of the server.
        logger.exception("The built-in engine failed at “%s”", request.task)
        return Failed(_("The built-in engine failed (%(kind)s).") % {"kind": type(error).__name__})
    content = said if isinstance(said, str) else written(said)
    data = None
    if request.schema is not None:
        try:
            data = read(content, request.schema)
        except Unfit as error:
            return Failed(f"The built-in engine's answer does not fit the schema: {error}.")
    response = {"content": content, "data": data, "finish_reason": "stop"}
    return Done(written(response), served=False)
