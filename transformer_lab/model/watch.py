"""Whoever looks into a pass stands beside the pass, never in the model.

Two threads may run one model at the same time, one of them watched. So what watches is kept in a
context variable: it is seen by the thread (and the asyncio task) that began to watch, and by what
it starts meanwhile, but by no other.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from jaxtyping import Float
from torch import Tensor, nn


class Watch:
    """Sees, and may change, the weights and the heads of one attention. Here: it lets all pass."""

    def weights(
        self, weights: Float[Tensor, "batch heads query key"]
    ) -> Float[Tensor, "batch heads query key"]:
        """The weights before dropout; what is returned is used in their place."""
        return weights

    def heads(
        self, heads: Float[Tensor, "batch heads query d_v"]
    ) -> Float[Tensor, "batch heads query d_v"]:
        """Each head's output before W_O; what is returned is used in its place."""
        return heads


_OPEN: ContextVar[tuple[dict[nn.Module, Watch], ...]] = ContextVar("open", default=())
"""The blocks under way here, the outermost first. A block that ends empties its own dictionary, so it
is over in every context that still knows it: blocks may end in any order, and in another task."""


def watch_of(core: nn.Module) -> Watch | None:
    """Who watches this attention in the pass under way, if anybody does: of several the innermost."""
    for block in reversed(_OPEN.get()):
        if (watch := block.get(core)) is not None:
            return watch
    return None


@contextmanager
def watching(watches: Mapping[nn.Module, Watch]) -> Iterator[None]:
    """Inside the block each of these attentions is watched, in this thread alone."""
    own = dict(watches)
    _OPEN.set((*still_open(), own))
    try:
        yield
    finally:
        own.clear()
        _OPEN.set(still_open())


def still_open() -> tuple[dict[nn.Module, Watch], ...]:
    """The blocks of this context that have not ended, here or elsewhere."""
    return tuple(block for block in _OPEN.get() if block)
