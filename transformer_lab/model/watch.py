"""Whoever looks into a pass stands beside the pass, never in the model.

Two threads may run one model at the same time, one of them watched. So what watches is kept in a
context variable: it is seen by the thread (and the asyncio task) that began to watch, and by no
other.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

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


_WATCHES: ContextVar[Mapping[nn.Module, Watch]] = ContextVar(
    "watches", default=MappingProxyType({})
)


def watch_of(core: nn.Module) -> Watch | None:
    """Who watches this attention in the pass under way, if anybody does."""
    return _WATCHES.get().get(core)


@contextmanager
def watching(watches: Mapping[nn.Module, Watch]) -> Iterator[None]:
    """Inside the block each of these attentions is watched, in this thread alone."""
    token = _WATCHES.set({**_WATCHES.get(), **watches})
    try:
        yield
    finally:
        _WATCHES.reset(token)
