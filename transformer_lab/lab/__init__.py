"""The lab: pages in which attention is opened, changed and played, without a kernel or with one.

Notebooks show its drawings and explorer; the command line and the website write its pages.
"""

from transformer_lab.lab.drawings import (
    attention_player,
    clock_positions,
    decoder_stepper,
    forward_flow,
    growing_beam,
    heads_as_slabs,
    kv_cache,
    residual_stream,
    three_architectures,
    turning_arrows,
    two_hops,
    zoom_to_weight,
)
from transformer_lab.lab.explorer import AttentionExplorer, explore
from transformer_lab.lab.sliders import show_live

__all__ = [
    "AttentionExplorer",
    "attention_player",
    "clock_positions",
    "decoder_stepper",
    "explore",
    "forward_flow",
    "growing_beam",
    "heads_as_slabs",
    "kv_cache",
    "residual_stream",
    "show_live",
    "three_architectures",
    "turning_arrows",
    "two_hops",
    "zoom_to_weight",
]
