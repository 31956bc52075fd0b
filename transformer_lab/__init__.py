"""An interactive course on the Transformer: build it, train it, look inside every head.

The names below load on first use, so `import transformer_lab` alone is quick.
"""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

ROOMS = {
    "AttentionExplorer": "lab",
    "AttentionRecord": "attention.record",
    "Head": "attention.record",
    "Hook": "hooks",
    "Transformer": "model",
    "TransformerConfig": "config",
    "Translator": "translator",
    "bench": "lab",
    "by_words": "attention.words",
    "capture_attention": "attention.capture",
    "explore": "lab",
    "lab": "lab",
    "playground": "lab",
}
"""Each public name, with the module it comes from."""


def __getattr__(name: str) -> Any:
    if name == "__version__":
        try:
            return version("transformer-lab")
        except PackageNotFoundError as error:  # a clone that is only on the path
            raise AttributeError("transformer_lab is not installed: no __version__") from error
    if name not in ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{ROOMS[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *ROOMS, "__version__"])
