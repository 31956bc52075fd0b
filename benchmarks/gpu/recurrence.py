"""Does a Transformer train faster than a recurrent network on parallel hardware? On a GPU and its CPU.

The paper claims so in its introduction and in Table 1: a recurrent layer must compute one position
after the other, while attention computes all of them at once, which is what parallel hardware is good
at. Lesson 15 shows what one such run found; its module `gpu` does the measuring.
"""

import time
from typing import Any

import torch

from benchmarks.gpu.training import load_french
from benchmarks.report import table
from transformer_lab.studies.common.grid import Run, Setting
from transformer_lab.studies.recurrence_or_attention.recurrent import KINDS
from transformer_lab.studies.what_attention_costs.gpu import (
    GRID,
    LAYER_TOKENS,
    NUM_PAIRS,
    ROUNDS,
    encode_examples,
    measure_layer,
    measure_translators,
)
from transformer_lab.studies.what_attention_costs.layer_kinds import LAYERS

Row = list[str]


def list_layer(setting: Setting, result: dict[str, Any]) -> list[Row]:
    """Return the row of one length: milliseconds, and how many times as long the LSTM takes."""
    row = [setting["device"], f"{setting['length']:,}"]
    row += [f"{result['milliseconds'][kind]:.2f}" for kind in LAYERS]
    return [[*row, f"{result['times_as_long']:.2f}"]]


def list_translators(setting: Setting, result: dict[str, Any]) -> list[Row]:
    """Return the rows of one size, one for each model."""
    size = f"{setting['preset']}, {setting['precision']}"
    return [
        [
            setting["device"],
            size,
            f"{setting['tokens']:,}",
            kind,
            f"{result[kind]['parameters']:.1f}",
            f"{result[kind]['rate']:.1f}",
            f"{result[kind]['fastest']:.1f}",
            f"{result[kind]['times_as_long']:.2f}",
        ]
        for kind in KINDS
    ]


def section(device: torch.device, seconds: float) -> str:
    """Return two tables, each for the GPU and, if there is time, its CPU."""
    deadline = time.perf_counter() + seconds
    torch.manual_seed(0)
    devices = {device.type, "cpu"}
    pairs = tuple(load_french(device).train[:NUM_PAIRS])

    def measure_size(setting: Setting) -> dict[str, Any]:
        return measure_translators(setting, encode_examples(pairs, setting["preset"]))

    parts: dict[str, Run] = {"layer": measure_layer, "translators": measure_size}
    rows: dict[str, list[Row]] = {part: [] for part in parts}
    failures: list[str] = []
    for setting in GRID:
        if setting["device"] not in devices:
            continue
        name = ", ".join(map(str, setting.values()))
        if time.perf_counter() > deadline:
            failures.append(f"{name}: no time left.")
            continue
        try:
            result = parts[setting["part"]](setting)
            list_rows = list_layer if setting["part"] == "layer" else list_translators
            rows[setting["part"]] += list_rows(setting, result)
        except Exception as error:  # an error at one size must not cost the others' results
            failures.append(f"**{name} failed**: {error}")
        finally:
            if setting["device"] == "cuda":
                torch.cuda.empty_cache()
    layer_head = ["device", "tokens a sequence", *(f"{kind}, ms" for kind in LAYERS)]
    head = ["device", "preset", "batch", "model", "million parameters", "k tokens/s", "fastest"]
    return "\n\n".join(
        [
            *failures,
            f"One training step of a single layer over {LAYER_TOKENS:,} tokens, cut into sequences of "
            "different lengths, the fastest of several calls. The last column is how many times as "
            "long the LSTM takes.",
            table([*layer_head, "LSTM / attention"], rows["layer"]),
            "A training step of three whole translators with about as many parameters, on the same "
            f"batches of Debian's French, the median of {ROUNDS} rounds that take turns. The last "
            "column is how many times as long the model takes as the Transformer.",
            table([*head, "× Transformer's time"], rows["translators"]),
        ]
    )
