"""Mechanism, drawn step by step in the page: each drawing has a still picture, data, and a script."""

from transformer_lab.viz.drawings.player import attention_player
from transformer_lab.viz.drawings.slabs import heads_as_slabs

__all__ = ["attention_player", "heads_as_slabs"]
