"""The bench: a page in which a translator runs, and can be muted and pointed, without Python."""

import base64
import gzip
import html
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import matplotlib
import numpy as np
import torch

from transformer_lab.config import check
from transformer_lab.viz.explorer.page import PAGE
from transformer_lab.viz.page.join import script, style
from transformer_lab.viz.style import WEIGHTS

STYLES = ("page.css", "bench/bench.css")
MOST_PARAMETERS = 20_000_000
"""A page of more is too heavy to open, and too slow to translate in."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing to try.

    `ask` says what to do; it is done when the page's address says what `goal` says, such as
    "head=e2.3&mute=e2.3"; then `then` says what was to be seen. A goal with "tested=" and the names
    of muted heads waits for the test on many sentences.
    """

    ask: str
    goal: str
    then: str


@runtime_checkable
class Runnable(Protocol):
    """What a page needs of a translator."""

    @property
    def model(self) -> torch.nn.Module:
        """The model, whose parameters are counted."""

    def encode(self, text: str) -> list[int]:
        """The ids of a sentence; a ValueError if it cannot be read."""

    def save(self, folder: str | Path, *, dtype: torch.dtype) -> None:
        """Write configuration, tokenizers and weights in this precision."""


def bench(
    translator: Runnable,
    path: str | Path,
    sentences: Sequence[str] | str,
    *,
    start: str = "",
    prompts: Sequence[Prompt] = (),
    examples: Sequence[tuple[str, str]] = (),
    overwrite: bool = False,
) -> Path:
    """Write a page in which this translator runs; it opens in any browser, offline. Returns its path.

        bench(translator, "lab.html", ["it was too tired", "it was too wide"])

    The page holds the weights in half precision. The first sentence is translated at once, and each
    has a button.

    Args:
        translator: What runs in the page: a model of at most 20 million parameters, with words.
        path: The file to write.
        sentences: One sentence or several.
        start: What is open at first, as the page's own address says it behind "#":
            "head=e2.3&row=10&mute=c2.2" opens the row of the eleventh word in the third head of the
            encoder's second layer, and mutes a head of cross-attention.
        prompts: What the reader is asked to try, one after the other; `famous_guide()` has those
            of the shipped model.
        examples: Sentences and their right translations, to test a mute on.
        overwrite: Replace a file that is there.

    Raises:
        ValueError: If the file is there already and `overwrite` is not given, if the model has more
            than 20 million parameters or tokenizers of pieces, or if a sentence cannot be read.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path} exists; expected a new file, or overwrite=True")
    data = bench_data(translator, [sentences] if isinstance(sentences, str) else sentences)
    data["start"] = start
    data["prompts"] = [asdict(prompt) for prompt in prompts]
    data["examples"] = list(examples)
    for sentence, _ in examples:
        translator.encode(sentence)
    title = html.escape("Bench: " + data["sentences"][0])
    path.write_text(PAGE.format(title=title, body=fragment(data)), encoding="utf-8")
    return path


def bench_data(translator: Runnable, sentences: Sequence[str]) -> dict[str, Any]:
    """All that the page's script needs, ready for JSON."""
    count = sum(parameter.numel() for parameter in translator.model.parameters())
    expected = f"at most {MOST_PARAMETERS:,} in a page; AttentionExplorer has no such limit"
    check("number of parameters", count, expected, count <= MOST_PARAMETERS)
    check("sentences", list(sentences), "at least one", len(sentences) > 0)
    for sentence in sentences:
        translator.encode(sentence)
    with tempfile.TemporaryDirectory() as folder:
        translator.save(folder, dtype=torch.float16)
        read = {
            name: json.loads((Path(folder) / f"{file}.json").read_text(encoding="utf-8"))
            for name, file in (
                ("config", "config"),
                ("source", "source_tokenizer"),
                ("target", "target_tokenizer"),
            )
        }
        weights = (Path(folder) / "model.safetensors").read_bytes()
    for side in ("source", "target"):
        kind = read[side].get("kind")
        expected = "'word' in a page; AttentionExplorer takes all kinds"
        check(f"kind of {side} tokenizer", kind, expected, kind == "word")
    table = matplotlib.colormaps[WEIGHTS](np.linspace(0, 1, 256))[:, :3]
    return {
        **read,
        "sentences": list(sentences),
        "weights": base64.b64encode(gzip.compress(weights, mtime=0)).decode(),
        "colours": base64.b64encode((255 * table).round().astype(np.uint8).tobytes()).decode(),
    }


def fragment(data: dict[str, Any]) -> str:
    """The page's HTML without its frame."""
    # In a script, `<` could only be the beginning of a tag that ends it.
    text = json.dumps(data).replace("<", "\\u003c")
    return (
        '<div id="bench"><p>This page needs scripts: in it the model itself runs.</p></div>\n'
        f"<style>{style(*STYLES)}</style>\n"
        f'<script type="application/json" id="bench-data">{text}</script>\n'
        f'<script type="module">{script("bench/bench.js")}\n'
        'await mountBench(document.getElementById("bench"), '
        'JSON.parse(document.getElementById("bench-data").textContent));\n</script>'
    )
