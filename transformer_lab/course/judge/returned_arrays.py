"""Convert what an answer returned to NumPy arrays that can be compared.

`outcome`, `side_effects` and `call_recorder` use it.
"""

from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.judge.errors import NotComparableError, UnusableError
from transformer_lab.course.judge.formatting import describe_kind

LARGEST = 10**7
"""The maximum number of entries in a result, more than any exercise asks for."""


def as_array(part: Any) -> np.ndarray:
    """Convert a number, a string, an array, a tensor or nested lists of these to a NumPy array.

    Raises:
        NotComparableError: If the value is anything else.
        UnusableError: If lists have unequal lengths, or there are more than 10⁷ entries.
    """
    if isinstance(part, Tensor):
        return part.detach().cpu().resolve_conj().numpy()
    whole = part if isinstance(part, np.ndarray) else to_plain_lists(part)
    try:
        array = np.asarray(whole)
    except ValueError as error:  # arrays of several shapes
        kind = describe_kind(part)
        raise UnusableError(f"one result is {kind}, which does not form one array") from error
    if array.size > LARGEST:
        raise UnusableError(f"one result is {describe_kind(part)}, far more than was asked for")
    if array.dtype.kind not in "biufUcS":
        raise NotComparableError(part)
    return array


def to_plain_lists(part: Any) -> Any:
    """Return the value with its tensors converted to arrays and its tuples to lists.

    Raises:
        NotComparableError: If the value holds anything other than numbers, strings, arrays,
            tensors, lists and tuples.
    """
    if isinstance(part, bool | int | float | complex | str | np.generic | np.ndarray):
        return part
    if isinstance(part, Tensor):
        return part.detach().cpu().numpy()
    if isinstance(part, list | tuple):
        return [to_plain_lists(one) for one in part]
    raise NotComparableError(part)
