"""Lesson 18: which heads does a translation need, and do their maps show it?

    python -m transformer_lab.studies.production_translators.muting

For each of the three translators, the study measures the properties of every head's maps, mutes
every head alone, and mutes more and more heads together in several orders. It also replaces outputs
of heads, either with the head's mean output or with a vector of the same length in a fixed
direction.
"""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, Literal

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.attention.capture import attention_cores
from transformer_lab.attention.record import KINDS, Head
from transformer_lab.evaluation.bleu import sentence_chrf
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.studies.common.grid import Setting, load_runs, run_missing
from transformer_lab.studies.common.intervals import mean_interval, round_interval
from transformer_lab.studies.production_translators.head_replacement import (
    Place,
    ReplaceHeads,
    Replacement,
    make_direction,
    mean_head_outputs,
)
from transformer_lab.studies.production_translators.map_properties import measure_maps
from transformer_lab.studies.production_translators.models import MODELS, load_translator
from transformer_lab.studies.production_translators.texts import load_real_sentences

NAME = "muting"
SENTENCES = 500
LOOKED_AT = 200
"""The number of sentences whose maps are measured."""
STEPS = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64)
"""The numbers of heads that are muted together, taken from the start of an order."""
REPLACED = 4
"""The number of heads to replace at each end of the list sorted by damage."""
ALL, EVEN, ODD = slice(None), slice(0, None, 2), slice(1, None, 2)
"""Slices of the sentences: an order is chosen on the even ones and measured on the odd ones."""
DEPTHS = {"production": (6, 0, 2), "debian": (3, 3, 3), "toy": (2, 2, 2)}
"""The number of layers with attention of each kind, in the order of `KINDS`."""
ORDERS = {"damage": (0,), "rest": (0,), "random": (0, 1, 2, 3, 4), "encoder": (0, 1, 2, 3, 4)}
"""The orders in which heads are muted, each with its seeds."""
Instead = int | Literal["mean"] | None
"""What replaces a head's output: a direction with this seed, the mean output, or zeros (None)."""

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
"""The settings that need the results of `FIRST`."""
GRID = [*FIRST, *SECOND]


def run(setting: Setting) -> dict[str, Any]:
    """Do one part of the study with one model.

    Returns:
        One entry, which depends on the key in the setting:

        With "maps": "heads" is the result of `measure_maps`.
        With "kind": "heads" lists the result of `score_one_head` for each head of a layer.
        With "instead": "heads" lists the same for the heads whose muting does the most and the
            least damage, with their outputs replaced by a direction or by the mean.
        With "order": "steps" is the result of `score_in_order`.
    """
    name = setting["model"]
    if "maps" in setting:
        return {
            "heads": measure_maps(
                load_translator(name), load_real_sentences(name, SENTENCES)[:LOOKED_AT]
            )
        }
    if "kind" in setting:
        number = load_translator(name).model.config.num_heads
        heads = [Head(setting["kind"], setting["layer"], n) for n in range(number)]
        return {"heads": [score_one_head(name, head) for head in heads]}
    if "order" in setting:
        return {"steps": score_in_order(name, order_heads(name, setting["order"], setting["seed"]))}
    harmful = [Head(*head) for head in sort_by_damage(name)]
    chosen = [*harmful[:REPLACED], *harmful[-REPLACED:]]
    return {"heads": [score_one_head(name, head, setting.get("seed", "mean")) for head in chosen]}


# ---------------------------------------------------------------- muting, and what it costs


def translate_with_replaced(
    name: str, heads: Collection[Head], instead: Instead = None, every: slice = ALL
) -> list[str]:
    """Translate greedily with these heads' outputs replaced by a constant vector.

    Args:
        name: One of `MODELS`.
        heads: The heads to replace.
        instead: The vector: zeros, the mean output, or a random direction (see `Instead`).
        every: The slice of the sentences to translate.
    """
    asked = load_translator(name)
    cores = attention_cores(asked.model)
    numbers: dict[Place, list[int]] = {}
    for head in heads:
        numbers.setdefault((head.kind, head.layer), []).append(head.head)
    hooks: dict[nn.Module, Hook] = {
        cores[kind][layer]: ReplaceHeads(
            found, make_replacement(name, (kind, layer), found, instead)
        )
        for (kind, layer), found in numbers.items()
    }
    with use_hooks(hooks):
        found = asked.translate(
            load_real_sentences(name, SENTENCES)[every], beam_size=1, max_length=60
        )
    return [one.translation for one in found]


def make_replacement(
    name: str, place: Place, heads: Sequence[int], instead: Instead
) -> Replacement:
    """Return the function that replaces the outputs of these heads in one attention layer."""
    if instead is None:
        return torch.zeros_like
    if instead == "mean":
        mean = load_mean_outputs(name)[place][list(heads)][:, None]
        return mean.expand_as
    return make_direction(instead)


