"""A drawing of the forward pass: every box of Figure 1, with its output matrix."""

from typing import Any, Protocol, runtime_checkable

import numpy as np

from transformer_lab.attention.record import AttentionRecord, Kind
from transformer_lab.config import check, check_count
from transformer_lab.figures.architecture import DECODER, ENCODER
from transformer_lab.figures.style import weight_colours
from transformer_lab.lab.page.drawing import Drawing
from transformer_lab.numpy_reference import softmax

COLUMNS = 16
"""The maximum number of columns to draw for each matrix."""
WORDS = 6
"""The number of vocabulary words to draw in the output boxes."""
LONGEST = 8
"""The maximum number of tokens on each side of the drawing."""
KINDS: dict[str, Kind] = {
    "encoder.self_attention": "encoder",
    "decoder.self_attention": "decoder",
    "decoder.cross_attention": "cross",
}


def check_figure_1(config: Any) -> None:
    """Raise a ValueError unless a model has the layers of the paper's Figure 1."""
    check("norm", config.norm, "'post', as in the paper's Figure 1", config.norm == "post")
    recurrent = config.recurrent_decoder
    check("recurrent_decoder", recurrent, "False, as in the paper's Figure 1", not recurrent)
    for name in ("num_encoder_layers", "num_decoder_layers"):
        check(name, getattr(config, name), "at least 1", getattr(config, name) > 0)


def check_lengths(record: AttentionRecord, longest: int) -> None:
    """Raise a ValueError if the source or the translation has more than `longest` tokens."""
    for name, tokens in (("source", record.source_tokens), ("translation", record.target_tokens)):
        expected = f"at most {longest}"
        check_count(f"the {name}", len(tokens), "token", expected, len(tokens) <= longest)


@runtime_checkable
class Watched(Protocol):
    """The interface that `forward_flow` needs; `Translator` implements it."""

    @property
    def model(self) -> Any:
        """The model, whose modules are watched during one pass."""

    @property
    def target_tokenizer(self) -> Any:
        """The tokenizer for the words that the model may write."""

    def attend(self, source: str) -> AttentionRecord:
        """Return the record of all heads for one sentence.

        The last forward pass must read the source and the translation together.
        """


def forward_flow(translator: Watched, source: str) -> Drawing:
    """Draw a sentence's path through Figure 1, box by box, with the actual output matrices.

        forward_flow(translator, "the cat sleeps")

    The model translates the sentence. Its last pass reads source and translation together, and the
    output of each module in that pass is drawn. If a matrix is wide, only its first columns are
    drawn, and the drawing says so.

    Raises:
        ValueError: If the model is not post-norm like the paper's, has a recurrent decoder, or
            lacks encoder or decoder layers; or if the source or translation is too long to draw.
    """
    config: Any = translator.model.config
    check_figure_1(config)
    layers = config.num_encoder_layers, config.num_decoder_layers
    seen, record = capture_modules(translator, source)
    check_lengths(record, LONGEST)
    boxes = list_boxes(seen, record, layers)
    for box in boxes[-2:]:
        box["columns"] = translator.target_tokenizer.tokens(box["columns"])
    data = {
        "sides": {"encoder": list(record.source_tokens), "decoder": list(record.target_tokens)},
        "written": list(record.written_tokens),
        "boxes": boxes,
        "d_model": config.d_model,
        "colours": weight_colours(),
    }
    shapes = {box["name"]: f"{box['shape'][0]} × {box['shape'][1]}" for box in boxes}
    alt = (
        f"The forward pass of “{source}” through the boxes of Figure 1, one after the other. "
        f"Words × numbers: {shapes['source_positions']} from the first box to the memory, "
        f"{shapes['target_positions']} in the decoder, {shapes['output']} after the linear map. "
        f"Written: {' '.join(record.written_tokens)}."
    )
    return Drawing("flow", data, alt, step=2)


