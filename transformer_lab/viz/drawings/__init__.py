"""Mechanism, drawn step by step in the page: each drawing has a still picture, data, and a script."""

from transformer_lab.viz.drawings.cache import kv_cache
from transformer_lab.viz.drawings.hops import two_hops
from transformer_lab.viz.drawings.player import attention_player

__all__ = ["attention_player", "kv_cache", "two_hops"]
