"""Finding terms and entries by what people type: other spellings and names, the nearest first."""

import pytest

from projects.services.synonyms import make_group
from projects.services.terms import add_term, set_status
from tests import factories
from tests.projects.glossary.visiting import data, page, publish
from tests.projects.terms.visiting import extract, found

pytestmark = pytest.mark.django_db

# Typed, and the only name that is meant.
SPELLINGS = [
    ("サーバー", "サーバ"),
    ("ｻｰﾊﾞｰ", "サーバ"),
    ("さーば", "サーバ"),
    ("コンピュータ", "コンピューター"),
    ("こんぴゅーたー", "コンピューター"),
    ("けいりゅうさく", "係留索"),
    ("ケイリュウ", "係留索"),
    ("Ｅ－ＭＡＩＬ", "email"),
    ("e-mails", "email"),
    ("filename", "file name"),
    ("File-N", "file name"),
    ("ÉCLUSE", "écluse"),
]
TERMS = sorted({term for _typed, term in SPELLINGS})


@pytest.fixture
def searched(project, owner):
    """The terms and the glossary of a project, each asked in the same words."""
    for term in TERMS:
        add_term(project=project, text=term, actor=owner)
    publish(project, owner, *(data(term) for term in TERMS))
    return lambda text: (
        [row.text for row in project.terms.matching(text)],
        [row.term for row in project.entries.matching(text)],
    )


def test_in_whatever_spelling(searched):
    for typed, term in SPELLINGS:
        assert searched(typed) == ([term], [term]), typed


def test_what_is_no_name_finds_nothing_instead_of_everything(searched):
    for typed in ("\u200b", "%", "_", "¥", "\\"):
        assert searched(typed) == ([], []), typed


class TestTheNearestFirst:
    def test_of_the_glossary(self, project, owner, sign_in, viewer):
        publish(
            project,
            owner,
            data("anchor watch", "It looks after the pilot."),
            data("harbour pilot"),
            data("mariner", aliases=["Pilots"]),
            data("pilot boat"),
            data("pilot"),
            data("berth", aliases=["pilotage place"]),
            data("tide"),
        )
        html = page(sign_in(viewer), "project-glossary", project.pk, q="PILOT")
        names = ["pilot", "mariner", "pilot boat", "berth", "harbour pilot", "anchor watch"]
        places = [html.index(f">{name}</a>") for name in names]
        assert places == sorted(places)
        assert ">tide</a>" not in html
        # Letters would be in no order.
        assert 'class="letter"' not in html

    def test_of_the_terms(self, project, owner, sign_in, viewer):
        terms = extract(
            project,
            found("job queue", score=9.0),
            found("queue", score=1.0),
            found("waiting line", score=0.5, variants=("waiting line", "ＱＵＥＵＥ")),
            found("spool", score=0.2),
            found("print queue entry", score=0.1),
        )
        # A synonym that is left out still leads to the one that stands for it.
        kept = [terms["spool"], terms["print queue entry"]]
        make_group(project=project, primary=kept[0], terms=kept[1:], actor=owner)
        excluded = {"ids": [kept[1].pk], "status": "excluded"}
        set_status(project=project, actor=owner, **excluded)
        reading = sign_in(viewer)
        names = ["queue", "waiting line", "job queue", "spool"]
        assert _order(page(reading, "project-terms", project.pk, q="queue"), names) == names
        by_score = ["job queue", "queue", "waiting line", "spool"]
        html = page(reading, "project-terms", project.pk, q="queue", sort="-score")
        assert _order(html, names) == by_score

    def test_by_rest(self, project, owner, sign_in, viewer):
        publish(
            project,
            owner,
            data("harbour pilot", score=9.0),
            data("mariner", aliases=["Ｐｉｌｏｔ"]),
        )
        extract(project, found("harbour pilot", score=9.0), found("pilot", score=1.0))
        client = sign_in(viewer)

        def names(path: str, field: str) -> list[str]:
            response = client.get(f"/api/projects/{project.pk}/{path}")
            return [row[field] for row in response.json()["results"]]

        assert names("terms?q=pilot", "text") == ["pilot", "harbour pilot"]
        assert names("terms?q=pilot&ordering=-score", "text") == ["harbour pilot", "pilot"]
        assert names("glossary?q=pilot", "term") == ["mariner", "harbour pilot"]
        assert names("glossary?q=pilot&ordering=term", "term") == ["harbour pilot", "mariner"]

    def test_among_the_suggestions(self, project, owner, sign_in, viewer):
        extract(project, found("サーバ室", score=9.0), found("サーバ", score=1.0))
        html = page(sign_in(viewer), "term-suggest", project.pk, synonym="ｻｰﾊﾞｰ")
        assert html.index('"サーバ"') < html.index('"サーバ室"')


def test_only_in_its_own_project(project, owner, searched):
    other = factories.make_project("Elsewhere")
    publish(other, owner, data("mailbox", aliases=["email"]))
    assert searched("email") == (["email"], ["email"])


def _order(html: str, names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: html.index(f">{name}</a>"))
