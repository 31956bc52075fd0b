"""`edit_reference` makes known mistakes by changing a few words of the reference's source.

A check uses it for mistakes that differ from its reference in one or two places.
"""

import inspect
from collections.abc import Callable
from typing import Any


def edit_reference(reference: Callable[..., Any], *changes: tuple[str, str]) -> Callable[..., Any]:
    """Return the reference's function or class with each change (old, new) made in its source.

    The changes are made one after another. Each replaces the old text wherever it occurs. The
    result uses the globals of the reference's module.

    Raises:
        ValueError: If the source does not contain the old text of a change.
    """
    source = inspect.getsource(reference)
    for old, new in changes:
        if old not in source:
            raise ValueError(
                f"old is {old!r}; expected a part of the source of {reference.__name__}"
            )
        source = source.replace(old, new)
    return compile_like(reference, source)


def compile_like(reference: Callable[..., Any], source: str) -> Callable[..., Any]:
    """Return the function or class from a source, with the globals of the reference's module."""
    space: dict[str, Any] = {}
    file = inspect.getfile(reference)
    exec(compile(source, file, "exec"), inspect.getmodule(reference).__dict__, space)  # noqa: S102
    (edited,) = space.values()
    return edited
