import pytest
from rest_framework.test import APIClient

from tests.runs.api.asking import program


@pytest.fixture
def client(editor) -> APIClient:
    return program(editor)


@pytest.fixture
def base(project) -> str:
    return f"/api/projects/{project.pk}"


@pytest.fixture
def runs(base) -> str:
    return f"{base}/runs"
