"""What an answer returned, as arrays that can be compared."""

from typing import Any

import numpy as np
from torch import Tensor

from transformer_lab.course.errors import UnusableError
from transformer_lab.course.words import kind_of, shown

LARGEST = 10**7
"""As many numbers no exercise asks for."""


def as_array(part: Any) -> np.ndarray:
    """A number, a text, a tensor, or lists of them as an array; anything else is refused."""
    if isinstance(part, Tensor):
        return part.detach().cpu().resolve_conj().numpy()
    whole = part if isinstance(part, np.ndarray) else plain(part)
    try:
        array = np.asarray(whole)
    except ValueError as error:  # arrays of several shapes
        raise UnusableError(f"it returns {kind_of(part)}, where one array is asked") from error
    if array.size > LARGEST:
        raise UnusableError(f"it returns {kind_of(part)}, far more than was asked")
    if array.dtype.kind not in "biufUcS":
        raise UnusableError(f"this cannot be compared: {shown(part)}")
    return array


def plain(part: Any) -> Any:
    """Numbers, texts and nested lists as they are; it stops at anything else."""
    if isinstance(part, bool | int | float | complex | str | np.generic | np.ndarray):
        return part
    if isinstance(part, Tensor):
        return part.detach().cpu().numpy()
    if isinstance(part, list | tuple):
        return [plain(one) for one in part]
    raise UnusableError(f"this cannot be compared: {shown(part)}")
