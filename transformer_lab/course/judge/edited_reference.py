"""Known mistakes that are the reference with a few words of its source changed: `edit_reference`.

Checks whose mistakes differ from the reference in one place use it; so far that is lesson 06.
"""

import inspect
from collections.abc import Callable
from typing import Any


def edit_reference(reference: Callable[..., Any], *changes: tuple[str, str]) -> Callable[..., Any]:
    """Return a function like the reference, after each change (old, new) of its source text.

    The old text is replaced wherever it occurs, and the function sees the reference's globals.

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
    space: dict[str, Any] = {}
    file = inspect.getfile(reference)
    exec(compile(source, file, "exec"), inspect.getmodule(reference).__dict__, space)  # noqa: S102
    (function,) = space.values()
    return function
