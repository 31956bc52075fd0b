"""An interactive course on the Transformer: build it, train it, look inside every head.

The names below load on first use, so `import transformer_lab` alone is quick.
"""

from importlib import import_module as _import_module
from importlib.metadata import PackageNotFoundError as _PackageNotFoundError
from importlib.metadata import version as _version
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

if _TYPE_CHECKING:  # for editors and type checkers, which cannot see what loads on first use
    from transformer_lab.attention.capture import capture_attention
    from transformer_lab.attention.record import AttentionRecord, Head
    from transformer_lab.attention.words import by_words
    from transformer_lab.config import TransformerConfig
    from transformer_lab.hooks import Hook
    from transformer_lab.lab import lab, playground
    from transformer_lab.model import Transformer
    from transformer_lab.translator import Translator

__all__ = [
    "AttentionRecord",
    "Head",
    "Hook",
    "Transformer",
    "TransformerConfig",
    "Translator",
    "by_words",
    "capture_attention",
    "lab",
    "playground",
]

_HOMES = {
    "AttentionRecord": "attention.record",
    "Head": "attention.record",
    "Hook": "hooks",
    "Transformer": "model",
    "TransformerConfig": "config",
    "Translator": "translator",
    "by_words": "attention.words",
    "capture_attention": "attention.capture",
    "lab": "lab",
    "playground": "lab",
}
"""The module that each public name is imported from."""


def __getattr__(name: str) -> _Any:
    if name == "__version__":
        try:
            return _version("transformer-lab")
        except _PackageNotFoundError as error:  # a clone that is only on the path
            raise AttributeError(
                "transformer_lab is not installed, so it has no __version__"
            ) from error
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__", "__doc__", "__file__", "__name__", "__path__"])
