"""Hooks: look at, or change, what passes through an attention or a layer, without touching the model.

`capture_attention`, the studies and the lessons use them. Two threads may run one model at the same
time, only one of them with hooks. So open hooks are kept in a context variable: the thread (or
asyncio task) that opened them sees them, and so does what it starts meanwhile, but nobody else does.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from torch import Tensor, nn

Point = Literal["query", "key", "value", "scores", "weights", "output", "residual"]
HookFunction = Callable[[Tensor], Any]
"""It gets the tensor of its point. The pass goes on with the tensor that it returns; with None, nothing
changes, so `states.append` is a hook function too."""


@dataclass(eq=False)
class Hook:
    """A function for each of the seven points that you want to look at or change; the page has the same.

    Six of them lie inside an attention (§3.2), all heads at once, and are for its `core`:

    Attributes:
        query: (batch, heads, query, d_k), as the scores use it: after rotary positions.
        key: (batch, heads, key, d_k), likewise; with a KV cache those of earlier words too.
        value: (batch, heads, key, d_v).
        scores: (batch, heads, query, key): QKᵀ/√d_k, with −inf where the mask hides a key.
        weights: (batch, heads, query, key): softmax of the scores, before dropout.
        output: (batch, heads, query, d_v): weights times values, before W_O.
        residual: (batch, length, d_model): the vectors of the words between two layers. For a layer
            it gets those that leave it, and for a whole `encoder` or `decoder` those that enter.
    """

    query: HookFunction | None = None
    key: HookFunction | None = None
    value: HookFunction | None = None
    scores: HookFunction | None = None
    weights: HookFunction | None = None
    output: HookFunction | None = None
    residual: HookFunction | None = None


_OPEN: ContextVar[tuple[dict[nn.Module, Hook], ...]] = ContextVar("open", default=())
"""The open blocks of this context, the outermost first. A block that ends empties its own dictionary, so
it is over in every context that still knows it: blocks may end in any order, and in another task."""


def find_hooks(module: nn.Module) -> tuple[Hook, ...]:
    """Return the hooks of this module in the current pass, those of the outermost block first."""
    return tuple(block[module] for block in _OPEN.get() if module in block)


def apply_hooks(hooks: Sequence[Hook], point: Point, tensor: Tensor) -> Tensor:
    """Hand the tensor of this point from hook to hook, and return what comes out of the last."""
    for hook in hooks:
        function = getattr(hook, point)
        changed = None if function is None else function(tensor)
        tensor = tensor if changed is None else changed
    return tensor


def hook_residual(module: nn.Module, x: Tensor) -> Tensor:
    """Show the residual stream x to the hooks of this layer or stack; return what they make of it."""
    return apply_hooks(find_hooks(module), "residual", x)


@contextmanager
def use_hooks(hooks: Mapping[nn.Module, Hook]) -> Iterator[None]:
    """Open these hooks inside the block, in this thread alone.

    An attention core with a hook, even with an empty `Hook()`, computes its weights step by step
    instead of calling PyTorch's fused kernel.
    """
    own = dict(hooks)
    _OPEN.set((*still_open(), own))
    try:
        yield
    finally:
        own.clear()
        _OPEN.set(still_open())


def still_open() -> tuple[dict[nn.Module, Hook], ...]:
    """The blocks of this context that have not ended, here or in another task."""
    return tuple(block for block in _OPEN.get() if block)
