import pytest

from projects.choices import Category
from projects.models import Term
from tests.projects.terms.visiting import extract, found


@pytest.fixture
def terms(project) -> dict[str, Term]:
    return extract(
        project,
        found("mooring line", frequency=9, score=8.5, category=Category.TECHNICAL_TERM),
        found("slack water", frequency=3, score=9.5),
        found("pilot", frequency=20, score=2.5, category=Category.TITLE),
        found("evening", score=0.1, category="common_noun", excluded_because="common_noun"),
    )


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)
