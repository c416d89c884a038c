"""Which section answers for what was found, when only the first answers are wanted."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from indexing.models import Section
from indexing.search.grouping import group
from tests.indexing.working import TEXT, make_indexed


@pytest.fixture
def scores(project):
    for n in range(6):
        make_indexed(project, f"{n}.md", f"{TEXT}\nThe number of this one is {n}.\n")
    sections = Section.objects.filter(project=project).order_by("pk")
    # Not in the order of the documents, and some are as good as others.
    return {
        pk: (place * 7 % 11) / 11 for place, pk in enumerate(sections.values_list("pk", flat=True))
    }


@pytest.mark.parametrize("depths", [(), (0,), (1,), (2,), (0, 2)])
@pytest.mark.parametrize("most", [1, 2, 5, 100])
def test_the_first_answers_are_those_of_all(scores, depths, most):
    everything = group(scores, depths, most=None)
    assert len(everything) >= 6
    assert group(scores, depths, most=most) == everything[:most]


def test_what_comes_after_the_last_answer_is_not_looked_up(scores):
    with CaptureQueriesContext(connection) as queries:
        group(scores, (), most=2)
    (only,) = queries
    assert sum(str(pk) in only["sql"].partition(" IN ")[2] for pk in scores) < len(scores)
