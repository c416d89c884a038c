"""How to speak to a server, and what its refusals teach.

Servers know more or less of the protocol, and whoever meets a refusal may ask in another way. What
helps one request is remembered for all where the refusal names its reason; where it does not, only
after it has helped again and again, with nothing taken in the usual way in between.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from glossary_site.llm.choices import JsonMode
from glossary_site.llm.requests import Request

# Refusals that another way of asking may avoid, whatever they say.
REPHRASED = frozenset({400, 415, 422, 501})
# With which llama.cpp and vLLM have refused formats; any other fault says the same.
FAULT = 500
LOWER = {JsonMode.SCHEMA: JsonMode.OBJECT, JsonMode.OBJECT: JsonMode.PLAIN}
# So often in a row a guess has to help before it is more than an accident.
ENOUGH = 3

# OpenAI, DeepSeek, Groq, LM Studio and llama.cpp name the parameter or its value, Gemini its JSON
# mode, Ollama the field that it makes of it, vLLM the grammar.
OF_THE_FORMAT = re.compile(
    r"response.?format|json.?(schema|object|mode)|structured.?output|grammar|guided.?(json|decod)"
    r"|\.format\b",
    re.IGNORECASE,
)
# A model did not manage to keep to the schema this time (Groq). The server understood it.
OF_ONE_ANSWER = re.compile(r"json_validate_failed|failed_generation", re.IGNORECASE)
# Too long, or not to be spoken of: in other words it is the same.
OF_THE_TEXT = re.compile(
    r"context.?(length|size|window)|(prompt|input) is too long|maximum prompt length"
    r"|too many tokens|token (limit|count)|reduce the length"
    r"|content.?(filter|policy|management|exists)|responsible.?ai|data_inspection|inappropriate",
    re.IGNORECASE,
)
# No request would be answered: the key, the money or the model is missing.
OF_THE_CALLER = re.compile(
    r"model.?not.?(found|exist)|api.?key|billing|credit balance|insufficient.(quota|balance)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Speech:
    """How to speak to one server, so that it understands."""

    json_mode: JsonMode = JsonMode.SCHEMA
    newer_limit: bool = False
    no_temperature: bool = False


# Of a server that nothing is known of.
DEFAULT = Speech()


@dataclass(frozen=True)
class Way:
    """How one request is asked, after the refusals that it has met."""

    speech: Speech
    # What is said otherwise because a refusal named it.
    named: frozenset[str] = frozenset()
    # When the first call went out whose refusal left us guessing, by the monotonic clock.
    guessing_since: float | None = None

    def naming(self, name: str, value: Any) -> Way:
        speech = replace(self.speech, **{name: value})
        return replace(self, speech=speech, named=self.named | {name})


def concerns_all(refusal: str) -> bool:
    """Whether any other request would have met it, too."""
    return bool(OF_THE_CALLER.search(refusal))


def worth_rephrasing(status: int, refusal: str) -> bool:
    if concerns_all(refusal) or OF_THE_TEXT.search(refusal):
        return False
    return status in REPHRASED or (status == FAULT and bool(OF_THE_FORMAT.search(refusal)))


def other_way(way: Way, *, refusal: str, request: Request, sent_at: float) -> Way | None:
    """After a refusal that is worth it: another way to ask the same, if there is one."""
    speech = way.speech
    if "max_completion_tokens" in refusal and not speech.newer_limit:
        return way.naming("newer_limit", True)
    if "temperature" in refusal and request.temperature is not None and not speech.no_temperature:
        return way.naming("no_temperature", True)
    if request.schema is None or speech.json_mode not in LOWER:
        return None
    lower = way.naming("json_mode", LOWER[speech.json_mode])
    names_it = OF_THE_FORMAT.search(refusal) and not OF_ONE_ANSWER.search(refusal)
    if names_it and way.guessing_since is None:
        return lower
    since = sent_at if way.guessing_since is None else way.guessing_since
    return replace(lower, named=lower.named - {"json_mode"}, guessing_since=since)


class Lessons:
    """What the requests on one line have taught of its server."""

    def __init__(self, speech: Speech) -> None:
        self.speech = speech
        # How often in a row a guess has helped, and when the last time.
        self._guesses = 0
        self._helped_at = 0.0

    def taken(self, way: Way, *, wants_json: bool) -> Mapping[str, Any]:
        """A request was taken in this way: what is known now that was not known before."""
        learned = {name: getattr(way.speech, name) for name in way.named}
        if way.guessing_since is not None:
            # All who were out at the same time may have met the same accident: that is one time.
            if way.guessing_since > self._helped_at:
                self._guesses, self._helped_at = self._guesses + 1, time.monotonic()
            if self._guesses >= ENOUGH:
                self._guesses = 0
                learned["json_mode"] = way.speech.json_mode
        elif wants_json and way.speech.json_mode == self.speech.json_mode:
            self._guesses = 0
        news = {name: it for name, it in learned.items() if it != getattr(self.speech, name)}
        self.speech = replace(self.speech, **news)
        return news
