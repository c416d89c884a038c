"""Names without signs that nobody sees, through every door."""

import pytest

from projects.services.glossary import add_entry
from projects.services.synonyms import terms_named
from projects.services.terms import add_term, list_term, update_term
from projects.terms.signs import visible
from tests.projects.glossary.scene import data, entry, publish
from tests.projects.terms.scene import extract, found, term

# Right-to-left override and isolate, zero-width space, soft hyphen, a tag, a blank letter.
HIDDEN = "\u202e\u2066\u200b\u00ad\U000e0041\u3164"


@pytest.mark.parametrize("sign", [*HIDDEN, "\u200d", "\ufeff", "\u2060", "\u061c"])
def test_what_nobody_sees_goes(sign):
    assert visible(f"{sign}mooring{sign} 索{sign}") == "mooring 索"


@pytest.mark.parametrize(
    "name", ["葛\U000e0100城", "می\u200cخواهم", "क्\u200dष", "👩\u200d💻", "❤\ufe0f", "café"]
)
def test_what_makes_a_difference_stays(name):
    assert visible(name) == name


@pytest.mark.django_db
def test_no_door_lets_them_in(project, editor):
    name = "moo" + HIDDEN + "ring"
    added = add_term(project=project, text=name, actor=editor)
    listed, _is_new = list_term(project=project, text=f"x{name}", status="required", actor=editor)
    [synonym] = terms_named(project=project, texts=[f"y{name}"], actor=editor)
    renamed = update_term(term=synonym, actor=editor, text=f"z{name}")
    written = add_entry(
        project=project, actor=editor, term=name, definition="D.", aliases=[f"a{name}"]
    )
    assert [row.text for row in (added, listed, renamed)] == ["mooring", "xmooring", "zmooring"]
    assert (written.term, written.aliases) == ("mooring", ["amooring"])
    # Nor do runs, which write what documents and models say.
    extract(project, found(f"doc{name}", variants=()))
    row = term(project, f"doc{name}")
    # As the document has it, to be found there.
    assert (row.text, row.variants) == ("docmooring", [f"doc{name}"])
    publish(project, data(f"run{name}", aliases=[f"b{name}"], related=[f"c{name}"]))
    published = entry(project, f"run{name}")
    assert (published.term, published.aliases, published.related) == (
        "runmooring",
        ["bmooring"],
        ["cmooring"],
    )
