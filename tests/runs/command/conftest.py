import pytest

from tests.runs.working import TEXTS


@pytest.fixture
def folder(tmp_path):
    for path, text in TEXTS.items():
        file = tmp_path / "docs" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "docs"
