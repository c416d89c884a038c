"""From a request to its end: what is asked first, what an answer is worth, what is asked then.

Plain functions over plain data. The ledger keeps raw answers, so whoever walks the same way again
after a crash meets the same answers, and sends only what was not answered yet.
"""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from glossary_site.jobs.payloads import storable
from glossary_site.llm.models import LLMJob
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.requests import Message, Request, decode, fingerprint, written
from glossary_site.llm.structured import Unfit, limit_of, read, repair_messages
from glossary_site.llm.tokens import counted, estimate_text

LENGTH = "length"


class Malformed(Exception):
    """What came back is no answer at all."""


@dataclass(frozen=True)
class Answer:
    """What a provider said, and how much it counted."""

    content: str
    finish_reason: str = ""
    refusal: str = ""
    input_tokens: int = 0
    output_tokens: int = 0

    def encoded(self) -> str:
        return written(
            {"content": self.content, "finish_reason": self.finish_reason, "refusal": self.refusal}
        )


@dataclass(frozen=True)
class Ask:
    """One call to the provider: a request, or the follow-up that repairs its answer."""

    job_id: UUID
    request: Request
    messages: list[Message]
    fingerprint: str
    # Not empty: the answer is for this request alone.
    apart: str = ""
    # The answer that was not good enough, the call it came from, and whether that one was paid now.
    repairs: Answer | None = None
    repaired: tuple[str, str] | None = None
    paid: bool = False
    # How often it went out, and when the last time.
    sendings: int = 0
    sent_at: datetime | None = None

    @property
    def name(self) -> tuple[str, str]:
        """By which the ledger knows it."""
        return self.fingerprint, self.apart


@dataclass(frozen=True)
class Done:
    """The request is answered; as it is kept in the queue."""

    response: str
    # Without a call: the ledger knew.
    served: bool


@dataclass(frozen=True)
class Failed:
    error: str


def first_ask(job: LLMJob, config: ProviderConfig) -> Ask:
    return ask_for(job.pk, decode(job.request_json), config)


def ask_for(job_id: UUID, request: Request, config: ProviderConfig) -> Ask:
    return Ask(
        job_id=job_id,
        request=request,
        messages=request.messages,
        fingerprint=_fingerprint(request, request.messages, config),
        apart="" if request.reuse else str(job_id),
    )


def follow(
    ask: Ask, answer: Answer, config: ProviderConfig, *, served: bool
) -> Done | Failed | Ask:
    """What an answer leads to."""
    request = ask.request
    if answer.refusal:
        return Failed(_("The model refused: %(why)s") % {"why": answer.refusal})
    if request.schema is None:
        if not answer.content:
            words = _("The answer has no text (it ended with “%(why)s”).")
            return Failed(words % {"why": answer.finish_reason})
        return _done(ask, answer, None, served=served)
    try:
        return _done(ask, answer, read(answer.content, request.schema), served=served)
    except Unfit as error:
        why = str(error)
    cut_off, limit = answer.finish_reason == LENGTH, limit_of(request, config.output_tokens)
    if ask.repairs is not None:
        if cut_off:
            why = _("it was cut off after %(n)s tokens") % {"n": limit}
        words = _("The answer does not fit the schema, also after a repair: %(why)s.")
        return Failed(words % {"why": why})
    if cut_off:
        # For the model, and in one language: the same call has to have the same fingerprint.
        why = f"it was cut off after {limit} tokens"
    messages = repair_messages(request.messages, content=answer.content, error=why)
    return replace(
        ask,
        messages=messages,
        fingerprint=_fingerprint(request, messages, config),
        repairs=answer,
        repaired=ask.name,
        paid=not served,
        sendings=0,
        sent_at=None,
    )


def read_answer(body: Any, ask: Ask) -> Answer:
    """The one choice of a chat completion, from whatever server."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content = message.get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        usage = body.get("usage") or {}
        return Answer(
            content=str(content),
            finish_reason=storable(str(choice.get("finish_reason") or "")),
            refusal=storable(str(message.get("refusal") or "")),
            input_tokens=counted(usage.get("prompt_tokens"), ask.request.input_tokens),
            output_tokens=counted(usage.get("completion_tokens"), estimate_text(str(content))),
        )
    except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
        raise Malformed(_("The server's answer is not a chat completion.")) from error


def answer_from(text: str, *, input_tokens: int, output_tokens: int) -> Answer:
    """As the ledger kept it."""
    return Answer(**json.loads(text), input_tokens=input_tokens, output_tokens=output_tokens)


def _done(ask: Ask, answer: Answer, data: Any, *, served: bool) -> Done:
    before = ask.repairs or Answer("")
    served = served and not ask.paid
    response = {
        "content": answer.content,
        "data": data,
        "finish_reason": answer.finish_reason,
        "input_tokens": answer.input_tokens + before.input_tokens,
        "output_tokens": answer.output_tokens + before.output_tokens,
        "served": served,
    }
    return Done(written(response), served)


def _fingerprint(request: Request, messages: list[Message], config: ProviderConfig) -> str:
    address = f"{config.base_url}?{config.query}" if config.query else config.base_url
    return fingerprint(address=address, model=config.model, messages=messages, request=request)
