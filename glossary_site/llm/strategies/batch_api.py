"""The provider's Batch API as the batch strategy needs it, one call after the other.

Nothing here tries a call again: a lost answer may mean that the provider has done it, and what to
do then is decided where the books are kept.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Final, Self, TypeVar, cast
from urllib.parse import quote

import httpx2
from django.utils.translation import gettext as _

from glossary_site.llm import troubles
from glossary_site.llm.client import openai_client
from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.sdk import openai
from glossary_site.llm.sessions import Session

if TYPE_CHECKING:
    from openai.types import Batch

ENDPOINT: Final = "/v1/chat/completions"
WINDOW: Final = "24h"
PURPOSE: Final = "batch"
LOOK_SECONDS = 0.2
# An upload of 200 MB takes longer than an answer.
UPLOAD_SECONDS = 900.0
# A provider that has not been used for anything else lists ours among the first.
MOST_LISTED = 1000
# Statuses that mean: there is no such thing here.
ABSENT = frozenset({404, 405, 501})
RETRIED = frozenset({408, 409, 425, 429})

T = TypeVar("T")


class NoBatches(Exception):
    """This server has no Batch API."""


class Later(Exception):
    """The provider cannot be asked now; the text says why."""


class Refused(Exception):
    """The provider will not do it, now or later; the text says why."""


class BatchApi:
    """A connection for one turn. Every call stops within a moment when the session does."""

    def __init__(self, config: ProviderConfig, session: Session) -> None:
        self._client = openai_client(config)
        self._config = config
        self._session = session
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self._runner.run(self._client.close())
        finally:
            self._runner.close()

    def upload(self, name: str, file: IO[bytes]) -> str:
        def call(client: openai.AsyncOpenAI) -> Awaitable[Any]:
            return client.files.create(
                file=(name, file, "application/jsonl"), purpose=PURPOSE, timeout=UPLOAD_SECONDS
            )

        return str(self._call(call, absent=NoBatches).id)

    def create(self, *, file_id: str, metadata: dict[str, str]) -> Batch:
        def call(client: openai.AsyncOpenAI) -> Awaitable[Batch]:
            return client.batches.create(
                input_file_id=file_id,
                endpoint=ENDPOINT,
                completion_window=WINDOW,
                metadata=metadata,
            )

        return self._call(call, absent=NoBatches)

    def retrieve(self, batch_id: str) -> Batch | None:
        """None: the provider does not know it."""
        try:
            return self._call(lambda client: client.batches.retrieve(batch_id), absent=_Absent)
        except _Absent:
            return None

    def cancel(self, batch_id: str) -> None:
        """One that has ended meanwhile is not complained about."""
        try:
            self._call(lambda client: client.batches.cancel(batch_id), absent=_Absent)
        except (_Absent, Later, Refused):
            return

    def find(self, wanted: Callable[[Batch], bool]) -> Batch | None:
        """The newest one that is ours."""

        async def look(client: openai.AsyncOpenAI) -> Batch | None:
            seen = 0
            async for batch in client.batches.list(limit=100):
                seen += 1
                if wanted(batch):
                    return batch
                if seen >= MOST_LISTED:
                    break
            return None

        try:
            return self._call(look, absent=_Absent)
        except _Absent:
            # A server that lists none cannot tell.
            return None

    def download(self, file_id: str, into: IO[bytes]) -> None:
        async def fetch(client: openai.AsyncOpenAI) -> None:
            # Unread: the whole of it would not fit into memory.
            response = cast(
                httpx2.Response,
                await client.get(
                    f"/files/{quote(file_id, safe='')}/content",
                    cast_to=httpx2.Response,
                    stream=True,
                    stream_cls=openai.AsyncStream[object],
                ),
            )
            try:
                async for piece in response.aiter_bytes():
                    into.write(piece)
            finally:
                await response.aclose()

        self._call(fetch, absent=Refused)

    def remove_files(self, *file_ids: str | None) -> None:
        """Texts are not left lying about. A provider that keeps them is not pressed."""

        async def remove(client: openai.AsyncOpenAI) -> None:
            for file_id in filter(None, file_ids):
                with suppress(openai.OpenAIError):
                    await client.files.delete(file_id)

        self._call(remove, absent=_Absent)

    def remove_file_named(self, name: str) -> None:
        """An upload whose answer was lost."""

        async def look(client: openai.AsyncOpenAI) -> list[str]:
            found = []
            seen = 0
            async for file in client.files.list(purpose=PURPOSE):
                seen += 1
                if file.filename == name:
                    found.append(file.id)
                if seen >= MOST_LISTED:
                    break
            return found

        try:
            found = self._call(look, absent=_Absent)
        except (_Absent, Later, Refused):
            return
        self.remove_files(*found)

    def _call(
        self, make: Callable[[openai.AsyncOpenAI], Awaitable[T]], *, absent: type[Exception]
    ) -> T:
        try:
            return self._runner.run(self._watched(make))
        except openai.APIStatusError as error:
            said = troubles.explain(error, self._config)
            if error.status_code in ABSENT:
                raise absent(said) from error
            if error.status_code >= 500 or error.status_code in RETRIED:
                raise Later(said) from error
            raise Refused(said) from error
        except openai.APIConnectionError as error:
            raise Later(troubles.explain(error, self._config)) from error
        except (httpx2.HTTPError, json.JSONDecodeError) as error:
            words = _("The server's answer cannot be read: %(why)s")
            raise Later(words % {"why": error}) from error

    async def _watched(self, make: Callable[[openai.AsyncOpenAI], Awaitable[T]]) -> T:
        call = asyncio.ensure_future(make(self._client))
        try:
            while not (await asyncio.wait([call], timeout=LOOK_SECONDS))[0]:
                self._session.check()
        except BaseException:
            call.cancel()
            await asyncio.gather(call, return_exceptions=True)
            raise
        return call.result()


class _Absent(Exception):
    """404, where that is no surprise."""
