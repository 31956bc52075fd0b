"""Check the shapes of arguments at the first calls of each test.

The check takes half of a test's time, and most of it would be spent on the same functions again. Tests
marked `thorough` check every call.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import jaxtyping
import pytest
from beartype import beartype

CHECKS = 1000
"""How many checks a test may make: some passes through a small model."""
_left = 0


def start(item: pytest.Item) -> None:
    """Give a test that begins its checks."""
    global _left
    _left = -1 if item.get_closest_marker("thorough") else CHECKS
    jaxtyping.config.update("jaxtyping_disable", False)


def check(function: Callable[..., Any]) -> Callable[..., Any]:
    """The type checker that pyproject.toml names: beartype, until a test has made its checks."""
    checked = beartype(function)

    @wraps(function)
    def counted(*arguments: Any, **named: Any) -> Any:
        global _left
        _left -= 1
        if _left == 0:
            jaxtyping.config.update("jaxtyping_disable", True)
        return checked(*arguments, **named)

    return counted
