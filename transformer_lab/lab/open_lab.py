"""The function `lab`, which opens a translator or a record in a page."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from transformer_lab.attention.record import AttentionRecord, Head, short
from transformer_lab.config import check, join_with_and
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
    """Show every head of a translator or of a record on one page.

        lab(translator, ["it was too tired", "it was too wide"]).to_html("lab.html")
        lab(translator.attend("the cat sleeps"))
        lab(translator, "the cat sleeps", kernel=True)

    The page can get its answers in three ways:

    - **The page itself** runs a translator, without a kernel or a network, and you can change
      everything. The page contains the tokenizers (word or byte-pair) and the weights in half
      precision. A vocabulary of 8,000 byte pairs adds 0.11 MB. With it, the page for a model with
      4.7 million parameters takes 11.4 MB. On one core of an AMD EPYC, this model takes 4 ms for
      each token it writes.
    - **A record** can come from any model. You can look at everything in it without a kernel, but
      you cannot change it.
    - **This Python process** answers for a translator of any size and kind (`kernel=True`), for as
      long as the process runs.

    Args:
        opened: A translator, or an `AttentionRecord`. A translator that runs in the page may have
            at most 20 million parameters.
        sentences: The sentences to start with: one, or several if the translator runs in the page.
            The first is translated at once, and each gets a button.
        kernel: Whether the translator runs in Python instead of in the page.
        start: The initial view, written like the part after "#" in the page's URL. For example,
            "head=e2.3&row=10&mute=c2.2" opens the row of the eleventh word in the third head of the
            encoder's second layer, and mutes a head of cross-attention. For a record, the view
            cannot include changes. If no head is given, the page opens the sharpest head (the one
            with the lowest entropy) of the last kind of attention. If some heads of this kind have
            names, it opens the sharpest of those. If no row is given, a page that shows a record or
            needs a kernel draws the strongest lines from all rows together.
        snapshots: Earlier records, for example from different stages of training. A slider goes
            through them and ends at the record, or at Python's answer.
        languages: The names of the source and target languages; by default, those of the
            translator's corpus, if it names them.
        names: The names of the heads, for example from `name_heads`, which needs more than one
            sentence to tell what a head does. By default, a page that shows a record or needs a
            kernel uses the heads' codes. A page that runs the translator names the heads by what
            they do in the first 20 `examples`, or in `sentences` if there are no examples. A head
            is called "translates word for word" if it follows the gold links, or the links that a
            statistical aligner finds in the examples.
        prompts: Things for the reader to try, one after another; `famous_guide()` has some for the
            translator that comes with the package.
        examples: Sentences with reference translations, for testing what muting a head does, and
            for comparing the heads' scores with those of an untrained model. If there are gold
            links (see `Example`), heads are scored on these too. By default, a translator of the
            bilingual world gets a hundred sentences. Each has a pronoun, and a combination of a
            noun and an adjective or verb that was held out of training. Any other translator gets
            none.
        others: Translators to compare with, by name: for example, the same model earlier in
            training, or one trained with a different seed. An untrained model is always included.
            Each translator adds its weights to the page.

    `prompts`, `examples` and `others` require a translator that runs in the page.

    Returns:
        A `LabPage`, which has `to_html`, or a `LabWidget` with `kernel=True`.

    Raises:
        ValueError: If one of `others` has different tokenizers or a different configuration; if a
            model in the page has more than 20 million parameters, or tokenizers, positions or
            layers that the page does not support; if a sentence cannot be read; or if `start` or a
            prompt's address has an unknown field or names a head that does not exist.
    """
    is_record = isinstance(opened, AttentionRecord)
    if not is_record and not callable(getattr(opened, "attend", None)):
        expected = "a Translator (Translator.load opens a saved one) or an AttentionRecord"
        raise ValueError(f"opened is {short(opened)}; expected {expected}")
    if kernel and is_record:
        raise ValueError("a record needs no kernel; leave out kernel=True")
    pair = isinstance(languages, tuple | list) and [type(name) for name in languages] == [str, str]
    expected = "two names, such as ('English', 'French')"
    check("languages", languages, expected, languages is None or pair)
    records = isinstance(snapshots, tuple | list) and all(
        isinstance(snapshot, AttentionRecord) for snapshot in snapshots
    )
    check("snapshots", snapshots, "a list of AttentionRecord objects", records)
    if kernel or is_record:
        given = {"prompts": prompts, "examples": examples, "others": others}
        if extra := sorted(name for name, value in given.items() if value):
            raise ValueError(
                f"{join_with_and(extra)} cannot be used with a record or a kernel, because the "
                "page contains no translator"
            )
    if is_record:
        if sentences is not None:
            raise ValueError(
                "a record contains its own sentence; leave out the argument `sentences`, or call "
                "lab(translator, sentences)"
            )
        return record_page(
            opened, start=start, snapshots=snapshots, languages=languages, names=names
        )
    if kernel:
        expected = "one sentence as a string, because kernel is True"
        check("sentences", sentences, expected, isinstance(sentences, str))
        return LabWidget(
            opened,
            str(sentences),
            start=start,
            snapshots=snapshots,
            languages=languages,
            names=names,
        )
    expected = "an empty list, unless you open a record or use a kernel"
    check("snapshots", snapshots, expected, not snapshots)
    check("sentences", sentences, "at least one sentence", bool(sentences))
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
