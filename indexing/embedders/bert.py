"""The forward pass of a BERT encoder, in numpy: what it takes to read one model, and no more.

Texts of a batch are laid end to end, without padding. What looks at each token by itself is done
for all of them in one product; attention goes text by text, so nothing needs to be masked.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file

Array = npt.NDArray[np.float32]

# Rows that are worked on at a time where each number needs many steps: they stay in the cache.
BLOCK_ROWS = 16
# Of the polynomial in `gelu`, for x⁹ to x¹: fitted so that x · Φ(x) is off by 4e-6 at most. numpy
# has no error function, but a fast tanh.
GELU = (1.11910758e-06, -3.05814394e-05, -1.24859494e-04, 3.64687877e-02, 7.97828137e-01)


@dataclass(frozen=True)
class Linear:
    weight: Array
    bias: Array

    def __call__(self, rows: Array) -> Array:
        product: Array = rows @ self.weight
        product += self.bias
        return product


@dataclass(frozen=True)
class Norm:
    weight: Array
    bias: Array
    epsilon: float

    def __call__(self, rows: Array) -> Array:
        """In place."""
        rows -= rows.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", rows, rows)[:, None] / rows.shape[1]
        rows /= np.sqrt(variance + self.epsilon)
        rows *= self.weight
        rows += self.bias
        return rows


@dataclass(frozen=True)
class Layer:
    # Query, key and value at once.
    attention: Linear
    attended: Linear
    attended_norm: Norm
    wide: Linear
    narrow: Linear
    narrow_norm: Norm


class Bert:
    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])
        self.dimensions = int(config["hidden_size"])
        self._tensors = load_file(folder / "model.safetensors")
        self._words = self._tensors["embeddings.word_embeddings.weight"]
        # Every text is of the first type.
        self._positions = (
            self._tensors["embeddings.position_embeddings.weight"]
            + self._tensors["embeddings.token_type_embeddings.weight"][0]
        )
        self._first_norm = self._norm("embeddings.LayerNorm")
        count = int(config["num_hidden_layers"])
        self._layers = [self._layer(f"encoder.layer.{number}") for number in range(count)]
        del self._tensors

    def means(self, texts: list[list[int]]) -> Array:
        """Of what comes out for the tokens of each text. None of them may be empty."""
        lengths = [len(text) for text in texts]
        ends = np.cumsum(lengths)
        spans = [slice(end - length, end) for end, length in zip(ends, lengths, strict=True)]
        rows = self._words[np.concatenate(texts)]
        rows += self._positions[np.concatenate([np.arange(length) for length in lengths])]
        rows = self._first_norm(rows)
        for layer in self._layers:
            rows = self._pass(layer, rows, spans)
        return np.stack([rows[span].mean(axis=0) for span in spans])

    def _pass(self, layer: Layer, rows: Array, spans: list[slice]) -> Array:
        seen = layer.attention(rows)
        heard = np.empty_like(rows)
        for span in spans:
            heard[span] = self._attend(seen[span])
        rows += layer.attended(heard)
        rows = layer.attended_norm(rows)
        rows += layer.narrow(gelu(layer.wide(rows)))
        return layer.narrow_norm(rows)

    def _attend(self, seen: Array) -> Array:
        """What each token takes from all tokens of its text."""
        tokens = len(seen)
        # Head by head: (3, heads, tokens, size)
        parts = seen.reshape(tokens, 3, self._heads, -1).transpose(1, 2, 0, 3)
        query, key, value = np.ascontiguousarray(parts)
        # The query was divided by the root of its size when the weights were read.
        scores: Array = query @ key.transpose(0, 2, 1)
        scores -= scores.max(axis=2, keepdims=True)
        np.exp(scores, out=scores)
        mixed: Array = scores @ value
        mixed /= scores.sum(axis=2, keepdims=True)
        return mixed.transpose(1, 0, 2).reshape(tokens, -1)

    def _layer(self, name: str) -> Layer:
        parts = [
            self._linear(f"{name}.attention.self.{part}") for part in ("query", "key", "value")
        ]
        scale = np.float32((self.dimensions / self._heads) ** -0.5)
        parts[0] = Linear(parts[0].weight * scale, parts[0].bias * scale)
        return Layer(
            attention=Linear(
                np.concatenate([part.weight for part in parts], axis=1),
                np.concatenate([part.bias for part in parts]),
            ),
            attended=self._linear(f"{name}.attention.output.dense"),
            attended_norm=self._norm(f"{name}.attention.output.LayerNorm"),
            wide=self._linear(f"{name}.intermediate.dense"),
            narrow=self._linear(f"{name}.output.dense"),
            narrow_norm=self._norm(f"{name}.output.LayerNorm"),
        )

    def _linear(self, name: str) -> Linear:
        weight = np.ascontiguousarray(self._tensors[f"{name}.weight"].T)
        return Linear(weight, self._tensors[f"{name}.bias"])

    def _norm(self, name: str) -> Norm:
        tensors = self._tensors
        return Norm(tensors[f"{name}.weight"], tensors[f"{name}.bias"], self._epsilon)


def gelu(rows: Array) -> Array:
    """x · Φ(x), in place. Φ(x) is (1 + tanh(g)) / 2, with an odd polynomial for g."""
    block = np.empty((2, BLOCK_ROWS, rows.shape[1]), dtype=np.float32)
    for first in range(0, len(rows), BLOCK_ROWS):
        x = rows[first : first + BLOCK_ROWS]
        square, g = block[:, : len(x)]
        np.square(x, out=square)
        np.multiply(square, GELU[0], out=g)
        for factor in GELU[1:-1]:
            g += factor
            g *= square
        g += GELU[-1]
        g *= x
        np.tanh(g, out=g)
        g += 1
        g *= 0.5
        x *= g
    return rows
