"""A text that a program hands in as text: no encoding to guess, no format to convert."""

from django.utils.translation import gettext_lazy as _

from projects.choices import Format
from projects.intake.encoding import CONTROL
from projects.intake.errors import Refused, readable_size
from projects.intake.files import Draft
from projects.intake.limits import Limits
from projects.intake.paths import clean_path
from projects.intake.titles import title_of


def draft_of(*, path: str, content: str, limits: Limits) -> Draft:
    """A text that is already Markdown, held to the rules for files."""
    path = clean_path(path)
    content = content.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if CONTROL.search(content):
        raise Refused("binary_content", _("The text has control characters."))
    if not content.strip():
        raise Refused("file_empty", _("There is no text in it."))
    if len(content.encode()) > limits.max_file_bytes:
        raise Refused(
            "file_too_large",
            _("The text is larger than %(limit)s."),
            limit=readable_size(limits.max_file_bytes),
        )
    return Draft(path=path, content=content, title=title_of(content, path), format=Format.MARKDOWN)