@cache
def load_mean_outputs(name: str) -> dict[Place, Float[Tensor, "heads d_v"]]:
    """Return each head's mean output over the first `LOOKED_AT` even sentences."""
    return mean_head_outputs(
        load_translator(name), load_real_sentences(name, SENTENCES)[EVEN][:LOOKED_AT]
    )


@cache
def translate_unmuted(name: str) -> list[str]:
    """Return the translations that a model writes with all its heads."""
    return translate_with_replaced(name, ())


def sentence_chrfs(texts: Sequence[str], others: Sequence[str]) -> Float[np.ndarray, " sentence"]:
    """Return the chrF (0 to 100) of each translation against its counterpart in `others`."""
    return np.array([sentence_chrf(text, other) for text, other in zip(texts, others, strict=True)])


def score_one_head(name: str, head: Head, instead: Instead = None) -> dict[str, Any]:
    """Return the chrF against the unmuted translation when one head is replaced.

    Returns:
        "head": the head as [kind, layer, head].
        "chrf": the mean chrF.
        "interval": its 95% interval.
        "even" and "odd": the mean chrF of the even and of the odd sentences.
        "changed": the share of sentences whose translation changes.
    """
    texts = translate_with_replaced(name, [head], instead)
    scores = sentence_chrfs(texts, translate_unmuted(name))
    changed = np.mean([a != b for a, b in zip(texts, translate_unmuted(name), strict=True)])
    return {
        "head": list(head),
        "chrf": round_score(scores.mean()),
        "interval": round_interval(mean_interval(scores), 3),
        "even": round_score(scores[EVEN].mean()),
        "odd": round_score(scores[ODD].mean()),
        "changed": round_score(float(changed)),
    }


def score_in_order(name: str, order: Sequence[Head]) -> list[dict[str, Any]]:
    """Measure translations with the first k heads of an order muted.

    This is done for each k of `STEPS` and for all heads. Only the odd sentences are translated,
    because the orders were chosen on the even ones.

    Returns:
        For each k:

        "muted": k, the number of muted heads.
        "chrf": the mean chrF against the unmuted translation.
        "interval": its 95% interval.
    """
    found = []
    for k in [k for k in STEPS if k < len(order)] + [len(order)]:
        scores = sentence_chrfs(
            translate_with_replaced(name, order[:k], every=ODD), translate_unmuted(name)[ODD]
        )
        found.append(
            {
                "muted": k,
                "chrf": round_score(scores.mean()),
                "interval": round_interval(mean_interval(scores), 3),
            }
        )
    return found


def round_score(number: float) -> float:
    """Round to three decimals, which is enough for a mean over hundreds of values."""
    return round(float(number), 3)


# ---------------------------------------------------------------- orders


def load_heads(name: str, part: str) -> dict[Head, dict[str, Any]]:
    """Return each head's stored result for a model, from runs whose setting has the key `part`."""
    runs = [r for r in load_runs(NAME) if r["setting"]["model"] == name and part in r["setting"]]
    return {Head(*found["head"]): found for r in runs for found in r["result"]["heads"]}


def sort_by_damage(name: str) -> list[Head]:
    """Return a model's heads sorted by the damage done by muting each alone, largest damage first.

    The damage is measured on the even sentences.
    """
    found = load_heads(name, "kind")
    return sorted(found, key=lambda head: found[head]["even"])


def order_heads(name: str, order: str, seed: int) -> list[Head]:
    """Return a model's heads in the order in which they are muted.

    "damage": by the damage that muting each head alone does, smallest first.
    "rest": by the weight that each head's maps put on eos (on bos in the decoder), largest first.
    "random": in a random order that depends on the seed.
    "encoder": in a random order too, but the encoder's heads come before all others.
    """
    if order == "damage":
        return sort_by_damage(name)[::-1]
    found = load_heads(name, "maps")
    if order == "rest":
        return sorted(found, key=lambda head: -found[head]["rest"])
    heads = sorted(found)
    drawn = [heads[i] for i in np.random.default_rng(seed).permutation(len(heads))]
    return sorted(drawn, key=lambda head: head.kind != "encoder") if order == "encoder" else drawn


def main() -> None:
    """Do the runs that are not stored yet, starting with those on which others depend."""
    run_missing(NAME, run, [*FIRST, *list_stored_second()])
    run_missing(NAME, run, GRID)


def list_stored_second() -> list[Setting]:
    """Return the settings of `SECOND` that are already stored, so the first pass keeps them."""
    done = [r["setting"] for r in load_runs(NAME)]
    return [s for s in SECOND if s in done]


if __name__ == "__main__":
    main()
