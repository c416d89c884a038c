"""A `.zip` as the files in it: named safely, unpacked one by one, measured while unpacking."""

import io
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, BinaryIO, cast

from django.utils.translation import gettext_lazy as _

from projects.intake.errors import Refused, readable_size
from projects.intake.files import Incoming, Rejected
from projects.intake.formats import ARCHIVE, OTHER_ARCHIVES, ending_of, is_litter
from projects.intake.limits import Limits
from projects.intake.paths import clean_path
from projects.intake.zip_names import name_of

# Below this a few pages of repeated text may have any ratio.
HARMLESS_BYTES = 2**20
# What the directory of an archive may take for each file, since all of it is read into memory.
DIRECTORY_BYTES_PER_FILE = 1200
# So many traps in one archive are no mistake.
MAX_TRAPS = 10
BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)
KNOWN_COMPRESSION = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def members(path: str, stream: BinaryIO, limits: Limits) -> Iterator[Incoming | Rejected]:
    """The files of the archive at `path`, as if they had been handed in beside it."""
    try:
        with _seekable(stream, limits) as source:
            size = source.seek(0, io.SEEK_END)
            if size > limits.max_archive_bytes:
                raise _too_large(limits)
            guarded = cast(IO[bytes], _Guarded(source, limits))
            with zipfile.ZipFile(guarded) as archive:
                yield from _members(path, archive, _Meter(limits, size))
    except Refused as refused:
        yield Rejected.because(path, refused)
    except BROKEN:
        yield Rejected.because(path, _broken())


def _members(path: str, archive: zipfile.ZipFile, meter: "_Meter") -> Iterator[Incoming | Rejected]:
    if "word/document.xml" in archive.NameToInfo:
        raise Refused(
            "unsupported_format",
            _("This is a Word document, not an archive; its name should end in “.docx”."),
        )
    folder = PurePosixPath(path).parent
    for info in archive.infolist():
        name = name_of(info)
        if name.endswith(("/", "\\")) or is_litter(name):
            continue
        if meter.is_over:
            # The refusal was given to the file that went over; the rest is left unread.
            return
        try:
            clean = clean_path(name)
            _refuse_special(info, clean)
        except Refused as refused:
            yield Rejected.because(name, refused)
        else:
            yield Incoming(path=str(folder / clean), open=_opener(archive, info, meter))


def _opener(
    archive: zipfile.ZipFile, info: zipfile.ZipInfo, meter: "_Meter"
) -> Callable[[], BinaryIO]:
    def open_member() -> BinaryIO:
        try:
            return io.BufferedReader(_Measured(archive.open(info), info.compress_size, meter))
        except BROKEN:
            raise _broken() from None

    return open_member


def _refuse_special(info: zipfile.ZipInfo, path: str) -> None:
    if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
        raise Refused("unsupported_format", _("This is a link or a device, not a file."))
    if info.flag_bits & 1:
        raise Refused(
            "archive_encrypted",
            _("The file is protected by a password. Pack it without one and try again."),
        )
    if ending_of(path) in {ARCHIVE, *OTHER_ARCHIVES}:
        raise Refused(
            "archive_nested", _("An archive inside an archive is not read; unpack it first.")
        )
    if info.compress_type not in KNOWN_COMPRESSION:
        raise Refused(
            "archive_broken",
            _("The file is packed by a method that is not read; use ordinary ZIP compression."),
        )


class _Meter:
    """How much an archive has unpacked to so far, whatever it claims about itself."""

    def __init__(self, limits: Limits, archive_bytes: int) -> None:
        # Once set, nothing more of the archive is unpacked.
        self.is_over = False
        self._limits = limits
        self._archive_bytes = archive_bytes
        self._total = 0
        self._in_traps = 0
        self._traps = 0

    def add(self, count: int, *, unpacked: int, packed: int) -> None:
        """Count another piece of a member that was `packed` and has come to `unpacked` bytes."""
        self._total += count
        if self._total > self._limits.max_archive_bytes:
            self.is_over = True
            raise _too_large(self._limits)
        if self._is_trap(unpacked, packed):
            # One trap is not held against the rest of its archive; many are.
            self._in_traps += unpacked
            self._traps += 1
            self.is_over = self._traps >= MAX_TRAPS
            raise Refused(
                "archive_ratio",
                _("It unpacks to more than %(ratio)s times its size, as only zip bombs do."),
                ratio=self._limits.max_archive_ratio,
            )
        if self._is_trap(self._total - self._in_traps, self._archive_bytes):
            self.is_over = True
            raise Refused(
                "archive_ratio",
                _(
                    "The archive unpacks to more than %(ratio)s times its size, as only zip bombs "
                    "do; the files from here on were left out."
                ),
                ratio=self._limits.max_archive_ratio,
            )

    def _is_trap(self, unpacked: int, packed: int) -> bool:
        return unpacked > max(HARMLESS_BYTES, self._limits.max_archive_ratio * packed)


class _Measured(io.RawIOBase):
    """One file being unpacked."""

    def __init__(self, source: IO[bytes], packed: int, meter: _Meter) -> None:
        self._source = source
        self._packed = packed
        self._meter = meter
        self._unpacked = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            piece = self._source.read(len(buffer))
        except BROKEN:
            raise _broken() from None
        self._unpacked += len(piece)
        self._meter.add(len(piece), unpacked=self._unpacked, packed=self._packed)
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._source.close()
        super().close()


class _Guarded:
    """The archive's file, unwilling to give a directory of any length at once."""

    def __init__(self, source: BinaryIO, limits: Limits) -> None:
        self._source = source
        self._limits = limits
        self._longest = max(HARMLESS_BYTES, limits.max_files * DIRECTORY_BYTES_PER_FILE)
        self.seek = source.seek
        self.tell = source.tell
        self.seekable = source.seekable

    def read(self, size: int = -1) -> bytes:
        if size > self._longest:
            raise Refused(
                "too_many_files",
                _("The archive lists more files than the %(limit)s allowed at once."),
                limit=self._limits.max_files,
            )
        return self._source.read(size if size >= 0 else self._longest)


@contextmanager
def _seekable(stream: BinaryIO, limits: Limits) -> Iterator[BinaryIO]:
    """A stream that can only be read once is put aside on disk first."""
    if stream.seekable():
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        while piece := stream.read(HARMLESS_BYTES):
            copy.write(piece)
            if copy.tell() > limits.max_archive_bytes:
                raise _too_large(limits)
        yield cast(BinaryIO, copy)


def _too_large(limits: Limits) -> Refused:
    return Refused(
        "archive_too_large",
        _("The archive unpacks to more than %(limit)s; the files from here on were left out."),
        limit=readable_size(limits.max_archive_bytes),
    )


def _broken() -> Refused:
    return Refused("archive_broken", _("The archive is damaged and cannot be unpacked here."))
