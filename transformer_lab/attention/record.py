"""The attention weights of every head in one translation, together with the tokens."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, fields
from textwrap import shorten
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from transformer_lab.config import (
    check,
    check_choice,
    check_count,
    describe_count,
    describe_type,
    is_integer,
    is_number,
    join_with_or,
)

Kind = Literal["encoder", "decoder", "cross"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CODE = re.compile(r"([edc])([1-9]\d*)\.([1-9]\d*)")

Alignment = tuple[tuple[int, int], ...]
"""Pairs (source position, target position), both counted from 0."""

PatchFunction = Callable[[np.ndarray, int], np.ndarray]
"""A function that takes the weights a head has computed and returns weights to replace them.

Its arguments are the weights (batch, query, key) and the index of their first query. The index is
needed because a decoder that writes word by word computes one row at a time.
"""


class Head(NamedTuple):
    """One head of a model; layers and heads are counted from 0."""

    kind: Kind
    layer: int
    head: int

    @property
    def code(self) -> str:
        """The head's code, such as "e2.3" for encoder layer 2, head 3, both counted from 1."""
        return f"{self.kind[0]}{self.layer + 1}.{self.head + 1}"

    @classmethod
    def from_code(cls, code: str) -> "Head":
        """Return the head that a code stands for; raise a ValueError if the code is malformed."""
        found = CODE.fullmatch(code) if isinstance(code, str) else None
        if not found:
            raise ValueError(f"head code is {code!r}; expected a code such as 'e2.3'")
        kind = next(kind for kind in KINDS if kind[0] == found[1])
        return cls(kind, int(found[2]) - 1, int(found[3]) - 1)


class Referent(NamedTuple):
    """The token positions that describe a pronoun and what it refers to.

    `pronoun` is the pronoun in the source, `referent` is the noun that it refers to, and `other` is
    the noun that it might have referred to instead. `decider` is the source word that decides
    between the two nouns, and `step` is the target position at which the pronoun is translated.
    """

    pronoun: int
    referent: int
    other: int
    step: int
    decider: int


