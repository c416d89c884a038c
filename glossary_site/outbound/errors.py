from typing import Any

from glossary_site.errors import Refusal


class UrlRefused(Refusal):
    """An address that this site does not open, with the reason in words."""

    def __init__(self, code: str, message: Any) -> None:
        super().__init__(code, message, status=400)
