"""Lists by name have the order of the index, everywhere and in both databases."""

import re
from itertools import groupby, pairwise

import pytest

from projects.choices import Language
from projects.exports.published import export
from projects.models import GlossaryEntry
from projects.terms.keys import key_of
from projects.terms.readings import LATIN, REST, ROWS, index_letter, reading_of
from tests.projects.glossary.scene import data, publish
from tests.projects.glossary.visiting import page

pytestmark = pytest.mark.django_db

NAMES = [
    *(
        "ヴァイオリン",
        "ゔ",
        "ぁ",
        "ーベル",
        "ヷ",
        "ゕ",
        "ゃ",
        "ん",
        "うし",
        "えき",
        "わし",
        "渦",
        "龍",
    ),
    *("3D", "C++", "++", ".net", "@click", "zone", "apple", "Éclair", "Ångström", "n_1", "_"),
    *(
        "Ωmega",
        "øre",
        "μ-law",
        "한국어",
        "漢字",
        "中文词语",
        "🎉",
        "🎉party",
        "Яндекс",
        "İzmir",
        "ß",
    ),
]
# And one name for every fortieth sign of any script.
SIGNS = [f"{sign}x" for sign in map(chr, range(0x21, 0xFFFF, 40)) if sign.isprintable()]
LETTERS = {
    Language.JAPANESE: [*ROWS, *LATIN, REST],
    Language.ENGLISH: [*LATIN, *ROWS, REST],
}


@pytest.fixture(params=Language)
def spoken(request, project):
    project.language = request.param
    project.save()
    return project


def fill(project, names) -> None:
    rows = {}
    for name in names:
        reading = reading_of(name)
        rows[key_of(name)] = GlossaryEntry(
            project=project,
            term=name,
            key=key_of(name),
            reading=reading,
            letter=index_letter(reading),
            language="en",
            definition="It is.",
        )
    GlossaryEntry.objects.bulk_create(rows.values())


def once(letters) -> list[str]:
    return [letter for letter, _same in groupby(letters)]


def wanted(project, present) -> list[str]:
    return [letter for letter in LETTERS[project.language] if letter in set(present)]


def test_each_letter_comes_once_and_as_in_the_index(spoken):
    fill(spoken, [*NAMES, *SIGNS])
    letters = [entry.letter for entry in spoken.entries.in_order()]
    assert len(letters) > 1000
    assert once(letters) == wanted(spoken, letters)


def test_equal_letters_are_in_the_order_of_readings(spoken):
    fill(spoken, ["うわ", "ヴァイオリン", "えき", "n-2", "n 10", "N", "nb", "ñandú"])
    japanese = ["うわ", "ヴァイオリン", "えき"]
    latin = ["N", "n 10", "n-2", "ñandú", "nb"]
    expected = japanese + latin if spoken.language == "ja" else latin + japanese
    assert [entry.term for entry in spoken.entries.in_order()] == expected


def test_the_page_its_index_the_file_and_rest_agree(spoken, sign_in, viewer, as_viewer):
    publish(spoken, *(data(name) for name in NAMES))
    letters = wanted(spoken, [entry.letter for entry in spoken.entries.all()])
    html = page(sign_in(viewer), "project-glossary", spoken.pk)
    assert re.findall(r'<a id="letter-(.)"', html) == letters
    assert re.findall(r'<h2 class="letter"[^>]*>(.)</h2>', html) == letters
    names = re.findall(r"data-row-link[^>]*>([^<]+)</a>", html)
    text = "".join(export(spoken, "md"))
    assert re.findall(r"^## \\?(.)$", text, re.M) == letters
    rows = as_viewer.get(f"/api/projects/{spoken.pk}/glossary").json()["results"]
    assert [row["term"] for row in rows] == names
    assert once(row["letter"] for row in rows) == letters


def test_from_entry_to_entry_in_the_same_order(spoken, sign_in, viewer):
    fill(spoken, NAMES)
    in_order = list(spoken.entries.in_order())
    client = sign_in(viewer)
    for entry, following in pairwise(in_order):
        html = page(client, "glossary-entry", spoken.pk, entry.pk)
        assert f'class="next" href="{following.get_absolute_url()}"' in html
        html = page(client, "glossary-entry", spoken.pk, following.pk)
        assert f'href="{entry.get_absolute_url()}" rel="prev"' in html
