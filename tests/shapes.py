"""Check the shapes of arguments in the first calls of each test, and no more in later ones.

The check takes half of a test's time, and most of it would be spent on the same functions again.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import jaxtyping
import pytest

CHECKS, THOROUGH_CHECKS = 1_000, 20_000
"""How many checks a test may make, and one that is marked `thorough`; a small model's pass takes 56."""
_left = 0


def start(item: pytest.Item) -> None:
    """Give a test that begins its checks."""
    global _left
    _left = THOROUGH_CHECKS if item.get_closest_marker("thorough") else CHECKS
    jaxtyping.config.update("jaxtyping_disable", False)


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """The type checker that pyproject.toml names: beartype, until a test has made its checks."""
    # Imported here, because a borrowed machine on which tests/gpu runs has no beartype.
    from beartype import beartype

    checked = beartype(function)

    @wraps(function)
    def counted(*arguments: Any, **named: Any) -> Any:
        global _left
        _left -= 1
        if _left == 0:
            jaxtyping.config.update("jaxtyping_disable", True)
        return checked(*arguments, **named)

    return counted
