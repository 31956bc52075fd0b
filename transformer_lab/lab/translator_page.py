"""The lab with a translator that runs in the page without Python, so readers can change it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from transformer_lab.attention.head_names import find_telling_head, name_heads
from transformer_lab.attention.record import Alignment, Head, Referent
from transformer_lab.config import check, join_with_and
from transformer_lab.evaluation.alignments import align_words
from transformer_lab.lab.address import add_head, read_address
from transformer_lab.lab.lab_page import LabPage
from transformer_lab.lab.model_data import Runnable, model_data

UNTRAINED = "an untrained model"
"""The name of the untrained model, which every page includes.

`page/lab/answerers/other_models.js` has the same name.
"""
NAMED_FROM = 20
"""The number of examples used to name the heads; more would only take longer."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Something for the reader of the lab to try.

    `ask` says what to do. When the reader presses “Next” or “Back”, the page opens the address
    `start`; if that is empty, the page stays as it is. The task is done when the page's address has
    the fields of `goal`, such as "head=e2.3&mute=e2.3". Then the page shows the text `then`, which
    explains what there was to see. If the goal has "tested=" with the codes of muted heads, the
    task is done only after these heads have been tested on many sentences.
    """

    ask: str
    goal: str
    then: str
    start: str = ""


class Example(NamedTuple):
    """A sentence, its reference translation, and the gold links between their words, if known."""

    source: str
    target: str
    alignment: Alignment | None = None
    """Links as (source position, target position), counted from 0; None if they are unknown."""
    referent: Referent | None = None
    """What the sentence's pronoun refers to; None if there is no pronoun or this is unknown."""


def translator_page(
    translator: Runnable,
    sentences: Sequence[str] | str,
    *,
    start: str = "",
    prompts: Sequence[Prompt] = (),
    examples: Sequence[tuple[str, str] | Example] = (),
    languages: tuple[str, str] | None = None,
    others: Mapping[str, Runnable] | None = None,
    names: Mapping[Head, str] | None = None,
) -> LabPage:
    """Build a page in which this translator runs; for arguments and errors, see `lab`."""
    asked = [sentences] if isinstance(sentences, str) else list(sentences)
    check("sentences", asked, "at least one sentence", len(asked) > 0)
    known = [Example(*example) for example in examples]
    for sentence in (*asked, *(example.source for example in known)):
        translator.encode(sentence)
    for example in known:
        check_alignment(translator, example)
    data = model_data(translator)
    record = translator.attend(asked[0])
    names = names or measure_names(translator, asked, known)
    asked_at = [(name, getattr(prompt, name)) for prompt in prompts for name in ("goal", "start")]
    for name, address in (("start", start), *asked_at):
        read_address(name, address, record.heads())
    if "head" not in read_address("start", start, record.heads()):
        start = add_head(start, find_telling_head(record, "cross", names))
    if taken := sorted({"", UNTRAINED} & set(others or ())):
        raise ValueError(
            f"others contains the name {taken[0]!r}, which the page already uses. Choose another "
            "name"
        )
    data |= {
        "sentences": asked,
        "start": start,
        "prompts": [asdict(prompt) for prompt in prompts],
        "examples": [example[:3] for example in known],
        "names": names_by_code(names, record.heads()),
        "others": [
            {"name": name, "weights": weights_of_the_same_shape(name, data, model_data(other))}
            for name, other in (others or {}).items()
        ],
    }
    if languages:
        data["languages"] = list(languages)
    return LabPage(asked[0], "lab", data, record, "cross")


def weights_of_the_same_shape(name: str, data: dict[str, Any], other: dict[str, Any]) -> str:
    """Return another model's packed weights.

    Raises:
        ValueError: If its configuration or its tokenizers differ from the page's.
    """
    for part, ours, its in (
        ("configuration", data["config"]["model"], other["config"]["model"]),
        ("pair of tokenizers", data["tokenizers"], other["tokenizers"]),
    ):
        if ours != its:
            expected = f"the translator's {part}, so that the two can be compared"
            raise ValueError(f"{name!r} has a different {part}; expected {expected}")
    return str(other["weights"])


ALIKE = 100.0
"""The factor by which alignment raises the prior probability of identically spelled tokens.
It is large enough to align a year that moves to the front of the sentence.
"""


def measure_names(
    translator: Runnable, sentences: Sequence[str], examples: Sequence[Example]
) -> dict[Head, str]:
    """Return a name for each head, based on what it does in the examples, or else in the sentences.

    If no example has gold links, a statistical aligner finds the links in all examples.
    """
    known = list(examples[:NAMED_FROM])
    if examples and all(example.alignment is None for example in examples):
        known = [
            example._replace(alignment=links or None)
            for example, links in zip(known, align_examples(translator, examples), strict=False)
        ]
    records = [
        translator.attend(source, target, alignment=alignment, referent=referent)
        for source, target, alignment, referent in known
    ] or [translator.attend(sentence) for sentence in sentences]
    return name_heads(records)


def align_examples(translator: Runnable, examples: Sequence[Example]) -> list[Alignment]:
    """Return the links that a statistical aligner finds between the tokens of each example."""
    source, target = translator.source_tokenizer, translator.target_tokenizer
    pairs = [
        (
            [token.strip() for token in source.tokens(translator.encode(example.source)[:-1])],
            [token.strip() for token in target.tokens(target.encode(example.target))],
        )
        for example in examples
    ]
    return align_words(pairs, ALIKE)


def names_by_code(names: Mapping[Head, str] | None, heads: Collection[Head]) -> dict[str, str]:
    """Return the names by head code; raise a ValueError if a named head is not in `heads`."""
    if strange := [head for head in names or () if head not in heads]:
        codes = (head.code if isinstance(head, Head) else repr(head) for head in strange)
        raise ValueError(
            f"the keys of names include {join_with_and(codes)}; expected heads of the model, as "
            "Head objects"
        )
    return {head.code: name for head, name in (names or {}).items()}


def check_alignment(translator: Runnable, example: Example) -> None:
    """Raise a ValueError if gold links are empty or point to tokens that the example lacks."""
    sizes = (
        len(translator.encode(example.source)) - 1,  # without eos
        len(translator.target_tokenizer.encode(example.target)),
    )
    if example.alignment is None:
        return
    strange = [link for link in example.alignment if not all(map(is_within, link, sizes))]
    expected = (
        f"at least one link, each with a source position from 0 to {sizes[0] - 1} "
        f"and a target position from 0 to {sizes[1] - 1}"
    )
    holds = bool(example.alignment) and not strange
    check("alignment", strange or example.alignment, expected, holds)


def is_within(place: int, size: int) -> bool:
    """Return whether a position lies inside a sequence of this length."""
    return 0 <= place < size
