"""Build a model without drawing random weights, for a model whose weights are about to be loaded.

Loaders use it. The weights would be overwritten anyway, and because torch has one stream of random
numbers for all threads, drawing them would change the dropout of a model that another thread trains.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

DRAWS = {"uniform_", "normal_", "xavier_uniform_", "kaiming_uniform_"}


class SkipInit(TorchFunctionMode):
    """A context in which new weights stay uninitialised memory, in this thread alone."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a PyTorch function, but leave a tensor as it is instead of drawing its numbers."""
        if getattr(func, "__name__", "") in DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))
