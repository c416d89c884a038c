"""Length-prefixed messages over a pipe: no byte of a document can be taken for a command."""

import os
import struct

LENGTH = struct.Struct(">I")


def pack(payload: bytes) -> list[bytes]:
    """Kept in two pieces: a large payload is not copied to put four bytes before it."""
    return [LENGTH.pack(len(payload)), payload]


def read_frame(fd: int) -> bytes | None:
    """The next frame, or None when the other end is gone."""
    head = _read_exactly(fd, LENGTH.size)
    return None if head is None else _read_exactly(fd, LENGTH.unpack(head)[0])


def write_frame(fd: int, payload: bytes) -> None:
    for piece in pack(payload):
        view = memoryview(piece)
        while view:
            view = view[os.write(fd, view) :]


def _read_exactly(fd: int, size: int) -> bytes | None:
    data = bytearray()
    while len(data) < size:
        piece = os.read(fd, min(size - len(data), 1 << 20))
        if not piece:
            return None
        data += piece
    return bytes(data)
