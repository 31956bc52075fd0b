"""Small drawings of mechanism for tests, each dimension another where it can be."""

import numpy as np

from tests.records import WRITTEN, make_record, probabilities
from transformer_lab.attention.record import AttentionRecord
from transformer_lab.lab import (
    decoder_stepper,
    heads_as_slabs,
    residual_stream,
    three_architectures,
)


def slabs_arguments():
    """x, the matrices of three heads, and W_O: 5 words of 7 numbers, heads of width 2."""
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((3, 3, 7, 2))
    return rng.standard_normal((5, 7)), *matrices, rng.standard_normal((6, 4))


def stepper_record() -> AttentionRecord:
    """7 words of the source, 5 read, with probable next words."""
    return make_record(next_tokens=probabilities(WRITTEN, np.random.default_rng(0)))


def stream_arguments():
    """A vector of five numbers, and two sub-layers."""
    rng = np.random.default_rng(0)
    first, second = rng.standard_normal((2, 5, 5))
    return rng.standard_normal(5), lambda v: v @ first, lambda v: np.maximum(0, v @ second)


DRAWINGS = {
    "stepper": lambda: decoder_stepper(stepper_record(), decoder=(1, 0), cross=(0, 1)),
    "slabs": lambda: heads_as_slabs(*slabs_arguments()),
    "family": lambda: three_architectures(["a", "b", "c", "d", "<pad>"], ["<bos>", "e", "f"]),
    "stream": lambda: residual_stream(*stream_arguments()),
}
"""Kind → a function that makes one."""
