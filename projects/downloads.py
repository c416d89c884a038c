"""A text as a file to keep, never shown in place: it must not run as a page of this site."""

import posixpath

from django.http import HttpResponse
from django.utils.http import content_disposition_header

from projects.choices import Format
from projects.models import Document, DocumentVersion

MARKDOWN, PLAIN = "text/markdown", "text/plain"


def as_file(text: Document | DocumentVersion, path: str) -> HttpResponse:
    is_plain = text.format == Format.TEXT
    response = HttpResponse(
        text.content, content_type=f"{PLAIN if is_plain else MARKDOWN}; charset=utf-8"
    )
    name = posixpath.basename(path)
    # What was Word or PDF is the Markdown it became, and is called so.
    if not is_plain and not name.lower().endswith((".md", ".markdown")):
        name += ".md"
    response["Content-Disposition"] = content_disposition_header(True, name) or "attachment"
    response["X-Content-Type-Options"] = "nosniff"
    return response
