"""Texts that are sent for their vectors, as plain data: how many in a request, by which name the
ledger knows them, what an answer is worth, and how it is kept."""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils.translation import gettext as _

from glossary_site.llm.providers import ProviderConfig
from glossary_site.llm.strategies.asks import Malformed
from glossary_site.llm.tokens import BYTES_PER_TOKEN, counted, estimate_text

# Small enough for servers on one's own machine, which refuse more; and the tokens of a request.
MOST_TEXTS = 32
MOST_TOKENS = 32_000
# Of one text. No model reads more.
MOST_TOKENS_OF_A_TEXT = 8_000

Vectors = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Batch:
    """The texts of one request."""

    texts: tuple[str, ...]
    fingerprint: str

    @property
    def tokens(self) -> int:
        return sum(map(estimate_text, self.texts))


@dataclass(frozen=True)
class Embedded:
    """A vector for each text of a batch, and what the server counted."""

    vectors: Vectors
    tokens: int

    @property
    def dimensions(self) -> int:
        return self.vectors.shape[1]


def prepared(text: str) -> str:
    """As it is sent: of a length that can be read, and without what no server would take."""
    data = text.encode(errors="replace")[: MOST_TOKENS_OF_A_TEXT * BYTES_PER_TOKEN]
    return data.decode(errors="ignore").replace("\0", " ").strip()


def batches(texts: Iterable[str], config: ProviderConfig, *, scope: str) -> Iterator[Batch]:
    """The same texts give the same batches: after a crash the ledger knows them again."""
    together: list[str] = []
    tokens = 0
    for text in texts:
        more = estimate_text(text)
        if together and (len(together) >= MOST_TEXTS or tokens + more > MOST_TOKENS):
            yield batch_of(together, config, scope=scope)
            together, tokens = [], 0
        together.append(text)
        tokens += more
    if together:
        yield batch_of(together, config, scope=scope)


def batch_of(texts: Sequence[str], config: ProviderConfig, *, scope: str) -> Batch:
    """The scope is a part of its name: nobody takes over what another one's budget pays for."""
    asked = json.dumps([scope, config.base_url, config.query, config.model, *texts])
    return Batch(tuple(texts), hashlib.sha256(asked.encode()).hexdigest())


def halves(batch: Batch, config: ProviderConfig, *, scope: str) -> list[Batch]:
    middle = len(batch.texts) // 2
    parts = batch.texts[:middle], batch.texts[middle:]
    return [batch_of(part, config, scope=scope) for part in parts]


def read_vectors(body: Any, batch: Batch) -> Embedded:
    """One vector for each text, from whatever server, in the order of the texts."""
    try:
        rows = [(entry.get("index", place), entry) for place, entry in enumerate(body["data"])]
        by_index = {index: _row(entry["embedding"]) for index, entry in rows}
        usage = body.get("usage") or {}
        tokens = counted(usage.get("prompt_tokens") or usage.get("total_tokens"), 0)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        words = _("The server's answer is no list of vectors: %(why)s")
        raise Malformed(words % {"why": repr(error)}) from error
    if len(rows) != len(batch.texts):
        words = _("The server gave %(vectors)s vectors for %(texts)s texts.")
        raise Malformed(words % {"vectors": len(rows), "texts": len(batch.texts)})
    if by_index.keys() != set(range(len(rows))):
        raise Malformed(_("The server's vectors are not numbered as the texts are."))
    lengths = {len(row) for row in by_index.values()}
    if len(lengths) != 1 or 0 in lengths:
        words = _("The server's vectors have different lengths: %(lengths)s.")
        raise Malformed(words % {"lengths": sorted(lengths)})
    vectors = np.stack([by_index[index] for index in range(len(rows))])
    if not np.isfinite(vectors).all():
        raise Malformed(_("The server's vectors have values that are no numbers."))
    # Some servers do not count. An estimate is nearer to the truth than nothing.
    return Embedded(unit(vectors), tokens or batch.tokens)


def _row(written: Any) -> Vectors:
    """Numbers, or the same in base64."""
    if isinstance(written, str):
        try:
            return np.frombuffer(base64.b64decode(written, validate=True), dtype="<f4")
        except binascii.Error as error:
            raise ValueError(str(error)) from error
    row = np.asarray(written, dtype=np.float32)
    if row.ndim != 1:
        raise ValueError("a vector is a list of numbers")
    return row


def unit(vectors: Vectors) -> Vectors:
    """Rows of length 1; a row of zeros stays one."""
    # The largest value first: the squares of very large ones would be infinite.
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0)
    scaled = vectors / np.where(largest > 0, largest, 1)
    lengths = np.linalg.norm(scaled, axis=1, keepdims=True)
    return (scaled / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def pack(vectors: Vectors) -> bytes:
    """In 16 bits: a quarter of what JSON would take, and near enough for whoever compares them."""
    return vectors.astype("<f2").tobytes()


def unpack(data: bytes, *, dimensions: int) -> Vectors:
    return np.frombuffer(data, dtype="<f2").reshape(-1, dimensions).astype(np.float32)
