"""A linear probe on the encoder's vectors. Lessons 12 and 18 use it."""

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
    """The accuracy of a linear probe that reads the referent's gender off the encoder, by depth.

    For the vector at the pronoun (`it`) and at the deciding word: after the embedding, then after
    each layer. Learnt on sentences of combinations that training shows, scored on `pairs`.
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
    """The encoder's vectors at one word of each sentence, after the embedding and each layer."""
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
    """The encoder's residual stream before its first layer and after each, in evaluation mode."""
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
    """Accuracy of ridge regression on ±1, with centred features and a fixed ridge."""
    mean = x.mean(dim=0)
    x, x_asked = x - mean, x_asked - mean
    ridge = 1e-2 * len(x) * torch.eye(x.size(1)) * x.var()
    weights = torch.linalg.solve(x.T @ x + ridge, x.T @ (2 * y - 1))
    bias = (2 * y - 1).mean()
    return ((x_asked @ weights + bias > 0) == (y_asked > 0.5)).double().mean().item()
