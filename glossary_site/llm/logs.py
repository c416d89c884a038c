"""Entry and exit of what matters, at DEBUG, with the process in every line logged in between."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from glossary_site.observe.trace import bound

logger = logging.getLogger("glossary_site.llm")


@contextmanager
def traced(name: str, process_id: UUID, **arguments: Any) -> Iterator[dict[str, Any]]:
    """What is put into the given dictionary is said on leaving."""
    said: dict[str, Any] = {}
    with bound(process_id=str(process_id), slice="llm"):
        began = time.monotonic()
        logger.debug("ENTER %s", name, extra=arguments)
        try:
            yield said
        except BaseException as error:
            said["raised"] = type(error).__name__
            raise
        finally:
            said["elapsed_ms"] = round((time.monotonic() - began) * 1000, 1)
            logger.debug("EXIT %s", name, extra=said)
