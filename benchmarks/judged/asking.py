"""Asks the queries of a judged set, from within a site (benchmarks/search_quality.py starts it).

    python -m benchmarks.judged.asking PROJECT FOLDER [WEIGHT…]

Prints what was found as JSON: for each way of looking the answers to each query, and the answers
that there are. With weights, hybrid is asked once with each of them instead of the usual one.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import django

django.setup()

from benchmarks.judged.measures import AT  # noqa: E402
from benchmarks.judged.sets import JudgedSet, answer_id, load  # noqa: E402
from indexing.choices import Mode  # noqa: E402
from indexing.embedders import weights  # noqa: E402
from indexing.lexical.analysis import language_of  # noqa: E402
from indexing.models import Section  # noqa: E402
from indexing.search.options import SearchOptions  # noqa: E402
from indexing.search.service import search  # noqa: E402


def ask(judged: JudgedSet, project_id: int, mode: Mode) -> dict[str, list[str]]:
    return {
        query.id: first_ten(
            SearchOptions(query=query.text, project_ids=(project_id,), mode=mode, limit=2 * AT),
            by_section=judged.by_section,
        )
        for query in judged.queries
    }


def first_ten(options: SearchOptions, *, by_section: bool) -> list[str]:
    """A document that is found again further down is not another answer."""
    answers = dict.fromkeys(
        answer_id(result.document_path, result.heading, by_section=by_section)
        for result in search(options).results
    )
    return list(answers)[:AT]


def with_weight(judged: JudgedSet, project_id: int, weight: float) -> dict[str, list[str]]:
    same = {kind: dict.fromkeys(each, weight) for kind, each in weights.WEIGHTS.items()}
    with patch.dict(weights.WEIGHTS, same):
        return ask(judged, project_id, Mode.HYBRID)


def answers_there(judged: JudgedSet, project_id: int) -> list[str]:
    """Those in the language of the queries: in a manual that is translated in part, the rest is no
    answer to somebody who asks in its language."""
    languages = Counter(language_of(query.text) for query in judged.queries)
    language = languages.most_common(1)[0][0]
    sections = Section.objects.filter(project_id=project_id).exclude(content="")
    return sorted(
        {
            answer_id(path, heading, by_section=judged.by_section)
            for path, heading, content in sections.values_list(
                "document__path", "heading", "content"
            )
            if language_of(content) == language
        }
    )


def main() -> None:
    project, folder, *asked = sys.argv[1:]
    judged, project_id = load(Path(folder)), int(project)
    ways = (
        {f"hybrid {weight}": with_weight(judged, project_id, float(weight)) for weight in asked}
        if asked
        else {mode.value: ask(judged, project_id, mode) for mode in Mode}
    )
    json.dump({"answers": answers_there(judged, project_id), "ways": ways}, sys.stdout)


if __name__ == "__main__":
    main()
