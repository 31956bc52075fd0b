"""Show a record in BertViz, a widely used attention viewer that loads scripts from the network.

BertViz (Vig 2019) draws with these scripts in the browser, so its views stay blank offline and in
a reopened notebook. `transformer_lab.lab(record)` shows the same record without a network.
"""

import re
from collections.abc import Callable
from typing import Any

import torch
from IPython.display import HTML

from transformer_lab.attention.record import AttentionRecord, Kind
from transformer_lab.config import check


def head_view(record: AttentionRecord, *, kind: Kind | None = None, layer: int = 0) -> HTML:
    """Show BertViz's head view: lines between two columns of tokens, with a colour for each head.

        head_view(record, kind="cross")

    With `kind`, only one kind of attention is shown, and the rows of cross-attention are labelled
    with the words being written. Without it, they are labelled with the words being read, because
    BertViz takes a single list of decoder tokens. A ValueError is raised if BertViz cannot draw
    the record; see `bertviz_arguments`.
    """
    from bertviz import head_view as draw

    return draw_record(draw, record, kind, layer=layer)


def model_view(record: AttentionRecord, *, kind: Kind | None = None) -> HTML:
    """Show BertViz's model view, with a small drawing for each head.

        model_view(record)

    In all other respects, it works like `head_view`.
    """
    from bertviz import model_view as draw

    return draw_record(draw, record, kind)


def draw_record(
    draw: Callable[..., HTML], record: AttentionRecord, kind: Kind | None, **how: Any
) -> HTML:
    """Return the HTML that the BertViz view `draw` creates from a record."""
    return draw(**bertviz_arguments(record, kind), html_action="return", **how)


def bertviz_arguments(record: AttentionRecord, kind: Kind | None) -> dict[str, Any]:
    """Return the keyword arguments for drawing a record with BertViz.

    Raises:
        ValueError: If the record does not have this kind, if its kinds differ in the number of
            layers, or if its layers differ in the number of heads. In the last two cases, BertViz
            would draw one layer's weights under another's name, or fail.
    """
    kinds: list[Kind] = [kind] if kind else ["encoder", "decoder", "cross"]
    layers = {k: getattr(record, k) for k in kinds if len(getattr(record, k))}
    if not layers:
        wanted = f"{kind} attention" if kind else "attention"
        raise ValueError(f"record has no {wanted}; expected at least one layer to draw")
    shapes = {k: [len(layer) for layer in layers[k]] for k in layers}
    depths = {len(heads) for heads in shapes.values()}
    equal = len(depths) == 1 and len({count for heads in shapes.values() for count in heads}) == 1
    expected = "the same number in all layers, as BertViz requires"
    if not kind:
        expected = "the same number in all layers, and the same number of layers for each kind of "
        expected += "attention, as BertViz requires. Use kind= to draw only one kind"
    check("number of heads in each layer", shapes, expected, equal)
    target = record.written_tokens if kind == "cross" else record.target_tokens
    given: dict[str, Any] = {
        f"{k}_attention": [torch.as_tensor(layer)[None] for layer in layers[k]] for k in layers
    }
    if "encoder" in layers or "cross" in layers:
        given["encoder_tokens"] = escape_tokens(record.source_tokens)
    if "decoder" in layers or "cross" in layers:
        given["decoder_tokens"] = escape_tokens(target)
    return given


def escape_tokens(tokens: tuple[str, ...]) -> list[str]:
    """Escape tokens so that they look the same but cannot close the surrounding `<script>`."""
    return [re.sub("<(?=[/!])", "<\u2060", token) for token in tokens]
