"""Pictures: arrays in, figures out, and each shown with words for those who do not see it."""

from transformer_lab.viz.display import show, show_live
from transformer_lab.viz.figures import attention_heatmap, weight_bars

__all__ = ["attention_heatmap", "show", "show_live", "weight_bars"]
