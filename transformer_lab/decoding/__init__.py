"""Greedy decoding and beam search, batched and with a cache."""

from transformer_lab.decoding.beam import beam_search, length_penalty
from transformer_lab.decoding.greedy import greedy
from transformer_lab.decoding.hypothesis import Hypothesis

__all__ = ["Hypothesis", "beam_search", "greedy", "length_penalty"]
