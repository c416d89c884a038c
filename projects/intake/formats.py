"""Which files are read, told by the ending of the name and checked against the first bytes."""

from pathlib import PurePosixPath

from django.utils.translation import gettext_lazy as _

from projects.choices import Format
from projects.intake.errors import Refused

ENDINGS = {
    **dict.fromkeys([".md", ".markdown", ".mdown", ".mkd"], Format.MARKDOWN),
    **dict.fromkeys([".txt", ".text"], Format.TEXT),
    ".rst": Format.RST,
    **dict.fromkeys([".html", ".htm"], Format.HTML),
    ".docx": Format.DOCX,
    ".pdf": Format.PDF,
}
ARCHIVE = ".zip"
UNSUPPORTED = "unsupported_format"
OTHER_ARCHIVES = frozenset(
    [
        ".7z",
        ".rar",
        ".tar",
        ".gz",
        ".tgz",
        ".bz2",
        ".tbz2",
        ".xz",
        ".txz",
        ".zst",
        ".lzh",
        ".lha",
        ".cab",
        ".jar",
        ".war",
        ".arj",
    ]
)
# Files that systems leave in folders on their own; nobody means to hand them in.
LITTER_NAMES = frozenset([".ds_store", "thumbs.db", "desktop.ini"])

PDF, ZIP, EMPTY_ZIP = b"%PDF-", b"PK\x03\x04", b"PK\x05\x06"
# The container of old Word files, and of new ones that were saved with a password.
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def ending_of(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def is_litter(raw: str) -> bool:
    segments = raw.replace("\\", "/").split("/")
    name = segments[-1].lower()
    return "__MACOSX" in segments or name in LITTER_NAMES or name.startswith("._")


def is_read(path: str) -> bool:
    """As far as its name tells."""
    return ending_of(path) in (*ENDINGS, ARCHIVE)


def format_of(path: str) -> Format:
    ending = ending_of(path)
    if ending not in ENDINGS:
        raise Refused(
            UNSUPPORTED,
            _("“%(ending)s” files are not read. Accepted: %(accepted)s."),
            ending=ending or PurePosixPath(path).name,
            accepted=", ".join(sorted([*ENDINGS, ARCHIVE])),
        )
    return ENDINGS[ending]


def check_content(format: Format, head: bytes, path: str) -> None:
    """Refuse a file whose first bytes say that it is something else than its name says."""
    ending = ending_of(path)
    found = _kind(head, lenient=format == Format.PDF)
    expected = {Format.PDF: "PDF", Format.DOCX: "ZIP"}.get(format)
    if format == Format.DOCX and found == "OLE":
        raise Refused(
            UNSUPPORTED,
            _("This is an old or password-protected Word file; save it as a plain .docx."),
        )
    if found == expected:
        return
    if expected:
        raise Refused(
            UNSUPPORTED,
            _("The name ends in “%(ending)s”, but the content is something else."),
            ending=ending,
        )
    raise Refused(
        UNSUPPORTED,
        _("The name ends in “%(ending)s”, but the content is a %(found)s file."),
        ending=ending,
        found=found,
    )


def _kind(head: bytes, *, lenient: bool) -> str | None:
    # PDF programs accept a little rubbish before the mark; a text may quote it further down.
    if head.startswith(PDF) or (lenient and PDF in head[:1024]):
        return "PDF"
    if head.startswith((ZIP, EMPTY_ZIP)):
        return "ZIP"
    return "OLE" if head.startswith(OLE) else None
