"""reStructuredText to Markdown by way of docutils' HTML.

Files are never included and raw HTML never passed on. Mistakes in the markup leave no messages in
the text, and no text is lost to them: what docutils cannot read is kept as it was written.
"""

import re

from docutils.core import publish_parts
from docutils.readers.standalone import Reader

from projects.intake.convert import sphinx
from projects.intake.convert.html import to_markdown
from projects.intake.convert.rst_tidy import Tidy

SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    # Above the highest level there is: nothing is reported and nothing stops the conversion.
    "report_level": 5,
    "halt_level": 6,
    "warning_stream": "",
    # For one line that is longer docutils drops the whole document.
    "line_length_limit": 100_000,
    # A site-wide docutils.conf must not change what a document says.
    "_disable_config": True,
    # Every title is a section, so that several at the top are all first-level headings.
    "doctitle_xform": False,
    "initial_header_level": 1,
    "docinfo_xform": False,
    "embed_stylesheet": False,
    "stylesheet_path": None,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "math_output": "LaTeX",
    "toc_backlinks": False,
    "footnote_references": "brackets",
}
# Fields with which an author speaks to Sphinx, not to the reader.
FILE_FIELDS = re.compile(r"^:(?:orphan|tocdepth|nocomments|nosearch):.*\n", re.MULTILINE)


class TidyReader(Reader):
    def get_transforms(self) -> list[type]:
        return [*super().get_transforms(), Tidy]


def convert(data: bytes) -> str:
    source = FILE_FIELDS.sub("", data.decode())
    sphinx.prepare(source)
    parts = publish_parts(source, reader=TidyReader(), writer="html5", settings_overrides=SETTINGS)
    return to_markdown(str(parts["body"]))
