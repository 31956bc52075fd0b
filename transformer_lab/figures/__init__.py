"""Draw arrays as matplotlib figures, each with alt text made from its numbers.

Notebooks and studies use these functions, and so does the lab for its still pictures.
"""

from transformer_lab.figures.architecture import architecture
from transformer_lab.figures.display import show
from transformer_lab.figures.dots import run_dots
from transformer_lab.figures.grids import number_grids
from transformer_lab.figures.heatmaps import attention_heatmap, attention_panels, weight_bars
from transformer_lab.figures.live import LivePicture
from transformer_lab.figures.maps import clock_hands, signed_map, stage_panels
from transformer_lab.figures.plots import curves
from transformer_lab.figures.sentence import Arrows, Panel, Words, sentence_arrows

__all__ = [
    "Arrows",
    "LivePicture",
    "Panel",
    "Words",
    "architecture",
    "attention_heatmap",
    "attention_panels",
    "clock_hands",
    "curves",
    "number_grids",
    "run_dots",
    "sentence_arrows",
    "show",
    "signed_map",
    "stage_panels",
    "weight_bars",
]