@dataclass(frozen=True, eq=False, repr=False)
class AttentionRecord:
    """The attention weights of all heads for one sentence; rows are queries, columns are keys.

    Two records are equal if all their fields are equal. They cannot be hashed, because their
    arrays are writable.

    The decoder reads one token and writes the next, so row t of `decoder` and `cross` belongs to
    the step that reads `target_tokens[t]` and writes `written_tokens[t]`.

    Attributes:
        source_tokens: The tokens that the encoder read.
        target_tokens: The tokens that the decoder read, starting with bos.
        written_tokens: The token written at each step; one token ahead of `target_tokens`.
        encoder: One array (heads, source, source) for each layer.
        decoder: One array (heads, target, target) for each layer.
        cross: One array (heads, target, source) for each layer.
        next_tokens: The likeliest next tokens at each step, each with its probability.
        alignment: Gold links, as pairs (source position, step that writes the word).
        referent: What the pronoun refers to, from the gold annotation.
        muted: Heads whose output was muted; their weights are still recorded.
        label: Where the record comes from, for instance a training step.
        unknown: Words of the source that are not in the vocabulary; the model read `<unk>` instead.

    Raises:
        ValueError: If a shape, a token count or a gold position does not fit, a weight is below 0,
            or a row sums to neither 1 nor 0. The message names the field, layer and row.
    """

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    written_tokens: tuple[str, ...]
    encoder: tuple[np.ndarray, ...]
    decoder: tuple[np.ndarray, ...]
    cross: tuple[np.ndarray, ...]
    next_tokens: tuple[tuple[tuple[str, float], ...], ...] | None = None
    alignment: Alignment | None = None
    referent: Referent | None = None
    muted: frozenset[Head] = frozenset()
    label: str | None = None
    unknown: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("source_tokens", "target_tokens", "written_tokens"):
            object.__setattr__(self, name, checked_labels(name, getattr(self, name)))
        checked_labels("unknown", self.unknown or ())
        if self.label is not None and not isinstance(self.label, str):
            raise ValueError(f"label is {short(self.label)}; expected a string or None")
        source, target = len(self.source_tokens), len(self.target_tokens)
        written = len(self.written_tokens)
        expected = f"{target}, as in target_tokens"
        check_count("written_tokens", written, "token", expected, written == target)
        if self.next_tokens is not None:
            steps, expected = len(self.next_tokens), f"{target}, one for each target token"
            check_count("next_tokens", steps, "step", expected, steps == target)
        for number, step in enumerate(self.next_tokens or ()):
            _check_step(f"step {number} of next_tokens", step)
        _check_layers("encoder", self.encoder, (source, source))
        _check_layers("decoder", self.decoder, (target, target))
        _check_layers("cross", self.cross, (target, source))
        for link in self.alignment or ():
            if not (
                isinstance(link, list | tuple) and len(link) == 2 and all(map(is_integer, link))
            ):
                raise ValueError(f"alignment contains {short(link)}; expected pairs of integers")
            i, j = link
            if not (0 <= i < source and 0 <= j < target):
                raise ValueError(
                    f"alignment contains ({i}, {j}); expected a source position from 0 to "
                    f"{source - 1} and a step from 0 to {target - 1}"
                )
        if self.referent is not None:
            if not (isinstance(self.referent, Referent) and all(map(is_integer, self.referent))):
                raise ValueError(
                    f"referent is {short(self.referent)}; "
                    "expected a Referent whose fields are integers"
                )
            for name, place in self.referent._asdict().items():
                most = target if name == "step" else source
                if not 0 <= place < most:
                    raise ValueError(f"referent.{name} is {place}; expected 0 to {most - 1}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AttentionRecord):
            return NotImplemented
        for name in (field.name for field in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if name in KINDS:  # a tuple of arrays, which are equal element by element
                same = len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))
            else:
                same = mine == theirs
            if not same:
                return False
        return True

    def __repr__(self) -> str:
        source, written = (
            shorten(" ".join(tokens), 60, placeholder=" …")
            for tokens in (self.source_tokens, self.written_tokens)
        )
        heads = ", ".join(f"{len(self.heads(kind))} {kind}" for kind in KINDS)
        return f"<AttentionRecord {source!r} → {written!r}; heads: {heads}>"

    @classmethod
    def from_transformers(
        cls,
        outputs: Any,
        *,
        source_tokens: Sequence[str] = (),
        target_tokens: Sequence[str] = (),
        written_tokens: Sequence[str] | None = None,
        sentence: int = 0,
        padding: Literal["right", "left"] = "right",
        alignment: Alignment | None = None,
        referent: Referent | None = None,
        label: str | None = None,
    ) -> "AttentionRecord":
        """Build the record of one sentence from the output of a Hugging Face `transformers` model.

            AttentionRecord.from_transformers(model(**batch, output_attentions=True), source_tokens=…)

        Args:
            outputs: What the model returned with `output_attentions=True`. Load the model with
                `attn_implementation="eager"`, because the fused versions return no weights.
            source_tokens: The tokens that the encoder read, without padding.
            target_tokens: The tokens that the decoder read. An encoder-only model has no target
                tokens, and a decoder-only model has no source tokens.
            written_tokens: What the decoder wrote at each step; by default, the token that it read
                at the next step.
            sentence: The sentence's row in the batch.
            padding: The side on which the batch is padded; batches of decoder-only models are often
                padded on the left.
            alignment: Gold links to store in the record.
            referent: Gold positions of a pronoun and its referent, to store in the record.
            label: A note on where the record comes from, to store in the record.

        Raises:
            ValueError: If the outputs hold no weights, tokens are missing, or the record would be
                invalid.
        """
        source_tokens = checked_labels("source_tokens", source_tokens)
        target_tokens = checked_labels("target_tokens", target_tokens)
        if padding not in ("right", "left"):
            raise ValueError(f"padding is {padding!r}; expected 'right' or 'left'")
        found = {
            "encoder": getattr(outputs, "encoder_attentions", None),
            "decoder": getattr(outputs, "decoder_attentions", None),
            "cross": getattr(outputs, "cross_attentions", None),
        }
        alone = getattr(outputs, "attentions", None)
        if alone and found["cross"]:  # a decoder that looks at another model's encoder
            found["decoder"] = alone
        elif alone:  # one stack only: the tokens that are given say which it is
            if bool(source_tokens) == bool(target_tokens):
                raise ValueError(
                    "outputs come from a single stack; expected source_tokens for an encoder or "
                    "target_tokens for a decoder, but not both"
                )
            found["encoder" if source_tokens else "decoder"] = alone
        if not any(layers and layers[0] is not None for layers in found.values()):
            raise ValueError(
                "outputs contain no attention weights. Load the model with "
                'attn_implementation="eager" and call it with output_attentions=True'
            )
        lengths = {"encoder": (len(source_tokens),) * 2, "decoder": (len(target_tokens),) * 2}
        lengths["cross"] = (len(target_tokens), len(source_tokens))
        for kind, layers in found.items():
            if layers and 0 in lengths[kind]:
                names = {"encoder": "source_tokens", "decoder": "target_tokens"}
                name = names.get(kind, "source_tokens or target_tokens")
                raise ValueError(
                    f"outputs contain {kind} attention, but {name} is missing or empty"
                )
        kept = {
            kind: tuple(
                _cut(f"{kind} layer {number}", layer, sentence, lengths[kind], padding)
                for number, layer in enumerate(layers or ())
            )
            for kind, layers in found.items()
        }
        if written_tokens is None:
            written_tokens = (*target_tokens[1:], "…") if target_tokens else ()
        return cls(
            source_tokens,
            target_tokens,
            checked_labels("written_tokens", written_tokens),
            encoder=kept["encoder"],
            decoder=kept["decoder"],
            cross=kept["cross"],
            alignment=alignment,
            referent=referent,
            label=label,
        )

    def weights(self, head: Head | str) -> np.ndarray:
        """Return the weights (query, key) of a head, given as a `Head` or a code such as "e2.3".

        Raises:
            ValueError: If the head does not exist.
        """
        head = as_head(head)
        check_head(head, {kind: [len(a) for a in getattr(self, kind)] for kind in KINDS})
        return getattr(self, head.kind)[head.layer][head.head]

    def tokens(self, kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the row labels (queries) and the column labels (keys) of an attention map.

        A row of cross-attention is labelled with the word that its step *writes*, because that is
        the word whose sources you want to see.

        Raises:
            ValueError: If `kind` is not a kind of attention.
        """
        check_kind(kind)
        if kind == "encoder":
            return self.source_tokens, self.source_tokens
        if kind == "decoder":
            return self.target_tokens, self.target_tokens
        return self.written_tokens, self.source_tokens

    def heads(self, kind: Kind | None = None) -> list[Head]:
        """Return all heads of one kind, or of all kinds if `kind` is None, layer by layer.

        Raises:
            ValueError: If `kind` is not a kind of attention.
        """
        if kind is None:
            return [head for each in KINDS for head in self.heads(each)]
        check_kind(kind)
        layers = getattr(self, kind)
        return [Head(kind, i, h) for i, layer in enumerate(layers) for h in range(len(layer))]


def checked_labels(name: str, tokens: Any) -> tuple[str, ...]:
    """Return the labels of an axis as a tuple; raise a ValueError unless all are strings."""
    if isinstance(tokens, str | bytes | Mapping | Set) or not isinstance(tokens, Iterable):
        raise ValueError(f"{name} is {short(tokens)}; expected a list of strings")
    labels = tuple(tokens)
    for place, label in enumerate(labels):
        if not isinstance(label, str):
            kind = type(label).__name__
            remedy = "the token itself, not its id" if hasattr(label, "__index__") else "a string"
            raise ValueError(f"{name}[{place}] is {short(label)} ({kind}); expected {remedy}")
    return labels  # half a character is fine: a byte-level tokenizer may cut an emoji in two


def short(value: object) -> str:
    """Return a value's repr on one line for an error message, shortened if it is long."""
    return shorten(" ".join(repr(value).split()), 60, placeholder=" …")


def _check_step(name: str, step: Any) -> None:
    """Raise a ValueError unless `step` is a list of pairs of a token and its probability."""
    fits = isinstance(step, list | tuple) and all(
        isinstance(pair, list | tuple)
        and len(pair) == 2
        and isinstance(pair[0], str)
        and is_number(pair[1])
        and 0 <= pair[1] <= 1 + 1e-3
        for pair in step
    )
    if not fits:
        expected = "pairs of a token and a probability from 0 to 1"
        raise ValueError(f"{name} is {short(step)}; expected {expected}")


def as_head(head: Any) -> Head:
    """Return the `Head` for a code such as "e2.3" or for a tuple (kind, layer, head).

    Raises:
        ValueError: If `head` is neither of these.
    """
    if isinstance(head, str):
        return Head.from_code(head)
    expected = "a code such as 'e2.3' or a Head such as Head('cross', 0, 1)"
    named = isinstance(head, tuple | list) and len(head) == 3
    check("head", head, expected, named and all(map(is_integer, head[1:])))
    return Head(*head)


def check_kind(kind: Any) -> None:
    """Raise a ValueError unless `kind` is "encoder", "decoder" or "cross"."""
    check_choice("kind", kind, KINDS)


def check_head(head: Head, sizes: dict[Kind, list[int]]) -> None:
    """Raise a ValueError unless a head exists.

    `sizes` holds the number of heads in each layer, for each kind of attention.
    """
    kind, layer, number = head
    check_kind(kind)
    layers = sizes[kind]
    if not layers:
        there = join_with_or(repr(other) for other in KINDS if sizes[other])
        raise ValueError(
            f"kind is {kind!r}, but there are no layers of that kind; expected "
            f"{there or 'at least one layer'}"
        )
    if not 0 <= layer < len(layers):
        raise ValueError(f"layer is {layer}; expected 0 to {len(layers) - 1} for kind {kind!r}")
    if not 0 <= number < layers[layer]:
        raise ValueError(
            f"head is {number}; expected 0 to {layers[layer] - 1} in {kind} layer {layer}"
        )


CAUSES = (
    ". Usual causes: the model is in training mode, where dropout sets weights to 0 (call "
    "model.eval()); the padding is on the other side (see `padding` in from_transformers); or the "
    "model reserves part of each row for an attention sink, which is not a token"
)
"""The usual reasons why a row of a model's weights does not sum to 1."""


def check_weights(name: str, weights: np.ndarray, causes: str = "") -> None:
    """Raise a ValueError if a weight is negative or NaN, or a row sums to neither 1 nor 0."""
    if not np.all(weights >= 0):  # also catches NaN
        raise ValueError(f"{name} contains a negative or NaN weight; expected weights from 0 to 1")
    sums = weights.sum(axis=-1, dtype=np.float64)
    # Half precision keeps three digits of each weight.
    tolerance = 1e-2 if weights.dtype.itemsize < 4 else 1e-4
    wrong = np.argwhere((abs(sums - 1) > tolerance) & (sums != 0))
    if len(wrong):
        place = tuple(int(i) for i in wrong[0])
        row = place[0] if len(place) == 1 else place
        raise ValueError(
            f"row {row} of {name} sums to {sums[place]:.4g}; expected 1, or 0 if no key is visible"
            + causes
        )


def _check_layers(name: str, layers: Sequence[np.ndarray], shape: tuple[int, int]) -> None:
    if not isinstance(layers, list | tuple):
        raise ValueError(f"{name} is {short(layers)}; expected a list with one array per layer")
    for number, weights in enumerate(layers):
        where = f"{name} layer {number}"
        if not isinstance(weights, np.ndarray):
            raise ValueError(
                f"{where} is {describe_type(weights)}; "
                "expected a NumPy array of shape (heads, query, key)"
            )
        if not np.issubdtype(weights.dtype, np.floating):
            raise ValueError(f"{where} has dtype {weights.dtype}; expected a floating-point dtype")
        if weights.ndim != 3 or weights.shape[1:] != shape:
            raise ValueError(
                f"{where} has shape {weights.shape}; expected (heads, {shape[0]}, {shape[1]})"
            )
        check_weights(where, weights, CAUSES)


def _cut(
    name: str,
    layer: Any,
    sentence: int,
    shape: tuple[int, int],
    padding: Literal["right", "left"],
) -> np.ndarray:
    """Return the weights (heads, query, key) of one sentence in a batch, without the padding."""
    if getattr(layer, "ndim", None) != 4:
        raise ValueError(
            f"{name} is {describe_type(layer)}; "
            "expected a tensor of shape (batch, heads, query, key) from one forward pass"
        )
    batch, _, queries, keys = layer.shape
    if not 0 <= sentence < batch:
        count = describe_count(batch, "sentence")
        raise ValueError(f"`sentence` is {sentence}, but the batch has {count}, counted from 0")
    if shape[0] > queries or shape[1] > keys:
        a, b = shape
        least = f"{a} of each" if a == b else f"{a} queries and {b} keys"
        raise ValueError(
            f"{name} has {queries} queries and {keys} keys; "
            f"expected at least {least} for these tokens"
        )
    rows, columns = (
        slice(0, n) if padding == "right" else slice(size - n, size)
        for n, size in zip(shape, (queries, keys), strict=True)
    )
    weights = layer[sentence, :, rows, columns].detach().cpu()
    # NumPy has no bfloat16. `check_weights` expects rows in half precision to sum to 1 only roughly.
    return (weights.half() if weights.itemsize < 4 else weights.float()).numpy()
