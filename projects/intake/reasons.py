"""The sentences for what went wrong in the converting child, which itself knows only reasons."""

from django.utils.translation import gettext_lazy as _

from projects.intake.errors import Refused, readable_size
from projects.intake.limits import Limits

REASONS: dict[str, tuple[str, object]] = {
    "timeout": (
        "conversion_timeout",
        _("The file took longer than %(seconds)s seconds to read and was given up."),
    ),
    "upload_timeout": (
        "conversion_timeout",
        _("The files before it took more than %(total)s seconds to read. Send the rest again."),
    ),
    "crashed": ("conversion_failed", _("The file could not be read; it may be damaged.")),
    "failed": ("conversion_failed", _("The file could not be read; it may be damaged.")),
    "memory": (
        "conversion_failed",
        _("The file needs more than %(memory)s of memory to read and was given up."),
    ),
    "too_deep": ("conversion_failed", _("The file is nested too deeply to be read.")),
    "text_too_large": (
        "file_too_large",
        _("The text of the file is larger than %(size)s, the limit for one file."),
    ),
    "pdf_password": (
        "conversion_failed",
        _("The PDF is protected by a password. Save it without one and try again."),
    ),
    "pdf_images": (
        "conversion_failed",
        _("The PDF has no text, only pictures. Run text recognition on it first."),
    ),
    "pdf_garbled": (
        "conversion_failed",
        _("The text of the PDF cannot be read: its fonts do not map to letters."),
    ),
    "pdf_broken": ("conversion_failed", _("The PDF is damaged and cannot be opened.")),
    "docx_password": (
        "conversion_failed",
        _("The Word document is protected by a password. Save it without one and try again."),
    ),
    "docx_other": (
        "unsupported_format",
        _("The file is not a Word document, though its name ends in “.docx”."),
    ),
    "docx_broken": ("conversion_failed", _("The Word document is damaged and cannot be opened.")),
    "docx_too_large": (
        "archive_too_large",
        _("The Word document unpacks to more than %(expanded)s."),
    ),
    "docx_ratio": (
        "archive_ratio",
        _("The Word document unpacks to more than %(ratio)s times its size."),
    ),
}


def refusal(reason: str, limits: Limits) -> Refused:
    code, sentence = REASONS.get(reason, REASONS["failed"])
    return Refused(
        code,
        sentence,
        seconds=f"{limits.conversion_seconds:g}",
        total=f"{limits.conversion_total_seconds:g}",
        memory=readable_size(limits.conversion_memory_bytes),
        size=readable_size(limits.max_file_bytes),
        expanded=readable_size(limits.max_archive_bytes),
        ratio=limits.max_archive_ratio,
    )
