"""The page beside a saved model: what it learnt from, its sizes, its scores, and with which versions.

After Mitchell et al. (2019), *Model Cards for Model Reporting*, as far as a program can know it.
"""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from transformer_lab.data.corpus import HUB, languages_of
from transformer_lab.data.languages import script_of
from transformer_lab.data.pair import Splits
from transformer_lab.evaluation.bleu import tokenization_of
from transformer_lab.model.transformer import count_parameters
from transformer_lab.recipe import Evaluation
from transformer_lab.streams import escaped
from transformer_lab.translator import Translator

CARD = "model_card.md"
MARK = "<!-- written by transformer_lab, and anew whenever the model is saved -->"
PACKAGES = ("transformer-lab", "torch", "tokenizers", "numpy", "sacrebleu")


def may_write(folder: Path) -> bool:
    """Whether the folder has no card, or one of ours: somebody else's is left as it is."""
    path = folder / CARD
    return not path.exists() or path.read_bytes().startswith(MARK.encode())


def model_card(
    translator: Translator, splits: Splits[Any], evaluation: Evaluation | None = None
) -> str:
    """The card of a translator that was trained on these splits, in Markdown.

    Without an evaluation it says that there is none. What `translator.about` does not say is left
    out.
    """
    about = translator.about
    source, target = languages_of(about.get("corpus"))
    parts = [
        MARK,
        f"# A translator, {source} to {target}" if source != "source" else "# A translator",
        "An encoder-decoder Transformer (Vaswani et al. 2017), trained with `transformer_lab`.",
        section("Data", data_rows(about, splits)),
        section("Training", training_rows(about)),
        section("Sizes", size_rows(translator)),
        section("Scores", score_rows(evaluation)) if evaluation else NO_SCORES,
        section("Versions when this was written", version_rows()),
        USE,
        LIMITS,
    ]
    return "\n\n".join(parts) + "\n"


NO_SCORES = """## Scores

None yet. The command `train` writes them here at its end; `evaluate --model FOLDER` prints them."""
USE = """## Use

```python
from transformer_lab.translator import Translator

Translator.load("FOLDER").translate("…")
```"""
LIMITS = """## Limits

It has seen nothing but its training pairs: on other kinds of text it is worse than its scores say, and
it repeats what is wrong or one-sided in them. The test sentences are from the same source as the
training pairs. Nobody has looked at its translations one by one."""


def exported_card(folder: Path, use: str) -> str | None:
    """The card of a saved model for a folder in another library's form; None if it has none.

    `use` are the lines of code that use it there. A card that somebody else wrote stays as it is.
    """
    path = folder / CARD
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    if not text.startswith(MARK):
        return text
    text = text.removeprefix(MARK).lstrip().replace(NO_SCORES, "## Scores\n\nNone yet.")
    before = (
        "Those of the model before it was written in this form, with the beam of `transformer_lab`."
    )
    text = text.replace("## Scores\n\n|", f"## Scores\n\n{before}\n\n|")
    return text.replace(USE, f"## Use\n\n```\n{use}\n```")


def section(title: str, rows: list[tuple[str, object]]) -> str:
    """A heading and a table of two columns."""
    cells = [(name, escaped(str(value)).replace("|", "\\|")) for name, value in rows]
    lines = [f"| {name} | {value} |" for name, value in cells]
    return "\n".join([f"## {title}", "", "| | |", "| --- | --- |", *lines])


def data_rows(about: dict[str, Any], splits: Splits[Any]) -> list[tuple[str, object]]:
    """The corpus, by name and fingerprint, and how it was divided."""
    corpus = about.get("corpus") or "unknown"
    kind, _, place = corpus.partition(":")
    named = kind in HUB and not Path(place).is_absolute()
    name = corpus if named else Path(corpus).name  # where a folder lies is nobody's business
    rows: list[tuple[str, object]] = [("corpus", f"`{name}`")]
    if splits.said:
        rows.append(("read", splits.said))
    if splits.form:  # the package's own corpora are known
        rows += understood_rows(splits)
    if about.get("data"):
        rows.append(("fingerprint of the training pairs", f"`{about['data']}`"))
    for name in ("train", "validation", "test"):
        rows.append((f"pairs, {name}", f"{len(getattr(splits, name)):,}"))
    return [*rows, ("seed of the division", about.get("seed", 0))]


def understood_rows(splits: Splits[Any]) -> list[tuple[str, object]]:
    """How the pairs were read, and what follows from their script."""
    targets = [pair.target for pair in splits.test]
    rows: list[tuple[str, object]] = [("form", splits.form)] if splits.form else []
    return [
        *rows,
        ("script of the targets", script_of(targets)),
        ("words of BLEU", f"tok:{tokenization_of(targets)}"),
    ]


EXAMPLES, EXAMPLE_SIGNS = 3, 100
"""Pairs that are shown before a training, and signs of a side."""


def understood(corpus: str | None, splits: Splits[Any]) -> str:
    """What a run has understood of its corpus, for whoever starts it to compare with what they meant."""
    source, target = languages_of(corpus)
    lines = [f"{source} → {target}" if source != "source" else "source → target"]
    for place in range(min(EXAMPLES, len(splits.train))):
        pair = splits.train[place]
        sides = (escaped(side[:EXAMPLE_SIGNS]) for side in (pair.source, pair.target))
        lines.append("  " + " → ".join(sides))
    rows = [*([("read", splits.said)] if splits.said else []), *understood_rows(splits)]
    return "\n".join([*lines, *(escaped(f"{name}: {value}") for name, value in rows)])


def training_rows(about: dict[str, Any]) -> list[tuple[str, object]]:
    """The recipe, how far it went, and the seed of weights and batches."""
    said = {name: about[name] for name in ("preset", "steps", "tokens", "stop") if name in about}
    training = about.get("training") or {}
    return [(name, value) for name, value in {**said, **training}.items() if value is not None]


def size_rows(translator: Translator) -> list[tuple[str, object]]:
    """The configuration, and the parameters of each component."""
    counts = count_parameters(translator.model)
    rows: list[tuple[str, object]] = [
        (f"parameters, {name}", f"{count:,}") for name, count in counts.items() if count
    ]
    return rows + [(k, v) for k, v in translator.model.config.to_dict().items() if v is not None]


def score_rows(evaluation: Evaluation) -> list[tuple[str, object]]:
    """What it scores on the test split, with the signatures by which others can measure the same."""
    rows: list[tuple[str, object]] = [
        ("test sentences", f"{evaluation.sentences:,}"),
        ("BLEU", f"{evaluation.bleu:.1f} (`{evaluation.bleu_signature}`)"),
        ("chrF", f"{evaluation.chrf:.1f} (`{evaluation.chrf_signature}`)"),
        ("exact match", f"{100 * evaluation.exact_match:.1f} %"),
    ]
    if evaluation.pronouns is not None:
        rows.append(("right pronouns", f"{100 * evaluation.pronouns:.1f} %"))
    return rows


def version_rows() -> list[tuple[str, object]]:
    """Python, and the packages that what is above depends on."""
    return [("Python", platform.python_version()), *((name, version_of(name)) for name in PACKAGES)]


def version_of(package: str) -> str:
    """As it was installed; a clone that is on the path alone was not."""
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return "not installed"
