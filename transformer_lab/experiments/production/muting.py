"""Lesson 18: which heads does a translation need, and can one see it by looking at their maps?

    python -m transformer_lab.experiments.production.muting

For each of the three translators: what the maps of every head look like, every head muted alone,
whole orders of heads muted together, and heads replaced by a fixed direction of equal length or by
their mean output.
"""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from sacrebleu.metrics import CHRF
from torch import Tensor, nn

from transformer_lab.attention_record import KINDS, Head
from transformer_lab.capture import attention_cores
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import world
from transformer_lab.experiments.bootstrap import mean_interval
from transformer_lab.experiments.production.looking import looks
from transformer_lab.experiments.production.models import MODELS, TOY, translator
from transformer_lab.experiments.production.replacing import (
    Place,
    Replaced,
    Replacement,
    direction,
    mean_outputs,
)
from transformer_lab.experiments.study import Setting, remake, stored_runs
from transformer_lab.model.watch import Watch, watching
from transformer_lab.translator import Translator

NAME = "production.muting"
SENTENCES = 500
WORDS = range(6, 15)
"""How long Debian's sentences are."""
LOOKED_AT = 200
"""Sentences whose maps are looked at."""
STEPS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64)
"""How many heads of an order are muted together."""
REPLACED = 4
"""So many of the most harmful heads, and of the least harmful, are replaced by a direction."""
ALL, EVEN, ODD = slice(None), slice(0, None, 2), slice(1, None, 2)
"""Of the sentences: the even ones choose an order, and the odd ones measure it."""
DEPTHS = {"production": (6, 0, 2), "debian": (3, 3, 3), "toy": (2, 2, 2)}
"""Layers with attention of each kind, in the order of KINDS."""
ORDERS = {"damage": (0,), "rest": (0,), "random": (0, 1, 2, 3, 4), "encoder": (0, 1, 2, 3, 4)}
"""Order in which heads are muted → its seeds."""
Instead = int | Literal["mean"] | None
"""In a head's place: a direction with this seed, its mean output, or nothing."""

FIRST: list[Setting] = [{"model": name, "maps": LOOKED_AT} for name in MODELS] + [
    {"model": name, "kind": kind, "layer": layer}
    for name in MODELS
    for kind, layers in zip(KINDS, DEPTHS[name], strict=True)
    for layer in range(layers)
]
SECOND: list[Setting] = [
    {"model": name, "order": order, "seed": seed}
    for name in MODELS
    for order, seeds in ORDERS.items()
    for seed in seeds
] + [
    *(
        {"model": name, "instead": "direction", "seed": seed}
        for name in MODELS
        for seed in (0, 1, 2)
    ),
    *({"model": name, "instead": "mean"} for name in MODELS),
]
"""What asks for the results of the first."""
GRID = [*FIRST, *SECOND]


def run(setting: Setting) -> dict[str, Any]:
    """One part of the study; what each returns stands at the functions."""
    name = setting["model"]
    if "maps" in setting:
        return {"heads": looks(model_of(name), sentences(name)[:LOOKED_AT])}
    if "kind" in setting:
        number = model_of(name).model.config.num_heads
        heads = [Head(setting["kind"], setting["layer"], n) for n in range(number)]
        return {"heads": [alone(name, head) for head in heads]}
    if "order" in setting:
        return {"steps": together(name, ordered(name, setting["order"], setting["seed"]))}
    harmful = [Head(*head) for head in by_damage(name)]
    chosen = [*harmful[:REPLACED], *harmful[-REPLACED:]]
    return {"heads": [alone(name, head, setting.get("seed", "mean")) for head in chosen]}


# ---------------------------------------------------------------- muting, and what it costs


def written(
    name: str, heads: Collection[Head], instead: Instead = None, every: slice = ALL
) -> list[str]:
    """What a model writes (greedy) with these heads replaced, for every one of these sentences."""
    asked = model_of(name)
    cores = attention_cores(asked.model)
    numbers: dict[Place, list[int]] = {}
    for head in heads:
        numbers.setdefault((head.kind, head.layer), []).append(head.head)
    watches: dict[nn.Module, Watch] = {
        cores[kind][layer]: Replaced(found, replacement(name, (kind, layer), found, instead))
        for (kind, layer), found in numbers.items()
    }
    with watching(watches):
        found = asked.translate(sentences(name)[every], beam_size=1, max_length=60)
    return [one.translation for one in found]


def replacement(name: str, place: Place, heads: Sequence[int], instead: Instead) -> Replacement:
    """What stands in the place of these heads of one attention of a model."""
    if instead is None:
        return torch.zeros_like
    if instead == "mean":
        mean = means_of(name)[place][list(heads)][:, None]
        return mean.expand_as
    return direction(instead)


