"""Build a model without random initial weights, because saved weights are loaded right afterwards.

Loaders use it. The random weights would be overwritten anyway. Also, all threads share PyTorch's
random number generator, so sampling weights would change the dropout of a model that another thread
is training.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

DRAWS = {"uniform_", "normal_", "xavier_uniform_", "kaiming_uniform_"}


class SkipInit(TorchFunctionMode):
    """A context manager that leaves new weights uninitialised, but only in the current thread."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Call a PyTorch function, or just return its tensor if the function samples weights."""
        if getattr(func, "__name__", "") in DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))
