"""Lesson 18: what does a recurrence carry along in place of self-attention, and how far?

    python -m transformer_lab.studies.production_translators.carry

The study asks how far back written words matter in the three translators, how long the numbers in
the production model's state last, and whether small decoders of both kinds can repeat what they
have read.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from transformer_lab.config import TransformerConfig
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.model.build import build_model
from transformer_lab.model.later.recurrence import SSRU
from transformer_lab.model.masks import padding_mask
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.intervals import mean_interval, round_interval
from transformer_lab.studies.common.untrained import untrained_translator
from transformer_lab.studies.production_translators.models import (
    MODELS,
    PRODUCTION,
    load_translator,
)
from transformer_lab.studies.production_translators.texts import load_real_sentences
from transformer_lab.training.schedule import linear_rate
from transformer_lab.translator import Translator

NAME = "carry"
SENTENCES = 300
BACK = (1, 2, 3, 5, 8)
"""The distances, in positions, from the replaced word to the predicted one."""
KINDS = ("attention", "recurrence")
LENGTHS = (2, 4, 8, 16)
SYMBOLS, FIRST, GO, SOURCE = 10, 4, 14, 15
"""The number of symbols, and the ids of the first symbol, "repeat!", and the only source word."""
BATCH, RATE = 32, 3e-3
GRID: list[Setting] = (
    [{"reach": name} for name in MODELS]
    + [{"gates": trained} for trained in (True, False)]
    + [
        {"repeat": length, "kind": kind, "steps": 600, "seed": seed}
        for seed in range(5)
        for length in LENGTHS
        for kind in KINDS
    ]
    # Is it only slower? The recurrence gets four times as many steps.
    + [
        {"repeat": length, "kind": "recurrence", "steps": 2_400, "seed": seed}
        for seed in range(3)
        for length in LENGTHS[1:3]
    ]
)


def run(setting: Setting) -> dict[str, Any]:
    """Do the part of the study that the setting's key names.

    The key "reach" stands for `measure_reach`, "gates" for `measure_half_lives`, and "repeat" for
    `train_to_repeat`, whose result is returned as "right".
    """
    if "reach" in setting:
        return measure_reach(setting["reach"])
    if "gates" in setting:
        known = load_translator(PRODUCTION)
        return measure_half_lives(
            known, known if setting["gates"] else untrained_translator(known, 0)
        )
    return {
        "right": train_to_repeat(
            setting["repeat"], setting["kind"], setting["steps"], setting["seed"]
        )
    }


# ---------------------------------------------------------------- how far back a written word matters


@torch.no_grad()
def measure_reach(name: str) -> dict[str, Any]:
    """Measure how much replacing an earlier subword changes the distribution over the next one.

    The earlier subword is one that the model wrote. Its replacement is sampled from all written
    subwords, and the source stays the same.

    Returns:
        Lists with one value for each distance in `BACK`:

        "nats": the mean Kullback–Leibler divergence.
        "interval": its 95% interval over sentences.
        "moved": the share of sentences in which the most probable next subword changes.

        "back" lists the distances, and "sentences" is the number of sentences.
    """
    translator = load_translator(name)
    config, rng = translator.model.config, np.random.default_rng(0)
    sources = load_real_sentences(name, SENTENCES)
    written = [
        translator.encode_target(one.translation)
        for one in translator.translate(sources, beam_size=1)
    ]
    every = [piece for ids in written for piece in ids[:-1]]
    nats: dict[int, list[float]] = {back: [] for back in BACK}
    moved: dict[int, list[bool]] = {back: [] for back in BACK}
    for source, ids in zip(sources, written, strict=True):
        if len(ids) <= BACK[-1]:
            continue
        place = int(rng.integers(BACK[-1], len(ids)))  # the piece that is to be predicted
        read = torch.tensor([[config.bos_id, *ids[:place]]]).repeat(len(BACK) + 1, 1)
        for row, back in enumerate(BACK, 1):
            others = [piece for piece in every if piece != ids[place - back]]
            read[row, 1 + place - back] = int(rng.choice(others))
        log_p = next_word_log_probabilities(translator, source, read)
        for row, back in enumerate(BACK, 1):
            nats[back].append(float((log_p[0].exp() * (log_p[0] - log_p[row])).nansum()))
            moved[back].append(bool(log_p[0].argmax() != log_p[row].argmax()))
    return {
        "sentences": len(nats[1]),
        "back": list(BACK),
        "nats": [round(float(np.mean(nats[back])), 4) for back in BACK],
        "interval": [round_interval(mean_interval(np.array(nats[back])), 4) for back in BACK],
        "moved": [round(float(np.mean(moved[back])), 3) for back in BACK],
    }


def next_word_log_probabilities(
    translator: Translator, source: str, read: Int[Tensor, "row place"]
) -> Float[Tensor, "row word"]:
    """Return the log-probabilities of the subword after each row of `read`, for one source."""
    ids, mask = translator.batch([translator.encode(source)])
    rows = len(read)
    logits = translator.model(ids.repeat(rows, 1), read, mask.repeat(rows, 1, 1, 1))
    return logits[:, -1].double().log_softmax(dim=-1)


# ---------------------------------------------------------------- how long the state lasts


@torch.no_grad()
def measure_half_lives(known: Translator, translator: Translator) -> dict[str, Any]:
    """Return the sorted half-lives of each decoder layer's recurrent state, in subwords.

    At each step, each number in the state is multiplied by its gate f. Its half-life is log ½ / log
    f, where log f is averaged over all steps of the translations that `known` writes and
    `translator` reads.
    """
    sources = load_real_sentences(PRODUCTION, SENTENCES)
    texts = [one.translation for one in known.translate(sources, beam_size=1)]
    units = [cast(SSRU, layer.self_attention) for layer in translator.model.decoder.layers]
    seen: list[list[Tensor]] = [[] for _ in units]
    for source, text in zip(sources, texts, strict=True):
        read = torch.tensor(
            [[translator.model.config.bos_id, *translator.encode_target(text)[:-1]]]
        )
        for kept, log_gates in zip(
            seen, record_log_gates(translator, units, source, read), strict=True
        ):
            kept.append(log_gates)
    return {"half_life": [half_lives(torch.cat(kept)) for kept in seen]}


def record_log_gates(
    translator: Translator, units: Sequence[SSRU], source: str, read: Int[Tensor, "1 place"]
) -> list[Float[Tensor, "place feature"]]:
    """Return the logarithms of each recurrence's gates at each written position."""
    decoder, inputs = translator.model.decoder, list[Tensor]()
    # A recurrence comes first in its layer, and the norm last, so it reads what enters the layer.
    modules: list[nn.Module] = [decoder, *decoder.layers[:-1]]
    with use_hooks(dict.fromkeys(modules, Hook(residual=inputs.append))):
        next_word_log_probabilities(translator, source, read)
    return [F.logsigmoid(u.w_f(x[0]).double()) for u, x in zip(units, inputs, strict=True)]


