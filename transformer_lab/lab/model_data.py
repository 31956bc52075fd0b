"""A translator as data for the lab's script: configuration, tokenizers, weights and languages."""

import base64
import gzip
import json
import tempfile
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch

from transformer_lab.attention.record import Alignment, AttentionRecord, Referent
from transformer_lab.config import check, check_count, join_with_and, join_with_or
from transformer_lab.data.corpus import language_names
from transformer_lab.data.tokenizer import BPETokenizer, Tokenizer
from transformer_lab.figures.style import weight_colours

MOST_PARAMETERS = 20_000_000
"""The maximum number of parameters; a larger model would make a slow page of over 48 MB."""
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "none")
"""The positional encodings that `page/engine/positions.js` and `attention.js` can compute."""
OTHERWISE = (
    "for a model that runs in the page. For other models, use lab(translator, sentence, "
    "kernel=True), which runs the model in Python, or `lab --record` on the command line, which "
    "stores only what the heads do with one sentence"
)


@runtime_checkable
class Runnable(Protocol):
    """The interface that the lab needs from a translator; `Translator` implements it."""

    @property
    def model(self) -> torch.nn.Module:
        """The model, whose parameters are counted."""

    @property
    def source_tokenizer(self) -> Tokenizer:
        """The tokenizer for the language that the model reads."""

    @property
    def target_tokenizer(self) -> Tokenizer:
        """The tokenizer for the language that the model writes."""

    def encode(self, text: str) -> list[int]:
        """Return a sentence's token ids; raise a ValueError if the sentence cannot be read."""

    def attend(
        self,
        source: str,
        target: str | None = None,
        *,
        alignment: Alignment | None = None,
        referent: Referent | None = None,
    ) -> AttentionRecord:
        """Return the record of all heads for one sentence.

        The lab uses the record to draw the picture that stands in for the page, and to name heads.
        """

    def save(self, folder: str | Path, *, dtype: torch.dtype) -> None:
        """Save the configuration, the tokenizers, and the weights in the given precision."""


def model_data(translator: Runnable) -> dict[str, Any]:
    """Return the data that the page's script reads: configuration, tokenizers and packed weights.

    Raises:
        ValueError: If the model is too large, or if the page does not support its tokenizers,
            positions or recurrence.
    """
    count = sum(parameter.numel() for parameter in translator.model.parameters())
    expected = f"at most {MOST_PARAMETERS:,} {OTHERWISE}"
    check_count("the model", count, "parameter", expected, count <= MOST_PARAMETERS)
    with tempfile.TemporaryDirectory() as folder:
        translator.save(folder, dtype=torch.float16)
        read = {
            name: json.loads((Path(folder) / f"{file}.json").read_text(encoding="utf-8"))
            for name, file in (
                ("config", "config"),
                ("source", "source_tokenizer"),
                ("target", "target_tokenizer"),
            )
        }
        weights = (Path(folder) / "model.safetensors").read_bytes()
    read["config"].pop("sha256", None)  # of files that the page does not have
    model = read["config"]["model"]
    expected = f"{join_with_or(map(repr, POSITIONS))} {OTHERWISE}"
    check("positions", model["positions"], expected, model["positions"] in POSITIONS)
    recurrent = model["recurrent_decoder"]
    expected = f"a decoder with self-attention {OTHERWISE}"
    check("recurrent_decoder", recurrent, expected, not recurrent)
    source, target = read.pop("source"), read.pop("target")
    for side, state in (("source", source), ("target", target)):
        check_tokenizer(side, state)
    tokenizers = [source] if source == target else [source, target]
    about = read["config"].get("about") or {}
    languages = language_names(about.get("corpus"))
    return {
        **read,
        "tokenizers": pack_gzip(json.dumps(tokenizers, ensure_ascii=False).encode()),
        "weights": pack_gzip(weights),
        "colours": weight_colours(),
        "languages": list(languages),
    }


def pack_gzip(data: bytes) -> str:
    """Compress bytes deterministically with gzip, and return them in base64."""
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def check_tokenizer(side: str, state: dict[str, Any]) -> None:
    """Raise a ValueError if the page's script does not support this tokenizer."""
    kind = state.get("kind")
    name = f"kind of the {side} tokenizer"
    check(name, kind, f"'word' or 'bpe' {OTHERWISE}", kind in ("word", "bpe"))
    if kind == "bpe":
        ours = json.loads(BPETokenizer.train((), 260).to_json())
        known, found = map(tokenizer_settings, (ours["tokenizer"], state["tokenizer"]))
        if other := sorted(differing_fields(known, found)):
            raise ValueError(
                f"the {side} tokenizer has unsupported settings for {join_with_and(map(repr, other))}; "
                f"expected those of BPETokenizer.train {OTHERWISE}"
            )


def tokenizer_settings(tokenizer: dict[str, Any]) -> dict[str, Any]:
    """Return a tokenizer's JSON description without its vocabulary and merges."""
    model = {k: v for k, v in tokenizer["model"].items() if k not in ("vocab", "merges")}
    return {**tokenizer, "model": model}


def differing_fields(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    """Return the names of the fields in which two descriptions differ."""
    return {field for field in one.keys() | other.keys() if one.get(field) != other.get(field)}
