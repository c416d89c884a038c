"""The `openai` package, loaded when something of it is first asked for: that takes most of a
second, and most commands ask no provider anything."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openai import APIConnectionError as APIConnectionError
    from openai import APIError as APIError
    from openai import APIStatusError as APIStatusError
    from openai import APITimeoutError as APITimeoutError
    from openai import AsyncOpenAI as AsyncOpenAI
    from openai import AsyncStream as AsyncStream
    from openai import OpenAI as OpenAI
    from openai import OpenAIError as OpenAIError


def load() -> Any:
    """For those who are about to fork: what is loaded before is shared."""
    return import_module("openai")


def __getattr__(name: str) -> Any:
    return getattr(load(), name)
