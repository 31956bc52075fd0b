"""The Transformer, with one file for each box of the paper's Figure 1."""

from transformer_lab.model.transformer import Transformer

__all__ = ["Transformer"]
