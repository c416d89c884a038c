"""The forward pass, against one that was written to be read and not to be fast; and the real model
where it is installed (`make install-minilm`)."""

import json
import math

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

from indexing.embedders import minilm as module
from indexing.embedders.base import EmbedderUnavailable
from indexing.embedders.bert import Bert, gelu
from indexing.embedders.files import folder_of
from indexing.embedders.minilm import MiniLM

SIZE, WIDE, HEADS, LAYERS = 24, 40, 3, 2
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
WORDS = [*SPECIAL, "the", "harbour", "master", "takes", "a", "fee", "for", "each", "berth"]
EPSILON = 1e-12

needs_model = pytest.mark.skipif(
    folder_of(module.PACKAGE) is None, reason="the model is not installed: make install-minilm"
)


def tensors() -> dict[str, np.ndarray]:
    dice = np.random.default_rng(7)

    def some(*shape):
        return dice.normal(0, 0.4, shape).astype(np.float32)

    made = {
        "embeddings.word_embeddings.weight": some(len(WORDS), SIZE),
        "embeddings.position_embeddings.weight": some(300, SIZE),
        "embeddings.token_type_embeddings.weight": some(2, SIZE),
        "embeddings.LayerNorm.weight": some(SIZE) + 1,
        "embeddings.LayerNorm.bias": some(SIZE),
    }
    for number in range(LAYERS):
        name = f"encoder.layer.{number}"
        for part in ("query", "key", "value"):
            made[f"{name}.attention.self.{part}.weight"] = some(SIZE, SIZE)
            made[f"{name}.attention.self.{part}.bias"] = some(SIZE)
        for part, shape in (
            ("attention.output.dense", (SIZE, SIZE)),
            ("intermediate.dense", (WIDE, SIZE)),
            ("output.dense", (SIZE, WIDE)),
        ):
            made[f"{name}.{part}.weight"] = some(*shape)
            made[f"{name}.{part}.bias"] = some(shape[0])
        for part in ("attention.output.LayerNorm", "output.LayerNorm"):
            made[f"{name}.{part}.weight"] = some(SIZE) + 1
            made[f"{name}.{part}.bias"] = some(SIZE)
    return made


@pytest.fixture
def folder(tmp_path):
    """A model like the real one, but tiny."""
    save_file(tensors(), tmp_path / "model.safetensors")
    config = {
        "num_attention_heads": HEADS,
        "layer_norm_eps": EPSILON,
        "hidden_size": SIZE,
        "num_hidden_layers": LAYERS,
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    tokenizer = Tokenizer(WordLevel({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    # As the real one comes: padded and cut to what training used.
    tokenizer.enable_padding(length=128)
    tokenizer.enable_truncation(128)
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def plainly(ids: list[int]) -> np.ndarray:
    """The same by the book: one text, one token, one head at a time, in double precision."""
    t = {name: tensor.astype(np.float64) for name, tensor in tensors().items()}

    def norm(row, name):
        row = row - row.mean()
        return row / math.sqrt((row**2).mean() + EPSILON) * t[f"{name}.weight"] + t[f"{name}.bias"]

    def linear(row, name):
        return t[f"{name}.weight"] @ row + t[f"{name}.bias"]

    rows = [
        norm(
            t["embeddings.word_embeddings.weight"][token]
            + t["embeddings.position_embeddings.weight"][place]
            + t["embeddings.token_type_embeddings.weight"][0],
            "embeddings.LayerNorm",
        )
        for place, token in enumerate(ids)
    ]
    for number in range(LAYERS):
        name = f"encoder.layer.{number}"
        query, key, value = (
            [linear(row, f"{name}.attention.self.{part}") for row in rows]
            for part in ("query", "key", "value")
        )
        after = []
        for place, row in enumerate(rows):
            heard = []
            for head in range(HEADS):
                part = slice(head * SIZE // HEADS, (head + 1) * SIZE // HEADS)
                scores = [query[place][part] @ k[part] / math.sqrt(SIZE / HEADS) for k in key]
                shares = [math.exp(score) for score in scores]
                heard.append(
                    sum(s / sum(shares) * v[part] for s, v in zip(shares, value, strict=True))
                )
            told = linear(np.concatenate(heard), f"{name}.attention.output.dense")
            row = norm(row + told, f"{name}.attention.output.LayerNorm")
            wide = [
                x * 0.5 * math.erfc(-x / 2**0.5) for x in linear(row, f"{name}.intermediate.dense")
            ]
            after.append(
                norm(
                    row + linear(np.array(wide), f"{name}.output.dense"), f"{name}.output.LayerNorm"
                )
            )
        rows = after
    return np.mean(rows, axis=0)


@pytest.fixture
def tiny(folder, monkeypatch):
    monkeypatch.setattr(module, "DIMENSIONS", SIZE)
    embedder = MiniLM()
    embedder._loaded = module.Model(folder)
    return embedder


def test_it_computes_what_the_model_says(folder):
    texts = [[2, 5, 6, 3], [2, 3], [2, *range(4, 13), 3], [2, *[7, 9, 11] * 30, 3]]
    means = Bert(folder).means(texts)
    for ids, row in zip(texts, means, strict=True):
        assert np.allclose(row, plainly(ids), atol=2e-4)


def test_the_approximation_is_as_near_as_it_says():
    x = np.linspace(-15, 15, 50_001, dtype=np.float32)
    exact = np.array([v * 0.5 * math.erfc(-v / 2**0.5) for v in x.astype(float)])
    assert np.abs(gelu(x.reshape(-1, 1).copy())[:, 0] - exact).max() < 4e-6


def test_rows_of_length_one_whatever_the_company(tiny, monkeypatch):
    texts = ["the harbour master", "", "a fee for each berth", "the harbour master " * 200]
    together = tiny.embed(texts)
    assert np.allclose(np.linalg.norm(together[[0, 2, 3]], axis=1), 1, atol=1e-5)
    assert not together[1].any()
    monkeypatch.setattr(module, "PASS_TOKENS", 8)
    assert np.allclose(together, tiny.embed(texts), atol=1e-5)
    assert np.allclose(together[2], tiny.embed_query(texts[2]), atol=1e-5)


def test_a_long_text_is_cut_to_what_the_model_reads(tiny):
    long = "the harbour master takes " * 400
    assert np.allclose(tiny.embed([long]), tiny.embed([long + "a fee " * 500]))
    assert len(tiny._model().tokenizer.encode(long).ids) == module.MOST_TOKENS
    assert len(tiny._model().tokenizer.encode("the").ids) == 3


def test_who_wants_to_stop_is_asked_between_passes(tiny, monkeypatch):
    monkeypatch.setattr(module, "PASS_TOKENS", 16)
    asked = []
    tiny.embed(["the harbour master takes a fee"] * 20, check=lambda: asked.append(1))
    assert len(asked) == 10


def test_without_its_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(module, "PACKAGE", "no_such_package")
    with pytest.raises(EmbedderUnavailable, match="make install-minilm"):
        MiniLM().embed(["berth"])
    assert "make install-minilm" in MiniLM().problem


@needs_model
def test_the_real_model_knows_what_is_near():
    vectors = module.minilm().embed(
        [
            "A cat sits on the mat.",
            "A kitten is resting on the rug.",
            "The harbour master collects the mooring fee.",
        ]
    )
    # As PyTorch computes it from the same files.
    assert vectors[0] @ vectors[1] == pytest.approx(0.652, abs=1e-3)
    assert vectors[0] @ vectors[2] == pytest.approx(0.054, abs=1e-3)
