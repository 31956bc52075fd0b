"""The bench: a page in which a translator runs, and can be muted and pointed, without Python."""

import base64
import gzip
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import matplotlib
import numpy as np
import torch

from transformer_lab.attention_record import AttentionRecord
from transformer_lab.config import check
from transformer_lab.viz.display import picture
from transformer_lab.viz.explorer.overview import overview, overview_words
from transformer_lab.viz.page import saved
from transformer_lab.viz.page.join import script, style
from transformer_lab.viz.style import WEIGHTS

STYLES = ("page.css", "bench/bench.css")
FIELDS = {"s", "head", "row", "key", "step", "mute", "point", "a-mute", "a-point", "tested"}
"""What an address of the page may say."""
POSITIONS = ("sinusoidal", "learned", "rotary", "alibi", "none")
"""The kinds that `page/engine/positions.js` and `attention.js` compute."""
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

    def attend(self, source: str) -> AttentionRecord:
        """All heads of one sentence, for the still picture."""

    def save(self, folder: str | Path, *, dtype: torch.dtype) -> None:
        """Write configuration, tokenizers and weights in this precision."""


class BenchPage:
    """A translator in a page: it displays itself in a notebook, and saves itself as one file.

    bench(translator, "the cat sleeps").to_html("lab.html")
    """

    def __init__(self, data: dict[str, Any], record: AttentionRecord):
        self.data = data
        self.record = record

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        data, metadata = self.picture()
        return data | {"text/html": fragment(data["text/html"], saved.packed(self.data))}, metadata

    def picture(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is seen where scripts do not run: the heads of cross-attention, and its words."""
        words = "The bench, in which the model runs where scripts do. Here: "
        alt = words + overview_words(self.record, "cross")
        return picture(overview(self.record, "cross"), alt, coarse=True)

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write one file that opens in any browser, offline; returns its path.

        Raises:
            ValueError: If the file is there already and `overwrite` is not given.
        """
        still = "<p>This page needs scripts: in it the model itself runs.</p>"
        body = fragment(still, saved.packed(self.data | {"address": True}))
        return saved.write(path, "Bench: " + self.data["sentences"][0], body, overwrite=overwrite)


def bench(
    translator: Runnable,
    sentences: Sequence[str] | str,
    *,
    start: str = "",
    prompts: Sequence[Prompt] = (),
    examples: Sequence[tuple[str, str]] = (),
    languages: tuple[str, str] = ("source", "target"),
) -> BenchPage:
    """A page in which this translator runs; no kernel is asked, and no network.

        bench(translator, ["it was too tired", "it was too wide"]).to_html("lab.html")

    The page holds the weights in half precision. The first sentence is translated at once, and each
    has a button.

    Args:
        translator: What runs in the page: a model of at most 20 million parameters, with words.
        sentences: One sentence or several.
        start: What is open at first, as the page's own address says it behind "#":
            "head=e2.3&row=10&mute=c2.2" opens the row of the eleventh word in the third head of the
            encoder's second layer, and mutes a head of cross-attention.
        prompts: What the reader is asked to try, one after the other; `famous_guide()` has those
            of the shipped model.
        examples: Sentences and their right translations, to test a mute on.
        languages: What the page calls the words that are read, and those that are written.

    Raises:
        ValueError: If the model has more than 20 million parameters, tokenizers of pieces or
            positions that the page cannot compute, if a sentence cannot be read, or if `start` or a
            prompt's goal has a field that an address has not.
    """
    asked = [sentences] if isinstance(sentences, str) else list(sentences)
    check("sentences", asked, "at least one", len(asked) > 0)
    for sentence in (*asked, *(source for source, _ in examples)):
        translator.encode(sentence)
    for name, address in (("start", start), *(("goal", prompt.goal) for prompt in prompts)):
        fields = {field.partition("=")[0] for field in address.split("&") if field}
        check(
            f"fields of {name}",
            sorted(fields - FIELDS),
            "none but " + ", ".join(sorted(FIELDS)),
            fields <= FIELDS,
        )
    data = runnable(translator) | {
        "sentences": asked,
        "start": start,
        "prompts": [asdict(prompt) for prompt in prompts],
        "examples": list(examples),
        "languages": list(languages),
    }
    return BenchPage(data, translator.attend(asked[0]))


def runnable(translator: Runnable) -> dict[str, Any]:
    """The translator as the page's script reads it, ready for JSON."""
    count = sum(parameter.numel() for parameter in translator.model.parameters())
    expected = f"at most {MOST_PARAMETERS:,} in a page; AttentionExplorer has no such limit"
    check("number of parameters", count, expected, count <= MOST_PARAMETERS)
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
    kind = read["config"]["model"]["positions"]
    expected = f"one of {POSITIONS} in a page; AttentionExplorer takes all kinds"
    check("positions", kind, expected, kind in POSITIONS)
    for side in ("source", "target"):
        kind = read[side].get("kind")
        expected = "'word' in a page; AttentionExplorer takes all kinds"
        check(f"kind of {side} tokenizer", kind, expected, kind == "word")
    table = matplotlib.colormaps[WEIGHTS](np.linspace(0, 1, 256))[:, :3]
    return {
        **read,
        "weights": base64.b64encode(gzip.compress(weights, mtime=0)).decode(),
        "colours": base64.b64encode((255 * table).round().astype(np.uint8).tobytes()).decode(),
    }


def fragment(still: str, data: str) -> str:
    """A still picture as HTML, and the script of today that replaces it by the bench of these data."""
    program, looks, mount = script("bench/bench.js"), style(*STYLES), "await mountSaved"
    return saved.fragment("bench", still, data, style=looks, script=program, mount=mount)
