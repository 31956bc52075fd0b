"""How many cases each property gets, and the values that several of them draw."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.conftest import make_model
from transformer_lab.config.transformer import Positions
from transformer_lab.model import Transformer

FEW = 500
CASES = int(os.environ.get("FUZZ_CASES", FEW))
"""Of all properties together; other ones at each run if it is not 500 (`python -m tools.stress fuzz`)."""


def cases(share: float) -> Callable[..., Any]:
    """Give a property this share of all cases; the shares of all properties sum to 1."""
    return settings(
        max_examples=max(1, round(share * CASES)),
        derandomize=CASES == FEW,
        deadline=None,
        database=None,
        # Fixtures that a property shares between its cases hold nothing that a case changes.
        suppress_health_check=list(HealthCheck),
    )


def tried(act: Callable[..., Any], *arguments: Any, **named: Any) -> tuple[Any, str]:
    """What comes back, or None and the words of the ValueError, of which there are some."""
    try:
        return act(*arguments, **named), ""
    except ValueError as error:
        said = str(error)
        assert said, "an error without a word"
        return None, said


seeds = st.integers(0, 2**32 - 1)
sizes = st.sampled_from([1, 2, 3, 5, 7, 11])
texts = st.text(st.characters(codec="utf-8"), max_size=40)
"""Any text at all: line ends, controls, letters of every script, half of an emoji."""
plain = st.text("abcdéœ'’ .!?-<>", max_size=30)
"""Text as in the corpora, with what the word tokenizer treats otherwise."""
odd = st.none() | st.booleans() | st.integers() | st.floats() | texts
sentences = st.lists(texts, min_size=1, max_size=7)
"""The tokens of one side of a record."""
depths = st.lists(st.integers(1, 4), min_size=1, max_size=3)
"""How many heads each layer has."""
jsons = st.recursive(
    odd,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=8,
)
"""Whatever a JSON file can hold, NaN and infinity besides, as Python reads and writes them."""


def numbers(seed: int, *shape: int, scale: float = 1.0) -> np.ndarray:
    """Normally distributed numbers."""
    return scale * np.random.default_rng(seed).standard_normal(shape)


@st.composite
def models(draw: Any) -> Transformer:
    """A model in float64 of small sizes, whose special ids stand anywhere."""
    heads, width = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    pad_id, bos_id, eos_id, unk_id = draw(st.permutations(range(5)))[:4]
    return make_model(
        draw(st.integers(0, 10_000)),
        source_vocab_size=11,
        target_vocab_size=7,
        d_model=2 * heads * width,
        d_ff=draw(st.sampled_from([1, 5, 13])),
        num_heads=heads,
        num_encoder_layers=draw(st.integers(1, 2)),
        num_decoder_layers=draw(st.integers(1, 2)),
        norm=draw(st.sampled_from(["post", "pre"])),
        positions=draw(st.sampled_from(Positions.__args__)),
        tie_target_output=draw(st.booleans()),
        max_length=40,
        **{"pad_id": pad_id, "bos_id": bos_id, "eos_id": eos_id, "unk_id": unk_id},
    )


@st.composite
def sources(draw: Any, model: Transformer, most: int = 4) -> torch.Tensor:
    """Sentences of unequal length, padded behind or in front."""
    pad_id = model.config.pad_id
    words = st.integers(0, 10).filter(lambda word: word != pad_id)
    rows = draw(st.lists(st.lists(words, min_size=1, max_size=6), min_size=1, max_size=most))
    length = max(map(len, rows))
    in_front = draw(st.booleans())
    padded = [(row, [pad_id] * (length - len(row))) for row in rows]
    return torch.tensor([pads + row if in_front else row + pads for row, pads in padded])
