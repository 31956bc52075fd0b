"""Lesson 12's study: where in a translator is the noun behind a pronoun found, and by which head?

    python -m transformer_lab.experiments.coreference

Translators with 1 to 4 encoder layers and 1 to 4 decoder layers, trained on the bilingual world;
then all heads of each are asked on sentences with combinations that training never showed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.attention_record import Head, Kind
from transformer_lab.capture import AttentionCapture, capture_attention
from transformer_lab.data.batching import Batch, collate, encode_pairs
from transformer_lab.data.grammar import Coreference, WorldPair, held_out, sentences, world
from transformer_lab.data.pair import Splits
from transformer_lab.evaluation.alignment import mean_distance
from transformer_lab.evaluation.rollout import attention_rollout
from transformer_lab.experiments.study import Setting, command
from transformer_lab.model import Transformer
from transformer_lab.model.masks import padding_mask
from transformer_lab.recipe import PRESETS, make_trainer, new_translator
from transformer_lab.translator import Translator

NAME = "coreference"
ORDERS = ("because_last", "because_first")
"""The clause with the pronoun stands behind the nouns, or before them."""
SENTENCES = 100  # of each order
PROBE_SENTENCES = 1_000  # to learn the probe on, of combinations that training shows
FLIPS = 1_000  # of the permutation baseline

DEPTHS = (1, 2, 3, 4)
# Pre-norm, since all depths have to learn: post-norm with four encoder layers did not at this rate
# (seven runs of 2,400 steps: 0 to 38 % exact match).
SHAPE = {"norm": "pre", "steps": 3_200, "pairs": 60_000}
GRID: list[Setting] = [
    {"encoder_layers": e, "decoder_layers": d, **SHAPE, "seed": seed}
    for seed in (0, 1)
    for e in DEPTHS
    for d in DEPTHS
]
SMALL: list[Setting] = [
    {"encoder_layers": 1, "decoder_layers": 1, **SHAPE, "steps": 150, "pairs": 3_000, "seed": seed}
    for seed in range(5)
]
"""Runs of a few seconds, of which one is repeated by the tests."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and ask all its heads; see the functions below for the numbers."""
    translator, exact_match = trained(setting)
    pairs = [p for order in ORDERS for p in islice(asked(order), SENTENCES)]
    capture, right = read(translator, pairs)
    differences = referent_differences(capture, pairs)
    return {
        "exact_match": exact_match,
        "pronouns": by_order(right),
        "differences": {row: by_order(d) for row, d in differences.items()},
        "chance": {row: largest_by_chance(d, setting["seed"]) for row, d in differences.items()},
        "without": pronouns_without(translator, pairs),
        "rollout": rollout_differences(capture, pairs),
        "distance": distances(capture, pairs),
        "distance_untrained": distances(read(untrained(translator, setting), pairs)[0], pairs),
        "probe": probe_accuracy(translator, pairs),
    }


def trained(setting: Setting) -> tuple[Translator, float]:
    """A translator of this setting, and its exact match on 300 validation sentences (greedy)."""
    seed = setting["seed"]
    splits: Splits[WorldPair] = world(train=setting["pairs"], seed=seed)
    layers = {f"num_{side}_layers": setting[f"{side}_layers"] for side in ("encoder", "decoder")}
    preset = PRESETS["tiny"]
    translator = new_translator(splits, "world", preset, seed, norm=setting["norm"], **layers)
    training = replace(
        preset.training,
        max_steps=setting["steps"],
        validate_every=setting["steps"],
        save_every=None,
        seed=seed,
        device="cpu",
    )
    trainer = make_trainer(translator, splits, training, show_progress=False, watch_exact_match=300)
    trainer.train()
    return translator, trainer.progress.history[-1]["exact_match"]


def untrained(translator: Translator, setting: Setting) -> Translator:
    """A translator of the same shape and words, as it was before any step."""
    torch.manual_seed(setting["seed"])
    model = Transformer(translator.model.config)
    return Translator(model, translator.source_tokenizer, translator.target_tokenizer)


def asked(order: str, unseen: bool = True, seed: int = 12) -> Iterator[WorldPair]:
    """Sentences of one clause order with a pronoun; `unseen` are those of held-out combinations."""
    for pair in sentences(seed=seed):
        if pair.construction == order and pair.coreference and held_out(pair) == unseen:
            yield pair


def place(pair: WorldPair) -> Coreference:
    """What the pronoun of a pair stands for; every pair of this study has one."""
    assert pair.coreference is not None
    return pair.coreference


def batch_of(translator: Translator, pairs: Sequence[WorldPair]) -> Batch:
    """All pairs in one batch."""
    return collate(encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer))


def read(
    translator: Translator, pairs: Sequence[WorldPair], mute: Sequence[Head] = ()
) -> tuple[AttentionCapture, np.ndarray]:
    """The heads in one pass over the true translations, and whether each pronoun comes out right.

    It is right if it is the most probable word at its step, all words before it being the true ones.
    """
    batch = batch_of(translator, pairs)
    translator.model.eval()
    with torch.no_grad(), capture_attention(translator.model, mute=mute) as capture:
        logits = translator.model(batch.source, batch.target_input)
    best = logits.argmax(dim=-1)
    steps = torch.tensor([place(pair).target_pronoun for pair in pairs])
    rows = torch.arange(len(pairs))
    return capture, (best[rows, steps] == batch.target_output[rows, steps]).numpy()


def by_order(values: np.ndarray) -> list[Any]:
    """The mean over the sentences of each order; the first axis is the sentences."""
    return [
        np.round(part.mean(axis=0, dtype=np.float64), 4).tolist()
        for part in np.split(values, len(ORDERS))
    ]


