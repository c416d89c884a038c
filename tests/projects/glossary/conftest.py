import pytest

from projects.models import GlossaryEntry
from tests.projects.glossary.visiting import data, publish


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)


@pytest.fixture
def entries(project, owner) -> dict[str, GlossaryEntry]:
    return publish(
        project,
        owner,
        data("pilot", "A mariner who guides vessels.", aliases=["Lotse"], category="title"),
        data("slack water", "No current.", related=["pilot", "tide"]),
        data("係留索", "船をつなぎとめる綱。"),
        data("berth", "Used in: a berth.", needs_review=True, supported=False, confidence=0.2),
    )
