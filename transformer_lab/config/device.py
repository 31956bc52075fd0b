"""Choose a device and a precision, and find out how much memory there is.

Trainers, translators, searches and `doctor` use it.
"""

import contextlib
import math
import os
from itertools import chain
from pathlib import Path

import torch
from torch import nn

from transformer_lab.config import Precision, check

# On a CPU, oneDNN computes products in bfloat16. It compiles code for each shape, and keeps the
# code for the last 1,024. Batches of real text hardly ever repeat a shape, so that code took 1.3 GB
# and saved no time.
for _cache in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.setdefault(_cache, "64")


def pick_device(name: str = "auto") -> torch.device:
    """Return the device with this name; "auto" means CUDA, else MPS, else the CPU.

    Raises:
        ValueError: If this machine does not have that device.
    """
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        check("device", name, "a device that can compute", device.type != "meta")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device is {name!r}; expected 'auto' or a device that this machine has: {reason}"
        ) from error
    return device


def device_of(model: nn.Module) -> torch.device:
    """Return the device of a model's first parameter or buffer, or the CPU if it has none."""
    held = (tensor.device for tensor in chain(model.parameters(), model.buffers()))
    return next(held, torch.device("cpu"))


def pick_dtype(precision: Precision, device: torch.device) -> torch.dtype:
    """Return the dtype for matrix products: bfloat16 for "bf16", float32 for "fp32".

    "auto" means bfloat16 if the hardware supports it, else float32.
    """
    if precision == "auto":
        return torch.bfloat16 if has_bfloat16(device) else torch.float32
    return torch.bfloat16 if precision == "bf16" else torch.float32


def has_bfloat16(device: torch.device) -> bool:
    """Return whether this device multiplies bfloat16 matrices in hardware, without emulation."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    if device.type == "cpu":
        # Older releases of torch cannot tell; float32 works everywhere.
        capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
        return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
    return False


def total_memory() -> float:
    """Return the memory of this machine or container in bytes, or infinity if it is unknown."""
    limit = math.inf
    with contextlib.suppress(ValueError, OSError):  # "max": the container has no limit
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8"))
    try:
        return min(limit, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return limit
