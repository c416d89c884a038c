"""Write the published glossary of a project as Markdown, JSON or CSV."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.utils.translation import ngettext

from glossary_site.management.acting import add_actor_argument
from glossary_site.management.arguments import path_named
from glossary_site.management.base import SiteCommand
from projects.categories import check_category
from projects.exports.published import FORMATS, export
from projects.management.acting import actor_named
from projects.management.output import write_result
from projects.management.targets import project_named
from projects.terms.readings import LETTERS

DEFAULT = "md"


class Command(SiteCommand):
    help = (
        "Write the published glossary of a project, or a part of it, to a file or to standard "
        "output. Without --format, the name of the file says which; else it is Markdown."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="name or id of the project")
        parser.add_argument("--format", choices=sorted(FORMATS), help="md, json or csv")
        parser.add_argument(
            "--output", type=path_named, metavar="FILE", help="write there, whole or not at all"
        )
        parser.add_argument(
            "--search", default="", metavar="WORDS", help="only entries that the page would find"
        )
        parser.add_argument(
            "--letter", default="", choices=["", *LETTERS], help="only entries under this letter"
        )
        parser.add_argument("--category", default="", help="only entries of this category (a key)")
        add_actor_argument(parser)

    def handle(
        self,
        *args: Any,
        project: str,
        format: str | None,
        output: Path | None,
        search: str,
        letter: str,
        category: str,
        username: str | None,
        **options: Any,
    ) -> None:
        found = project_named(project, actor_named(username))
        check_category(found, category)
        entries = found.entries.narrowed(query=search.strip(), letter=letter, category=category)
        text = export(found, format or _named_by(output), entries=entries)
        write_result(text, output=output, stdout=self.stdout)
        if output is not None:
            count = entries.count()
            words = ngettext(
                "%(count)s entry is in %(path)s.", "%(count)s entries are in %(path)s.", count
            )
            self.stderr.write(words % {"count": count, "path": output}, style_func=str)


def _named_by(output: Path | None) -> str:
    suffix = output.suffix.lower().removeprefix(".") if output is not None else ""
    return suffix if suffix in FORMATS else DEFAULT
