"""Build a model without drawing random weights, because the real ones are loaded right afterwards.

Loaders use it. The random weights would be overwritten anyway. Besides, PyTorch has one stream of
random numbers for all threads, so drawing them would change the dropout of a model that another
thread is training.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

DRAWS = {"uniform_", "normal_", "xavier_uniform_", "kaiming_uniform_"}


class SkipInit(TorchFunctionMode):
    """A context in which this thread leaves new weights uninitialised."""

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
