"""The endpoints a client calls: models, chats and embeddings here, files and batches next door."""

import hashlib
import json
import time
from typing import Any

from tests.llm_peer.answers import (
    DIMENSIONS,
    Model,
    embedding,
    spoilt_vectors,
    tokens,
    usage,
    written_vector,
)
from tests.llm_peer.batches import Batches
from tests.llm_peer.faults import Fault, error
from tests.llm_peer.files import Files
from tests.llm_peer.ledger import CHAT, EMBEDDINGS
from tests.llm_peer.wire import Request, Response, json_response

MODELS = ("peer-small", "peer-large", "peer-embed")


class Api:
    def __init__(
        self, *, model: Model, files: Files, batches: Batches, api_key: str | None = None
    ) -> None:
        self._model = model
        self._files = files
        self._batches = batches
        self.api_key = api_key
        # Names it knows; None takes any, as a server with one model loaded does.
        self.models: tuple[str, ...] | None = None
        # Texts in one request for vectors; None takes any number.
        self.most_inputs: int | None = None
        self.dimensions = DIMENSIONS

    def handle(self, request: Request, path: str, fault: Fault | None) -> Response:
        if self.api_key is not None and self.api_key != _key_of(request):
            return json_response(401, error("invalid_api_key", "Incorrect API key provided."))
        if path in {CHAT, EMBEDDINGS} and request.method == "POST":
            try:
                body = request.json()
            except ValueError:
                return json_response(400, error("invalid_json", "The body is not valid JSON."))
            return json_response(*self.perform(path, body, fault))
        if path == "/v1/models" and request.method == "GET":
            names = self.models or MODELS
            return json_response(200, {"object": "list", "data": [_model(name) for name in names]})
        answered = self._files.handle(request, path) or self._batches.handle(request, path)
        return answered or json_response(404, error("not_found", f"No such path: {path}"))

    def perform(self, path: str, body: Any, fault: Fault | None = None) -> tuple[int, Any]:
        """Status and content for one request to the model, on its own or a line of a batch."""
        if not isinstance(body, dict):
            return 400, error("invalid_request_error", "The body must be an object.")
        name = body.get("model")
        if not name:
            return 400, error("missing_required_parameter", "Missing: model", param="model")
        if self.models is not None and name not in self.models:
            message = f"The model `{name}` does not exist."
            return 404, error("model_not_found", message, param="model")
        if path == EMBEDDINGS:
            return self._embeddings(body, fault)
        return self._chat(body, fault)

    def _chat(self, body: dict[str, Any], fault: Fault | None) -> tuple[int, Any]:
        if not isinstance(body.get("messages"), list) or not body["messages"]:
            return 400, error("missing_required_parameter", "Missing: messages", param="messages")
        if body.get("stream"):
            return 400, error("unsupported_value", "This server does not stream.", param="stream")
        answer = self._model.answer(body, fault)
        if answer.status != 200:
            return answer.status, answer.body or error("scripted", answer.content)
        content = answer.content if answer.refusal is None else None
        message = {"role": "assistant", "content": content, "refusal": answer.refusal}
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": answer.finish_reason,
            "logprobs": None,
        }
        return 200, {
            "id": f"chatcmpl-{_digest(body)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": body["model"],
            "choices": [] if fault and fault.kind == "no_choices" else [choice],
            "usage": usage(answer, body),
        }

    def _embeddings(self, body: dict[str, Any], fault: Fault | None) -> tuple[int, Any]:
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not texts or not all(isinstance(text, str) and text for text in texts):
            return 400, error("invalid_input", "Input must be text that is not empty.")
        if self.most_inputs is not None and len(texts) > self.most_inputs:
            return 413, error("too_large", f"No more than {self.most_inputs} texts at a time.")
        encoding = body.get("encoding_format", "float")
        count = sum(tokens(text) for text in texts)
        data = [
            {
                "object": "embedding",
                "index": index,
                "embedding": written_vector(
                    embedding(text, body.get("dimensions", self.dimensions)), encoding
                ),
            }
            for index, text in enumerate(texts)
        ]
        counted = {"prompt_tokens": count, "total_tokens": count}
        return 200, {
            "object": "list",
            "data": spoilt_vectors(data, fault.kind) if fault else data,
            "model": body["model"],
            "usage": None if fault and fault.kind == "no_usage" else counted,
        }


def _key_of(request: Request) -> str:
    bearer = request.headers.get("authorization", "")
    return bearer.removeprefix("Bearer ") or request.headers.get("api-key", "")


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "tests"}


def _digest(body: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()[:24]
