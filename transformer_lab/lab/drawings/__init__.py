"""Interactive drawings that show, step by step, how a mechanism works.

Each drawing consists of data, a script and alt text.
"""

from transformer_lab.lab.drawings.beam import growing_beam
from transformer_lab.lab.drawings.cache import kv_cache
from transformer_lab.lab.drawings.family import three_architectures
from transformer_lab.lab.drawings.flow import forward_flow
from transformer_lab.lab.drawings.hops import two_hops
from transformer_lab.lab.drawings.player import attention_player
from transformer_lab.lab.drawings.slabs import heads_as_slabs
from transformer_lab.lab.drawings.stepper import decoder_stepper
from transformer_lab.lab.drawings.stream import residual_stream
from transformer_lab.lab.drawings.turning import clock_positions, turning_arrows
from transformer_lab.lab.drawings.zoom import zoom_to_weight

__all__ = [
    "attention_player",
    "clock_positions",
    "decoder_stepper",
    "forward_flow",
    "growing_beam",
    "heads_as_slabs",
    "kv_cache",
    "residual_stream",
    "three_architectures",
    "turning_arrows",
    "two_hops",
    "zoom_to_weight",
]
