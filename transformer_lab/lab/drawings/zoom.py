"""A drawing that zooms from Figure 1 into a layer, a head and a single weight, and back out."""

import base64
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol, runtime_checkable

import numpy as np

from transformer_lab.attention.record import AttentionRecord, Head, Kind
from transformer_lab.config import check, check_choice
from transformer_lab.figures.architecture import DECODER, ENCODER
from transformer_lab.figures.style import weight_colours
from transformer_lab.hooks import Hook
from transformer_lab.lab.drawings.flow import KINDS, check_figure_1, check_lengths
from transformer_lab.lab.guide import NOUN_FINDER
from transformer_lab.lab.page.drawing import Drawing

FAMOUS_SENTENCE = "the animal didn't cross the street because it was too tired"
POINTS = ("query", "key", "value")
OPENED = Head.from_code(NOUN_FINDER)
"""The head to zoom into by default."""
LONGEST = 16
"""The maximum number of tokens that fit into a labelled map."""


@runtime_checkable
class Hooked(Protocol):
    """The interface that `zoom_to_weight` needs; `Translator` implements it."""

    @property
    def model(self) -> Any:
        """The model, whose configuration says how many layers there are."""

    def attend(
        self, source: str, *, hooks: Mapping[tuple[Kind, int | None], Hook] | None = None
    ) -> AttentionRecord:
        """Return the record of one sentence.

        The last call of each hook must belong to the pass that reads source and translation
        together.
        """


def zoom_to_weight(
    translator: Hooked,
    source: str = FAMOUS_SENTENCE,
    *,
    head: Head = OPENED,
    query: str = "tired",
    key: str = "animal",
) -> Drawing:
    """Draw Figure 1 for one sentence, and let the reader zoom into any layer, head and weight.

        zoom_to_weight(Translator.load())

    Inside a head, the drawing shows how one weight is computed and used (§3.2.1): query times key,
    divided by √d_k, put through the softmax, and multiplied by the value. All the numbers are the
    model's own.

    Args:
        translator: Anything that has a post-norm model and `.attend(source, hooks=…)`.
        source: The sentence.
        head: The head to zoom into.
        query: The query word of the weight to zoom into.
        key: The key word of that weight.

    Raises:
        ValueError: If the model is not post-norm, has a recurrent decoder, or lacks layers or the
            head; if a sentence is too long to draw, or lacks one of the two words; or if the mask
            hides `key` from `query`.
    """
    config = translator.model.config
    check_figure_1(config)
    depths = {"encoder": config.num_encoder_layers, "decoder": config.num_decoder_layers}
    layers = tuple(depths.values())
    seen, record = capture_vectors(translator, source, depths)
    check_lengths(record, LONGEST)
    heads = record.heads(head.kind)
    expected = f"a head of the model, whose last {head.kind} head is {tuple(heads[-1])}"
    check("head", tuple(head), expected, head in heads)
    queries, keys = record.tokens(head.kind)
    check_choice("query", query, queries)
    check_choice("key", key, keys)
    row, column = queries.index(query), keys.index(key)
    is_seen = head.kind != "decoder" or column <= row
    check(
        "key",
        key,
        f"a word that {query!r} may attend to, because the mask hides later words",
        is_seen,
    )
    blocks = [
        block_data(side, layer, seen) for side, depth in depths.items() for layer in range(depth)
    ]
    data = {
        "source": list(record.source_tokens),
        "target": list(record.target_tokens),
        "written": list(record.written_tokens),
        "boxes": {
            "below": [ENCODER["source_embedding"], ENCODER["source_positions"]],
            "above": [DECODER["output"], DECODER["softmax"]],
        },
        "blocks": blocks,
        "start": start_place(blocks, head) | {"row": row, "column": column},
        "colours": weight_colours(),
    }
    vectors = seen[head.kind, head.layer]
    score = float(vectors["query"][head.head][row] @ vectors["key"][head.head][column])
    width = vectors["query"].shape[-1]
    alt = (
        f"Four pictures, each inside the one before: Figure 1 with “{source}” in it, one of its "
        f"{sum(layers)} layers, a head of that layer, and one weight of that head. The query of "
        f"{query} times the key of {key} is {score:.2f}; divided by √{width} that is "
        f"{score / width**0.5:.2f}, and the softmax turns that into "
        f"{record.weights(head)[row, column]:.2f}."
    )
    return Drawing("zoom", data, alt)


def capture_vectors(
    translator: Hooked, source: str, depths: Mapping[str, int]
) -> tuple[dict[tuple[Kind, int], dict[str, np.ndarray]], AttentionRecord]:
    """Return each attention module's queries, keys and values, and the record of the sentence.

    The vectors (heads, words, features) come from the last pass, which reads source and translation
    together.
    """
    places = [
        (kind, layer)
        for name, kind in KINDS.items()
        for layer in range(depths[name.partition(".")[0]])
    ]
    seen: dict[tuple[Kind, int], dict[str, np.ndarray]] = {place: {} for place in places}

    def keep(place: tuple[Kind, int], point: str, tensor: Any) -> None:
        seen[place][point] = tensor.detach()[0].double().cpu().numpy()

    hooks: dict[tuple[Kind, int | None], Hook] = {
        place: Hook(**{point: partial(keep, place, point) for point in POINTS}) for place in places
    }
    return seen, translator.attend(source, hooks=hooks)


def block_data(
    side: str, layer: int, seen: Mapping[tuple[Kind, int], Mapping[str, np.ndarray]]
) -> dict[str, Any]:
    """Return a layer's boxes from the bottom up; attention boxes have queries, keys and values."""
    parts: list[dict[str, Any]] = []
    for name, text in (ENCODER | DECODER).items():
        if name.startswith(f"{side}."):
            part: dict[str, Any] = {"text": text}
            if name in KINDS:
                kind = KINDS[name]
                vectors = seen[kind, layer]
                part |= {"kind": kind, "causal": kind == "decoder"}
                part |= {point: pack_numbers(vectors[point]) for point in POINTS}
            parts.append(part)
    return {"side": side, "layer": layer, "parts": parts}


def pack_numbers(heads: np.ndarray) -> dict[str, Any]:
    """Pack an array (heads, words, features) as integers from −32767 to 32767, in base64.

    The result's "unit" is the value of the integer 1, chosen so that the largest number is exact.
    """
    unit = float(abs(heads).max()) / 32767 or 1.0
    whole = np.round(heads / unit).astype("<i2")
    packed = base64.b64encode(whole.tobytes()).decode()
    return {"shape": list(heads.shape), "unit": unit, "numbers": packed}


def start_place(blocks: list[dict[str, Any]], head: Head) -> dict[str, int]:
    """Return the indices of a head's block, of its part in that block, and of the head itself."""
    side = "encoder" if head.kind == "encoder" else "decoder"
    for number, block in enumerate(blocks):
        for place, part in enumerate(block["parts"]):
            if (block["side"], block["layer"], part.get("kind")) == (side, head.layer, head.kind):
                return {"block": number, "part": place, "head": head.head}
    raise AssertionError(f"the drawing has no layer for {head}, which the record has")
