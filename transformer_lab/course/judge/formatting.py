"""Format arguments and results as the short text and small tables that a check prints."""

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

ROWS, COLUMNS = 3, 6
TYPE_NOUNS = {
    "type": "class",
    "bytes": "bytes object",
    "ellipsis": "ellipsis object",
    "builtin_function_or_method": "built-in function or method",
}
"""Nouns for types whose names do not work as nouns after "a" or "an"."""


def short_repr(value: Any) -> str:
    """Return a shortened repr of a value, or its type if `repr` fails."""
    try:
        return reprlib.repr(value)
    except Exception:
        return f"something of type {type(value).__name__}"


def describe_kind(value: Any, depth: int = 2) -> str:
    """Return a value's type and size, such as "a tensor of shape (2, 3)" or "an empty list".

    The kinds of a list's items follow in brackets, down to `depth` levels of nesting.
    """
    try:
        return _kind_of(value, depth)
    except Exception:  # a value may even fail at len()
        return f"something of type {type(value).__name__}"


def _kind_of(value: Any, depth: int) -> str:
    """Return the text for `describe_kind`, without catching errors in the value's own code."""
    if value is None:
        return "None"
    if isinstance(value, tuple | list):
        name = "tuple" if isinstance(value, tuple) else "list"
        if not len(value):
            return f"an empty {name}"
        text = f"a {name} of 1 item" if len(value) == 1 else f"a {name} of {len(value)} items"
        if not depth:
            return text
        kinds = list(dict.fromkeys(_describe_item(one, depth - 1) for one in value[:ROWS]))
        each = "each " if len(kinds) == 1 and len(value) > 1 else ""
        return f"{text} ({each}{', '.join(kinds)}{', …' if len(value) > ROWS else ''})"
    if isinstance(value, Tensor):
        return f"a tensor of shape {tuple(value.shape)}"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    if isinstance(value, bool | int | float | str | np.generic):
        return f"the {type(value).__name__} {short_repr(value)}"
    return _describe_type(value)


def _describe_item(item: Any, depth: int) -> str:
    """Return the kind of an item in a list: a number or a string is described by its type only."""
    if isinstance(item, bool | int | float | str | np.generic):
        return _describe_type(item)
    return describe_kind(item, depth)


def _describe_type(value: Any) -> str:
    """Return the name of a value's type with its article, such as "an int"."""
    name = type(value).__name__
    noun = TYPE_NOUNS.get(name, name)
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def start_sentence(text: str) -> str:
    """Return the text with a capital first letter; `code` and symbols stay as they are."""
    return text[:1].upper() + text[1:]


def take_three(names: Sequence[str]) -> list[str]:
    """Return up to three names, followed by "others" if there are more."""
    return [*names[:3], "others"] if len(names) > 3 else list(names)


def end_sentence(text: str) -> str:
    """Return the text with a full stop, unless it already ends a sentence."""
    return text if text.endswith((".", "?")) else f"{text}."


def is_plural(name: str) -> bool:
    """Return whether a result's name is a plural: "the rows" is, "the list of words" is not."""
    noun = "" if name.startswith("what ") else name.partition(" of ")[0]
    is_many = noun.endswith("s") and not noun.endswith(("ss", "as", "us", "is"))
    return is_many or " and " in name


def describe_value(value: Any) -> str:
    """Describe an argument in a few words.

    An array is described by its shape, a module by its class, a function as "(a function)", and a
    list of arrays by its type and size. Anything else is shown by its repr, shortened if long.
    """
    if isinstance(value, np.ndarray | Tensor) and value.ndim:
        return f"of shape {tuple(value.shape)}"
    if isinstance(value, torch.nn.Module):
        return f"(a {type(value).__name__})"  # its contents would fill the page
    if callable(value):
        return "(a function)"
    if _holds_arrays(value):
        return f"({describe_kind(value)})"
    text = repr(value)
    return f"= {text if len(text) < 160 else short_repr(value)}"


def _holds_arrays(value: Any) -> bool:
    """Return whether a list holds arrays, whose numbers would not fit on one line."""
    if isinstance(value, list | tuple):
        return any(isinstance(one, np.ndarray | Tensor) or _holds_arrays(one) for one in value)
    return False


def format_number(value: Any) -> str:
    """Return a value as text, with floats rounded to five significant digits."""
    if isinstance(value, bool | np.bool_ | int | np.integer | str | np.str_):
        return str(value)
    return f"{value + 0.0:.5g}"  # so that there is no −0


def format_table(name: str, array: np.ndarray, place: tuple[int, ...]) -> list[str]:
    """Format up to 3 rows and 6 columns of an array, around an index, as the lines of a table."""
    lead = place[: max(0, array.ndim - 2)]
    fits = len(lead) == max(0, array.ndim - 2) and all(
        i < n for i, n in zip(lead, array.shape, strict=False)
    )
    block = array[lead] if fits and lead else array
    if block.ndim > 2 or not block.size:
        return [f"{name}: shape {array.shape}"]
    label = f"{name}[{', '.join(map(str, lead))}]" if lead and fits else name
    grid = np.atleast_2d(block)
    inner = (0, 0, *place)[-2:] if block.ndim else (0, 0)
    top = min(max(0, inner[0] - 1), max(0, grid.shape[0] - ROWS)) if block.ndim > 1 else 0
    left = min(max(0, inner[1] - 2), max(0, grid.shape[1] - COLUMNS))
    part = grid[top : top + ROWS, left : left + COLUMNS]
    more = " …" if left + COLUMNS < grid.shape[1] else ""
    before = "… " if left else ""
    lines = []
    for n, row in enumerate(part):
        cells = " ".join(f"{format_number(x):>9}" for x in row)
        cut = " (more rows)" if n == len(part) - 1 and top + ROWS < grid.shape[0] else ""
        lines.append(f"{label if not n else '':<12}{before}{cells}{more}{cut}")
    return lines
