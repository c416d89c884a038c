"""The smallest Django project for the peers that need one: django-q2 and django-tasks.

The SQLite file is set up as well as ours. With Django's defaults writers would fail each other, and
the comparison would be one of database settings.
"""

import os
from pathlib import Path
from urllib.parse import urlsplit

QUEUE = os.environ["BENCH_QUEUE"]
TUNED = QUEUE == "q2-tuned"
DIRECTORY = Path(os.environ["BENCH_DIRECTORY"])
REDIS_URL = os.environ.get("BENCH_REDIS_URL", "")

SECRET_KEY = "bench" * 10
USE_TZ = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"


def database(url: str) -> dict:
    kept = {"CONN_MAX_AGE": 600 if TUNED else 0}
    if not url:
        options = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
        }
        name = str(DIRECTORY / "peer.sqlite3")
        return {"ENGINE": "django.db.backends.sqlite3", "NAME": name, "OPTIONS": options, **kept}
    parts = urlsplit(url)
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": parts.path.lstrip("/"),
        "USER": parts.username or "",
        "PASSWORD": parts.password or "",
        "HOST": parts.hostname or "",
        "PORT": str(parts.port or ""),
        **kept,
    }


DATABASES = {"default": database(os.environ.get("BENCH_DATABASE_URL", ""))}
BROKER: dict = {"redis": REDIS_URL} if REDIS_URL else {"orm": "default"}
if QUEUE == "django-tasks":
    INSTALLED_APPS = ["django_tasks", "django_tasks_db"]
    TASKS = {"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}}
else:
    INSTALLED_APPS = ["django_q", "benchmarks.jobs_q2_books.Books"]
    Q_CLUSTER = {"name": "bench", "workers": 2, "log_level": "WARNING", **BROKER}
if TUNED:
    Q_CLUSTER |= {
        "timeout": 600,
        "retry": 1801,
        "queue_limit": 1,
        "ack_failures": True,
        "max_attempts": 1,
        "save_limit": -1,
        "poll": 0.05,
        "catch_up": False,
    }
