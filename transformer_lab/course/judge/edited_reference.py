"""`edit_reference` creates known mistakes by changing a few words of the reference's source code.

A check uses it for mistakes that differ from its reference in one or two places.
"""

import inspect
from collections.abc import Callable
from typing import Any


def edit_reference(reference: Callable[..., Any], *changes: tuple[str, str]) -> Callable[..., Any]:
    """Return the reference with each change (old, new) applied to its source code.

    The changes are applied in order, and each replaces the old text wherever it occurs. The result
    is a function or class that uses the globals of the reference's module.

    Raises:
        ValueError: If the source does not contain the old text of a change.
    """
    source = inspect.getsource(reference)
    for old, new in changes:
        if old not in source:
            raise ValueError(
                f"old is {old!r}; expected text that occurs in the source of {reference.__name__}"
            )
        source = source.replace(old, new)
    return compile_like(reference, source)


def compile_like(reference: Callable[..., Any], source: str) -> Callable[..., Any]:
    """Compile a function or class from source code, with the globals of the reference's module."""
    space: dict[str, Any] = {}
    file = inspect.getfile(reference)
    exec(compile(source, file, "exec"), inspect.getmodule(reference).__dict__, space)  # noqa: S102
    (edited,) = space.values()
    return edited
