"""The name of a file in a `.zip`, whichever program packed it."""

import struct
import zipfile
import zlib

UTF8_FLAG = 0x800
# The field in which some programs repeat the name in UTF-8.
UNICODE_NAME = 0x7075


def name_of(info: zipfile.ZipInfo) -> str:
    """As text, with whatever hides in it still there for `clean_path` to see.

    Without the UTF-8 flag the standard library reads the bytes as those of an old IBM PC. Japanese
    Windows writes Shift_JIS there, and many Unix programs write UTF-8 and forget the flag.
    """
    name = info.orig_filename
    if info.flag_bits & UTF8_FLAG:
        return name
    try:
        stored = name.encode("cp437")
    except UnicodeEncodeError:
        return name
    repeated = _repeated(info.extra, stored)
    if repeated is not None:
        return repeated
    for encoding in ("utf-8", "cp932"):
        try:
            return stored.decode(encoding)
        except UnicodeDecodeError:
            continue
    return name


def _repeated(extra: bytes, stored: bytes) -> str | None:
    while len(extra) >= 4:
        kind, size = struct.unpack_from("<HH", extra)
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind != UNICODE_NAME or len(field) < 5:
            continue
        # The checksum tells whether a later program renamed the file and left this behind.
        if field[0] == 1 and struct.unpack_from("<I", field, 1)[0] == zlib.crc32(stored):
            try:
                return field[5:].decode()
            except UnicodeDecodeError:
                return None
    return None
