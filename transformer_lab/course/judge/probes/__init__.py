"""Probes: functions that find out how a returned array differs from the expected one.

`diagnosis` and `number_faults` run them. A probe receives the two arrays, `got` and `want`, and
knows nothing about the exercise. It returns a sentence about the difference, without a full stop,
such as "The numbers are right, but axes 0 and 1 are swapped", or None.
"""

from collections.abc import Callable, Sequence

import numpy as np

from transformer_lab.course.judge.probes.numbers import (
    find_constant_factor,
    find_constant_offset,
    find_elementwise_change,
    find_nan_or_infinity,
    find_wrong_signs,
)
from transformer_lab.course.judge.probes.places import (
    find_equal_lines,
    find_reordering,
    find_running_sums,
    find_shift,
    find_wrong_booleans,
)
from transformer_lab.course.judge.probes.shapes import (
    find_extra_axis,
    find_left_out_entries,
    find_lost_axis,
    find_missing_entries,
    find_reshape,
    find_transposed_axes,
    find_wrong_length,
)
from transformer_lab.course.judge.probes.weights import find_row_factors, find_wrong_sums
from transformer_lab.course.judge.probes.wrong_part import (
    find_one_sided_errors,
    find_word_differences,
    find_wrong_part,
)

Probe = Callable[[np.ndarray, np.ndarray], str | None]
SHAPE_PROBES: Sequence[Probe] = (
    find_reshape,
    find_transposed_axes,
    find_lost_axis,
    find_extra_axis,
    find_missing_entries,
    find_left_out_entries,
    find_wrong_length,
)
NUMBER_PROBES: Sequence[Probe] = (
    find_constant_factor,
    find_elementwise_change,
    find_constant_offset,
    find_wrong_signs,
)
"""Probes that look at each number on its own, so they can run on the numbers of all cases."""
PLACE_PROBES: Sequence[Probe] = (
    find_nan_or_infinity,
    find_transposed_axes,
    find_wrong_booleans,
    find_wrong_sums,
    find_shift,
    find_reordering,
    find_equal_lines,
    find_row_factors,
    find_running_sums,
    find_wrong_part,
    find_word_differences,
    find_one_sided_errors,
)
PROBES_WITHOUT_CAUSE: Sequence[Probe] = (
    find_wrong_length,
    find_left_out_entries,
    find_wrong_booleans,
    find_wrong_part,
    find_word_differences,
    find_one_sided_errors,
)
"""Probes that say where or by how much the result is wrong, but not why."""


def run_probes(probes: Sequence[Probe], got: np.ndarray, want: np.ndarray) -> str | None:
    """Return the hint of the first probe that finds something, or None."""
    return next((text for probe in probes if (text := probe(got, want))), None)
