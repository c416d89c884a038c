"""Search documents at a terminal: `manage.py searchdocs QUERY --project P`."""

import json
from argparse import ArgumentParser, ArgumentTypeError
from itertools import chain
from typing import Any

from django.utils.translation import gettext as _
from rest_framework.utils.encoders import JSONEncoder

from glossary_site.jobs.management.tables import harmless
from glossary_site.management.acting import add_actor_argument
from glossary_site.management.base import SiteCommand
from indexing.api.serializers import SearchAnswerSerializer
from indexing.choices import Freshness, Mode
from indexing.search.grouping import DEEPEST
from indexing.search.options import DEFAULT_LIMIT, MOST_RESULTS, SearchOptions, SearchPage
from indexing.search.service import search
from projects.management.acting import actor_named
from projects.management.targets import projects_meant

TEXT, JSON = "text", "json"


def a_limit(text: str) -> int:
    if not (text.isdecimal() and int(text)):
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return min(int(text), MOST_RESULTS)


def some_depths(text: str) -> list[int]:
    depths = [part.strip() for part in text.split(",")]
    if not all(part.isdecimal() and int(part) <= DEEPEST for part in depths):
        raise ArgumentTypeError(f"{text!r} is not a depth from 0 to {DEEPEST}")
    return [int(part) for part in depths]


class Command(SiteCommand):
    help = (
        "Search the documents of a project, or of all. Put -- before a query that begins with a "
        "minus."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "query", metavar="QUERY", nargs="+", help='words, "an exact phrase", prefix*'
        )
        parser.add_argument(
            "--project", help="name or id of a project; without it, all that you may see"
        )
        parser.add_argument("--format", choices=(TEXT, JSON), default=TEXT, help="how to answer")
        parser.add_argument(
            "--limit",
            type=a_limit,
            default=DEFAULT_LIMIT,
            help=f"how many results; at most {MOST_RESULTS}",
        )
        parser.add_argument(
            "--depth",
            type=some_depths,
            nargs="+",
            action="extend",
            default=[],
            help="answer with sections of these depths: 1 to 6, 0 for whole documents",
        )
        parser.add_argument(
            "--index-status",
            choices=Freshness.values,
            default=Freshness.ALL.value,
            help="whether documents count that are being indexed anew",
        )
        parser.add_argument(
            "--mode",
            choices=Mode.values,
            default=Mode.HYBRID.value,
            help="by words, by meaning, or by both",
        )
        parser.add_argument(
            "--path",
            action="append",
            default=[],
            help="only documents whose path matches, as in .gitignore; may be repeated",
        )
        parser.add_argument(
            "--exclude-path",
            action="append",
            default=[],
            help="no documents whose path matches; may be repeated",
        )
        add_actor_argument(parser)

    def handle(self, *args: Any, username: str | None, **options: Any) -> None:
        projects = projects_meant(options["project"], actor_named(username))
        page = search(
            SearchOptions(
                # What a terminal of another encoding typed is no text.
                query=" ".join(options["query"]).encode(errors="replace").decode(),
                project_ids=tuple(project.pk for project in projects),
                mode=Mode(options["mode"]),
                limit=options["limit"],
                depths=tuple(dict.fromkeys(chain.from_iterable(options["depth"]))),
                include=tuple(options["path"]),
                exclude=tuple(options["exclude_path"]),
                freshness=Freshness(options["index_status"]),
            )
        )
        if options["format"] == JSON:
            answer = SearchAnswerSerializer(page).data
            self.stdout.write(json.dumps(answer, cls=JSONEncoder, ensure_ascii=False, indent=2))
            return
        self.stdout.write(as_text(page, name_projects=len(projects) > 1))
        for notice in page.notices:
            self.stderr.write(notice, style_func=str)


def as_text(page: SearchPage, *, name_projects: bool) -> str:
    total = f"{page.total}{'' if page.total_is_exact else '+'}"
    heading = _('Search results for "%(query)s" (%(total)s)') % {
        "query": one_line(page.options.query),
        "total": total,
    }
    parts = [heading]
    for number, result in enumerate(page.results, start=1):
        place = result.document_path
        if name_projects:
            place = f"{result.project_name}: {place}"
        line = _("%(number)d. %(place)s - %(heading)s (score: %(score).2f) [%(status)s]") % {
            "number": number,
            "place": one_line(place),
            "heading": one_line(result.heading or result.document_title),
            "score": result.score,
            "status": result.index_status.label,
        }
        parts.append(f"{line}\n   {one_line(result.snippet)}")
    return "\n\n".join(parts)


def one_line(text: str) -> str:
    return " ".join(harmless(text).split())
