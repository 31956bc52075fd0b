"""Small drawings of mechanism for tests, each dimension another where it can be."""

import numpy as np

from transformer_lab.viz import heads_as_slabs


def slabs_arguments():
    """x, the matrices of three heads, and W_O: 5 words of 7 numbers, heads of width 2."""
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((3, 3, 7, 2))
    return rng.standard_normal((5, 7)), *matrices, rng.standard_normal((6, 4))


DRAWINGS = {
    "slabs": lambda: heads_as_slabs(*slabs_arguments()),
}
"""Kind → a function that makes one."""
