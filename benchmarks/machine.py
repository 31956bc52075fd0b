"""The machine of the measurements: its processor, and how fast it multiplies matrices."""

import os
import platform
from pathlib import Path

import torch

from benchmarks.report import table
from benchmarks.timing import interleave
from transformer_lab.config.device import has_bfloat16
from transformer_lab.studies.common.stopwatch import synchronize

FLAGS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
SIDE = 2_048
TORCH = torch.__version__.partition("+")[0]


def read_cpu_info() -> dict[str, str]:
    """Return the fields of Linux's description of the first processor, none on other systems."""
    path = Path("/proc/cpuinfo")
    if not path.exists():
        return {}
    first = path.read_text(encoding="utf-8").split("\n\n")[0]
    pairs = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


def describe_machine() -> str:
    """Return a table that describes the machine, without its name."""
    info = read_cpu_info()
    flags = info.get("flags", "").split()
    rows = [
        ("processor", info.get("model name") or platform.processor() or platform.machine()),
        ("cores", str(os.cpu_count())),
        ("threads used", str(torch.get_num_threads())),
        *((flag, "yes" if flag in flags else "no") for flag in FLAGS),
        ("Python", platform.python_version()),
        ("torch", TORCH),
    ]
    return table(["", ""], rows)


def describe_run(rounds: int) -> str:
    """Return one line about a section's run: processor, threads, torch version, rounds and load."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    name = read_cpu_info().get("model name") or platform.machine()
    return (
        f"{name}, {torch.get_num_threads()} threads, torch {TORCH}, {rounds} rounds; "
        f"load average {load:.1f} over the minute before the section's end."
    )


def measure_peak_flops(
    dtype: torch.dtype, rounds: int = 5, device: torch.device | str = "cpu", side: int = SIDE
) -> float:
    """Return the FLOP/s of a large square matrix product in the fastest of some rounds."""
    a, b = (torch.randn(side, side, device=device).to(dtype) for _ in range(2))

    def product(_: int) -> None:
        torch.mm(a, b)
        synchronize(device)

    product(0)
    return 2 * side**3 / interleave({"mm": product}, rounds)["mm"].best


def section() -> str:
    """Return the section on the machine and its ceilings."""
    line = (
        f"Product of two {SIDE:,} × {SIDE:,} matrices, fastest of 5: "
        f"{measure_peak_flops(torch.float32) / 1e9:.0f} GFLOP/s in float32"
    )
    if has_bfloat16(torch.device("cpu")):
        line += f", {measure_peak_flops(torch.bfloat16) / 1e9:.0f} GFLOP/s in bfloat16"
    return f"{describe_machine()}\n{line}."
