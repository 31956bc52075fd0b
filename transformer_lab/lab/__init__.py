"""The lab: pages for looking inside attention and changing it, with or without a kernel.

Notebooks display the lab and its drawings; the command line and the script that builds the website
save its pages as files. You can also call the package itself:
`transformer_lab.lab(translator, sentence)` calls the function `lab` in `open_lab`.
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
from transformer_lab.lab.open_lab import lab
from transformer_lab.lab.playground_page import playground
from transformer_lab.lab.sliders import show_live
from transformer_lab.lab.widget import LabWidget

__all__ = [
    "LabWidget",
    "attention_player",
    "clock_positions",
    "decoder_stepper",
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
    """A module type that makes this package callable, as in `tl.lab(…)`.

    As soon as anything is imported from this package, Python sets `transformer_lab.lab` to the
    package, and this would hide a function of the same name. Replacing a module's `__class__` has
    been allowed since Python 3.5.
    """

    __call__ = staticmethod(lab)
    __signature__ = signature(lab)  # what `tl.lab?` shows


sys.modules[__name__].__class__ = LabPackage
