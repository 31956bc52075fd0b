"""Look inside a forward pass: record all attention heads, mute some, or replace their weights."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, get_args

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
    PatchFunction,
    as_head,
    check_head,
    check_weights,
    checked_labels,
)
from transformer_lab.config import check, join_with_and, join_with_or
from transformer_lab.hooks import Hook, Point, find_hooks, use_hooks
from transformer_lab.model import Transformer
from transformer_lab.model.attention import AttentionCore, MultiHeadAttention
from transformer_lab.model.decoder import Decoder
from transformer_lab.model.encoder import Encoder

MuteMode = Literal["zero", "mean"]
Patch = np.ndarray | Tensor | PatchFunction
"""Replacement weights for a head, or a function that computes them from the head's own weights."""
Place = tuple[Kind, int | None]
"""A kind of layer and a layer index, counted from 0; None stands for the first layer's input."""


def name_patch(kind: Kind, layer: int, head: int) -> str:
    """Return the name of a head's patch for error messages."""
    return f"the patch for {kind} layer {layer}, head {head}"


class HeadHook(Hook):
    """A hook that records the weights of an `AttentionCore`, and may mute or patch some heads.

    A full pass calls it once. Cached decoding calls it once per new word, and `rows` concatenates
    the weights from these calls.
    """

    def __init__(self, kind: Kind, layer: int, mute: Sequence[int], mode: MuteMode):
        super().__init__(weights=self.patch_and_record, output=self.mute_heads)
        self.kind, self.layer, self.mute, self.mode = kind, layer, list(mute), mode
        self.patch: dict[int, Tensor | PatchFunction] = {}
        self.calls: list[Tensor] = []
        self.restarts: list[HeadHook] = [self]

    def patch_and_record(self, weights: Tensor) -> Tensor:
        """Replace the weights of the patched heads, then record and return all weights."""
        query, key = weights.shape[-2:]
        if self.kind == "encoder" or (self.kind == "decoder" and query == key):
            # A pass begins here, so what was recorded before belongs to an earlier pass.
            for hook in self.restarts:
                hook.calls = []
        if self.patch:
            weights = weights.clone()
            start = sum(call.size(2) for call in self.calls)
            for head, new in self.patch.items():
                if isinstance(new, Tensor):
                    weights[:, head] = self.patch_rows(head, new, start, weights)
                else:
                    weights[:, head] = self.call_patch(head, new, start, weights[:, head])
        self.calls.append(weights.detach().clone())
        return weights

    def patch_rows(self, head: int, new: Tensor, start: int, weights: Tensor) -> Tensor:
        """Return a patch's rows for the queries of this call: (query, key) or (batch, query, key).

        The translation may be longer or shorter than the patch. Rows beyond the end of the
        translation are ignored, and queries beyond the last row of the patch keep the model's own
        weights.

        Raises:
            ValueError: If the patch has the wrong shape, or if one of its rows sums to neither 1
                nor 0.
        """
        batch, _, query, key = weights.shape
        if new.dtype.itemsize < 4 <= weights.dtype.itemsize:
            # In half precision, rows sum to 1 only approximately, but recorded rows have to meet a
            # tighter tolerance.
            check_weights(name_patch(self.kind, self.layer, head), as_numpy(new))
            new = normalise_rows(new.to(weights.dtype))
        # In the decoder, no row gives weight to a later word, so the columns that are added or cut
        # off here are all zeros.
        columns = F.pad(new, (0, key - new.size(-1))) if self.kind == "decoder" else new
        rows = columns[..., start : start + query, :]
        missing = query - rows.size(-2)
        fits = rows.size(-1) == key and (new.ndim == 2 or (new.ndim == 3 and len(new) == batch))
        if self.kind == "encoder":
            fits = fits and new.size(-2) == query
        name = name_patch(self.kind, self.layer, head)
        if self.kind == "encoder":
            expected = f"({query}, {key}) or ({batch}, {query}, {key})"
        else:
            expected = f"(queries, {key}) or ({batch}, queries, {key}), with any number of queries"
        check(f"shape of {name}", tuple(new.shape), expected, fits)
        rows = rows.to(weights)  # in the model's dtype, on its device
        check_weights(name, as_numpy(rows))
        if missing:
            own = weights[:, head, query - missing :]
            rows = torch.cat([rows.expand(batch, -1, -1), own], dim=-2)
        return rows

    def call_patch(self, head: int, function: PatchFunction, start: int, own: Tensor) -> Tensor:
        """Return the weights (batch, query, key) that `function` computes from the head's own.

        Raises:
            ValueError: If the new weights have the wrong shape, or one of their rows sums to
                neither 1 nor 0.
        """
        name = name_patch(self.kind, self.layer, head)
        # Double precision holds coarser numbers exactly, so an untouched row comes back unchanged.
        new = np.asarray(function(own.detach().cpu().double().numpy(), start))
        check(f"shape of {name}", new.shape, f"{tuple(own.shape)}", new.shape == own.shape)
        rows = torch.from_numpy(new).to(own)
        check_weights(name, as_numpy(rows))
        return rows

    def mute_heads(self, heads: Float[Tensor, "batch heads query d_v"]) -> Tensor:
        """Return the heads' outputs before W_O, with the outputs of muted heads set to 0.

        In mode "mean", they are set to the mean of the head's outputs over the batch instead.
        """
        if not self.mute:
            return heads
        if self.mode == "mean" and len(heads) < 2:
            raise ValueError(
                "mode='mean' needs a batch of at least 2 sentences; for only one, use mode='zero'"
            )
        heads = heads.clone()
        muted = heads[:, self.mute]
        heads[:, self.mute] = 0.0 if self.mode == "zero" else muted.mean(dim=0, keepdim=True)
        return heads

    def rows(self) -> Float[Tensor, "batch heads query key"]:
        """Return the weights of the latest pass, concatenating the rows of cached decoding steps.

        Raises:
            ValueError: If no pass was recorded, or sentences left the batch during decoding.
        """
        sizes = sorted({len(call) for call in self.calls})
        name = f"{self.kind} layer {self.layer}"
        if not sizes:
            raise ValueError(
                f"no forward pass was recorded for {name}. Run the model inside the `with` block"
            )
        if len(sizes) > 1:
            raise ValueError(
                f"the batches recorded for {name} differ in size "
                f"({join_with_and(map(str, sizes))}). Decode one sentence at a time, so that none "
                "leaves the batch"
            )
        width = max(call.size(3) for call in self.calls)
        wide = [torch.nn.functional.pad(call, (0, width - call.size(3))) for call in self.calls]
        return torch.cat(wide, dim=2)


