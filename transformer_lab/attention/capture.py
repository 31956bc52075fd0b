"""Look inside a real forward pass: record every head, mute some, give others new weights."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.attention.record import (
    KINDS,
    AttentionRecord,
    Head,
    Kind,
    check_head,
    check_weights,
    checked_labels,
)
from transformer_lab.config import check, is_integer
from transformer_lab.hooks import Hook, find_hook, use_hooks
from transformer_lab.model import Transformer
from transformer_lab.model.attention import AttentionCore, MultiHeadAttention

MuteMode = Literal["zero", "mean"]


class HeadHook(Hook):
    """Records one `AttentionCore`; mutes and patches the heads it was told to.

    One whole pass gives one call. Cached decoding gives one call for each new
    word; their rows are put together again by `rows`.
    """

    def __init__(self, kind: Kind, layer: int, mute: Sequence[int], mode: MuteMode):
        self.kind, self.layer, self.mute, self.mode = kind, layer, list(mute), mode
        self.patch: dict[int, Tensor] = {}
        self.calls: list[Tensor] = []
        self.restarts: list[HeadHook] = [self]

    def weights(self, weights: Tensor) -> Tensor:
        """Put the patches in, and record what is then used."""
        query, key = weights.shape[-2:]
        if self.kind == "encoder" or (self.kind == "decoder" and query == key):
            # A pass begins here: what was recorded before belongs to another one.
            for watch in self.restarts:
                watch.calls = []
        if self.patch:
            weights = weights.clone()
            start = sum(call.size(2) for call in self.calls)
            for head, new in self.patch.items():
                weights[:, head] = self.patch_rows(head, new, start, weights)
        self.calls.append(weights.detach().clone())
        return weights

    def patch_rows(self, head: int, new: Tensor, start: int, weights: Tensor) -> Tensor:
        """The rows of a patch for the queries of this call; a ValueError if they do not fit.

        A translation may come out longer or shorter than the one a patch was
        made for: rows never reached are unused, later rows keep their own weights.
        """
        batch, _, query, key = weights.shape
        if new.dtype.itemsize < 4 <= weights.dtype.itemsize:
            # Half precision sums to 1 only roughly, which what is recorded must not.
            check_weights(f"patch of {self.kind} layer {self.layer} head {head}", as_numpy(new))
            new = normalise_rows(new.to(weights.dtype))
        # A row of the decoder sees no later word: what was made for fewer or more keys has zeros there.
        columns = F.pad(new, (0, key - new.size(-1))) if self.kind == "decoder" else new
        rows = columns[..., start : start + query, :]
        missing = query - rows.size(-2)
        fits = rows.size(-1) == key and (new.ndim == 2 or (new.ndim == 3 and len(new) == batch))
        if self.kind == "encoder":
            fits = fits and new.size(-2) == query
        name = f"patch of {self.kind} layer {self.layer} head {head}"
        expected = f"(query, key) or (batch, query, key) with batch {batch}, key {key}"
        if self.kind == "encoder":
            expected += f", query {query}"
        check(name, tuple(new.shape), expected, fits)
        rows = rows.to(weights)  # as the model computes, and as exactly
        check_weights(name, as_numpy(rows))
        if missing:
            own = weights[:, head, query - missing :]
            rows = torch.cat([rows.expand(batch, -1, -1), own], dim=-2)
        return rows

    def heads(self, heads: Float[Tensor, "batch heads query d_v"]) -> Tensor:
        """Mute: the output of the heads before W_O becomes 0, or its mean over the batch."""
        if not self.mute:
            return heads
        if self.mode == "mean":
            expected = "at least 2 sentences for mode='mean', or mode='zero'"
            check("batch size", len(heads), expected, len(heads) > 1)
        heads = heads.clone()
        muted = heads[:, self.mute]
        heads[:, self.mute] = 0.0 if self.mode == "zero" else muted.mean(dim=0, keepdim=True)
        return heads

    def rows(self) -> Float[Tensor, "batch heads query key"]:
        """All rows of the latest pass; the steps of cached decoding are one below the other."""
        sizes = sorted({len(call) for call in self.calls})
        if len(sizes) != 1:
            found = f"batches of {sizes}" if sizes else "no pass"
            expected = (
                "one pass in which no sentence leaves the batch; decode one sentence at a time"
            )
            raise ValueError(
                f"{self.kind} layer {self.layer} recorded {found}; expected {expected}"
            )
        width = max(call.size(3) for call in self.calls)
        wide = [torch.nn.functional.pad(call, (0, width - call.size(3))) for call in self.calls]
        return torch.cat(wide, dim=2)


def as_numpy(weights: Tensor) -> np.ndarray:
    """Weights as NumPy has them: it knows no bfloat16, and float32 is enough for all others."""
    return (weights.half() if weights.dtype.itemsize < 4 else weights.float()).cpu().numpy()


def normalise_rows(weights: Tensor) -> Tensor:
    """The same with rows that sum to 1, or to 0, in a finer precision than the one they came in."""
    sums = weights.sum(dim=-1, keepdim=True)
    return weights / sums.where(sums > 0, 1)


class AttentionCapture:
    """The weights of all heads in the latest pass of a model; see `capture_attention`."""

    def __init__(self, watches: dict[Kind, list[HeadHook]], muted: frozenset[Head]):
        self.watches = watches
        self.muted = muted

    def layers(self, kind: Kind) -> list[np.ndarray]:
        """For each layer an array (batch, heads, query, key); ValueError if nothing was recorded."""
        return [as_numpy(watch.rows()) for watch in self.watches[kind]]

    @property
    def encoder(self) -> list[np.ndarray]:
        """Encoder self-attention: for each layer (batch, heads, source, source)."""
        return self.layers("encoder")

    @property
    def decoder(self) -> list[np.ndarray]:
        """Decoder self-attention: for each layer (batch, heads, target, target)."""
        return self.layers("decoder")

    @property
    def cross(self) -> list[np.ndarray]:
        """Cross-attention: for each layer (batch, heads, target, source)."""
        return self.layers("cross")

    def record(
        self,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        written_tokens: Sequence[str],
        sentence: int = 0,
        **facts: Any,
    ) -> AttentionRecord:
        """The record of one sentence of the batch, cut to its tokens; `facts` are its other fields."""
        source_tokens = checked_labels("source_tokens", source_tokens)
        target_tokens = checked_labels("target_tokens", target_tokens)
        source, target = len(source_tokens), len(target_tokens)

        def cut(kind: Kind, query: int, key: int) -> tuple[np.ndarray, ...]:
            return tuple(w[sentence, :, :query, :key] for w in self.layers(kind))

        return AttentionRecord(
            source_tokens=source_tokens,
            target_tokens=target_tokens,
            written_tokens=checked_labels("written_tokens", written_tokens),
            encoder=cut("encoder", source, source),
            decoder=cut("decoder", target, target),
            cross=cut("cross", target, source),
            muted=self.muted,
            **facts,
        )


@contextmanager
def capture_attention(
    model: Transformer,
    *,
    mute: Iterable[Head] = (),
    mode: MuteMode = "zero",
    patch: Mapping[Head, np.ndarray | Tensor] | None = None,
) -> Iterator[AttentionCapture]:
    """Record every head of what the model computes inside the `with` block.

    Args:
        model: Runs as usual; only the path through its attention is the explicit one.
        mute: Heads whose output is set to 0 before W_O.
        mode: "mean" sets it to its mean over the batch instead.
        patch: For each head the weights, (query, key) or (batch, query, key), that
            replace its own; each row sums to 1 or is 0.

    Yields:
        The capture. Each whole pass replaces what was recorded before; steps of
        cached decoding add their rows.

    Raises:
        ValueError: For a head that the model does not have, a patch that does not
            fit, or a model that this thread is capturing already. Passes of other
            threads are neither recorded nor changed.
    """
    cores = attention_cores(model)
    sizes: dict[Kind, list[int]] = {
        kind: [model.config.num_heads] * len(cores[kind]) for kind in KINDS
    }
    muted = frozenset(map(as_head, mute))
    patches = {as_head(head): torch.as_tensor(new) for head, new in (patch or {}).items()}
    for head in [*muted, *patches]:
        check_head(head, sizes)
    for head, new in patches.items():
        check(f"patch of {head}", new.dtype, "real numbers", not new.is_complex())
    check("mode", mode, "'zero' or 'mean'", mode in ("zero", "mean"))
    if any(find_hook(core) is not None for kind in KINDS for core in cores[kind]):
        raise ValueError("model is being captured already; expected one capture at a time")

    watches: dict[Kind, list[HeadHook]] = {
        kind: [
            HeadHook(kind, i, [h.head for h in muted if h[:2] == (kind, i)], mode)
            for i in range(len(cores[kind]))
        ]
        for kind in KINDS
    }
    for head, new in patches.items():
        watches[head.kind][head.layer].patch[head.head] = new.detach().cpu()
    # A decoder layer's self-attention begins a pass for its cross-attention too; where a recurrence
    # has its place, the encoder does.
    for watch, cross in zip(watches["decoder"], watches["cross"], strict=False):
        watch.restarts = [watch, cross]
    if not cores["decoder"] and watches["encoder"]:
        watches["encoder"][0].restarts += watches["cross"]
    watched: dict[nn.Module, Hook] = {
        core: watch
        for kind in KINDS
        for core, watch in zip(cores[kind], watches[kind], strict=True)
    }
    with use_hooks(watched):
        yield AttentionCapture(watches, muted)


def as_head(head: Any) -> Head:
    """A head as a Head; a ValueError unless it is one, or a tuple of its three parts."""
    expected = "(kind, layer, head), such as Head('cross', 0, 1)"
    named = isinstance(head, tuple | list) and len(head) == 3
    check("head", head, expected, named and all(map(is_integer, head[1:])))
    return Head(*head)


def attention_cores(model: Transformer) -> dict[Kind, list[AttentionCore]]:
    """The place in each layer where the weights are made."""
    return {
        "encoder": [layer.self_attention.core for layer in model.encoder.layers],
        "decoder": [
            layer.self_attention.core
            for layer in model.decoder.layers
            if isinstance(layer.self_attention, MultiHeadAttention)  # and no recurrence
        ],
        "cross": [layer.cross_attention.core for layer in model.decoder.layers],
    }
