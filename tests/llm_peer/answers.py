"""What the pretended model says: the same for the same request, or what a test has scripted."""

import base64
import hashlib
import json
import math
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.llm_peer.faults import Fault

DIMENSIONS = 64


@dataclass(frozen=True)
class Answer:
    """What is said, where more than its text matters. A status other than 200 is an error."""

    content: str = ""
    status: int = 200
    finish_reason: str = "stop"
    refusal: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    # All of an error's body, for servers that write it in a way of their own.
    body: Any = None


# What one request is answered with: text, something to be written as JSON, or an Answer.
Said = str | dict[str, Any] | list[Any] | Answer
Script = Callable[[dict[str, Any]], Said | None] | Mapping[str, Said] | Sequence[Said]


class Model:
    """Answers chats. A script goes first; what it has no answer for is derived from the request.

    A callable gets the body and may return None; a mapping answers by a substring of what was
    asked; a list is used up in order of arrival.
    """

    def __init__(self, script: Script | None = None) -> None:
        self._lock = threading.Lock()
        self.script(script)

    def script(self, script: Script | None) -> None:
        with self._lock:
            # A canned list is taken from, and must not be the caller's own.
            self._script = list(script) if isinstance(script, Sequence) else script

    def answer(self, body: dict[str, Any], fault: Fault | None = None) -> Answer:
        said = self._scripted(body)
        if said is None:
            said = derived(body)
        answer = said if isinstance(said, Answer) else Answer(_text(said))
        return spoilt(answer, fault.kind) if fault else answer

    def _scripted(self, body: dict[str, Any]) -> Said | None:
        with self._lock:
            script = self._script
            if isinstance(script, list):
                return script.pop(0) if script else None
        if script is None:
            return None
        if isinstance(script, Mapping):
            words = asked(body)
            return next((said for part, said in script.items() if part in words), None)
        assert callable(script)
        return script(body)


def asked(body: dict[str, Any]) -> str:
    """The text of all messages, whether given as one string or in parts."""
    texts = []
    for message in body.get("messages", []):
        content = message.get("content") or ""
        parts = [content] if isinstance(content, str) else [p.get("text", "") for p in content]
        texts += parts
    return "\n".join(texts)


def derived(body: dict[str, Any]) -> Said:
    wanted = body.get("response_format") or {"type": "text"}
    digest = hashlib.sha256(json.dumps(body, sort_keys=True).encode()).digest()
    mark = digest.hex()[:8]
    last = asked({"messages": body.get("messages", [])[-1:]})
    if wanted["type"] == "json_schema":
        schema = wanted["json_schema"].get("schema", {})
        return _text(example(schema, mark=mark, root=schema))
    if wanted["type"] == "json_object":
        return {"answer": last[:80], "mark": mark}
    return f"You said “{last[:80]}” ({mark})."


def example(schema: Any, *, mark: str, root: dict[str, Any]) -> Any:
    """Something that the schema allows, a little different for each request."""
    if not isinstance(schema, dict):
        return mark
    if "$ref" in schema:
        target: Any = root
        for step in schema["$ref"].removeprefix("#").strip("/").split("/"):
            target = target[step] if step else target
        return example(target, mark=mark, root=root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][int(mark, 16) % len(schema["enum"])]
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return example(schema[choice][0], mark=mark, root=root)
    kind = schema.get("type", "object" if "properties" in schema else "string")
    if isinstance(kind, list):
        kind = kind[0]
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: example(each, mark=mark, root=root) for name, each in properties.items()}
    if kind == "array":
        count = max(1, schema.get("minItems", 1)) if schema.get("maxItems", 1) else 0
        return [example(schema.get("items"), mark=mark, root=root) for _ in range(count)]
    if kind in {"integer", "number"}:
        return _number(schema, int(mark, 16))
    if kind == "boolean":
        return int(mark, 16) % 2 == 0
    if kind == "null":
        return None
    text = f"text {mark}".ljust(schema.get("minLength", 0), "x")
    return text[: schema.get("maxLength", len(text))]


def _number(schema: dict[str, Any], seed: int) -> int:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 101) - 1)
    return int(low) + seed % (int(high) - int(low) + 1)


def spoilt(answer: Answer, kind: str) -> Answer:
    """The answer as a fault leaves it."""
    if kind == "break_schema":
        # Well-formed JSON of a shape that no schema for an object allows.
        return Answer(json.dumps(["not", "what", "was", "asked", "for"]))
    if kind == "not_json":
        return Answer(f"Sure! Here it is: {answer.content[: len(answer.content) // 2]}")
    if kind == "truncated":
        return Answer(answer.content[: len(answer.content) // 2], finish_reason="length")
    if kind == "refusal":
        return Answer(refusal="I'm sorry, I can't help with that.")
    return answer


def tokens(text: str) -> int:
    """Bytes by four, which is near what real tokenizers count in English and in Japanese."""
    return max(1, len(text.encode()) // 4)


def usage(answer: Answer, body: dict[str, Any]) -> dict[str, int]:
    prompt = tokens(asked(body)) if answer.prompt_tokens is None else answer.prompt_tokens
    completion = answer.completion_tokens
    if completion is None:
        completion = tokens(answer.content)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
    }


def embedding(text: str, dimensions: int) -> list[float]:
    """A unit vector; texts that share pieces of three characters are near each other."""
    vector = [0.0] * dimensions
    padded = f" {text.lower()} "
    for start in range(len(padded) - 2):
        digest = hashlib.blake2b(padded[start : start + 3].encode(), digest_size=8).digest()
        number = int.from_bytes(digest, "big")
        vector[number % dimensions] += 1.0 if number >> 63 else -1.0
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else [1.0, *vector[1:]]


def spoilt_vectors(data: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The vectors of an answer as a fault leaves them."""
    if kind == "vector_missing":
        return data[:-1]
    if kind == "vector_short":
        return [*data[:-1], {**data[-1], "embedding": data[-1]["embedding"][:-1]}]
    if kind == "vector_nan":
        return [*data[:-1], {**data[-1], "embedding": [math.nan] * len(data[-1]["embedding"])}]
    if kind == "vectors_shuffled":
        return data[::-1]
    if kind == "vectors_misnumbered":
        return [{**entry, "index": 0} for entry in data]
    if kind == "vectors_nested":
        return [{**entry, "embedding": [entry["embedding"]]} for entry in data]
    return data


def written_vector(vector: list[float], encoding: str) -> list[float] | str:
    if encoding == "base64":
        return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    return vector


def _text(said: Any) -> str:
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
