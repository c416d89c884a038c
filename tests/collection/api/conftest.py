import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def base(project) -> str:
    return f"/api/projects/{project.pk}"


@pytest.fixture
def folder(tmp_path, settings) -> Path:
    """A git repository of this machine, with a commit in `main` and in `release/1`."""
    settings.GIT_ROOTS = [tmp_path]
    folder = tmp_path / "harbour"
    folder.mkdir()
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (
            ("NAME", "Ada"),
            ("EMAIL", "ada@example.com"),
            ("DATE", "2026-01-05T12:00:00Z"),
        )
    }
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        **who,
    }
    for command in (
        ("init", "--quiet", "--initial-branch=main"),
        ("commit", "--quiet", "--allow-empty", "--message=First"),
        ("branch", "release/1"),
    ):
        subprocess.run(("git", *command), cwd=folder, env=environment, check=True, timeout=20)
    return folder


def refused(response, status: int, code: str) -> dict:
    assert response.status_code == status, response.content
    body = response.json()
    assert body["code"] == code, body
    assert body["detail"]
    return body
