"""What a service may refuse, each with a code for programs and a sentence for people."""

from typing import Any


class Refusal(Exception):
    """A wish that cannot be granted. Pages and commands show the sentence; the API adds the code,
    the details and the HTTP status."""

    def __init__(self, code: str, message: Any, *, status: int = 409, **details: Any) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.status = status
        self.details = details

    def __str__(self) -> str:
        return str(self.message)
