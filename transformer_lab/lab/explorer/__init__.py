"""The explorer: every head of a record on one page, or of a running model in a widget."""

from transformer_lab.lab.explorer.page import ExplorerPage, explore
from transformer_lab.lab.explorer.widget import AttentionExplorer

__all__ = ["AttentionExplorer", "ExplorerPage", "explore"]
