from datetime import timedelta

import pytest
from django.utils import timezone

from projects.models import Project, Term
from tests import factories


@pytest.fixture
def reading(sign_in, viewer):
    return sign_in(viewer)


@pytest.fixture
def editing(sign_in, editor):
    return sign_in(editor)


@pytest.fixture
def tide_project(project) -> Project:
    """With something to run on."""
    factories.make_document(project, "tides.md", "# Tides\n\nThe ebb is the tide going out.\n")
    Term.objects.create(project=project, text="Ebb", key="ebb", language="en")
    project.terms.update(updated_at=timezone.now() - timedelta(days=1))
    return project