def as_numpy(weights: Tensor) -> np.ndarray:
    """Return weights as a NumPy array: float16 for half precision, float32 for anything wider."""
    return (weights.half() if weights.dtype.itemsize < 4 else weights.float()).cpu().numpy()


def normalise_rows(weights: Tensor) -> Tensor:
    """Return weights with each row scaled to sum to 1; a row of zeros is left unchanged."""
    sums = weights.sum(dim=-1, keepdim=True)
    return weights / sums.where(sums > 0, 1)


class AttentionCapture:
    """The attention weights of every head in a model's latest pass.

    `capture_attention` yields an object of this class.
    """

    def __init__(self, head_hooks: dict[Kind, list[HeadHook]], muted: frozenset[Head]):
        self.head_hooks = head_hooks
        self.muted = muted

    def layers(self, kind: Kind) -> list[np.ndarray]:
        """Return the weights (batch, heads, query, key) of each layer for one kind of attention.

        Raises:
            ValueError: If no pass was recorded.
        """
        return [as_numpy(hook.rows()) for hook in self.head_hooks[kind]]

    @property
    def encoder(self) -> list[np.ndarray]:
        """The weights of encoder self-attention: (batch, heads, source, source) for each layer."""
        return self.layers("encoder")

    @property
    def decoder(self) -> list[np.ndarray]:
        """The weights of decoder self-attention: (batch, heads, target, target) for each layer."""
        return self.layers("decoder")

    @property
    def cross(self) -> list[np.ndarray]:
        """The weights of cross-attention: (batch, heads, target, source) for each layer."""
        return self.layers("cross")

    def record(
        self,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        written_tokens: Sequence[str],
        sentence: int = 0,
        **facts: Any,
    ) -> AttentionRecord:
        """Return the `AttentionRecord` for row `sentence` of the batch, without padding.

        The number of tokens determines how many rows and columns are kept. Further keyword
        arguments set fields of the record, such as `label`.
        """
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
    mute: Iterable[Head | str] = (),
    mode: MuteMode = "zero",
    patch: Mapping[Head, Patch] | Mapping[str, Patch] | None = None,
    hooks: Mapping[Place, Hook] | None = None,
) -> Iterator[AttentionCapture]:
    """Record what every head attends to while the model runs inside the `with` block.

    Args:
        model: The model. It runs as usual, but without PyTorch's fused attention kernel.
        mute: Heads to mute before W_O, as `Head` objects or codes such as "e2.3".
        mode: "zero" sets the output of a muted head to 0; "mean" sets it to its mean over the
            batch.
        patch: For each head, weights that replace its own: (query, key) or (batch, query, key),
            where each row sums to 1 or is all zeros. A patch can also be a function that computes
            new weights from the head's own (see `PatchFunction`).
        hooks: For each (kind, layer), such as ("encoder", 0), a `Hook`. Its functions run in every
            pass, before muting and patching. Cross-attention has no `residual` point. If the layer
            is None, `residual` is the only point; it gets the vectors that enter the first layer.

    Yields:
        An `AttentionCapture`. Each full pass replaces the previous recording, while each step of
        cached decoding adds rows to the recording. Passes in other threads are neither recorded nor
        changed.

    Raises:
        ValueError: If a head or layer does not exist, a patch or hook does not fit, or this thread
            is already capturing the model.
    """
    check("model", model, "a Transformer", isinstance(model, Transformer))
    check("mute", mute, "a list of heads, such as ['e2.3']", not isinstance(mute, str | Head))
    for name, given in (("patch", patch), ("hooks", hooks)):
        check(name, given, "a dictionary or None", given is None or isinstance(given, Mapping))
    cores = attention_cores(model)
    sizes: dict[Kind, list[int]] = {
        kind: [model.config.num_heads] * len(cores[kind]) for kind in KINDS
    }
    muted = frozenset(map(as_head, mute))
    patches = {
        as_head(head): new if callable(new) else torch.as_tensor(new).detach().cpu()
        for head, new in (patch or {}).items()
    }
    for head in [*muted, *patches]:
        check_head(head, sizes)
    for head, new in patches.items():
        if isinstance(new, Tensor):
            name = f"dtype of {name_patch(*head)}"
            check(name, new.dtype, "a real dtype", not new.is_complex())
    check("mode", mode, "'zero' or 'mean'", mode in ("zero", "mean"))
    open_hooks = [hook for kind in KINDS for core in cores[kind] for hook in find_hooks(core)]
    if any(isinstance(hook, HeadHook) for hook in open_hooks):
        raise ValueError(
            "model is already being captured; end that capture before you start another"
        )

    head_hooks: dict[Kind, list[HeadHook]] = {
        kind: [
            HeadHook(kind, i, [h.head for h in muted if h[:2] == (kind, i)], mode)
            for i in range(len(cores[kind]))
        ]
        for kind in KINDS
    }
    for head, new in patches.items():
        head_hooks[head.kind][head.layer].patch[head.head] = new
    # A decoder layer's self-attention begins a pass for its cross-attention, too. If a recurrence
    # replaces self-attention, the encoder begins the pass.
    for own, cross in zip(head_hooks["decoder"], head_hooks["cross"], strict=False):
        own.restarts = [own, cross]
    if not cores["decoder"] and head_hooks["encoder"]:
        head_hooks["encoder"][0].restarts += head_hooks["cross"]
    recording: dict[nn.Module, Hook] = {
        core: hook
        for kind in KINDS
        for core, hook in zip(cores[kind], head_hooks[kind], strict=True)
    }
    with use_hooks(hooked_modules(model, hooks or {})), use_hooks(recording):
        yield AttentionCapture(head_hooks, muted)


