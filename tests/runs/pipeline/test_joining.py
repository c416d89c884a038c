"""Two names of one thing are one entry in the end."""

from runs.pipeline.data import Issue
from runs.pipeline.joining import join
from tests.runs.pipeline.harbour import entries, entry

BERTH = entry("berth", "A place at the quay where a ship lies.", related=("VTS", "quay"))
VTS = entry("VTS", "Used in: “The VTS calls.”", confidence=0.2, related=("radar",))
LONG = entry(
    "vessel traffic service",
    "A service that watches ships and advises them.",
    aliases=("VTS",),
    related=("pilot", "VTS"),
)
SAME = Issue("vts", "duplicate", "The same.", other_key=LONG.key)


def joined(*given, issues=(SAME,), required=()):
    return join(entries(*given), issues, set(required))


def test_the_one_that_is_defined_stays_with_both_names():
    result = joined(VTS, BERTH, LONG)
    assert result.gone == {"vts": LONG.key}
    kept = result.changed[LONG.key]
    assert (kept.term, kept.aliases) == ("vessel traffic service", ("VTS",))
    assert kept.definition == LONG.definition
    assert kept.related == ("pilot", "radar")


def test_what_was_related_to_the_other_is_related_to_it():
    assert joined(VTS, BERTH, LONG).changed["berth"].related == ("vessel traffic service", "quay")


def test_the_better_one_stays_where_both_are_defined_or_none():
    defined = entry("VTS", "What watches ships and advises them.", related=())
    assert joined(defined, LONG).gone == {LONG.key: "vts"}
    assert joined(LONG, defined).gone == {"vts": LONG.key}


def test_what_is_required_stays():
    result = joined(VTS, LONG, required=("vts",))
    assert result.gone == {LONG.key: "vts"}
    # It has what the other one knew.
    kept = result.changed["vts"]
    assert (kept.definition, kept.aliases) == (LONG.definition, (LONG.term,))
    assert joined(VTS, LONG, required=("vts", LONG.key)).gone == {}


def test_several_names_of_one():
    short = entry("service", "Used in: “The service calls.”", confidence=0.2, aliases=("VTS",))
    issues = (SAME, Issue("service", "duplicate", "The same.", other_key="vts"))
    result = joined(VTS, LONG, short, issues=issues)
    # No more than one step away: what a name of a name means is anybody's guess.
    assert result.gone == {"vts": LONG.key}


def test_a_review_alone_joins_nothing():
    other = entry("tug", "A service that watches ships and advises them.")
    issue = Issue("tug", "duplicate", "The same.", other_key=LONG.key)
    assert joined(LONG, other, issues=(issue,)).gone == {}
    assert joined(LONG, VTS, issues=()).gone == {}
    unclear = Issue("vts", "contradiction", "Not the same.", other_key=LONG.key)
    assert joined(LONG, VTS, issues=(unclear,)).changed == {}
    assert joined(LONG, VTS, issues=(Issue("vts", "duplicate", "?", other_key="gone"),)).gone == {}
