"""The real client, set up so that what the server does is what a test sees."""

from collections.abc import Iterator
from contextlib import contextmanager

from openai import OpenAI


@contextmanager
def openai_client(base_url: str, *, api_key: str = "any", timeout: float = 5) -> Iterator[OpenAI]:
    # No retries: they would hide the very fault a test asks for.
    with OpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=timeout) as client:
        yield client


def say(client: OpenAI, text: str, **options) -> str | None:
    """Ask one question, and return what was answered."""
    completion = client.chat.completions.create(
        model=options.pop("model", "peer-small"),
        messages=[{"role": "user", "content": text}],
        **options,
    )
    return completion.choices[0].message.content
