"""What is asked, as plain data: checked when it comes in, written down, and told apart."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from glossary_site.errors import Refusal
from glossary_site.lazily import Lazily
from glossary_site.llm.tokens import TOKENS_PER_MESSAGE, estimate_text

if TYPE_CHECKING:
    import jsonschema
else:
    jsonschema = Lazily("jsonschema")

# No tools: nothing that a document says could call one.
ROLES = frozenset({"system", "user", "assistant"})
DEFAULT_MAX_TOKENS = 1024

Message = dict[str, str]


@dataclass(frozen=True)
class Request:
    """One question. `key` is the caller's own and comes back with the answer.

    `task` and `inputs` are for the built-in engine, which reads no prompts; they are not sent.
    """

    key: str
    messages: list[Message]
    schema: dict[str, Any] | None = None
    max_tokens: int = DEFAULT_MAX_TOKENS
    temperature: float | None = 0.0
    # False: a fresh answer is wanted, even if there is one in the ledger.
    reuse: bool = True
    task: str = ""
    inputs: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not isinstance(self.task, str):
            raise bad_request(_("The key and the task are texts."))
        if not self.messages or not all(map(_is_message, self.messages)):
            raise bad_request(
                _("Messages have a role (system, user or assistant) and a text, nothing else.")
            )
        if not isinstance(self.max_tokens, int) or self.max_tokens < 1:
            raise bad_request(_("max_tokens is a whole number above 0."))
        if self.schema is not None:
            check_schema(self.schema)

    @property
    def input_tokens(self) -> int:
        texts = sum(estimate_text(message["content"]) for message in self.messages)
        schema = estimate_text(written(self.schema)) if self.schema else 0
        return texts + schema + TOKENS_PER_MESSAGE * len(self.messages)


@dataclass(frozen=True)
class Result:
    """An answer, or why there is none."""

    id: UUID
    key: str
    ok: bool
    # The text; and what it says, where the request had a schema.
    content: str = ""
    data: Any = None
    error: str = ""
    finish_reason: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    # It was known from before and cost nothing.
    served: bool = False


def request_from(given: Request | Mapping[str, Any]) -> Request:
    if isinstance(given, Request):
        return given
    try:
        return Request(**given)
    except TypeError as error:
        raise bad_request(str(error)) from error


def check_schema(schema: Any) -> None:
    if not isinstance(schema, dict):
        raise bad_request(_("A schema is a JSON object."))
    if wrong := _wrong_in_schema(written(schema)):
        raise bad_request(_("The schema is not valid: %(reason)s") % {"reason": wrong})


@lru_cache(maxsize=64)
def _wrong_in_schema(text: str) -> str:
    # Kept: thousands of requests come with one schema.
    schema = json.loads(text)
    try:
        jsonschema.validators.validator_for(schema).check_schema(schema)
    except jsonschema.SchemaError as error:
        return str(error.message)
    return ""


def bad_request(message: str) -> Refusal:
    return Refusal("bad_request", message, status=400)


def encode(request: Request) -> str:
    """As it is kept in the queue. The order of everything stays as it was given."""
    return written(vars(request))


def decode(text: str) -> Request:
    return Request(**json.loads(text))


def fingerprint(*, address: str, model: str, messages: list[Message], request: Request) -> str:
    """The same for the same question to the same model, whichever way it is sent."""
    asked = {
        "address": address,
        "model": model,
        "messages": messages,
        "schema": request.schema,
        "max_tokens": request.max_tokens,
        "temperature": request.temperature,
    }
    canonical = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def written(value: Any) -> str:
    # Escaped to ASCII: half a surrogate pair or a NUL in a document breaks neither a database nor
    # a line of a batch's file.
    return json.dumps(value, separators=(",", ":"))


def _is_message(message: Any) -> bool:
    return (
        isinstance(message, dict)
        and message.keys() == {"role", "content"}
        and message["role"] in ROLES
        and isinstance(message["content"], str)
    )
