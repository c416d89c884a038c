"""Small programs that run with the site's settings, each in a process of its own."""

import os
import subprocess
import sys

from glossary_site.env import ROOT

# The Redis client comes first: it loads for itself what it finds installed.
BEGIN = """
import multiprocessing, os, sys, time
import redis.asyncio
import django
django.setup()
from glossary_site.observe import trace
from glossary_site.observe.telemetry import span
"""


def environment(**variables) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GLOSSARY_", "OTEL_", "DATABASE_", "REDIS_"))
    }
    return {**kept, "DJANGO_SETTINGS_MODULE": "glossary_site.settings", **variables}


def python(code: str, **variables) -> subprocess.CompletedProcess[str]:
    finished = subprocess.run(
        [sys.executable, "-c", BEGIN + code],
        cwd=ROOT,
        env=environment(**variables),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert finished.returncode == 0, finished.stderr
    return finished
