"""Which device to compute on, and in which precision."""

import math
import os

import torch

from transformer_lab.config import Precision, check

# On a CPU, products in bfloat16 are oneDNN's, which writes code for each shape and keeps that of the
# last 1,024. Batches of real text have hardly a shape twice: that came to 1.3 GB, and saved no time.
for _cache in ("LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY"):
    os.environ.setdefault(_cache, "64")


def pick_device(name: str = "auto") -> torch.device:
    """CUDA, then MPS, then CPU for "auto"; a ValueError for a device that is not there."""
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(name)
        check("device", name, "one that computes", device.type != "meta")
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(
            f"device is {name!r}; expected auto or one that is here: {reason}"
        ) from error
    return device


def pick_dtype(precision: Precision, device: torch.device) -> torch.dtype:
    """bfloat16 for "bf16", float32 for "fp32"; "auto" takes bfloat16 where the hardware has it."""
    if precision == "auto":
        return torch.bfloat16 if has_bfloat16(device) else torch.float32
    return torch.bfloat16 if precision == "bf16" else torch.float32


def has_bfloat16(device: torch.device) -> bool:
    """Does this device multiply matrices in bfloat16 natively, and not by emulation?"""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    if device.type == "cpu":
        # Older releases of torch cannot tell; float32 is right everywhere.
        capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
        return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
    return False


def memory_there() -> float:
    """This machine's whole memory in bytes; endless where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return math.inf
