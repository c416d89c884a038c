"""Does the provider answer? Step by step, in words, with what to do where it does not.

It asks as the queue does, through the same client, and costs two short answers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import httpx2
from django.utils.translation import gettext as _

from glossary_site.llm.choices import ProviderKind, Strategy
from glossary_site.llm.client import openai_sync_client
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.sdk import openai
from glossary_site.llm.troubles import explain, said
from glossary_site.outbound.errors import UrlRefused
from glossary_site.outbound.guard import check_url
from glossary_site.secrets import SecretUnreadable

# A person waits for the report: a model has this long to answer, whatever the settings say.
MOST_SECONDS = 60
# Room for a word and some thinking before it.
ANSWER_TOKENS = 64
SHOWN_MODELS = 12
QUESTION = "Answer with the single word: ready"
SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}


class Outcome(StrEnum):
    OK = "ok"
    # It works, but there is something to know.
    NOTE = "note"
    FAILED = "failed"


@dataclass(frozen=True)
class Step:
    code: str
    title: str
    outcome: Outcome
    detail: str


@dataclass(frozen=True)
class Report:
    steps: tuple[Step, ...]

    @property
    def ok(self) -> bool:
        return all(step.outcome is not Outcome.FAILED for step in self.steps)


class Failed(Exception):
    """The last step: what comes after it cannot be tried."""

    def __init__(self, step: Step) -> None:
        super().__init__(step.code)
        self.step = step


def test_connection(config: ProviderConfig) -> Report:
    steps: list[Step] = []
    try:
        for step in _steps(config):
            steps.append(step)
    except Failed as failed:
        steps.append(failed.step)
    except UrlRefused as refused:
        # The guard asks again before every connection.
        steps.append(Step("reachable", _("Server"), Outcome.FAILED, str(refused)))
    return Report(tuple(steps))


# pytest collects what is called test_…, wherever it is imported.
test_connection.__test__ = False  # type: ignore[attr-defined]


def _steps(config: ProviderConfig) -> Iterator[Step]:
    if config.kind is ProviderKind.BUILTIN:
        detail = _("The built-in engine is a part of this site and needs no connection.")
        yield Step("address", _("Address"), Outcome.OK, detail)
        return
    yield _address(config)
    brief = replace(config, timeout=min(config.timeout, MOST_SECONDS))
    try:
        client = openai_sync_client(brief)
    except SecretUnreadable as unreadable:
        raise Failed(Step("key", _("Key"), Outcome.FAILED, str(unreadable))) from unreadable
    with client:
        models = _models(client, brief)
        yield Step("reachable", _("Server"), Outcome.OK, _("The server can be reached."))
        answer = _answer(client, brief, models)
        key = _("The server accepts the key.") if config.api_key else _("It asks for no key.")
        yield Step("key", _("Key"), Outcome.OK, key)
        yield _model(config, models)
        yield answer
        yield _schema(client, config)
        yield _batches(client, config)


def _address(config: ProviderConfig) -> Step:
    try:
        target = check_url(config.base_url, allow_private=config.allow_private)
    except UrlRefused as refused:
        raise Failed(Step("address", _("Address"), Outcome.FAILED, str(refused))) from refused
    return Step("address", _("Address"), Outcome.OK, str(target.url))


def _models(client: openai.OpenAI, config: ProviderConfig) -> list[str] | None:
    """The names of the models there; None where the server does not tell."""
    try:
        listed = client.get("/models", cast_to=httpx2.Response).json()
    except openai.APIStatusError as error:
        if error.status_code in (401, 403):
            raise _refused_key(config, error) from error
        if error.status_code < 400 or error.status_code >= 500:
            raise _unreachable(config, error) from error
        return None
    except ValueError:
        return None
    except openai.APIError as error:
        raise _unreachable(config, error) from error
    entries = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(entries, list):
        return None
    return [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]


def _answer(client: openai.OpenAI, config: ProviderConfig, models: list[str] | None) -> Step:
    started = time.monotonic()
    try:
        text = _ask(client, config, QUESTION)
    except openai.APIStatusError as error:
        raise _no_answer(config, error, models) from error
    except (openai.APIError, ValueError, LookupError, AttributeError, TypeError) as error:
        if isinstance(error, openai.APIError):
            raise _unreachable(config, error) from error
        raise _another_language(config) from error
    detail = _("It answered “%(text)s” after %(seconds).1f seconds.") % {
        "text": " ".join(text.split())[:60],
        "seconds": time.monotonic() - started,
    }
    return Step("answer", _("Answer"), Outcome.OK, detail)


def _ask(client: openai.OpenAI, config: ProviderConfig, question: str, **options: Any) -> str:
    request: dict[str, Any] = {
        "model": config.model,
        "messages": [{"role": "user", "content": question}],
        **options,
    }
    try:
        answer = client.chat.completions.create(max_tokens=ANSWER_TOKENS, **request)
    except openai.APIStatusError as error:
        # Newer models of OpenAI know this limit by another name only.
        if error.status_code != 400 or "max_tokens" not in said(error, config):
            raise
        answer = client.chat.completions.create(**request)
    return answer.choices[0].message.content or ""


def _no_answer(
    config: ProviderConfig, error: openai.APIStatusError, models: list[str] | None
) -> Failed:
    if error.status_code in (401, 403):
        return _refused_key(config, error)
    if models is not None and config.model not in models:
        return _unknown_model(config, models)
    if error.status_code in (404, 405) and models is None:
        return _another_language(config)
    return Failed(Step("answer", _("Answer"), Outcome.FAILED, explain(error, config)))


def _unreachable(config: ProviderConfig, error: openai.APIError) -> Failed:
    return Failed(Step("reachable", _("Server"), Outcome.FAILED, explain(error, config)))


def _refused_key(config: ProviderConfig, error: openai.APIStatusError) -> Failed:
    if config.api_key:
        detail = _("The server refuses the key (%(reason)s). Type in a valid one.")
    else:
        detail = _("The server asks for a key (%(reason)s). Type one in.")
    reason = said(error, config)
    return Failed(Step("key", _("Key"), Outcome.FAILED, detail % {"reason": reason}))


def _unknown_model(config: ProviderConfig, models: list[str]) -> Failed:
    names = sorted(models)
    shown = ", ".join(names[:SHOWN_MODELS]) + (", …" if len(names) > SHOWN_MODELS else "")
    detail = (
        _("The server has no model “%(model)s”. It has: %(models)s.")
        if names
        else _("The server has no model “%(model)s”, nor any other. Load one there first.")
    )
    detail %= {"model": config.model, "models": shown}
    return Failed(Step("model", _("Model"), Outcome.FAILED, detail))


def _another_language(config: ProviderConfig) -> Failed:
    detail = _(
        "A server answers at %(url)s, but not as an OpenAI-compatible one. "
        "Check the path: most of these addresses end in /v1."
    ) % {"url": config.base_url}
    return Failed(Step("answer", _("Answer"), Outcome.FAILED, detail))


def _model(config: ProviderConfig, models: list[str] | None) -> Step:
    name = {"model": config.model}
    if models is None or config.model in models:
        return Step("model", _("Model"), Outcome.OK, _("“%(model)s” is there.") % name)
    # Azure lists models and answers by deployments; llama.cpp answers to any name.
    detail = _("“%(model)s” answers, though the server does not list it. Is it spelled right?")
    return Step("model", _("Model"), Outcome.NOTE, detail % name)


def _schema(client: openai.OpenAI, config: ProviderConfig) -> Step:
    """Without it answers are still checked, so this is a note and no failure."""
    format = {
        "type": "json_schema",
        "json_schema": {"name": "check", "strict": True, "schema": SCHEMA},
    }
    try:
        question = "Are you ready? Answer as JSON with the one boolean field “ready”."
        answer = json.loads(_ask(client, config, question, response_format=format))
        kept = isinstance(answer, dict) and isinstance(answer.get("ready"), bool)
    except (openai.APIError, ValueError, LookupError, AttributeError, TypeError):
        kept = False
    if kept:
        detail = _("Answers keep to a JSON schema.")
        return Step("schema", _("JSON schema"), Outcome.OK, detail)
    detail = _(
        "Answers do not keep to a JSON schema. They are checked, and asked for again if need be."
    )
    return Step("schema", _("JSON schema"), Outcome.NOTE, detail)


def _batches(client: openai.OpenAI, config: ProviderConfig) -> Step:
    try:
        response = client.get("/batches", cast_to=httpx2.Response, options={"params": {"limit": 1}})
        there = isinstance(response.json().get("data"), list)
    except (openai.APIError, ValueError, AttributeError):
        there = False
    if there:
        return Step("batches", _("Batches"), Outcome.OK, _("The server takes batches."))
    if config.strategy is Strategy.BATCH:
        detail = _("The server takes no batches: requests are sent one by one instead.")
        return Step("batches", _("Batches"), Outcome.NOTE, detail)
    detail = _("The server takes no batches. None are needed with the present settings.")
    return Step("batches", _("Batches"), Outcome.OK, detail)
