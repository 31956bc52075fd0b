"""The lab: a page in which a translator runs without Python, and every head can be opened and changed."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from transformer_lab.attention.head_names import name_heads
from transformer_lab.attention.record import Alignment, AttentionRecord, Referent
from transformer_lab.attention.scores import score_table
from transformer_lab.config import check
from transformer_lab.figures.display import picture
from transformer_lab.lab.address import check_address
from transformer_lab.lab.explorer.overview import describe_overview, overview
from transformer_lab.lab.model_data import Runnable, model_data
from transformer_lab.lab.page import saved
from transformer_lab.lab.page.join import script, style

STYLES = ("page.css", "lines.css", "lab/lab.css")
NAMED_FROM = 20
"""So many examples are enough to name the heads; more would only take longer."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One thing for the reader of the lab to try.

    `ask` says what to do. The task is done when the address of the page contains the fields of
    `goal`, such as "head=e2.3&mute=e2.3"; `then` is shown afterwards and says what was to be seen.
    A goal with "tested=" and the names of muted heads waits for the test on many sentences.
    """

    ask: str
    goal: str
    then: str


class Example(NamedTuple):
    """A sentence, its right translation, and the gold links between their words, if known."""

    source: str
    target: str
    alignment: Alignment | None = None
    """(source token, target token) links, from 0; None where nobody knows them."""
    referent: Referent | None = None
    """What the sentence's pronoun stands for; None where there is none, or nobody knows it."""


class LabPage:
    """A page in which a translator runs.

    A notebook displays it, and `to_html` saves it as one file:

        lab(translator, "the cat sleeps").to_html("lab.html")
    """

    def __init__(self, data: dict[str, Any], record: AttentionRecord):
        self.data = data
        self.record = record

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        data = self.picture()
        return data | {"text/html": fragment(data["text/html"], saved.dump_json(self.data))}

    def picture(self) -> dict[str, str]:
        """Return the still picture for places without scripts: all heads of cross-attention.

        The result has the picture as HTML and its alt text, by MIME type.
        """
        words = "The lab, in which the model runs where scripts do. Here: "
        alt = words + describe_overview(self.record, "cross")
        return picture(overview(self.record, "cross"), alt, coarse=True)

    def to_html(self, path: str | Path, *, overwrite: bool = False) -> Path:
        """Write one file that opens in any browser, offline; returns its path.

        Raises:
            ValueError: If the file is there already and `overwrite` is not given.
        """
        still = "<p>This page needs scripts: in it the model itself runs.</p>"
        body = fragment(still, saved.dump_json(self.data | {"address": True}))
        return saved.write_page(
            path, "Lab: " + self.data["sentences"][0], body, overwrite=overwrite
        )


