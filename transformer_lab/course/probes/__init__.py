"""Is an answer the right one transposed, scaled, shifted …? Each probe says so in a sentence, or None.

A probe gets two arrays, what was returned and what was wanted, and knows nothing of the exercise. What it
says is true of these two arrays; it guesses no reason.
"""

from collections.abc import Callable, Sequence

import numpy as np

from transformer_lab.course.probes.numbers import changed_alike, factor, not_a_number, offset, signs
from transformer_lab.course.probes.places import (
    accumulated,
    alike,
    inverted,
    reordered,
    shifted,
)
from transformer_lab.course.probes.shapes import (
    extra_axis,
    lost_axis,
    other_axes,
    other_length,
    reshaped,
)
from transformer_lab.course.probes.weights import normalised_elsewhere, sums
from transformer_lab.course.probes.where import sizes, texts, where_wrong

Probe = Callable[[np.ndarray, np.ndarray], str | None]
SHAPES: Sequence[Probe] = (reshaped, other_axes, lost_axis, extra_axis, other_length)
NUMBERS: Sequence[Probe] = (factor, changed_alike, offset, signs)
"""What holds for each number on its own: asked of the numbers of all cases together."""
PLACES: Sequence[Probe] = (
    not_a_number,
    other_axes,
    inverted,
    sums,
    shifted,
    reordered,
    alike,
    normalised_elsewhere,
    accumulated,
    where_wrong,
    texts,
    sizes,
)


def first_of(probes: Sequence[Probe], got: np.ndarray, want: np.ndarray) -> str | None:
    """The first sentence that one of the probes has to say."""
    return next((text for probe in probes if (text := probe(got, want))), None)