def capture_modules(
    translator: Watched, source: str
) -> tuple[dict[str, np.ndarray], AttentionRecord]:
    """Return the output and input of each module in the last pass, and the record of the sentence.

    The arrays are (words, features). An output is stored under the module's name, and an input
    under that name followed by " in".
    """
    seen: dict[str, np.ndarray] = {}

    def rows(tensor: Any) -> np.ndarray:
        return tensor.detach()[0].float().cpu().numpy()

    def note(name: str) -> Any:
        def hook(module: Any, given: tuple, output: Any) -> None:
            if getattr(output, "ndim", 0) == 3:
                seen[name] = rows(output)
                seen[f"{name} in"] = rows(given[0])

        return hook

    modules = [(name, module) for name, module in translator.model.named_modules() if name]
    handles = [module.register_forward_hook(note(name)) for name, module in modules]
    try:
        record = translator.attend(source)
    finally:
        for handle in handles:
            handle.remove()
    return seen, record


def list_boxes(
    seen: dict[str, np.ndarray], record: AttentionRecord, layers: tuple[int, int]
) -> list[dict[str, Any]]:
    """Return the boxes in the order of the forward pass, each with the matrix to draw."""
    seen["source_embedding"] = seen["source_positions in"]
    seen["target_embedding"] = seen["target_positions in"]
    found = []
    for side, names, depth in zip(("encoder", "decoder"), (ENCODER, DECODER), layers, strict=True):
        for name, text in names.items():
            if name == "output" and depth > 1:
                found.append(
                    box_data("decoder", "decoder.rest", rest_label(depth), seen["decoder"])
                )
            if name not in ("output", "softmax"):
                part = name.replace(f"{side}.", f"{side}.layers.0.", 1)
                box = box_data(side, name, text, seen[part])
                if name in KINDS:
                    box["maps"] = first_layer_maps(record, KINDS[name])
                if name.endswith("feed_forward"):
                    inside = seen[f"{part}.w_2 in"]
                    box["inside"] = inside.shape[1]
                    box["active"] = (inside > 0).sum(axis=1).tolist()
                found.append(box)
        if side == "encoder" and depth > 1:
            found.append(box_data(side, "encoder.rest", rest_label(depth), seen["encoder"]))
    return [*found, *output_boxes(seen["output"], record)]


def rest_label(depth: int) -> str:
    """Return the label for all layers after the first, in a stack of `depth` layers."""
    return "Layer 2: the same again" if depth == 2 else f"Layers 2 to {depth}: the same again"


def box_data(side: str, name: str, text: str, matrix: np.ndarray) -> dict[str, Any]:
    """Return the data of a box, with the first columns of its matrix."""
    return {
        "side": side,
        "name": name,
        "text": text,
        "shape": list(matrix.shape),
        "values": np.round(matrix[:, :COLUMNS].astype(float), 2).tolist(),
        "mean": np.round(matrix.mean(axis=1).astype(float), 3).tolist(),
        "spread": np.round(matrix.std(axis=1).astype(float), 2).tolist(),
    }


def first_layer_maps(record: AttentionRecord, kind: str) -> list[list[list[float | None]]]:
    """Return each first-layer head's weights, with None where the mask hides a later word."""
    weights = np.round(getattr(record, kind)[0].astype(float), 3)
    found = weights.tolist()
    if kind == "decoder":
        for head in found:
            for query, row in enumerate(head):
                row[query + 1 :] = [None] * (len(row) - query - 1)
    return found


def output_boxes(logits: np.ndarray, record: AttentionRecord) -> list[dict[str, Any]]:
    """Return the boxes of Linear and Softmax, with one column for each of the likeliest words."""
    probabilities = softmax(logits.astype(float))
    best = dict.fromkeys(int(row.argmax()) for row in probabilities)
    others = (int(i) for i in (-probabilities.max(axis=0)).argsort())
    columns = list(dict.fromkeys([*best, *others]))[:WORDS]
    assert record.next_tokens is not None  # the translator keeps them
    found = []
    for name, matrix, digits in (("output", logits, 1), ("softmax", probabilities, 4)):
        box = box_data("decoder", name, DECODER[name], matrix)
        box["values"] = np.round(matrix[:, columns].astype(float), digits).tolist()
        found.append(box | {"columns": columns})
    return found
