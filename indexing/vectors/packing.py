"""How a vector is written down: 16-bit floats, little end first, whatever the machine."""

from collections.abc import Sequence

import numpy as np

PACKED = np.dtype("<f2")


def pack(vector: np.ndarray) -> bytes:
    return np.asarray(vector).astype(PACKED).tobytes()


def pack_rows(vectors: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.asarray(vectors).astype(PACKED)]


def unpack(data: bytes) -> np.ndarray:
    return np.frombuffer(data, dtype=PACKED).astype(np.float32)


def unpack_rows(packed: Sequence[bytes | memoryview], dimensions: int) -> np.ndarray:
    """A row for each of them; all have that many dimensions (see `fits`)."""
    return np.frombuffer(b"".join(packed), dtype=PACKED).reshape(len(packed), dimensions)


def fits(data: bytes | memoryview, dimensions: int) -> bool:
    return len(data) == dimensions * PACKED.itemsize
