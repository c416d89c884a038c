"""A run's entries have the order of the published glossary: that of its index."""

import re

import pytest

from projects.terms.keys import key_of
from projects.terms.readings import reading_of
from runs.exports import export_entries
from runs.models import ProvisionalEntry, Run
from tests.runs.made import make_run

pytestmark = pytest.mark.django_db

LATIN, KANA, REST = ["apple", "zone"], ["うし", "ヴァイオリン", "わし"], ["3 phase", "α test"]
IN_ORDER = {"en": [*LATIN, *KANA, *REST], "ja": [*KANA, *LATIN, *REST]}


@pytest.fixture(params=IN_ORDER)
def run(request, project) -> Run:
    project.language = request.param
    project.save()
    run = make_run(project)
    ProvisionalEntry.objects.bulk_create(
        ProvisionalEntry(
            run=run,
            term=term,
            key=key_of(term),
            reading=reading_of(term),
            language="en",
            definition="It is.",
            confidence=1,
            order=place,
        )
        for place, term in enumerate(sorted(IN_ORDER["en"]))
    )
    run.steps.filter(step="refine").update(finished_at=None)
    return run


def test_its_file(run, project):
    text = "".join(export_entries(run, "md"))
    assert re.findall(r"^### (.+)$", text, re.M) == IN_ORDER[project.language]
    letters = re.findall(r"^## \\?(.)$", text, re.M)
    assert len(letters) == len(set(letters)) == 5


def test_its_rows(run, project, as_viewer):
    rows = as_viewer.get(f"/api/projects/{project.pk}/provisional?ordering=term").json()
    assert [row["term_name"] for row in rows["results"]] == IN_ORDER[project.language]
    rows = as_viewer.get(f"/api/projects/{project.pk}/provisional?ordering=-term").json()
    assert [row["term_name"] for row in rows["results"]] == IN_ORDER[project.language][::-1]
