"""The door of this package: files as handed in, one by one, to drafts that are ready to store.

A generator from end to end. Whatever the number of files, one of them is in memory at a time, and
a bad one never stops the good ones.
"""

from collections.abc import Iterable, Iterator
from contextlib import closing

from django.utils.translation import gettext_lazy as _

from projects.choices import Format
from projects.intake import archive
from projects.intake.encoding import decode, decode_html
from projects.intake.errors import Refused, readable_size
from projects.intake.files import Draft, Incoming, Rejected
from projects.intake.formats import ARCHIVE, check_content, ending_of, format_of, is_litter
from projects.intake.limits import Limits
from projects.intake.paths import clean_path
from projects.intake.titles import title_of
from projects.intake.worker import Converter

CHUNK = 2**16


def read(incoming: Iterable[Incoming], limits: Limits) -> Iterator[Draft | Rejected]:
    """A `Draft` or a `Rejected` for each file, in order; archives are expanded in place."""
    count = 0
    with Converter(limits) as converter:
        for item in _expanded(incoming, limits):
            count += 1
            if count > limits.max_files:
                yield Rejected.because(item.path, _too_many(limits))
                return
            if isinstance(item, Rejected):
                yield item
                continue
            try:
                yield _draft(item, limits, converter)
            except Refused as refused:
                yield Rejected.because(item.path, refused)


def _expanded(incoming: Iterable[Incoming], limits: Limits) -> Iterator[Incoming | Rejected]:
    for item in incoming:
        if is_litter(item.path):
            continue
        try:
            path = clean_path(item.path)
            if ending_of(path) == ARCHIVE:
                with closing(item.open()) as stream:
                    yield from archive.members(path, stream, limits)
            else:
                yield item
        except Refused as refused:
            yield Rejected.because(item.path, refused)
        except OSError:
            yield Rejected.because(item.path, _unreadable())


def _draft(item: Incoming, limits: Limits, converter: Converter) -> Draft:
    path = clean_path(item.path)
    format = format_of(path)
    data = _contents(item, limits)
    if not data:
        raise Refused("file_empty", _("The file is empty."))
    check_content(format, data[:1024], path)
    content = _markdown(format, data, limits, converter)
    if not content.strip():
        raise Refused("file_empty", _("There is no text in the file."))
    return Draft(
        path=path,
        content=content,
        title=title_of(content, path),
        format=format,
    )


def _contents(item: Incoming, limits: Limits) -> bytes:
    """All bytes of the file, or no more than shows that there are too many."""
    data = bytearray()
    try:
        with closing(item.open()) as stream:
            while piece := stream.read(CHUNK):
                data += piece
                if len(data) > limits.max_file_bytes:
                    raise Refused(
                        "file_too_large",
                        _("The file is larger than %(limit)s, the limit for one file."),
                        limit=readable_size(limits.max_file_bytes),
                    )
    except OSError:
        raise _unreadable() from None
    return bytes(data)


def _markdown(format: Format, data: bytes, limits: Limits, converter: Converter) -> str:
    match format:
        case Format.HTML:
            return converter.convert(format, decode_html(data).encode())
        case Format.RST:
            return converter.convert(format, decode(data).encode())
        case Format.DOCX:
            return converter.convert(
                format,
                data,
                max_bytes=limits.max_archive_bytes,
                max_ratio=limits.max_archive_ratio,
            )
        case Format.PDF:
            return converter.convert(format, data)
        case _:
            return decode(data)


def _too_many(limits: Limits) -> Refused:
    return Refused(
        "too_many_files",
        _("At most %(limit)s files are read at once; this one and those after it were left out."),
        limit=limits.max_files,
    )


def _unreadable() -> Refused:
    return Refused("conversion_failed", _("The file could not be opened."))