def half_lives(log_gates: Float[Tensor, "step feature"]) -> list[float]:
    """Return the half-lives of all features in steps, shortest first."""
    mean = log_gates.mean(dim=0).clamp(max=-1e-6)
    return [round(float(h), 2) for h in (np.log(0.5) / mean).sort().values]


# ---------------------------------------------------------------- repeat what you have read


def train_to_repeat(length: int, kind: str, steps: int, seed: int) -> float:
    """Train a small decoder to repeat symbols; return its accuracy on 20 new batches.

    It reads `length` random symbols and a start marker, and must then write the symbols again. The
    source contains no information. `kind` is "attention" or "recurrence".
    """
    config = TransformerConfig(
        source_vocab_size=16,
        target_vocab_size=16,
        d_model=32,
        d_ff=64,
        num_heads=4,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dropout=0.0,
        norm="pre",
        recurrent_decoder=kind == "recurrence",
    )
    torch.manual_seed(seed)
    model = build_model(config)
    adam = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98), eps=1e-9)
    right = []
    for step in range(1, steps + 21):
        symbols = torch.randint(FIRST, FIRST + SYMBOLS, (BATCH, length))
        sign = torch.full((BATCH, 1), GO)
        read = torch.cat([symbols, sign, symbols[:, :-1]], dim=1)
        source = torch.full((BATCH, 1), SOURCE)
        logits = model(source, read, padding_mask(source, config.pad_id))[:, length:]
        if step > steps:
            right.append((logits.argmax(dim=-1) == symbols).float().mean().item())
            continue
        for group in adam.param_groups:
            group["lr"] = linear_rate(step, RATE, steps // 10, steps)
        adam.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), symbols.flatten()).backward()
        adam.step()
    return round(float(np.mean(right)), 4)


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
