"""What can be read off a vector of the encoder by a straight line: a linear probe."""

from collections.abc import Sequence
from itertools import islice

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.experiments.pronoun_sentences import ORDERS, asked, batch_of, feminine, place
from transformer_lab.model.masks import padding_mask
from transformer_lab.translator import Translator

PROBE_SENTENCES = 1_000  # to learn the probe on, of combinations that training shows


def probe_accuracy(translator: Translator, pairs: Sequence[WorldPair]) -> dict[str, list[float]]:
    """How well a linear probe reads the referent's gender off the encoder, by depth.

    For the vector at the pronoun (`it`) and at the deciding word: after the embedding, then after
    each layer. Learnt on sentences of combinations that training shows, scored on `pairs`.
    """
    known = [
        p
        for order in ORDERS
        for p in islice(asked(order, unseen=False, seed=13), PROBE_SENTENCES // len(ORDERS))
    ]
    found = {}
    for word in ("pronoun", "decider"):
        learn, ask = states_at(translator, known, word), states_at(translator, pairs, word)
        found["it" if word == "pronoun" else word] = [
            round(linear_probe(a, feminine(known), b, feminine(pairs)), 4)
            for a, b in zip(learn, ask, strict=True)
        ]
    return found


@torch.no_grad()
def states_at(
    translator: Translator, pairs: Sequence[WorldPair], word: str
) -> Float[Tensor, "depth sentence d_model"]:
    """The encoder's vectors at one word of each sentence, after the embedding and each layer."""
    model = translator.model
    batch = batch_of(translator, pairs)
    x = model.source_positions(model.embed(model.source_embedding, batch.source))
    mask = padding_mask(batch.source, model.config.pad_id)
    rows, at = torch.arange(len(pairs)), torch.tensor([getattr(place(p), word) for p in pairs])
    states = [x[rows, at]]
    for layer in model.encoder.layers:
        x = layer(x, mask)
        states.append(x[rows, at])
    return torch.stack(states)


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
