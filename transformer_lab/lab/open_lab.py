"""`lab`, the one way to look inside a translator, wherever the computing is done."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from transformer_lab.attention.record import AttentionRecord, Head, short
from transformer_lab.config import check
from transformer_lab.lab.guide import find_examples
from transformer_lab.lab.lab_page import LabPage
from transformer_lab.lab.model_data import Runnable
from transformer_lab.lab.record_page import record_page
from transformer_lab.lab.translator_page import Example, Prompt, translator_page
from transformer_lab.lab.widget import Attends, LabWidget


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
    examples: Sequence[tuple[str, str] | Example] | None = None,
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
    examples: Sequence[tuple[str, str] | Example] | None = None,
    others: Mapping[str, Runnable] | None = None,
) -> LabPage | LabWidget:
    """Open every head of a translator, or of a record, in one page.

        lab(translator, ["it was too tired", "it was too wide"]).to_html("lab.html")
        lab(translator.attend("the cat sleeps"))
        lab(translator, "the cat sleeps", kernel=True)

    What the page asks can be answered in three ways:

    - **The page itself** runs a translator, without a kernel or a network, and you can change
      everything. The page contains the tokenizers (word or byte-pair) and the weights in half
      precision. A vocabulary of 8,000 byte pairs adds 0.11 MB. With it, the page for a model with
      4.7 million parameters takes 11.4 MB. On one core of an AMD EPYC, this model takes 4 ms for
      each piece it writes.
    - **A record** can come from any model, and you can look at everything in it. It needs no
      kernel.
    - **This Python** answers for a translator of any size and kind (`kernel=True`), for as long as
      it runs.

    Args:
        opened: A translator, or an `AttentionRecord`. A translator that runs in the page may have
            at most 20 million parameters.
        sentences: What the translator reads first: one sentence or, in the page, several. The first
            is translated at once, and each gets a button.
        kernel: Whether Python answers instead of the page.
        start: What is open at first, written like the part after "#" in the page's own address:
            "head=e2.3&row=10&mute=c2.2" opens the row of the eleventh word in the third head of the
            encoder's second layer, and mutes a head of cross-attention. A record cannot be changed.
            If no head is given, the head of the last kind with the sharpest rows (lowest entropy)
            is open; of heads with and without a name, one with a name. If no row is given, a record
            and a kernel show the strongest lines of all rows.
        snapshots: Records of earlier moments, for instance during training; a slider runs through
            them up to the record, or up to Python's answer.
        languages: What the page calls the two languages, the one that is read and the one that is
            written; by default those of the translator's corpus, if it names them.
        names: What the page calls the heads, such as the names from `name_heads`, which needs more
            than a single sentence to tell what a head does. By default, a record and a kernel show
            the heads' codes, while a page names its heads by what they do in the first 20
            `examples`, or else in `sentences`. A head that "translates word for word" follows the
            gold links, or those that a statistical aligner finds in the examples.
        prompts: What the reader is asked to try, one thing after another; `famous_guide()` has some
            for the translator that comes with the package.
        examples: Sentences with reference translations, for testing a mute and for comparing heads'
            scores with an untrained model's; if there are gold links (see `Example`), heads are
            scored on these too. By default, a translator of the bilingual world gets a hundred
            sentences that have a pronoun, and a noun with a describing word that it never saw
            together in training; any other translator gets none.
        others: Translators to compare with, by name: for example the same model earlier in
            training, or one with another seed. An untrained one is always there. Each one adds its
            weights to the page.

    `prompts`, `examples` and `others` are for a translator in the page.

    Returns:
        A `LabPage`, which has `to_html`, or a `LabWidget` with `kernel=True`.

    Raises:
        ValueError: If another translator has different tokenizers or a different configuration; if
            the model has more than 20 million parameters, or tokenizers, positions or layers that
            the page does not support; if a sentence cannot be read; or if `start` or a prompt's
            goal has an unknown field or names a head that does not exist.
    """
    is_record = isinstance(opened, AttentionRecord)
    if not is_record and not callable(getattr(opened, "attend", None)):
        expected = "a Translator (Translator.load opens a saved one) or an AttentionRecord"
        raise ValueError(f"opened is {short(opened)}; expected {expected}")
    check(
        "kernel",
        kernel,
        "False with a record, which answers by itself",
        not (kernel and is_record),
    )
    pair = isinstance(languages, tuple | list) and [type(name) for name in languages] == [str, str]
    check(
        "languages", languages, "two names, like ('English', 'French')", languages is None or pair
    )
    records = isinstance(snapshots, tuple | list) and all(
        isinstance(snapshot, AttentionRecord) for snapshot in snapshots
    )
    check("snapshots", snapshots, "a list of AttentionRecord", records)
    if kernel or is_record:
        given = {"prompts": prompts, "examples": examples, "others": others}
        extra = sorted(name for name, value in given.items() if value)
        check("options", extra, "none of these, which need a translator in the page", not extra)
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
    check("snapshots", snapshots, "none without a record or a kernel", not snapshots)
    check("sentences", sentences, "at least one", bool(sentences))
    if examples is None:
        examples = find_examples(opened)
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
