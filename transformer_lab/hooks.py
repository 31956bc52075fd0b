"""Read or change the tensors inside a model with hooks, without changing the model itself.

`capture_attention`, the studies and the lessons use hooks. Two threads may run the same model at
the same time while only one of them uses hooks, so active hooks are kept in a context variable.
They are visible only to the thread or asyncio task that activated them, and to any asyncio task
that it starts while they are active.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal, get_args

from torch import Tensor, nn

from transformer_lab.config import check

Point = Literal["query", "key", "value", "scores", "weights", "output", "residual"]
HookFunction = Callable[[Tensor], Any]
"""A function that takes the tensor at a hook point.

If it returns a tensor, the forward pass continues with that tensor. If it returns None, nothing
changes. The `append` method of a list is therefore a hook function that records tensors.
"""


@dataclass(eq=False)
class Hook:
    """Functions that read or change the tensors at seven points in a forward pass.

    The interactive page offers the same seven points. Six of them lie inside an attention layer
    (§3.2), where each tensor holds all heads at once. Register the hooks for these six on the
    attention layer's `core`.

    Attributes:
        query: (batch, heads, query, d_k), after any rotary position embedding.
        key: (batch, heads, key, d_k), also after any rotary position embedding. With a KV cache,
            the tensor includes the keys of earlier tokens.
        value: (batch, heads, key, d_v).
        scores: (batch, heads, query, key): QKᵀ/√d_k, with −inf where the mask hides a key.
        weights: (batch, heads, query, key): softmax of the scores, before dropout.
        output: (batch, heads, query, d_v): weights times values, before W_O.
        residual: (batch, length, d_model): the residual stream between two layers. A hook on a
            layer gets the layer's output; a hook on a whole `encoder` or `decoder` gets the stack's
            input.
    """

    query: HookFunction | None = None
    key: HookFunction | None = None
    value: HookFunction | None = None
    scores: HookFunction | None = None
    weights: HookFunction | None = None
    output: HookFunction | None = None
    residual: HookFunction | None = None

    def __post_init__(self) -> None:
        for point in get_args(Point):
            function = getattr(self, point)
            check(point, function, "a function or None", function is None or callable(function))


_OPEN: ContextVar[tuple[dict[nn.Module, Hook], ...]] = ContextVar("open", default=())
"""The `use_hooks` blocks that are open in this context, outermost first.

When a block ends, it empties its own dictionary. This closes the block in every context that still
refers to that dictionary, so blocks may end in any order, and even in a different task.
"""


def find_hooks(module: nn.Module) -> tuple[Hook, ...]:
    """Return this module's hooks from the open `use_hooks` blocks, outermost block first."""
    return tuple(block[module] for block in _OPEN.get() if module in block)


def apply_hooks(hooks: Sequence[Hook], point: Point, tensor: Tensor) -> Tensor:
    """Pass the tensor through each hook's function for this point, and return the result.

    Raises:
        ValueError: If a function returns something other than None or a tensor of the same shape.
    """
    for hook in hooks:
        function = getattr(hook, point)
        changed = None if function is None else function(tensor)
        if changed is not None:
            expected = f"None or a tensor of shape {tuple(tensor.shape)}"
            if not isinstance(changed, Tensor) or changed.shape != tensor.shape:
                found = f"of type {type(changed).__name__}"
                if isinstance(changed, Tensor):
                    found = f"a tensor of shape {tuple(changed.shape)}"
                raise ValueError(f"result of the {point} hook is {found}; expected {expected}")
            tensor = changed
    return tensor


def hook_residual(module: nn.Module, x: Tensor) -> Tensor:
    """Apply this module's `residual` hooks to the residual stream x, and return the result."""
    return apply_hooks(find_hooks(module), "residual", x)


@contextmanager
def use_hooks(hooks: Mapping[nn.Module, Hook]) -> Iterator[None]:
    """Activate hooks on these modules inside the `with` block, for the current thread only.

    An attention core that has a hook, even an empty `Hook()`, computes its weights step by step
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
    """Return the hooks of every `use_hooks` block that is still open in this context."""
    return tuple(block for block in _OPEN.get() if block)
