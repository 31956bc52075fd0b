"""The decoder stepper: input, prediction, causal mask and cross-attention, word by word."""

import numpy as np

from transformer_lab.attention.record import AttentionRecord, Kind
from transformer_lab.config import check
from transformer_lab.figures.style import weight_colours
from transformer_lab.lab.page.drawing import Drawing

NEXT = 5  # probable next words at a place


def decoder_stepper(
    record: AttentionRecord,
    *,
    decoder: tuple[int, int] = (0, 0),
    cross: tuple[int, int] = (0, 0),
    row: int = 2,
) -> Drawing:
    """Draw how a sentence passes through the decoder (§3.1, §3.2.3), with a model's actual weights.

        decoder_stepper(translator.attend("the cat saw the red house"), cross=(1, 3))

    The drawing shows the target shifted by one position, and the causal mask that hides the
    answers. Cross-attention has a row for each word read and a column for each source word. A
    control moves from position to position.

    Args:
        record: The record of the sentence.
        decoder: Layer and head of the decoder's self-attention, counted from 0.
        cross: Layer and head of cross-attention, counted from 0.
        row: The position that is highlighted at first.

    Raises:
        ValueError: If the record lacks one of the heads or the position, or if a position attends
            to a later one.
    """
    check("row", row, f"0 to {len(record.target_tokens) - 1}", 0 <= row < len(record.target_tokens))
    own, other = head_weights(record, "decoder", decoder), head_weights(record, "cross", cross)
    ahead = float(abs(np.triu(own, 1)).max(initial=0))
    check(
        "largest weight on a later word",
        float(f"{ahead:.3g}"),
        "0, because a causal decoder cannot see later words",
        ahead == 0,
    )
    nexts = record.next_tokens
    data = {
        "source": list(record.source_tokens),
        "read": list(record.target_tokens),
        "asked": list(record.written_tokens),
        "self": own.round(6).tolist(),
        "cross": other.round(6).tolist(),
        "next": nexts and [[(w, round(p, 6)) for w, p in step[:NEXT]] for step in nexts],
        "names": [f"layer {layer + 1}, head {head + 1}" for layer, head in (decoder, cross)],
        "row": row,
        "colours": weight_colours(),
    }
    read, asked = record.target_tokens[row], record.written_tokens[row]
    most = record.source_tokens[int(other[row].argmax())]
    alt = (
        f"A decoder at work, place by place: it reads {' '.join(record.target_tokens)} and should "
        f"write {' '.join(record.written_tokens)}. Its mask is a staircase of {len(own)} steps, "
        f"because each place sees itself and the words before it. Cross-attention is a rectangle, "
        f"{len(other)} rows by {other.shape[1]} columns, because every place sees the whole source. "
        f"Where it reads {read} and should write {asked}, it sees {row + 1} of its own words, and "
        f"in the source it looks most at {most} ({other[row].max():.2f})."
    )
    return Drawing("stepper", data, alt, step=2)


def head_weights(record: AttentionRecord, kind: Kind, place: tuple[int, int]) -> np.ndarray:
    """Return a head's weights (query, key); raise a ValueError if the record lacks the head."""
    layers: tuple[np.ndarray, ...] = getattr(record, kind)
    layer, head = place
    expected = "at least 1, because the drawing shows self-attention and cross-attention"
    check(f"number of {kind} layers", len(layers), expected, bool(layers))
    check(f"{kind} layer", layer, f"0 to {len(layers) - 1}", 0 <= layer < len(layers))
    heads = len(layers[layer])
    check(f"{kind} head", head, f"0 to {heads - 1}", 0 <= head < heads)
    return np.asarray(layers[layer][head], dtype=float)
