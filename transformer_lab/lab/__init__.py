"""The lab: pages in which attention is opened, changed and played, without a kernel or with one.

Notebooks show it and its drawings; the command line and the website write its pages. The package
can be called: `transformer_lab.lab(translator, sentence)` is the function of that name in `open_lab`.
"""

import sys
from inspect import signature
from types import ModuleType

from transformer_lab.lab.drawings import (
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
    zoom_to_weight,
)
from transformer_lab.lab.open_lab import AttentionExplorer, bench, explore, lab
from transformer_lab.lab.playground_page import playground
from transformer_lab.lab.sliders import show_live
from transformer_lab.lab.widget import LabWidget

__all__ = [
    "AttentionExplorer",
    "LabWidget",
    "attention_player",
    "bench",
    "clock_positions",
    "decoder_stepper",
    "explore",
    "forward_flow",
    "growing_beam",
    "heads_as_slabs",
    "kv_cache",
    "lab",
    "playground",
    "residual_stream",
    "show_live",
    "three_architectures",
    "turning_arrows",
    "two_hops",
    "zoom_to_weight",
]


class LabPackage(ModuleType):
    """The type of this package, which makes `tl.lab(…)` and `import transformer_lab.lab` both work.

    Python sets `transformer_lab.lab` to the package as soon as anybody imports something from it, so
    a function of the same name would be lost. Module types can be assigned since Python 3.5.
    """

    __call__ = staticmethod(lab)
    __signature__ = signature(lab)  # what `tl.lab?` shows


sys.modules[__name__].__class__ = LabPackage
