"""An untrained copy of a translator, the control in lessons 12 and 18.

The studies of pronouns and of gender compare trained models with such a copy.
"""

import torch

from transformer_lab.model.build import build_model
from transformer_lab.translator import Translator


def untrained_translator(trained: Translator, seed: int) -> Translator:
    """Return a translator with the sizes and vocabularies of `trained`, but random weights.

    The weights depend only on `seed`. The translator is in evaluation mode, and the global random
    state is left unchanged.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = build_model(trained.model.config)
    return Translator(model.eval(), *trained.tokenizers, about={"untrained": seed})
