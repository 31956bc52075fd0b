"""Pictures: arrays in, figures out, and each shown with words for those who do not see it."""

from transformer_lab.viz.architecture import architecture
from transformer_lab.viz.beam_tree import beam_tree
from transformer_lab.viz.display import show, show_live
from transformer_lab.viz.dots import run_dots
from transformer_lab.viz.explorer import AttentionExplorer, explore
from transformer_lab.viz.figures import attention_heatmap, attention_panels, weight_bars
from transformer_lab.viz.grids import number_grids
from transformer_lab.viz.live import LivePicture
from transformer_lab.viz.maps import clock_hands, signed_map, stage_panels
from transformer_lab.viz.plots import curves

__all__ = [
    "AttentionExplorer",
    "LivePicture",
    "architecture",
    "attention_heatmap",
    "attention_panels",
    "beam_tree",
    "clock_hands",
    "curves",
    "explore",
    "number_grids",
    "run_dots",
    "show",
    "show_live",
    "signed_map",
    "stage_panels",
    "weight_bars",
]
