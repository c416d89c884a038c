"""The glossary as Markdown, JSON and CSV: the same text from the page, the API and the command."""

from projects.exports.csv import glossary_csv
from projects.exports.data import EntryData
from projects.exports.json import glossary_json
from projects.exports.markdown import glossary_markdown

__all__ = ["EntryData", "glossary_csv", "glossary_json", "glossary_markdown"]
