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
    """Functions that read or change the tensors at seven points of a forward pass.

    The interactive page offers the same seven points. Six of them lie inside an attention (§3.2)
    and hold all heads at once; register those hooks at its `core`:

    Attributes:
        query: (batch, heads, query, d_k), as the scores use it: after rotary positions.
        key: (batch, heads, key, d_k), likewise; with a KV cache those of earlier words too.
        value: (batch, heads, key, d_v).
        scores: (batch, heads, query, key): QKᵀ/√d_k, with −inf where the mask hides a key.
        weights: (batch, heads, query, key): softmax of the scores, before dropout.
        output: (batch, heads, query, d_v): weights times values, before W_O.
        residual: (batch, length, d_model): the residual stream between two layers. The hook of a
            layer gets the layer's output, and that of a whole `encoder` or `decoder` the stack's
            input.
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
    """Return this module's hooks in the open blocks of `use_hooks`, the outermost block first."""
    return tuple(block[module] for block in _OPEN.get() if module in block)


def apply_hooks(hooks: Sequence[Hook], point: Point, tensor: Tensor) -> Tensor:
    """Pass the tensor through each hook's function for this point; return what the last returns."""
    for hook in hooks:
        function = getattr(hook, point)
        changed = None if function is None else function(tensor)
        tensor = tensor if changed is None else changed
    return tensor


def hook_residual(module: nn.Module, x: Tensor) -> Tensor:
    """Return the residual stream x after the `residual` functions of this module's hooks."""
    return apply_hooks(find_hooks(module), "residual", x)


@contextmanager
def use_hooks(hooks: Mapping[nn.Module, Hook]) -> Iterator[None]:
    """Activate these hooks, given by module, inside the block and in this thread alone.

    An attention core with a hook, even with an empty `Hook()`, computes its weights step by step
    instead of calling PyTorch's fused kernel.
    """
    own = dict(hooks)
    _OPEN.set((*find_open_hooks(), own))
    try:
        yield
    finally:
        own.clear()
        _OPEN.set(find_open_hooks())


def find_open_hooks() -> tuple[dict[nn.Module, Hook], ...]:
    """Return the hooks of each `use_hooks` block in this context that has not ended."""
    return tuple(block for block in _OPEN.get() if block)
