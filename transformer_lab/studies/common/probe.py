"""A linear probe of the encoder's vectors for the gender of the noun behind a pronoun.

Lessons 12 and 18 use it, and so do the studies `coreference` and those of gender.
"""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.model import Transformer
from transformer_lab.model.masks import padding_mask
from transformer_lab.studies.finding_the_noun.pronoun_sentences import (
    ORDERS,
    draw_pronoun_pairs,
    get_coreference,
    is_feminine,
    make_batch,
)
from transformer_lab.translator import Translator

PROBE_SENTENCES = 1_000  # to learn the probe on, of combinations that training shows


def probe_accuracy(translator: Translator, pairs: Sequence[WorldPair]) -> dict[str, list[float]]:
    """Measure how well a linear probe reads the referent's gender off the encoder, at each depth.

    The probe is fitted on sentences with combinations that training shows, and scored on `pairs`.

    Returns:
        For the vector at the pronoun ("it") and at the deciding word ("decider") the accuracies
        from 0 to 1: after the embedding, then after each encoder layer.
    """
    known = draw_pronoun_pairs(PROBE_SENTENCES // len(ORDERS), unseen=False, seed=13)
    found = {}
    for word in ("pronoun", "decider"):
        learn, ask = (
            encoder_states_at(translator, known, word),
            encoder_states_at(translator, pairs, word),
        )
        found["it" if word == "pronoun" else word] = [
            round(linear_probe(a, is_feminine(known), b, is_feminine(pairs)), 4)
            for a, b in zip(learn, ask, strict=True)
        ]
    return found


def encoder_states_at(
    translator: Translator, pairs: Sequence[WorldPair], word: str
) -> Float[Tensor, "depth sentence d_model"]:
    """Return the encoder's vectors at one word of each sentence, after the embedding and each layer.

    `word` is a field of `Coreference`, such as "pronoun" or "decider".
    """
    source = make_batch(translator, pairs).source
    mask = padding_mask(source, translator.model.config.pad_id)
    rows, at = (
        torch.arange(len(pairs)),
        torch.tensor([getattr(get_coreference(p), word) for p in pairs]),
    )
    return encoder_states(translator.model, source, mask)[:, rows, at]


@torch.no_grad()
def encoder_states(
    model: Transformer,
    source: Int[Tensor, "batch source"],
    mask: Bool[Tensor, "batch 1 1 source"],
) -> Float[Tensor, "depth batch source d_model"]:
    """Return the encoder's residual stream before its first layer and after each, in evaluation mode."""
    found: list[Tensor] = []
    encoder = model.eval().encoder
    modules: list[nn.Module] = [encoder, *encoder.layers]
    with use_hooks(dict.fromkeys(modules, Hook(residual=found.append))):
        model.encode(source, mask)
    return torch.stack(found)


def linear_probe(
    x: Float[Tensor, "known d_model"],
    y: Tensor,
    x_asked: Float[Tensor, "asked d_model"],
    y_asked: Tensor,
) -> float:
    """Fit a ridge regression to the classes and return its accuracy on other vectors, from 0 to 1.

    Classes are 0 or 1 and are fitted as −1 and 1; features are centred, and the ridge is fixed.

    Args:
        x: The vectors to learn from.
        y: Their classes, (known,).
        x_asked: The vectors to classify.
        y_asked: Their classes, (asked,).
    """
    mean = x.mean(dim=0)
    x, x_asked = x - mean, x_asked - mean
    ridge = 1e-2 * len(x) * torch.eye(x.size(1)) * x.var()
    weights = torch.linalg.solve(x.T @ x + ridge, x.T @ (2 * y - 1))
    bias = (2 * y - 1).mean()
    return ((x_asked @ weights + bias > 0) == (y_asked > 0.5)).double().mean().item()
