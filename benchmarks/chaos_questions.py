"""What is asked of the provider in a chaos run, and how an answer is known to belong to it."""

import uuid
from typing import Any

AGAIN = "again"


def process_id(key: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, key)


def requests(key: str, count: int) -> list[dict[str, Any]]:
    number = key.rpartition(":")[2]
    return [
        {
            "key": str(n),
            "messages": [{"role": "user", "content": f"What is question {number}.{n} of chaos?"}],
            "max_tokens": 50,
        }
        for n in range(count)
    ]


def fits(key: str, request_key: str, answer: str) -> bool:
    """The test peer repeats what it was asked: whether this is the answer to that."""
    return f"question {key.rpartition(':')[2]}.{request_key} of chaos" in answer
