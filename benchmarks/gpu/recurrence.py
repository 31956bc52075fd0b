"""Does a Transformer train faster than a recurrent network on parallel hardware? On a GPU and its CPU.

The claim of the paper's introduction and of Table 1: a recurrent layer must compute one position
after the other, attention computes all of them at once, and that is what parallel hardware is good at.
"""

import time
from functools import partial

import torch

from benchmarks.corpus import real_tokens
from benchmarks.gpu.throughput import encode_examples
from benchmarks.gpu.training import load_french
from benchmarks.report import table
from benchmarks.timing import interleave, median_ratio
from benchmarks.training import RATE, Loop, Ordinary
from transformer_lab.config import Precision, TransformerConfig
from transformer_lab.data.batching import Example, buckets, collate
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.stopwatch import synchronize
from transformer_lab.studies.recurrence_or_attention.recurrent import (
    KINDS,
    count_parameters,
    make_model_like,
)
from transformer_lab.studies.what_attention_costs.layer_kinds import LAYERS, time_layers

ROUNDS = 3
LENGTHS = (64, 256, 1024)
LAYER_TOKENS = 16_384
"""In one step of a single layer: at every length as many, so that only the length differs."""
SIZES: dict[str, list[tuple[str, Precision, int]]] = {
    "cpu": [("tiny", "fp32", 2_048), ("small", "fp32", 2_048)],
    "cuda": [
        ("tiny", "fp32", 2_048),
        ("tiny", "fp32", 16_384),
        ("small", "fp32", 2_048),
        ("small", "fp32", 16_384),
        ("base", "fp32", 16_384),
        ("base", "bf16", 16_384),
    ],
}
"""Preset, precision and the tokens that a batch holds at most, on each kind of device."""


def make_config(name: str) -> TransformerConfig:
    """A preset's Transformer without dropout, as the recurrent models have none either."""
    preset = PRESETS[name]
    return preset.model(preset.vocab_size, preset.vocab_size, dropout=0.0, tie_source_target=False)


def measure_models(
    name: str, precision: Precision, tokens: int, examples: list[Example], device: torch.device
) -> list[list[str]]:
    """The rows of one size: three models of equally many parameters, over the same two batches."""
    groups = buckets(examples, tokens, seed=0)[:2]
    batches = [collate(group) for group in groups]
    total = sum(real_tokens(group) for group in groups)
    config = make_config(name)
    loops: dict[str, Loop] = {}
    for kind in KINDS:
        torch.manual_seed(0)
        model = make_model_like(kind, config)
        loops[kind] = Ordinary(model, type(model).__call__, precision, True, device=str(device))

    def one_round(loop: Loop, _: int) -> None:
        losses = [loop.step(batch, RATE) for batch in batches]
        synchronize(device)
        assert torch.stack(losses).isfinite().all(), "a loss became NaN"

    for loop in loops.values():
        one_round(loop, 0)
    times = interleave({kind: partial(one_round, loop) for kind, loop in loops.items()}, ROUNDS)
    rows = []
    for kind in KINDS:
        millions = count_parameters(partial(make_model_like, kind, config)) / 1e6
        rows.append(
            [
                device.type,
                f"{name}, {precision}",
                f"{tokens:,}",
                kind,
                f"{millions:.1f}",
                f"{total / times[kind].median / 1e3:.1f}",
                f"{total / times[kind].best / 1e3:.1f}",
                f"{median_ratio(times[kind], times['Transformer']):.2f}",
            ]
        )
    return rows


def measure_layers(device: torch.device) -> list[list[str]]:
    """One training step of one layer of each kind at each length, in milliseconds, and the ratio."""
    rows = []
    for length in LENGTHS:
        times = time_layers([length], [LAYER_TOKENS // length], "training", device)
        row = [device.type, f"{length:,}", *(f"{1e3 * times[kind][0]:.2f}" for kind in LAYERS)]
        rows.append([*row, f"{times['LSTM'][0] / times['attention'][0]:.2f}"])
    return rows


def section(device: torch.device, seconds: float) -> str:
    """Two tables, each with the GPU and with the CPU beside it, as long as there is time."""
    deadline = time.perf_counter() + seconds
    torch.manual_seed(0)
    devices = [device] if device.type == "cpu" else [device, torch.device("cpu")]
    layers = [row for where in devices for row in measure_layers(where)]
    pairs = load_french(device).train[:20_000]
    encoded: dict[str, list[Example]] = {}
    rows: list[list[str]] = []
    failures: list[str] = []
    for where in devices:
        for name, precision, tokens in SIZES[where.type]:
            if time.perf_counter() > deadline:
                failures.append(f"{name}, {precision}, {tokens:,} tokens on {where}: no time left.")
                continue
            try:
                if name not in encoded:
                    encoded[name] = encode_examples(pairs, PRESETS[name].vocab_size)
                rows += measure_models(name, precision, tokens, encoded[name], where)
            except Exception as error:  # one size's fault must not cost the others
                failures.append(f"**{name}, {precision} on {where} failed**: {error}")
            finally:
                if where.type == "cuda":
                    torch.cuda.empty_cache()
    layer_head = ["device", "tokens a sequence", *(f"{kind}, ms" for kind in LAYERS)]
    head = ["device", "preset", "batch", "model", "million parameters", "k tokens/s", "fastest"]
    return "\n\n".join(
        [
            *failures,
            f"One training step of a single layer over {LAYER_TOKENS:,} tokens, cut into sequences of "
            "different lengths, the fastest of several calls. The last column is how many times as "
            "long the LSTM takes.",
            table([*layer_head, "LSTM / attention"], layers),
            "A training step of three whole translators with about as many parameters, on the same "
            f"batches of Debian's French, the median of {ROUNDS} rounds that take turns. The last "
            "column is how many times as long the model takes as the Transformer.",
            table([*head, "× Transformer's time"], rows),
        ]
    )
