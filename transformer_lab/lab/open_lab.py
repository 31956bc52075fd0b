"""`lab`: the one way to look inside a translator, whoever answers."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from transformer_lab.attention.record import AttentionRecord, Head, Kind
from transformer_lab.attention.scores import find_sharpest_head
from transformer_lab.config import check
from transformer_lab.lab.lab_page import LabPage
from transformer_lab.lab.model_data import Runnable
from transformer_lab.lab.record_data import drawn_kinds
from transformer_lab.lab.record_page import record_page
from transformer_lab.lab.translator_page import Example, Prompt, translator_page
from transformer_lab.lab.widget import Attends, LabWidget, check_pinned

OLD = "tl.{} is called tl.lab now: {}. The old name leaves with the next version"


@overload
def lab(
    opened: Attends,
    sentences: str,
    *,
    kernel: Literal[True],
    start: str = "",
    snapshots: Sequence[AttentionRecord] = (),
    languages: tuple[str, str] | None = None,
    names: Mapping[Head, str] | None = None,
) -> LabWidget: ...


@overload
def lab(
    opened: Runnable | AttentionRecord,
    sentences: Sequence[str] | str | None = None,
    *,
    kernel: Literal[False] = False,
    start: str = "",
    snapshots: Sequence[AttentionRecord] = (),
    languages: tuple[str, str] | None = None,
    names: Mapping[Head, str] | None = None,
    prompts: Sequence[Prompt] = (),
    examples: Sequence[tuple[str, str] | Example] = (),
    others: Mapping[str, Runnable] | None = None,
) -> LabPage: ...


def lab(
    opened: Any,
    sentences: Sequence[str] | str | None = None,
    *,
    kernel: bool = False,
    start: str = "",
    snapshots: Sequence[AttentionRecord] = (),
    languages: tuple[str, str] | None = None,
    names: Mapping[Head, str] | None = None,
    prompts: Sequence[Prompt] = (),
    examples: Sequence[tuple[str, str] | Example] = (),
    others: Mapping[str, Runnable] | None = None,
) -> LabPage | LabWidget:
    """Open every head of a translator, or of a record, in one page.

        lab(translator, ["it was too tired", "it was too wide"]).to_html("lab.html")
        lab(translator.attend("the cat sleeps"))
        lab(translator, "the cat sleeps", kernel=True)

    Three can answer what the page asks:

    - **The page itself** runs a translator, without a kernel and without a network; everything can be
      changed. The page holds the weights in half precision, and the tokenizers, of words or of byte
      pairs. A vocabulary of 8,000 byte pairs adds 0.11 MB; a model of 4.7 million parameters around it
      makes 11.4 MB, and 4 ms for each piece it writes (one core of an AMD EPYC).
    - **A record** can be of any model, and everything in it can be looked at. It needs no kernel.
    - **This Python** answers for a translator of any size and kind (`kernel=True`), as long as it runs.

    Args:
        opened: A translator, or an `AttentionRecord`. A translator in the page has at most 20 million
            parameters.
        sentences: What the translator reads first: one sentence or, in the page, several. The first is
            translated at once, and each has a button.
        kernel: Whether Python answers instead of the page.
        start: What is open at first, as the page's own address says it behind "#":
            "head=e2.3&row=10&mute=c2.2" opens the row of the eleventh word in the third head of the
            encoder's second layer, and mutes a head of cross-attention. In a record nothing can be
            changed. Without a head, a record and a kernel open the one of the last kind whose rows are
            sharpest (of least entropy); without a row, they show the strongest lines of all.
        snapshots: Records of earlier moments, for instance of a training run: a slider runs through
            them to the record, or to Python's answer.
        languages: What the page calls the words that are read, and those that are written; by
            default those of the corpus that the translator was trained on, if it says so.
        names: What the page calls the heads, as `name_heads` measures it; one sentence alone is not
            enough to tell. By default a record and a kernel show the heads' codes, and a page names its
            heads by what they do in the first 20 `examples`, or else in `sentences`.
        prompts: What the reader is asked to try, one after the other; `famous_guide()` has those
            of the shipped model.
        examples: Sentences and their right translations, to test a mute on, and to score heads
            on beside an untrained model; with gold links (see `Example`) also by these.
        others: Translators to compare with, by name: the same model earlier in its training, say, or
            one of another seed. An untrained one is always there. Each adds its weights to the page.

    `prompts`, `examples` and `others` are for a translator in the page.

    Returns:
        A `LabPage`, which has `to_html`; with `kernel=True` a `LabWidget`.

    Raises:
        ValueError: If another translator has other tokenizers or another configuration than this
            one, if the model has more than 20 million parameters, or tokenizers, positions or layers
            that the page doesn't support, if a sentence cannot be read, or if `start` or a prompt's
            goal has a field that an address has not, or a head that is not there.
    """
    is_record = isinstance(opened, AttentionRecord)
    check(
        "kernel",
        kernel,
        "False with a record, because it answers by itself",
        not (kernel and is_record),
    )
    pair = isinstance(languages, tuple | list) and [type(name) for name in languages] == [str, str]
    check("languages", languages, "two names, as ('English', 'French')", languages is None or pair)
    records = isinstance(snapshots, tuple | list) and all(
        isinstance(snapshot, AttentionRecord) for snapshot in snapshots
    )
    check("snapshots", snapshots, "a list of AttentionRecord", records)
    if kernel or is_record:
        given = {"prompts": prompts, "examples": examples, "others": others}
        extra = sorted(name for name, value in given.items() if value)
        check(
            "options", extra, "none of these, because they need a translator in the page", not extra
        )
    if is_record:
        expected = (
            "none with a record, which has its own; use lab(translator, sentences) to translate"
        )
        check("sentences", sentences, expected, sentences is None)
        return record_page(
            opened, start=start, snapshots=snapshots, languages=languages, names=names
        )
    if kernel:
        check("sentences", sentences, "one sentence", isinstance(sentences, str))
        return LabWidget(
            opened,
            str(sentences),
            start=start,
            snapshots=snapshots,
            languages=languages,
            names=names,
        )
    check("snapshots", snapshots, "none, because they need a record or a kernel", not snapshots)
    check("sentences", sentences, "at least one", bool(sentences))
    return translator_page(
        opened,
        sentences or (),
        start=start,
        prompts=prompts,
        examples=examples,
        languages=languages,
        names=names,
        others=others,
    )


def bench(*arguments: Any, **options: Any) -> LabPage | LabWidget:
    """Build a lab, as `lab` does: this is its name of version 2, and leaves with the next one."""
    said = "tl.bench is called tl.lab now; the old name leaves with the next version"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return lab(*arguments, **options)


def explore(
    record: AttentionRecord,
    *,
    kind: Kind | None = None,
    layer: int | None = None,
    head: int | None = None,
    pinned: Sequence[int | None] = (),
    snapshots: Sequence[AttentionRecord] = (),
) -> LabPage:
    """Open a record, as `lab(record)` does; this name leaves with the next version."""
    warn_of("explore", "lab(record)")
    start = old_start(record, kind, layer, head, pinned)
    return record_page(record, start=start, snapshots=snapshots)


def AttentionExplorer(  # noqa: N802 - it was a class
    translator: Attends,
    *,
    source: str,
    kind: Kind | None = None,
    layer: int | None = None,
    head: int | None = None,
    pinned: Sequence[int | None] = (),
    mute: Sequence[Head] = (),
    snapshots: Sequence[AttentionRecord] = (),
) -> LabWidget:
    """Ask Python, as `lab(…, kernel=True)` does; this name leaves with the next version."""
    warn_of("AttentionExplorer", "lab(translator, sentence, kernel=True)")
    start = old_start(translator.attend(source), kind, layer, head, pinned)
    if mute:
        start += "&mute=" + ",".join(Head(*one).code for one in mute)
    return LabWidget(translator, source, start=start, snapshots=snapshots)


def warn_of(name: str, new: str) -> None:
    """Say that a name is an old one."""
    warnings.warn(OLD.format(name, new), DeprecationWarning, stacklevel=3)


def old_start(
    record: AttentionRecord,
    kind: Kind | None,
    layer: int | None,
    head: int | None,
    pinned: Sequence[int | None],
) -> str:
    """Return an address of what the options of version 2 name; a ValueError if it isn't there."""
    kind = kind or drawn_kinds(record)[-1]
    opened = Head(kind, layer or 0, head or 0)
    shape = record.weights(opened).shape
    if layer is None and head is None:
        opened = find_sharpest_head(record, kind)
    # None stood for a whole row or column; the lab has rows alone.
    check_pinned([place or 0 for place in pinned], shape)
    places = zip(("row", "key"), pinned, strict=False)
    return f"head={opened.code}" + "".join(f"&{n}={p}" for n, p in places if p is not None)
