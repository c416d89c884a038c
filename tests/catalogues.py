"""Collects the texts people see and keeps `locale/*/LC_MESSAGES/django.po` in step with them.

`make messages` updates the catalogues; `tests/site/test_translations.py` fails while one lacks a
text. English is the language of the source, so its catalogue fills itself. Babel does the work of
gettext's tools, which a fresh machine does not have.
"""

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = ("en", "ja")
SOURCES = ("glossary_site", "projects", "indexing", "runs", "collection")
HEADER = "# Texts of Glossary Site. `make messages` keeps the list; write the translations here."
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
KEYWORDS = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}


def sources() -> Iterator[tuple[str, str]]:
    """Every file with texts, as Python source that Babel can read."""
    for top in SOURCES:
        for path in sorted((ROOT / top).rglob("*.py")):
            if "migrations" not in path.parts:
                yield str(path.relative_to(ROOT)), path.read_text()
    for path in sorted((ROOT / "templates").rglob("*")):
        if path.suffix in (".html", ".txt"):
            text = templatize(path.read_text(), origin=str(path))
            # What is left of the page around the calls is noise, but its indentation would matter.
            yield (
                str(path.relative_to(ROOT)),
                "\n".join(line.strip() for line in text.splitlines()),
            )


def collect() -> Catalog:
    catalogue = Catalog(project="Glossary Site", charset="utf-8")
    for name, source in sources():
        found = extract(
            "python",
            BytesIO(source.encode()),
            keywords=KEYWORDS,
            comment_tags=("Translators",),
            strip_comment_tags=True,
        )
        for _line, text, comments, context in found:
            catalogue.add(text, locations=[(name, 0)], auto_comments=comments, context=context)
    return catalogue


def key_of(message: Message) -> str:
    return str(message.id[0] if message.pluralizable else message.id)


def path_of(language: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES" / "django.po"


def load(language: str) -> Catalog:
    try:
        with path_of(language).open("rb") as file:
            return read_po(file, locale=language)
    except FileNotFoundError:
        return Catalog(locale=language, project="Glossary Site", charset="utf-8")


def update() -> None:
    for language in LANGUAGES:
        known = load(language)
        # Built anew, so that the file depends on nothing but the texts.
        catalogue = Catalog(
            locale=language,
            project="Glossary Site",
            version="0",
            charset="utf-8",
            header_comment=HEADER,
            last_translator="Glossary Site",
            language_team=language,
            msgid_bugs_address="",
            creation_date=EPOCH,
            revision_date=EPOCH,
            fuzzy=False,
        )
        for message in collect():
            if message.id:
                catalogue[message.id] = message
                old = known.get(key_of(message), message.context)
                message.string = old.string if old else ("", "") if message.pluralizable else ""
                if language == "en":
                    message.string = message.id
        path_of(language).parent.mkdir(parents=True, exist_ok=True)
        with path_of(language).open("wb") as file:
            write_po(file, catalogue, width=100, sort_output=True, include_lineno=False)


def missing(language: str) -> list[str]:
    """Texts of the source that the catalogue does not have, or has without a translation."""
    catalogue = load(language)
    lacking = []
    for message in collect():
        if not message.id:
            continue
        known = catalogue.get(key_of(message), message.context)
        strings = known.string if known else ""
        complete = all(strings) if isinstance(strings, (tuple, list)) else bool(strings)
        if not known or not complete or known.fuzzy:
            lacking.append(str(message.id))
    return lacking


if __name__ == "__main__":
    if sys.argv[1:] != ["update"]:
        sys.exit("usage: python -m tests.catalogues update")
    update()