@cache
def means_of(name: str) -> dict[Place, Float[Tensor, "heads d_v"]]:
    """The mean output of each head over sentences that its muting is not measured on."""
    return mean_outputs(model_of(name), sentences(name)[EVEN][:LOOKED_AT])


@cache
def model_of(name: str) -> Translator:
    """A model, read once in a process."""
    return translator(name)


@cache
def sentences(name: str) -> list[str]:
    """The sentences that a model is asked: unseen ones of the world's, or of Debian's."""
    if name == TOY:
        return [pair.source for pair in world(20_000, seed=0).test[:SENTENCES]]
    splits = find_corpus("debian:fr").splits()
    unseen = [pair.source for pair in (*splits.test, *splits.validation)]
    return [text for text in unseen if len(text.split()) in WORDS][:SENTENCES]


@cache
def unmuted(name: str) -> list[str]:
    """What a model writes with all its heads."""
    return written(name, ())


def likeness(texts: Sequence[str], others: Sequence[str]) -> Float[np.ndarray, " sentence"]:
    """The chrF of each text against the other, from 0 to 100."""
    chrf = CHRF()
    pairs = zip(texts, others, strict=True)
    return np.array([chrf.sentence_score(text, [other]).score for text, other in pairs])


def alone(name: str, head: Head, instead: Instead = None) -> dict[str, Any]:
    """The chrF against the unmuted text of one head muted: mean, its interval, and that of each half."""
    texts = written(name, [head], instead)
    scores = likeness(texts, unmuted(name))
    changed = np.mean([a != b for a, b in zip(texts, unmuted(name), strict=True)])
    return {
        "head": list(head),
        "chrf": rounded(scores.mean()),
        "interval": interval(scores),
        "even": rounded(scores[EVEN].mean()),
        "odd": rounded(scores[ODD].mean()),
        "changed": rounded(float(changed)),
    }


def together(name: str, order: Sequence[Head]) -> list[dict[str, Any]]:
    """The first k heads of an order muted, measured on the odd sentences, which chose no order."""
    found = []
    for k in [k for k in STEPS if k < len(order)] + [len(order)]:
        scores = likeness(written(name, order[:k], every=ODD), unmuted(name)[ODD])
        found.append({"muted": k, "chrf": rounded(scores.mean()), "interval": interval(scores)})
    return found


def interval(scores: Float[np.ndarray, " sentence"]) -> list[float]:
    """Between these lie 95 % of the means of sentences drawn again."""
    return [rounded(end) for end in mean_interval(scores)]


def rounded(number: float) -> float:
    """Three digits behind the point are enough for a mean of hundreds."""
    return round(float(number), 3)


# ---------------------------------------------------------------- orders


def stored_heads(name: str, part: str) -> dict[Head, dict[str, Any]]:
    """The stored results of each head of a model: of "maps", or of "kind", each muted alone."""
    runs = [r for r in stored_runs(NAME) if r["setting"]["model"] == name and part in r["setting"]]
    return {Head(*found["head"]): found for r in runs for found in r["result"]["heads"]}


def by_damage(name: str) -> list[Head]:
    """A model's heads, the most harmful first, by the even sentences."""
    found = stored_heads(name, "kind")
    return sorted(found, key=lambda head: found[head]["even"])


def ordered(name: str, order: str, seed: int) -> list[Head]:
    """In which order heads are muted.

    "damage": the one that does least harm when muted alone goes first. "rest": by looking, the one
    that lays most weight on the end of the sentence, or on the first word in the decoder, goes
    first. "random": as a seed has it; "encoder": the same, but the encoder's heads before all others.
    """
    if order == "damage":
        return by_damage(name)[::-1]
    found = stored_heads(name, "maps")
    if order == "rest":
        return sorted(found, key=lambda head: -found[head]["rest"])
    heads = sorted(found)
    drawn = [heads[i] for i in np.random.default_rng(seed).permutation(len(heads))]
    return sorted(drawn, key=lambda head: head.kind != "encoder") if order == "encoder" else drawn


def main() -> None:
    """Make what is missing: first what the rest depends on."""
    remake(NAME, run, [*FIRST, *kept_of_second()])
    remake(NAME, run, GRID)


def kept_of_second() -> list[Setting]:
    """Settings of the second part that are stored already, so that the first pass keeps them."""
    done = [r["setting"] for r in stored_runs(NAME)]
    return [s for s in SECOND if s in done]


if __name__ == "__main__":
    main()