def lab(
    translator: Runnable,
    sentences: Sequence[str] | str,
    *,
    start: str = "",
    prompts: Sequence[Prompt] = (),
    examples: Sequence[tuple[str, str] | Example] = (),
    languages: tuple[str, str] | None = None,
    others: Mapping[str, Runnable] | None = None,
) -> LabPage:
    """Build a page in which this translator runs, without a kernel and without a network.

        lab(translator, ["it was too tired", "it was too wide"]).to_html("lab.html")

    The page holds the weights in half precision, and the tokenizers, of words or of byte pairs. The
    first sentence is translated at once, and each has a button. A vocabulary of 8,000 byte pairs adds
    0.11 MB; a model of 4.7 million parameters around it makes 11.4 MB, and 4 ms for each piece it
    writes (one core of an AMD EPYC).

    Args:
        translator: What runs in the page: a model of at most 20 million parameters.
        sentences: One sentence or several.
        start: What is open at first, as the page's own address says it behind "#":
            "head=e2.3&row=10&mute=c2.2" opens the row of the eleventh word in the third head of the
            encoder's second layer, and mutes a head of cross-attention.
        prompts: What the reader is asked to try, one after the other; `famous_guide()` has those
            of the shipped model.
        examples: Sentences and their right translations, to test a mute on, and to score heads
            on beside an untrained model; with gold links (see `Example`) also by these. The heads
            are named (see `name_heads`) by what they do in the first 20 of them, or else in
            `sentences`.
        languages: What the page calls the words that are read, and those that are written; by
            default those of the corpus that the translator was trained on, if it says so.
        others: Translators to compare with, by name: the same model earlier in its training, say, or
            one of another seed. An untrained one is always there. Each adds its weights to the page.

    Raises:
        ValueError: If another translator has other tokenizers or another configuration than
            `translator`, if the model has more than 20 million parameters, or tokenizers, positions
            or layers that the page doesn't support, if a sentence cannot be read, or if `start` or a
            prompt's goal has a field that an address has not, or a head that the model has not.
    """
    asked = [sentences] if isinstance(sentences, str) else list(sentences)
    check("sentences", asked, "at least one", len(asked) > 0)
    known = [Example(*example) for example in examples]
    for sentence in (*asked, *(example.source for example in known)):
        translator.encode(sentence)
    for example in known:
        check_alignment(translator, example)
    data = model_data(translator)
    for name, address in (("start", start), *(("goal", prompt.goal) for prompt in prompts)):
        check_address(name, address, data["config"]["model"])
    data |= {
        "sentences": asked,
        "start": start,
        "prompts": [asdict(prompt) for prompt in prompts],
        "examples": [example[:3] for example in known],
        "names": measure_names(translator, asked, known),
        "others": [
            {"name": name, "weights": weights_of_the_same_shape(name, data, model_data(other))}
            for name, other in (others or {}).items()
        ],
    }
    if languages:
        data["languages"] = list(languages)
    return LabPage(data, translator.attend(asked[0]))


def weights_of_the_same_shape(name: str, data: dict[str, Any], other: dict[str, Any]) -> str:
    """Return another model's packed weights; a ValueError if the page's one can't take them."""
    for part, ours, its in (
        ("configuration", data["config"]["model"], other["config"]["model"]),
        ("tokenizers", data["tokenizers"], other["tokenizers"]),
    ):
        expected = "the same as the translator's, so that the two can be compared"
        check(f"{part} of {name!r}", "another one", expected, ours == its)
    return str(other["weights"])


def bench(*arguments: Any, **options: Any) -> LabPage:
    """Build a lab, as `lab` does: this is its name of version 2, and leaves with the next one."""
    said = "tl.bench is called tl.lab now; the old name leaves with the next version"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return lab(*arguments, **options)


def measure_names(
    translator: Runnable, sentences: Sequence[str], examples: Sequence[Example]
) -> dict[str, str]:
    """Return what each head is called, by its code in the page, such as "e2.3"."""
    records = [
        translator.attend(source, target, alignment=alignment, referent=referent)
        for source, target, alignment, referent in examples[:NAMED_FROM]
    ] or [translator.attend(sentence) for sentence in sentences]
    return {
        f"{kind[0]}{layer + 1}.{head + 1}": name
        for (kind, layer, head), name in name_heads(records).items()
    }


def check_alignment(translator: Runnable, example: Example) -> None:
    """Raise a ValueError if gold links lead to tokens that the sentence or its translation lacks."""
    sizes = (
        len(translator.encode(example.source)) - 1,  # without eos
        len(translator.target_tokenizer.encode(example.target)),
    )
    if example.alignment is None:
        return
    strange = [link for link in example.alignment if not all(map(is_within, link, sizes))]
    expected = f"at least one, below {sizes}, and none below 0, in {example.source!r}"
    holds = bool(example.alignment) and not strange
    check("alignment", strange or example.alignment, expected, holds)


def is_within(place: int, size: int) -> bool:
    """Return whether a place lies inside a sequence of this size."""
    return 0 <= place < size


def fragment(still: str, data: str) -> str:
    """Return the HTML of the lab: a still picture, and a script that replaces it.

    `data` is what the script reads. The table of head scores is part of the script, not of the
    data, so a stored page gets the current one.
    """
    table = saved.dump_json(score_table())
    mount = f"const mount = (name) => mountSaved(name, {table});\nawait mount"
    program, looks = script("lab/lab.js"), style(*STYLES)
    return saved.fragment("lab", still, data, style=looks, script=program, mount=mount)
