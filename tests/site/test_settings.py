"""The environment is read in one place, and a wrong value is named in one sentence."""

import os
import secrets
import subprocess
import sys

import pytest

from glossary_site.env import ROOT


def manage(*arguments, **variables) -> subprocess.CompletedProcess[str]:
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("GLOSSARY_", "DJANGO_", "DATABASE_", "REDIS_"))
    }
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("GLOSSARY_PRODUCTION", "perhaps"),
        ("GLOSSARY_MAX_FILE_MB", "ten"),
        ("GLOSSARY_WORKERS", "2.5"),
        ("DATABASE_URL", "mysql://root@localhost/x"),
        ("DATABASE_URL", "nonsense"),
        ("REDIS_URL", "http://localhost"),
        ("GLOSSARY_ROLE", "king"),
        ("GLOSSARY_WORKERS", "0"),
        ("GLOSSARY_LANGUAGE", "fr"),
        ("GLOSSARY_TIME_ZONE", "Mars/Olympus"),
        ("GLOSSARY_LOG_LEVEL", "LOUD"),
        ("GLOSSARY_ENCRYPTION_KEYS", "short"),
        ("GLOSSARY_PRIVATE_URLS_ALLOWED", "localhost,10.0.0.5/8"),
        ("GLOSSARY_LLM_BASE_URL", "localhost:11434"),
        ("GLOSSARY_LLM_STRATEGY", "later"),
        ("GLOSSARY_LLM_INPUT_PRICE", "cheap"),
        ("GLOSSARY_LLM_CONCURRENCY", "0"),
    ],
)
def test_a_wrong_value_is_one_sentence_that_names_the_variable(variable, value):
    result = manage("check", **{variable: value})
    assert result.returncode == 1
    assert variable in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1


def test_a_server_without_a_model_is_refused_at_the_start():
    result = manage("check", GLOSSARY_LLM_BASE_URL="https://api.openai.com/v1")
    assert result.returncode == 1
    assert "GLOSSARY_LLM_MODEL" in result.stderr


def test_importing_the_settings_writes_nothing(tmp_path):
    directory = tmp_path / "data"
    assert manage("check", GLOSSARY_DATA_DIR=str(directory)).returncode == 0
    assert not directory.exists()


def test_production_mode_has_no_deployment_warning(tmp_path):
    result = manage(
        "check",
        "--deploy",
        "--fail-level",
        "WARNING",
        GLOSSARY_DATA_DIR=str(tmp_path),
        GLOSSARY_PRODUCTION="true",
        GLOSSARY_SECRET_KEY=secrets.token_urlsafe(50),
    )
    assert "no issues" in result.stdout, result.stderr


def test_secrets_in_addresses_stay_out_of_error_messages():
    result = manage("check", DATABASE_URL="mysql://root:hunter2@localhost/x")
    assert "hunter2" not in result.stderr + result.stdout
