"""Greedy decoding, beam search, sampling, minimum Bayes risk and speculative decoding.

All of these methods except speculative decoding use a KV cache.
"""

from transformer_lab.decoding.beam import beam_search, length_penalty
from transformer_lab.decoding.given import log_probabilities
from transformer_lab.decoding.greedy import greedy
from transformer_lab.decoding.hypothesis import Hypothesis
from transformer_lab.decoding.mbr import mean_utilities, minimum_bayes_risk
from transformer_lab.decoding.sampling import keep_top_k, keep_top_p, sample
from transformer_lab.decoding.speculative import accept, speculative_greedy

__all__ = [
    "Hypothesis",
    "accept",
    "beam_search",
    "greedy",
    "keep_top_k",
    "keep_top_p",
    "length_penalty",
    "log_probabilities",
    "mean_utilities",
    "minimum_bayes_risk",
    "sample",
    "speculative_greedy",
]
