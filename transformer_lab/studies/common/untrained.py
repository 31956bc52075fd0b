"""A translator as it was before its first training step: the control of lessons 12 and 18.

The studies of pronouns and of gender compare a trained model's numbers with those of this one.
"""

import torch

from transformer_lab.model.build import build_model
from transformer_lab.translator import Translator


def untrained_translator(trained: Translator, seed: int) -> Translator:
    """Return a new translator of the same sizes and vocabularies, with random weights drawn with `seed`.

    It is in evaluation mode; the global random state stays as it was.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = build_model(trained.model.config)
    return Translator(model.eval(), *trained.tokenizers, about={"untrained": seed})
