"""Mechanism, drawn step by step in the page: each drawing has a still picture, data, and a script."""

from transformer_lab.viz.drawings.family import three_architectures
from transformer_lab.viz.drawings.player import attention_player
from transformer_lab.viz.drawings.slabs import heads_as_slabs
from transformer_lab.viz.drawings.stepper import decoder_stepper
from transformer_lab.viz.drawings.stream import residual_stream

__all__ = [
    "attention_player",
    "decoder_stepper",
    "heads_as_slabs",
    "residual_stream",
    "three_architectures",
]
