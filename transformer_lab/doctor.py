"""What this machine has, what is missing, and how to get it."""

import os
import platform
import shutil
from importlib.metadata import PackageNotFoundError, version

import torch

from transformer_lab.device import pick_device, pick_dtype
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
    "nbval": "[test]",
    "playwright": "[test]",
}
"""What is looked for, and which extra brings what the package itself does not need."""


def diagnose() -> dict[str, tuple[str, str]]:
    """For each thing looked at: what was found, and what to do about it if anything."""
    device = pick_device()
    dtype = pick_dtype("auto", device)
    found = {
        "python": (platform.python_version(), ""),
        "device": (str(device), "" if device.type != "cpu" else "a GPU is welcome, not needed"),
        "precision": (str(dtype).removeprefix("torch."), ""),
        "threads": (f"{torch.get_num_threads()} of {os.cpu_count()} cores", ""),
    }
    for name, extra in PACKAGES.items():
        try:
            found[name] = (version(name), "")
        except PackageNotFoundError:
            # In a clone that is installed, too: pip then adds what the extra asks for.
            found[name] = ("missing", f'pip install "transformer-lab{extra}"')
    browser = find_browser()
    remedy = (
        "apt-get install chromium, or set CHROMIUM to a browser; only the browser tests need it"
    )
    found["chromium"] = (browser or "missing", "" if browser else remedy)
    apt = shutil.which("apt-get")
    found["apt"] = (apt or "missing", "" if apt else "only --corpus debian:LANGUAGE needs it")
    whole = (PRETRAINED / "model.safetensors").is_file()
    found["pretrained"] = ("here" if whole else "missing", "" if whole else "make checkpoint")
    return found


def find_browser() -> str | None:
    """The browser that the tests drive: $CHROMIUM, then what is on the PATH."""
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    candidates = (shutil.which(name) for name in (os.environ.get("CHROMIUM", ""), *names) if name)
    return next((path for path in candidates if path), None)
