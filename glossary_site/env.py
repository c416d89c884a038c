"""The one place that reads the environment.

Every setting is read here, typed, with a working default. A wrong value stops the start with
a sentence that names the variable. `.env.example` lists them all (a test compares the two).
"""

import secrets
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import dj_database_url
from environs import Env, validate
from environs.exceptions import EnvValidationError

from glossary_site.outbound.allowed import Allowed, parse_allowed

ROOT = Path(__file__).resolve().parent.parent

env = Env()
env.read_env(str(ROOT / ".env"), recurse=False)

SECRET_KEY_FILE = "secret_key"  # noqa: S105 (a file name)
ROLES = ("command", "web", "worker")
SHORTEST_ENCRYPTION_KEY = 32
AT_LEAST_ONE = validate.Range(min=1)
WORKER_CONNECTION = {
    "connect_timeout": 5,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "options": "-c tcp_keepalives_idle=15 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3 "
    "-c idle_in_transaction_session_timeout=300s",
}
NOT_NEGATIVE = validate.Range(min=0)


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


def broker_url(url: str) -> str:
    """With limits: a page that starts work must not wait for a Redis that does not answer. (The
    workers' own waiting is shorter than that.)"""
    limits = "socket_timeout=5&socket_connect_timeout=5"
    return f"{url}{'&' if '?' in url else '?'}{limits}"


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
        # Not asked before each task whether it still works: one that broke costs a delivery, which
        # is sent again.
        config["CONN_MAX_AGE"] = 600
        # A worker that is cut off must notice, and must not keep its locks for hours.
        config["OPTIONS"] = {
            **WORKER_CONNECTION,
            **config.get("OPTIONS", {}),
        }
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


def encryption_keys() -> list[str]:
    keys: list[str] = env.list("GLOSSARY_ENCRYPTION_KEYS", [])
    if any(len(key) < SHORTEST_ENCRYPTION_KEY for key in keys):
        raise EnvValidationError(
            f"GLOSSARY_ENCRYPTION_KEYS: a key has at least {SHORTEST_ENCRYPTION_KEY} characters", []
        )
    return keys


def private_urls_allowed() -> tuple[Allowed, ...]:
    try:
        return parse_allowed(env.list("GLOSSARY_PRIVATE_URLS_ALLOWED", []))
    except ValueError as error:
        raise EnvValidationError(f"GLOSSARY_PRIVATE_URLS_ALLOWED: {error}", []) from error


def llm() -> dict[str, Any]:
    """The provider of everybody who has no other. No base URL, no provider."""
    base_url = env.str("GLOSSARY_LLM_BASE_URL", "")
    model = env.str("GLOSSARY_LLM_MODEL", "")
    strategy = env.str("GLOSSARY_LLM_STRATEGY", "sync")
    parts = urlsplit(base_url)
    if base_url and (parts.scheme not in ("http", "https") or not parts.hostname):
        raise EnvValidationError(
            "GLOSSARY_LLM_BASE_URL is not an address such as https://api.openai.com/v1", []
        )
    if base_url and not model:
        raise EnvValidationError(
            "GLOSSARY_LLM_MODEL must name a model of GLOSSARY_LLM_BASE_URL", []
        )
    if strategy not in ("sync", "batch"):
        raise EnvValidationError("GLOSSARY_LLM_STRATEGY must be sync or batch", [])
    return {
        "base_url": base_url,
        "model": model,
        "api_key": env.str("GLOSSARY_LLM_API_KEY", ""),
        "query": env.str("GLOSSARY_LLM_QUERY", ""),
        "strategy": strategy,
        "concurrency": env.int("GLOSSARY_LLM_CONCURRENCY", 8, validate=AT_LEAST_ONE),
        "timeout": env.int("GLOSSARY_LLM_TIMEOUT", 120, validate=AT_LEAST_ONE),
        "input_price": _price("GLOSSARY_LLM_INPUT_PRICE", env.str("GLOSSARY_LLM_INPUT_PRICE", "")),
        "output_price": _price(
            "GLOSSARY_LLM_OUTPUT_PRICE", env.str("GLOSSARY_LLM_OUTPUT_PRICE", "")
        ),
        # 0: not known.
        "context_tokens": env.int("GLOSSARY_LLM_CONTEXT_TOKENS", 0, validate=NOT_NEGATIVE) or None,
        "output_tokens": env.int("GLOSSARY_LLM_OUTPUT_TOKENS", 0, validate=NOT_NEGATIVE) or None,
    }


def _price(name: str, text: str) -> Decimal | None:
    if not text:
        return None
    try:
        price = Decimal(text)
    except InvalidOperation:
        price = Decimal("NaN")
    if not price.is_finite() or price < 0:
        raise EnvValidationError(f"{name} must be a number such as 0.15, or empty", [])
    return price
