"""Tokens per second of the four presets and of a plain `nn.Transformer` loop, on the same batches.

First all presets are measured as they are, and then compiled if there is time. An H200 took six and
a half minutes to compile the preset base and was slower afterwards, so only a long run gets that far.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

import torch
from torch.profiler import ProfilerActivity, profile
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.corpus import real_tokens
from benchmarks.gpu.training import load_french
from benchmarks.machine import measure_peak_flops
from benchmarks.peers import Size, TutorialTransformer
from benchmarks.report import table
from benchmarks.timing import Times, interleave, median_ratio
from benchmarks.training import ATTENTION, RATE, Loop, Ordinary, Ours
from transformer_lab.config import Precision
from transformer_lab.config.device import has_bfloat16
from transformer_lab.data.batching import Batch, Example, buckets, collate
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.stopwatch import synchronize
from transformer_lab.studies.what_attention_costs.gpu import NUM_PAIRS, encode_examples

ROUNDS = 3
BATCHES = 4
"""The number of batches in each round; every candidate sees the same ones."""
COMPILING = {"cuda": 400, "cpu": 60}
"""The seconds that must be left before a preset is compiled."""
SIDE = {"cuda": 8_192, "cpu": 1_024}
"""The size of the square matrices whose product shows how fast the device can multiply."""


def get_preset_size(name: str) -> Size:
    """Return a preset's sizes as the peers need them, with one vocabulary for both languages."""
    preset = PRESETS[name]
    config = preset.model(preset.vocab_size, preset.vocab_size)
    return Size(
        config.d_model,
        config.num_encoder_layers,
        config.num_heads,
        config.d_ff,
        preset.vocab_size,
        dropout=config.dropout,
    )


def make_loops(size: Size, device: torch.device, compiled: bool) -> dict[str, Callable[[], Loop]]:
    """Return the loops to compare, with bf16 only if the device multiplies it."""
    precisions: tuple[Precision, ...] = ("fp32", "bf16") if has_bfloat16(device) else ("fp32",)

    def ordinary(precision: Precision) -> Loop:
        torch.manual_seed(0)
        model = TutorialTransformer(size)
        return Ordinary(model, TutorialTransformer.__call__, precision, True, device=str(device))

    def ours(precision: Precision, compile_it: bool = False) -> Loop:
        torch.manual_seed(0)
        loop = Ours(size, precision, str(device))
        if compile_it:
            loop.trainer.batch_loss.compile(dynamic=True)
        return loop

    if compiled:
        return {f"ours, {precisions[-1]}, compiled": partial(ours, precisions[-1], True)}
    loops: dict[str, Callable[[], Loop]] = {}
    for precision in precisions:
        loops[f"`nn.Transformer`, plain loop, {precision}"] = partial(ordinary, precision)
    for precision in precisions:
        loops[f"ours, {precision}"] = partial(ours, precision)
    return loops


def count_flops(loop: Loop, batch: Batch) -> float:
    """Count the multiplications and additions in one step's matrix products, padding included."""
    with FlopCounterMode(display=False, custom_mapping=ATTENTION) as counter:
        loop.step(batch, RATE)
    return float(counter.get_total_flops())


def find_attention_kernels(loop: Loop, batch: Batch, device: torch.device) -> str:
    """Return the names of the fused attention kernels that PyTorch chose in one step."""
    activities = [ProfilerActivity.CPU]
    activities += [ProfilerActivity.CUDA] if device.type == "cuda" else []
    with profile(activities=activities) as recorded:
        loop.step(batch, RATE)
    names = {event.key for event in recorded.key_averages()}
    chosen = sorted(
        n for n in names if n.startswith("aten::_scaled_dot_product") or "fmha" in n.lower()
    )
    return ", ".join(f"`{name[:80]}`" for name in chosen) or "none: the explicit path"


@dataclass(frozen=True)
class Measurement:
    """One preset's measurement: each loop's times and FLOP per round, and a round's contents."""

    times: dict[str, Times]
    flops: dict[str, float]
    tokens: int
    kernel: str = ""


