"""Answers that a program can read: asked for as the server understands it, and always checked."""

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from glossary_site.jobs.payloads import storable
from glossary_site.lazily import Lazily
from glossary_site.llm.choices import JsonMode
from glossary_site.llm.requests import Message, Request, written
from glossary_site.llm.speech import Speech

if TYPE_CHECKING:
    import jsonschema
    import jsonschema.protocols
else:
    jsonschema = Lazily("jsonschema")

SCHEMA_NAME = "answer"
# What a model is told about its own wrong answer, and of it.
MOST_OF_AN_ERROR = 500
MOST_OF_AN_ANSWER = 20_000
ONLY_JSON = "Answer with one JSON value that fits this JSON schema, and with nothing else:\n"


def limit_of(request: Request, most_tokens: int | None) -> int:
    """How long an answer may be, at a provider that writes so many tokens at most."""
    return min(request.max_tokens, most_tokens or request.max_tokens)


def body_of(
    request: Request,
    messages: list[Message],
    *,
    model: str,
    speech: Speech,
    most_tokens: int | None,
) -> dict[str, Any]:
    """What is sent. Never a tool: nothing that a document says can call one."""
    body: dict[str, Any] = {"model": model, "messages": [_clean(message) for message in messages]}
    limit = limit_of(request, most_tokens)
    body["max_completion_tokens" if speech.newer_limit else "max_tokens"] = limit
    if request.temperature is not None and not speech.no_temperature:
        body["temperature"] = request.temperature
    if request.schema is None:
        return body
    if speech.json_mode == JsonMode.SCHEMA:
        wanted = {
            "name": SCHEMA_NAME,
            "schema": request.schema,
            "strict": _is_strict(written(request.schema)),
        }
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
        return body
    if speech.json_mode == JsonMode.OBJECT:
        body["response_format"] = {"type": "json_object"}
    body["messages"] = _with_instructions(body["messages"], request.schema)
    return body


class Unfit(Exception):
    """An answer that is not what was asked for; the text says why."""


def read(content: str, schema: dict[str, Any]) -> Any:
    """What the answer says, checked against the schema."""
    data = _json_in(content)
    error = jsonschema.exceptions.best_match(_validator(written(schema)).iter_errors(data))
    if error is not None:
        raise Unfit(storable(f"{error.json_path}: {error.message}")[:MOST_OF_AN_ERROR])
    return data


def repair_messages(messages: list[Message], *, content: str, error: str) -> list[Message]:
    """The one follow-up: the wrong answer, and what is wrong with it."""
    said = content[:MOST_OF_AN_ANSWER] or "(no text)"
    return [
        *messages,
        {"role": "assistant", "content": said},
        {
            "role": "user",
            "content": f"This answer cannot be used: {error}\n"
            "Answer again, with one JSON value that fits the schema and with nothing else.",
        },
    ]


def is_strict(schema: Any) -> bool:
    """Whether a server may be asked to hold to it to the letter: only where every object names all
    its properties as required and allows no others."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False:
            return False
        if set(schema.get("required", ())) != set(properties):
            return False
    return all(map(is_strict, schema.values()))


@lru_cache(maxsize=64)
def _is_strict(schema: str) -> bool:
    # Kept: thousands of requests have one schema.
    return is_strict(json.loads(schema))


def _json_in(content: str) -> Any:
    """The JSON in an answer, which some models dress in words or in a code block."""
    try:
        return _loads(content)
    except ValueError as error:
        first = re.search(r"[\[{]", content)
        last = max(content.rfind("}"), content.rfind("]"))
        if first is not None and last > first.start():
            try:
                return _loads(content[first.start() : last + 1])
            except ValueError:
                pass
        raise Unfit(f"it is not JSON ({error})") from error


def _loads(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


@lru_cache(maxsize=64)
def _validator(schema: str) -> "jsonschema.protocols.Validator":
    # Kept, too.
    loaded = json.loads(schema)
    return jsonschema.validators.validator_for(loaded)(loaded)


def _with_instructions(messages: list[Message], schema: dict[str, Any]) -> list[Message]:
    """At the end of the last question: templates of some models take no system message there."""
    last = max(
        (n for n, message in enumerate(messages) if message["role"] == "user"),
        default=len(messages) - 1,
    )
    content = f"{messages[last]['content']}\n\n{ONLY_JSON}{json.dumps(schema, ensure_ascii=False)}"
    return [
        {**message, "content": content} if n == last else message
        for n, message in enumerate(messages)
    ]


def _clean(message: Message) -> Message:
    """Half a surrogate pair cannot be sent."""
    try:
        message["content"].encode()
    except UnicodeEncodeError:
        content = message["content"].encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return {**message, "content": content}
    return message
