"""A model that is to be filled with weights needs no random ones, and takes none from others.

torch has one stream of random numbers for all threads: to draw weights that are overwritten at
once would change the dropout of a model that another thread trains.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch.overrides import TorchFunctionMode

DRAWS = {"uniform_", "normal_", "xavier_uniform_", "kaiming_uniform_"}


class Undrawn(TorchFunctionMode):
    """Inside the block, and in this thread alone, new weights are memory as it was found."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Leave a tensor as it is where it would be filled with random numbers."""
        if getattr(func, "__name__", "") in DRAWS:
            return args[0] if args else (kwargs or {})["tensor"]
        return func(*args, **(kwargs or {}))
