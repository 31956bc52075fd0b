"""Linear probes of the encoder's states: for a pronoun's gender, and for word order and distance.

Lessons 12 and 18 use them, and so do the study `coreference` and the studies of gender.
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

PROBE_SENTENCES = 1_000  # to fit the probe on, with combinations that occur in training


def probe_accuracy(translator: Translator, pairs: Sequence[WorldPair]) -> dict[str, list[float]]:
    """Measure how well a linear probe reads the referent's gender from the encoder, at each depth.

    The probe is fitted on sentences with word combinations that occur in training, and scored on
    `pairs`.

    Returns:
        The accuracies, from 0 to 1, after the embedding and then after each encoder layer:

        "it": the accuracies at the pronoun.
        "decider": the accuracies at the deciding word.
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


def probe_order(translator: Translator, pairs: Sequence[WorldPair]) -> dict[str, list[float]]:
    """Measure how well a linear probe reads two words' order and distance from their vectors.

    The probe gets the pronoun's vector minus the vector of the noun that it refers to. It predicts
    the pronoun's position minus the noun's, in words. It is fitted on sentences with word
    combinations that occur in training, and scored on `pairs`.

    Returns:
        "order": the share of pairs for which the predicted sign is right.
        "distance": the mean absolute error in words.
        "guess": the same two values for a baseline that always predicts the more frequent order and
            the median distance.

        "order" and "distance" have one value for the embeddings without positions, one with
        positions added, and one after each encoder layer.
    """
    known = draw_pronoun_pairs(PROBE_SENTENCES // len(ORDERS), unseen=False, seed=13)
    x, y = pronoun_minus_noun(translator, known)
    x_asked, y_asked = pronoun_minus_noun(translator, pairs)
    told = [fit_ridge(a, y, b) for a, b in zip(x, x_asked, strict=True)]
    most = ((y > 0).double().mean() > 0.5) == (y_asked > 0)
    return {
        "order": [round(((t > 0) == (y_asked > 0)).double().mean().item(), 4) for t in told],
        "distance": [round((t - y_asked).abs().mean().item(), 3) for t in told],
        "guess": [
            round(most.double().mean().item(), 4),
            round((y.median() - y_asked).abs().mean().item(), 3),
        ],
    }


def pronoun_minus_noun(
    translator: Translator, pairs: Sequence[WorldPair]
) -> tuple[Float[Tensor, "depth sentence d_model"], Float[Tensor, " sentence"]]:
    """Return how each pronoun differs from its noun: in vector (at each depth) and in position.

    The differences are pronoun minus noun. The first depth holds the words' embeddings without
    positions.
    """
    at = {
        word: torch.tensor([getattr(get_coreference(pair), word) for pair in pairs])
        for word in ("pronoun", "referent")
    }
    source, rows = make_batch(translator, pairs).source, torch.arange(len(pairs))
    with torch.no_grad():
        words = {word: translator.model.source_embedding(source[rows, at[word]]) for word in at}
    found = [words["pronoun"] - words["referent"]]
    states = {word: encoder_states_at(translator, pairs, word) for word in at}
    found += [*(states["pronoun"] - states["referent"])]
    return torch.stack(found), (at["pronoun"] - at["referent"]).float()


def encoder_states_at(
    translator: Translator, pairs: Sequence[WorldPair], word: str
) -> Float[Tensor, "depth sentence d_model"]:
    """Return the encoder's states at one word of each sentence, after the embedding and each layer.

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
    """Return the residual stream before the first encoder layer and after each layer.

    The model is put in evaluation mode.
    """
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
    """Fit a ridge regression to two classes, and return its accuracy (0 to 1) on other vectors.

    The classes 0 and 1 are fitted as −1 and 1 (see `fit_ridge`).

    Args:
        x: The vectors to learn from.
        y: Their classes, (known,).
        x_asked: The vectors to classify.
        y_asked: Their classes, (asked,).
    """
    told = fit_ridge(x, 2 * y - 1, x_asked)
    return ((told > 0) == (y_asked > 0.5)).double().mean().item()


def fit_ridge(
    x: Float[Tensor, "known d_model"],
    y: Float[Tensor, " known"],
    x_asked: Float[Tensor, "asked d_model"],
) -> Float[Tensor, " asked"]:
    """Fit a ridge regression of y on x, and return its predictions for `x_asked`.

    The features are centred, and the ridge penalty is fixed at a hundredth of their variance.
    """
    mean = x.mean(dim=0)
    x, x_asked = x - mean, x_asked - mean
    ridge = 1e-2 * len(x) * torch.eye(x.size(1)) * x.var()
    weights = torch.linalg.solve(x.T @ x + ridge, x.T @ y)
    return x_asked @ weights + y.mean()
