"""Pictures: arrays in, figures out, and each shown with words for those who do not see it."""

from transformer_lab.viz.architecture import architecture
from transformer_lab.viz.beam_tree import beam_tree
from transformer_lab.viz.display import show
from transformer_lab.viz.dots import run_dots
from transformer_lab.viz.drawings import (
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
)
from transformer_lab.viz.explorer import AttentionExplorer, explore
from transformer_lab.viz.figures import attention_heatmap, attention_panels, weight_bars
from transformer_lab.viz.grids import number_grids
from transformer_lab.viz.live import LivePicture
from transformer_lab.viz.maps import clock_hands, signed_map, stage_panels
from transformer_lab.viz.plots import curves
from transformer_lab.viz.sliders import show_live

__all__ = [
    "AttentionExplorer",
    "LivePicture",
    "architecture",
    "attention_heatmap",
    "attention_panels",
    "attention_player",
    "beam_tree",
    "clock_hands",
    "clock_positions",
    "curves",
    "decoder_stepper",
    "explore",
    "forward_flow",
    "growing_beam",
    "heads_as_slabs",
    "kv_cache",
    "number_grids",
    "residual_stream",
    "run_dots",
    "show",
    "show_live",
    "signed_map",
    "stage_panels",
    "three_architectures",
    "turning_arrows",
    "two_hops",
    "weight_bars",
]
