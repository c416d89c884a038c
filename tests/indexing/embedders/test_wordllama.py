"""The embedder that is always there."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from indexing.embedders import wordllama as module
from indexing.embedders.base import EmbedderUnavailable
from indexing.embedders.wordllama import WordLlama, wordllama

TEXTS = [
    "The harbour master collects the fee for each berth.",
    "Ships pay the port authority when they moor.",
    "Bread is baked from flour, water and yeast.",
    "港長は係船料を徴収する。",
]


def test_rows_are_of_length_one_and_what_is_near_is_near():
    vectors = wordllama().embed(TEXTS)
    assert vectors.shape == (4, wordllama().dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2]


def test_a_row_is_the_mean_of_its_tokens():
    table = wordllama()._table()
    ids = table.tokens.tokenizer.encode(TEXTS[0], add_special_tokens=False).ids
    mean = table.rows[ids].mean(axis=0)
    expected = mean / np.linalg.norm(mean)
    assert np.allclose(wordllama().embed(TEXTS)[0], expected, atol=1e-5)


def test_company_changes_nothing():
    many = wordllama().embed([*TEXTS, *(f"filler {n}" for n in range(600)), TEXTS[2]])
    assert np.allclose(many[2], many[-1])
    assert np.allclose(many[1], wordllama().embed_query(TEXTS[1]))


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_a_text_with_nothing_in_it_is_a_row_of_zeros(text):
    vectors = wordllama().embed(["berth", text])
    assert vectors[0].any()
    assert not vectors[1].any()


def test_no_text_no_row():
    assert wordllama().embed([]).shape == (0, 256)


@pytest.mark.parametrize("text", ["\ud800 half", "\0", "🙈" * 50, "x" * 100_000, "(\"'*:^" * 30])
def test_odd_texts_do_no_harm(text):
    assert np.isfinite(wordllama().embed([text])).all()


def test_what_is_too_long_is_cut():
    start = "mooring " * 2_000
    assert np.allclose(wordllama().embed([start]), wordllama().embed([start + "bread " * 9_000]))


def test_it_is_loaded_once_however_many_ask(monkeypatch):
    made = []
    real = module.Table

    def load(folder):
        made.append(folder)
        return real(folder)

    monkeypatch.setattr(module, "Table", load)
    embedder = WordLlama()
    start = threading.Barrier(8)
    results: list[np.ndarray] = []

    def ask():
        start.wait()
        results.append(embedder.embed(TEXTS))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert all(np.array_equal(result, results[0]) for result in results)
    assert len(results) == 8


def test_who_wants_to_stop_stops():
    class Enough(Exception):
        pass

    def check():
        raise Enough

    with pytest.raises(Enough):
        wordllama().embed(TEXTS, check=check)


def test_without_its_package_it_says_so(monkeypatch):
    monkeypatch.setattr(module, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderUnavailable, match="wordllama"):
        WordLlama().embed(["berth"])
    assert "requirements.txt" in WordLlama().problem


def test_a_worker_may_fork_afterwards_in_silence():
    """The tokenizer would warn, and could hang, if it had begun threads."""
    code = """
import os
from indexing.embedders.wordllama import wordllama
before = wordllama().embed(["berth"] * 300)
child = os.fork()
after = wordllama().embed(["berth"] * 300)
if child:
    os._exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
os._exit(0 if (before == after).all() else 1)
"""
    environment = {name: value for name, value in os.environ.items() if "TOKENIZERS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment
    )
    assert (done.returncode, done.stderr) == (0, "")
