"""Asks for vectors and is killed, at instants that chance chooses.

    python -m tests.llm.crashing_embeddings INSTANTS SEED

As `crashing.py` does it to processes: each instant is a line of the code that keeps the books.
"""

import os
import random
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import Any
from uuid import uuid4

import django
from django.db import connections

django.setup()

import numpy as np  # noqa: E402
from django.conf import settings  # noqa: E402

from glossary_site.llm.models import EmbeddingCall, Spending  # noqa: E402
from glossary_site.llm.providers import provider_for  # noqa: E402
from glossary_site.llm.services import budgets, embeddings  # noqa: E402
from glossary_site.management.commands.worker import load_before_forking  # noqa: E402
from tests.llm_peer.answers import embedding  # noqa: E402
from tests.llm_server import EMBEDDINGS, RemoteServer, server_process  # noqa: E402

TRACED = {module.__file__ for module in (embeddings, budgets)}
TEXTS = 160
ON_THE_WAY_SECONDS = 0.5


def embed(texts: list[str]) -> None:
    config = embeddings.endpoint(provider_for("site"), model="peer-embed")
    vectors = embeddings.embed(texts, scope="project:7", config=config)
    wanted = np.array([embedding(text, 64) for text in texts])
    assert np.allclose(vectors, wanted, atol=2e-3), "these are not their vectors"


def in_child(texts: list[str], instant: int | None) -> bool:
    """True: it was killed at this instant."""
    load_before_forking()
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        left = instant or -1

        def trace(frame: FrameType, event: str, argument: object) -> Any:
            nonlocal left
            if frame.f_code.co_filename not in TRACED:
                return None
            if event == "line":
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
            return trace

        code = 1
        try:
            if instant is not None:
                sys.settrace(trace)
            embed(texts)
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    status = os.waitpid(pid, 0)[1]
    assert os.WIFSIGNALED(status) or status == 0, "the execution failed"
    return os.WIFSIGNALED(status)


def once(server: RemoteServer, instant: int) -> bool:
    number = uuid4()
    texts = [f"{number} {each}" for each in range(TEXTS)]
    killed = in_child(texts, instant)
    killed_at = time.time()
    if killed:
        in_child(texts, None)
    assert not EmbeddingCall.objects.filter(reserved_tokens__gt=0).exists(), "still kept back"
    for month in Spending.objects.all():
        assert (month.reserved_tokens, month.reserved_nano) == (0, 0), "still kept back"
    seen: dict[str, list[Any]] = {}
    for entry in server.ledger.entries(path=EMBEDDINGS, match=str(number)):
        seen.setdefault(entry.fingerprint, []).append(entry)
    assert len(seen) == TEXTS / 32
    for first, *again in seen.values():
        assert len(again) <= killed, "more often than it was killed"
        if again:
            assert killed_at <= (first.ended_at or killed_at) + ON_THE_WAY_SECONDS, "answered"
    return killed


def main(instants: str, seed: str) -> None:
    with (
        tempfile.TemporaryDirectory(prefix="llm-crashes-") as directory,
        server_process(ledger=Path(directory) / "ledger.sqlite3", delay=0.05) as server,
    ):
        settings.LLM = {
            **settings.LLM,
            "base_url": server.base_url,
            "model": "peer-small",
            "concurrency": 2,
        }
        dice = random.Random(int(seed))
        kills = sum(once(server, dice.randrange(1, 420)) for _ in range(int(instants)))
    sys.stdout.write(f"{kills} kills\n")


if __name__ == "__main__":
    main(*sys.argv[1:3])