ROWS = {"it": "pronoun", "decider": "decider", "cross": "target_pronoun"}
"""Where one looks for a preference: the row's name here → the field of `Coreference` that it is."""
Rows = dict[str, Float[np.ndarray, "sentence layer head"]]


def referent_differences(capture: AttentionCapture, pairs: Sequence[WorldPair]) -> Rows:
    """Weight on the true referent minus weight on the other noun, from −1 to 1, in four rows.

    `it` and `decider` are rows of the encoder, the pronoun's and that of the word that decides;
    `cross` is the step that writes the pronoun; `decoder` is the same step, looking at the French
    nouns that are written already (0 where they come later).
    """
    layers = {"it": capture.encoder, "decider": capture.encoder, "cross": capture.cross}
    found: Rows = {
        name: preferences(np.stack(layers[name], axis=1), pairs, row) for name, row in ROWS.items()
    }
    maps = np.stack(capture.decoder, axis=1)
    differences = []
    for weights, pair in zip(maps, pairs, strict=True):
        who = place(pair)
        row = weights[..., who.target_pronoun, :]
        differences.append(
            written_weight(row, pair, who.referent) - written_weight(row, pair, who.other)
        )
    found["decoder"] = np.stack(differences)
    return found


def preferences(maps: np.ndarray, pairs: Sequence[WorldPair], row: str) -> np.ndarray:
    """Weight on the referent minus weight on the other noun, in one row of each sentence's maps.

    `maps` is (sentence, …, query, key), and what comes back (sentence, …).
    """
    found = []
    for weights, pair in zip(maps, pairs, strict=True):
        who = place(pair)
        here = weights[..., getattr(who, row), :]
        found.append(here[..., who.referent] - here[..., who.other])
    return np.stack(found)


def written_weight(row: np.ndarray, pair: WorldPair, source: int) -> np.ndarray:
    """The weight on the translations of a source word, where the decoder reads them: a place later."""
    return row[..., [t + 1 for s, t in pair.alignment if s == source]].sum(axis=-1)


def largest_by_chance(differences: Float[np.ndarray, "sentence layer head"], seed: int) -> float:
    """The 95th percentile of the largest |mean| over all heads, if referent and other were arbitrary.

    In each of `FLIPS` rounds the two nouns change places in a random half of the sentences. It is
    the largest of all heads that is compared, since it is the largest that one looks at.
    """
    flat = differences.reshape(len(differences), -1)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(FLIPS, len(flat)))
    means = abs(signs @ flat) / len(flat)
    return round(float(np.quantile(means.max(axis=1), 0.95)), 4)


def pronouns_without(translator: Translator, pairs: Sequence[WorldPair]) -> dict[str, list[Any]]:
    """The share of right pronouns with each head muted: for each kind (layer, head)."""
    config = translator.model.config
    depths: dict[Kind, int] = {
        "encoder": config.num_encoder_layers,
        "decoder": config.num_decoder_layers,
        "cross": config.num_decoder_layers,
    }

    def right(head: Head) -> float:
        return round(float(read(translator, pairs, [head])[1].mean()), 4)

    heads = range(config.num_heads)
    return {
        kind: [[right(Head(kind, layer, head)) for head in heads] for layer in range(layers)]
        for kind, layers in depths.items()
    }


def rollout_differences(capture: AttentionCapture, pairs: Sequence[WorldPair]) -> dict[str, list]:
    """The same difference in attention rollout, by order.

    For `cross` the last decoder layer's mean map is multiplied with the encoder's rollout.
    """
    rolled = attention_rollout(capture.encoder)
    maps = {"it": rolled, "decider": rolled, "cross": capture.cross[-1].mean(axis=1) @ rolled}
    return {name: by_order(preferences(maps[name], pairs, row)) for name, row in ROWS.items()}


def distances(capture: AttentionCapture, pairs: Sequence[WorldPair]) -> dict[str, list[float]]:
    """Mean attention distance in tokens of each layer, over its heads and over the sentences.

    For the encoder also without the weight on <eos>, where heads rest that have nothing to fetch.
    """
    source = [len(pair.source_tokens) + 1 for pair in pairs]  # with eos
    target = [len(pair.target_tokens) + 1 for pair in pairs]  # with bos

    def mean(layers: Sequence[np.ndarray], lengths: Sequence[int], rest: bool) -> list[float]:
        found = []
        for layer in layers:
            cut = [w[:, :n, :n] for w, n in zip(layer, lengths, strict=True)]
            if not rest:
                cut = [without_last(w) for w in cut]
            found.append(round(float(np.mean([mean_distance(head) for w in cut for head in w])), 4))
        return found

    return {
        "encoder": mean(capture.encoder, source, rest=True),
        "encoder without eos": mean(capture.encoder, source, rest=False),
        "decoder": mean(capture.decoder, target, rest=True),
    }


def without_last(weights: Float[np.ndarray, "head n n"]) -> Float[np.ndarray, "head m m"]:
    """The maps without their last token, each row scaled to sum to 1 again."""
    rest = weights[:, :-1, :-1]
    return rest / np.maximum(rest.sum(axis=-1, keepdims=True), 1e-9)


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


def feminine(pairs: Sequence[WorldPair]) -> Tensor:
    """Whether each pronoun is elle or elles, as 0.0 and 1.0."""
    return torch.tensor(
        [float(p.target_tokens[place(p).target_pronoun].startswith("elle")) for p in pairs]
    )


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


if __name__ == "__main__":
    command(NAME, run, [*SMALL, *GRID])