def hooked_modules(model: Transformer, hooks: Mapping[Place, Hook]) -> dict[nn.Module, Hook]:
    """Return a dictionary that maps each module to the hook that it must call.

    The modules are attention cores, layers or whole stacks.

    Raises:
        ValueError: If the model has no such layer, or a hook uses a point that its layer does not
            have.
    """
    cores = attention_cores(model)
    modules: dict[Place, list[nn.Module]] = {
        (kind, layer): [core] for kind in KINDS for layer, core in enumerate(cores[kind])
    }
    stacks: dict[Kind, Encoder | Decoder] = {"encoder": model.encoder, "decoder": model.decoder}
    for kind, stack in stacks.items():
        modules[kind, None] = [stack]
        for number, module in enumerate(stack.layers):
            modules.setdefault((kind, number), []).append(module)
    found: dict[nn.Module, Hook] = {}
    for place, hook in hooks.items():
        expected = join_with_or(map(str, modules))
        check("a key of `hooks`", place, expected, isinstance(place, tuple) and place in modules)
        check(
            f"hook at {place}", hook, "a Hook, such as Hook(scores=print)", isinstance(hook, Hook)
        )
        here = {isinstance(module, AttentionCore) for module in modules[place]}
        known = [point for point in get_args(Point) if (point != "residual") in here]
        wrong = [p for p in get_args(Point) if p not in known and getattr(hook, p) is not None]
        if wrong:
            raise ValueError(
                f"there is no point {join_with_or(map(repr, wrong))} at {place}; expected "
                f"{join_with_or(map(repr, known))}"
            )
        found.update(dict.fromkeys(modules[place], hook))
    return found


def attention_cores(model: Transformer) -> dict[Kind, list[AttentionCore]]:
    """Return a list of attention cores for each kind of attention, in layer order."""
    return {
        "encoder": [layer.self_attention.core for layer in model.encoder.layers],
        "decoder": [
            layer.self_attention.core
            for layer in model.decoder.layers
            if isinstance(layer.self_attention, MultiHeadAttention)  # and no recurrence
        ],
        "cross": [layer.cross_attention.core for layer in model.decoder.layers],
    }
