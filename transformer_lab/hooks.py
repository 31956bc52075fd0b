"""Hooks: see or change what passes through one attention, without touching the model.

`capture_attention`, the studies and the lessons use them. Two threads may run one model at the same
time, only one of them with hooks. So open hooks are kept in a context variable: the thread (or
asyncio task) that opened them sees them, and so does what it starts meanwhile, but nobody else does.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from jaxtyping import Float
from torch import Tensor, nn


class Hook:
    """Sees, and may change, the weights and the head outputs of one attention; by default, nothing."""

    def weights(
        self, weights: Float[Tensor, "batch heads query key"]
    ) -> Float[Tensor, "batch heads query key"]:
        """The weights before dropout; what this returns is used instead."""
        return weights

    def heads(
        self, heads: Float[Tensor, "batch heads query d_v"]
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Each head's output before W_O; what this returns is used instead."""
        return heads


_OPEN: ContextVar[tuple[dict[nn.Module, Hook], ...]] = ContextVar("open", default=())
"""The open blocks of this context, the outermost first. A block that ends empties its own dictionary, so
it is over in every context that still knows it: blocks may end in any order, and in another task."""


def find_hook(core: nn.Module) -> Hook | None:
    """The hook of this attention in the current pass, or None; of several, the innermost."""
    for block in reversed(_OPEN.get()):
        if (watch := block.get(core)) is not None:
            return watch
    return None


@contextmanager
def use_hooks(watches: Mapping[nn.Module, Hook]) -> Iterator[None]:
    """Open a hook for each of these attentions inside the block, in this thread alone."""
    own = dict(watches)
    _OPEN.set((*still_open(), own))
    try:
        yield
    finally:
        own.clear()
        _OPEN.set(still_open())


def still_open() -> tuple[dict[nn.Module, Hook], ...]:
    """The blocks of this context that have not ended, here or in another task."""
    return tuple(block for block in _OPEN.get() if block)
