"""Checks for arguments and fields, whose errors state the name, the value and what is expected.

Every part of the package uses them.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields
from numbers import Integral, Real
from typing import Any

MOST_SEED = 2**63 - 1
"""The largest seed, half of PyTorch's maximum; a run adds to its seed at each step, modulo 2^63."""


def check(name: str, value: object, expected: str, holds: bool) -> None:
    """Raise a ValueError with the name, the value and what was expected, unless `holds` is true."""
    if not holds:
        raise ValueError(f"{name} is {value!r}; expected {expected}")


def check_mask(mask: Any, scores: Sequence[int], dtype: str = "torch.bool") -> None:
    """Raise a ValueError unless a mask is boolean and can broadcast to the scores in just one way.

    If the scores are (batch, heads, query, key), the first dimension of a three-dimensional mask
    could stand for sentences or for heads. When there are as many sentences as heads, the shape of
    the result would not reveal a mistake.
    """
    check_boolean(mask, dtype)
    shape, scores = tuple(mask.shape), tuple(scores)
    sizes = zip(shape[::-1], scores[::-1], strict=False)
    broadcasts = len(shape) <= len(scores) and all(m in (1, s) for m, s in sizes)
    clear = not 2 < len(shape) < len(scores) or all(n == 1 for n in shape[:-2])
    expected = f"a shape that broadcasts to {scores}"
    if not clear:
        expected += " in only one way. Does the first dimension count sentences or heads? "
        expected += "Write mask[:, None] for one mask per sentence, or mask[None] for one per head"
    elif shape and shape[-1] not in (1, scores[-1]):
        expected += f": there are {scores[-1]} keys, but the mask covers {shape[-1]}"
    check("mask.shape", shape, expected, broadcasts and clear)


def check_boolean(mask: Any, dtype: str = "torch.bool") -> None:
    """Raise a ValueError unless the mask has the given dtype: "torch.bool", or "bool" for NumPy."""
    expected = f"{dtype}, where True means 'may attend'"
    if not hasattr(mask, "dtype"):
        what = "a tensor" if dtype.startswith("torch") else "an array"
        raise ValueError(f"mask is {describe_type(mask)}; expected {what} of dtype {expected}")
    check("mask.dtype", mask.dtype, expected, str(mask.dtype) == dtype)


def check_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise a ValueError that lists the choices, unless the value is one of them."""
    choices = list(choices)
    if value not in choices:
        check(name, value, join_with_or(map(repr, choices)), holds=False)


def check_count(owner: str, number: int, noun: str, expected: str, holds: bool) -> None:
    """Raise a ValueError such as "x has 2 rows; expected 3" unless `holds` is true."""
    if not holds:
        raise ValueError(f"{owner} has {describe_count(number, noun)}; expected {expected}")


def describe_count(number: int, noun: str) -> str:
    """Return a number and its noun in singular or plural, such as "1 row" or "2,000 rows"."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def check_dict(name: str, value: object) -> None:
    """Raise a ValueError unless the value is a dict."""
    if not isinstance(value, dict):
        raise ValueError(f"{name} is {describe_type(value)}; expected a dict")


def describe_type(value: object) -> str:
    """Return "None" or a phrase such as "of type list", for use after "is" in an error message."""
    return "None" if value is None else f"of type {type(value).__name__}"


def join_with_and(parts: Iterable[str]) -> str:
    """Join strings into a list such as "a, b and c"."""
    return _join(parts, " and ")


def join_with_or(parts: Iterable[str]) -> str:
    """Join strings into a choice such as "a, b or c"."""
    return _join(parts, " or ")


def _join(parts: Iterable[str], word: str) -> str:
    *first, last = list(parts) or [""]
    return f"{', '.join(first)}{word}{last}" if first else last


def check_positive_integer(name: str, value: Any) -> int:
    """Return the value as an int.

    Raises:
        ValueError: If it is not an integer of at least 1.
    """
    check(name, value, "an integer of at least 1", is_integer(value) and value >= 1)
    return int(value)


def _not_a_string(value: object) -> str:
    """Return ", not a string" for a string, because '0.1' looks like a number, and "" otherwise."""
    return ", not a string" if isinstance(value, str) else ""


def convert_to_integer(values: object, name: str, least: int, *, optional: bool = False) -> None:
    """Convert the field `name` of a configuration to an int, in place.

    Raises:
        ValueError: If it is not an integer of at least `least`; None is allowed if `optional`.
    """
    value = getattr(values, name)
    if value is None and optional:
        return
    expected = "None or " * optional + f"an integer of at least {least}{_not_a_string(value)}"
    check(name, value, expected, is_integer(value) and value >= least)
    object.__setattr__(values, name, int(value))  # the configurations are frozen


def check_seed(seed: Any) -> int:
    """Return the seed as an int.

    Raises:
        ValueError: If it is not an integer from 0 to `MOST_SEED`.
    """
    expected = "an integer from 0 to 2**63 - 1"
    check("seed", seed, expected, is_integer(seed) and 0 <= seed <= MOST_SEED)
    return int(seed)


def convert_to_positive(values: object, name: str, *, optional: bool = False) -> None:
    """Convert the field `name` of a configuration to a float, in place.

    Raises:
        ValueError: If it is not a finite number above 0; None is allowed if `optional`.
    """
    value = getattr(values, name)
    if value is None and optional:
        return
    expected = f"a finite number above 0{' or None' * optional}{_not_a_string(value)}"
    check(name, value, expected, is_number(value) and 0 < value < math.inf)
    object.__setattr__(values, name, float(value))


def convert_to_share(values: object, name: str) -> None:
    """Convert the field `name` of a configuration to a float, in place.

    Raises:
        ValueError: If it is not a number of at least 0 and below 1.
    """
    value = getattr(values, name)
    expected = f"a number in [0, 1){_not_a_string(value)}"
    check(name, value, expected, is_number(value) and 0 <= value < 1)
    object.__setattr__(values, name, float(value))


def convert_to_boolean(values: object, name: str) -> None:
    """Convert the field `name` of a configuration to a bool, in place.

    Raises:
        ValueError: If it is not True or False; NumPy booleans are accepted too.
    """
    value = getattr(values, name)
    is_one = isinstance(value, bool) or type(value).__name__ in ("bool", "bool_")
    check(name, value, "True or False", is_one)
    object.__setattr__(values, name, bool(value))


def is_integer(value: object) -> bool:
    """Return whether this is a Python or NumPy integer, but not a boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    """Return whether this is a real number that fits into a float, but not a boolean."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return not isinstance(value, Integral) or abs(int(value)) <= sys.float_info.max


def config_from_dict(cls: type, values: dict[str, Any]) -> Any:
    """Build a configuration from a dict of its fields.

    Raises:
        ValueError: If a field is unknown or missing, or its value is not allowed; the message names
            the field.
    """
    check_dict(f"description of {cls.__name__}", values)
    known = {f.name for f in fields(cls)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ValueError(f"{cls.__name__} has no field {join_with_or(map(repr, unknown))}")
    required = (f.name for f in fields(cls) if f.default is f.default_factory is MISSING)
    missing = [name for name in required if name not in values]
    if missing:
        names = join_with_and(map(repr, missing))
        raise ValueError(f"description of {cls.__name__} lacks {names}")
    return cls(**values)
