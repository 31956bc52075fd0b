"""Mechanism, drawn step by step in the page: each drawing has a still picture, data, and a script."""

from transformer_lab.viz.drawings.beam import growing_beam
from transformer_lab.viz.drawings.cache import kv_cache
from transformer_lab.viz.drawings.family import three_architectures
from transformer_lab.viz.drawings.flow import forward_flow
from transformer_lab.viz.drawings.hops import two_hops
from transformer_lab.viz.drawings.player import attention_player
from transformer_lab.viz.drawings.slabs import heads_as_slabs
from transformer_lab.viz.drawings.stepper import decoder_stepper
from transformer_lab.viz.drawings.stream import residual_stream
from transformer_lab.viz.drawings.turning import clock_positions, turning_arrows

__all__ = [
    "attention_player",
    "clock_positions",
    "decoder_stepper",
    "forward_flow",
    "growing_beam",
    "heads_as_slabs",
    "kv_cache",
    "residual_stream",
    "three_architectures",
    "turning_arrows",
    "two_hops",
]
