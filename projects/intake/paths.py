"""The one door for a path that a person gives: relative, visible, portable, no secrets.

A path that comes out of `clean_path` can be shown, stored, compared and written to a disk of any
system. Cleaning it once more changes nothing.
"""

import re
import unicodedata
from fnmatch import fnmatchcase

from django.utils.translation import gettext_lazy as _

from projects.intake.errors import Refused

MAX_SEGMENT_BYTES = 255
# Four bytes each at most: PostgreSQL refuses to index a value of more than 2,700.
MAX_PATH_CHARACTERS = 600
# As it may arrive, with accents and Korean letters still in pieces.
MAX_RAW_CHARACTERS = 4 * MAX_PATH_CHARACTERS

# Not format characters by category, yet they draw nothing (or only a blank).
BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
EMOJI_SELECTORS = frozenset("\ufe0e\ufe0f")

RESERVED = frozenset(
    ["con", "prn", "aux", "nul", "conin$", "conout$", "clock$"]
    + [f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"]
)
DRIVE = re.compile(r"[A-Za-z]:")

SECRET_FOLDERS = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".ssh",
        ".aws",
        ".azure",
        ".gcloud",
        ".gnupg",
        ".kube",
        ".docker",
        ".password-store",
    ]
)
SECRET_FILES = (
    ".env",
    ".env.*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.ppk",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "credentials*",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".pypirc",
    ".htpasswd",
    ".pgpass",
    ".my.cnf",
    ".git-credentials",
    ".dockercfg",
)
# A template is meant to be read; it names the variables and holds no values.
SECRET_EXCEPTIONS = frozenset([".env.example", ".env.sample", ".env.template"])


def clean_path(raw: str) -> str:
    """The path as it will be stored, or `Refused` with what is wrong with it."""
    # Before all else: to put a long row of accents in order takes quadratic time.
    if len(raw) > MAX_RAW_CHARACTERS:
        raise _too_long(raw)
    path = unicodedata.normalize("NFC", raw)
    if not path.strip():
        raise Refused("path_empty", _("The file has no name."))
    _refuse_hidden(path)
    path = path.replace("\\", "/")
    _refuse_absolute(path)

    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if not segments:
        raise Refused("path_empty", _("The path names no file."))
    if ".." in segments:
        raise Refused("path_parent", _("The path must not contain “..”."))
    path = "/".join(segments)
    # "./C:/x" only shows its drive once the dot is gone.
    _refuse_absolute(path)

    for segment in segments:
        _refuse_unportable(segment)
    if len(path) > MAX_PATH_CHARACTERS:
        raise _too_long(path)
    _refuse_secret(segments)
    return path


def displayable(raw: str) -> str:
    """A refused path made safe to show: hidden characters spelled out, length bounded."""
    shown = "".join(
        f"<{_code_point(char)}>" if _is_hidden(raw, index) else char
        for index, char in enumerate(raw[:MAX_PATH_CHARACTERS])
    )
    return shown if len(raw) <= MAX_PATH_CHARACTERS else f"{shown}…"


def _is_hidden(text: str, index: int) -> bool:
    char = text[index]
    if char < "\x7f":
        return char < " "
    category = unicodedata.category(char)
    if category in ("Cc", "Cf", "Cs", "Zl", "Zp") or char in BLANKS:
        return True
    code = ord(char)
    before = unicodedata.category(text[index - 1]) if index else ""
    # A selector belongs to the sign before it (an emoji, a variant of a kanji). Anywhere else it
    # only makes two names that look alike.
    if char in EMOJI_SELECTORS:
        return before not in ("So", "Sm")
    if 0xE0100 <= code <= 0xE01EF:
        return before != "Lo"
    return (
        0xFE00 <= code <= 0xFE0D  # other selectors
        or 0xE0000 <= code <= 0xE0FFF  # tags, and what is reserved beside them
        or 0xFDD0 <= code <= 0xFDEF
        or code & 0xFFFE == 0xFFFE  # never a character
    )


def _code_point(char: str) -> str:
    return f"U+{ord(char):04X}"


def _refuse_hidden(path: str) -> None:
    if path.isascii() and path.isprintable():
        return
    found = dict.fromkeys(char for i, char in enumerate(path) if _is_hidden(path, i))
    if found:
        raise Refused(
            "path_hidden_characters",
            _("The path has characters that cannot be seen: %(characters)s."),
            characters=", ".join([_code_point(char) for char in found][:5]),
        )


def _refuse_absolute(path: str) -> None:
    if path.startswith("/") or DRIVE.match(path):
        raise Refused(
            "path_absolute",
            _("The path is absolute; give one that is relative to the project."),
        )


def _too_long(path: str) -> Refused:
    return Refused(
        "path_too_long",
        _("The path has %(length)s characters; at most %(limit)s are allowed."),
        length=len(path),
        limit=MAX_PATH_CHARACTERS,
    )


def _refuse_unportable(segment: str) -> None:
    if segment[-1] == "." or segment[-1].isspace():
        raise Refused(
            "path_reserved_name",
            _("“%(name)s” ends in a dot or a space, which not every system can store."),
            name=segment,
        )
    stem = re.split(r"[.:]", segment, maxsplit=1)[0].rstrip().casefold()
    if stem in RESERVED:
        raise Refused(
            "path_reserved_name",
            _("“%(name)s” is a name that Windows keeps for devices."),
            name=segment,
        )
    size = len(segment.encode())
    if size > MAX_SEGMENT_BYTES:
        raise Refused(
            "path_too_long",
            _("A name in the path has %(length)s bytes; at most %(limit)s are allowed."),
            length=size,
            limit=MAX_SEGMENT_BYTES,
        )


def _refuse_secret(segments: list[str]) -> None:
    folded = [segment.casefold() for segment in segments]
    name = folded[-1]
    if name not in SECRET_EXCEPTIONS and any(fnmatchcase(name, p) for p in SECRET_FILES):
        raise Refused(
            "path_secret",
            _("“%(name)s” looks like a file with secrets, so it was left out."),
            name=segments[-1],
        )
    for segment, original in zip(folded, segments, strict=True):
        if segment in SECRET_FOLDERS:
            raise Refused(
                "path_secret",
                _("“%(name)s” is a folder that may hold secrets, so it was left out."),
                name=original,
            )
