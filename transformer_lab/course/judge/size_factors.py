"""Find errors that depend on the sizes in a case, such as an extra factor of d, √d or (n + 1)/n.

`find_size_error` is one of the finders of `number_faults`.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.judge.attempt import Attempt
from transformer_lab.course.judge.closeness import is_numeric
from transformer_lab.course.judge.probes.numbers import compute_constant_ratio


def collect_sizes(names: Sequence[str], case: Sequence[Any]) -> dict[str, float]:
    """Return a case's numbers and the lengths of its axes, by name.

    The names look like "n", "x.shape[-1]" and "len(ids)".
    """
    found: dict[str, float] = {}
    for name, value in zip(names, case, strict=False):
        if isinstance(value, int | float) and not isinstance(value, bool):
            found[name] = value
        elif isinstance(value, np.ndarray | Tensor):
            for axis in range(value.ndim):
                found[f"{name}.shape[{axis - value.ndim}]"] = value.shape[axis]
        elif isinstance(value, list | tuple):
            found[f"len({name})"] = len(value)
    return found


def find_size_error(attempt: Attempt, at: int, place: int) -> str | None:
    """Describe the factor or difference by which a result is off, if it depends on a size.

    Only factors and differences computed from the sizes in each case are tried. All failing cases
    must agree, not just case `at`.
    """
    rows = []
    for got, want, case, right in zip(
        attempt.given, attempt.expected, attempt.cases, attempt.right(), strict=True
    ):
        if right:
            continue
        if len(got.results) != len(want.results):
            return None
        rows.append((got.results[place], want.results[place], collect_sizes(attempt.names, case)))
    if len(rows) < 2 or any(a.shape != b.shape for a, b, _ in rows):
        return None
    return find_size_factor(rows) or find_size_difference(rows)


Rows = list[tuple[np.ndarray, np.ndarray, dict[str, float]]]
POWERS = {1.0: "{}", 0.5: "√{}", 2.0: "{}²"}


def find_size_factor(rows: Rows) -> str | None:
    """Return a hint if all results are off by a power of a size or of (size ± 1)/size.

    The exponents tried are ±1, ±½ and ±2.
    """
    ratios = [compute_ratio(got, want) for got, want, _ in rows]
    known = [r for r in ratios if r is not None and r != 0]
    if len(known) != len(rows):
        return None
    for name, values in shared_sizes(rows):
        if 0 in values:
            continue
        for power, words in POWERS.items():
            what = words.format(name if power == 1 or name.isidentifier() else f"({name})")
            for way, sign in (("large", 1), ("small", -1)):
                right = [abs(v) ** (sign * power) for v in values]
                if all(math.isclose(r, w, rel_tol=1e-6) for r, w in zip(known, right, strict=True)):
                    return f"The result is too {way} by a factor of {what}"
            for shift in (-1, 1):
                tops = [(v + shift) / v if v else math.nan for v in values]
                for way, sign in (("", 1), ("1/", -1)):
                    if all(
                        math.isclose(r, t ** (sign * power), rel_tol=1e-6)
                        for r, t in zip(known, tops, strict=True)
                        if t > 0
                    ) and all(t > 0 for t in tops):
                        other = f"({name} {'+' if shift > 0 else '−'} 1)/{name}"
                        return f"The result is off by a factor of {way}{words.format(f'({other})')}"
    return None


def compute_ratio(got: np.ndarray, want: np.ndarray) -> float | None:
    """Return the constant factor `got` / `want`, or None if there is no constant factor."""
    if want.size == 1 and is_numeric(got) and is_numeric(want):
        return float(got.item()) / float(want.item()) if want.item() else None
    return compute_constant_ratio(got, want)


def find_size_difference(rows: Rows) -> str | None:
    """Return a hint if the error is the same multiple of a size, such as 2n, in all cases.

    Products of two sizes, such as n·d, are tried too.
    """
    if any(want.size != 1 or not is_numeric(got) or not is_numeric(want) for got, want, _ in rows):
        return None
    apart = [float(got.item()) - float(want.item()) for got, want, _ in rows]
    if not all(map(math.isfinite, apart)) or 0 in apart:
        return None
    single = [(name, values) for name, values in shared_sizes(rows)]
    double = [
        (f"{a}·{b}" if a != b else f"{a}²", [x * y for x, y in zip(v, w, strict=True)])
        for (a, v), (b, w) in itertools.combinations_with_replacement(single, 2)
    ]
    for name, values in [*single, *double]:
        if 0 in values:
            continue
        times = [d / v for d, v in zip(apart, values, strict=True)]
        share = Fraction(times[0]).limit_denominator(2)
        if (
            share
            and abs(share) <= 8
            and all(math.isclose(t, float(share), rel_tol=1e-9) for t in times)
        ):
            many = "" if abs(share) == 1 else f"{abs(share)}·"
            return f"The result is too {'large' if share > 0 else 'small'} by {many}{name}"
    return None


def shared_sizes(rows: Rows) -> Iterator[tuple[str, list[float]]]:
    """Yield the name of each size that all cases have, with its value in each case.

    Sizes that are the same in all cases are left out.
    """
    for name in rows[0][2]:
        values = [sizes[name] for _, _, sizes in rows if name in sizes]
        if len(values) == len(rows) and len(set(values)) > 1:
            yield name, values