def measure_preset(
    name: str, examples: list[Example], device: torch.device, compiled: bool
) -> Measurement:
    """Run the loops of one preset in turn, on the same batches of the preset's own size."""
    groups = buckets(examples, PRESETS[name].training.batch_tokens, seed=0)[:BATCHES]
    batches = [collate(group) for group in groups]
    tokens = sum(real_tokens(group) for group in groups)
    makers = make_loops(get_preset_size(name), device, compiled)
    loops = {what: make() for what, make in makers.items()}
    for loop in loops.values():
        for batch in batches:
            loop.step(batch, RATE)  # warms up, and compiles

    def one_round(loop: Loop, _: int) -> None:
        losses = [loop.step(batch, RATE) for batch in batches]
        synchronize(device)
        assert torch.stack(losses).isfinite().all(), "a loss became NaN"

    times = interleave({what: partial(one_round, loop) for what, loop in loops.items()}, ROUNDS)
    if compiled:
        return Measurement(times, {}, tokens)
    flops = {
        what: sum(count_flops(loop, batch) for batch in batches) for what, loop in loops.items()
    }
    return Measurement(
        times, flops, tokens, find_attention_kernels(list(loops.values())[-1], batches[0], device)
    )


def format_rows(
    name: str, plain: Measurement, found: Measurement, peaks: dict[str, float]
) -> list[list[str]]:
    """Return a preset's table rows, in which `found` is compared with the plain loops of `plain`."""
    rows = []
    for what, times in found.times.items():
        precision = "bf16" if "bf16" in what else "fp32"
        # The compiled loop has the same products.
        flops = plain.flops[what.removesuffix(", compiled")]
        row = [name, what]
        row += [f"{found.tokens / t / 1e3:.1f}" for t in (times.median, times.best)]
        row += [f"{1e3 * times.median / BATCHES:.1f}"]
        for loop in ("fp32", "bf16"):
            other = plain.times.get(f"`nn.Transformer`, plain loop, {loop}")
            row += [f"{median_ratio(other, times):.2f}" if other else ""]
        rows.append([*row, f"{flops / times.median / peaks[precision]:.0%}"])
    return rows


def section(device: torch.device, seconds: float) -> str:
    """Return a table of all presets, first plain and then compiled if there is time."""
    deadline = time.perf_counter() + seconds
    on_gpu = device.type == "cuda"
    names = ("base", "small", "tiny", "big") if on_gpu else ("tiny",)
    dtypes = {"fp32": torch.float32, "bf16": torch.bfloat16}
    if not has_bfloat16(device):
        del dtypes["bf16"]
    side = SIDE[device.type]
    peaks = {p: measure_peak_flops(dtype, device=device, side=side) for p, dtype in dtypes.items()}
    pairs = tuple(load_french(device).train[:NUM_PAIRS])
    plain: dict[str, Measurement] = {}
    rows: list[list[str]] = []
    failures: list[str] = []
    for compiled, name in product((False, True), names):
        left = deadline - time.perf_counter()
        if left < (COMPILING[device.type] if compiled else 0) or (compiled and name not in plain):
            rows.append([name, "compiled" if compiled else "all", "no time left", *[""] * 5])
            continue
        try:
            found = measure_preset(name, encode_examples(pairs, name), device, compiled)
        except Exception as error:  # no compiler or memory, for example: other rows still count
            failures.append(f"**{name}, {'compiled' if compiled else 'eager'} failed**: {error}")
            continue
        finally:
            if on_gpu:
                torch.cuda.empty_cache()
        plain.setdefault(name, found)
        rows += format_rows(name, plain[name], found, peaks)
    head = ["preset", "", "k tokens/s", "fastest", "ms a step", "× loop, fp32", "× loop, bf16"]
    limits = ", ".join(f"{peak / 1e12:.3g} TFLOP/s in {p}" for p, peak in peaks.items())
    about = (
        f"Real tokens of both sides per second, the median of {ROUNDS} rounds and the fastest, in "
        "batches of each preset's own size, the same ones for every loop. The limit is the speed of a "
        f"product of two square matrices, {side:,} a side: {limits}."
    )
    aims = "Aims on an H100, at base: at least 3 × the loop and 45% of the bf16 limit."
    kernels = [f"- {name}: {measured.kernel}" for name, measured in plain.items()]
    report = "\n\n".join(
        [
            *failures,
            about,
            aims if on_gpu else "Without a GPU, only tiny is measured.",
            table([*head, "of the limit"], rows),
            "The fused attention that PyTorch chose:",
            "\n".join(kernels),
        ]
    )
    if failures:
        raise RuntimeError(report)
    return report
