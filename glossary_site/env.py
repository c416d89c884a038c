"""The one place that reads the environment.

Every setting is read here, typed, with a working default. A wrong value stops the start with
a sentence that names the variable. `.env.example` lists them all (a test compares the two).
"""

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from environs import Env
from environs.exceptions import EnvValidationError

ROOT = Path(__file__).resolve().parent.parent

env = Env()
env.read_env(str(ROOT / ".env"), recurse=False)

SECRET_KEY_FILE = "secret_key"  # noqa: S105 (a file name)
ROLES = ("command", "web", "worker")


def data_dir() -> Path:
    return Path(env.str("GLOSSARY_DATA_DIR", "") or ROOT / "data").expanduser().absolute()


def secret_key(directory: Path) -> str:
    """The configured key, else the one `serve` keeps in the data directory, else one for this
    process alone (commands need no stable key, and importing settings must write nothing)."""
    configured = env.str("GLOSSARY_SECRET_KEY", "")
    if configured:
        return configured
    try:
        return (directory / SECRET_KEY_FILE).read_text().strip()
    except OSError:
        return secrets.token_urlsafe(50)


def redis_url() -> str:
    url = env.str("REDIS_URL", "")
    if url and urlsplit(url).scheme not in ("redis", "rediss", "unix"):
        raise EnvValidationError("REDIS_URL must start with redis://, rediss:// or unix://", [])
    return url


def time_zone() -> str:
    name = env.str("GLOSSARY_TIME_ZONE", "UTC")
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise EnvValidationError(
            f"GLOSSARY_TIME_ZONE “{name}” is not a time zone such as Asia/Tokyo", []
        ) from error
    return name


def role() -> str:
    """What this process is; the entry points set it, people need not."""
    value = env.str("GLOSSARY_ROLE", "command")
    if value not in ROLES:
        raise EnvValidationError(f"GLOSSARY_ROLE must be one of {', '.join(ROLES)}", [])
    return value


def database(directory: Path, process_role: str) -> dict[str, Any]:
    url = env.str("DATABASE_URL", "")
    if not url:
        return sqlite(directory / "glossary.sqlite3", process_role)
    try:
        config: dict[str, Any] = dict(dj_database_url.parse(url))
    except Exception as error:
        raise EnvValidationError(
            "DATABASE_URL is not a database address such as postgres://user:password@host/name", []
        ) from error
    if config["ENGINE"] == "django.db.backends.sqlite3":
        return sqlite(Path(config["NAME"]), process_role)
    if config["ENGINE"] != "django.db.backends.postgresql":
        raise EnvValidationError("DATABASE_URL must start with postgres:// or sqlite://", [])
    if process_role == "web":
        # Under ASGI every request may run in a fresh thread, where kept connections pile up.
        config["OPTIONS"] = {
            **config.get("OPTIONS", {}),
            "pool": {"min_size": 1, "max_size": 16, "timeout": 20},
        }
    elif process_role == "worker":
        config["CONN_MAX_AGE"] = 600
        config["CONN_HEALTH_CHECKS"] = True
    return config


def sqlite(path: Path, process_role: str) -> dict[str, Any]:
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": {
            # A deferred transaction that turns into a write fails at once when another process
            # writes; an immediate one waits its turn.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        },
        "CONN_MAX_AGE": 600 if process_role == "worker" else 0,
        # Tests start other processes on the test database, which memory could not share.
        "TEST": {"NAME": str(path.parent / f"test_{path.name}")},
    }
