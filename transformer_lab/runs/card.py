"""The model card of a saved model, in Markdown: its data, training, sizes, scores and versions.

Runs and the command line write it. The form follows Mitchell et al. (2019), *Model Cards for Model
Reporting*, as far as a program can fill it in.
"""

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from transformer_lab.data.corpus import language_names
from transformer_lab.data.corpus_name import drop_folder
from transformer_lab.data.languages import main_script
from transformer_lab.data.pair import Splits
from transformer_lab.data.text import escape_for_terminal
from transformer_lab.evaluation.bleu import choose_bleu_tokenization
from transformer_lab.model.size import count_parameters
from transformer_lab.runs.evaluation import Evaluation
from transformer_lab.translator import Translator

CARD = "model_card.md"
MARK = "<!-- written by transformer_lab, and anew whenever the model is saved -->"
PACKAGES = ("transformer-lab", "torch", "tokenizers", "numpy", "sacrebleu")


def may_write_card(folder: Path) -> bool:
    """Return whether the folder has no model card, or one written by this package."""
    path = folder / CARD
    return not path.exists() or path.read_bytes().startswith(MARK.encode())


def model_card(
    translator: Translator, splits: Splits[Any], evaluation: Evaluation | None = None
) -> str:
    """Return the model card, in Markdown, of a translator that was trained on these splits.

    Without an evaluation, the card says that there are no scores yet. Anything missing from
    `translator.about` is left out.
    """
    about = translator.about
    source, target = language_names(about.get("corpus"))
    parts = [
        MARK,
        f"# A translator, {source} to {target}" if source != "source" else "# A translator",
        "An encoder-decoder Transformer (Vaswani et al. 2017), trained with `transformer_lab`.",
        format_section("Data", data_rows(about, splits)),
        format_section("Training", training_rows(about)),
        format_section("Sizes", size_rows(translator)),
        format_section("Scores", score_rows(evaluation)) if evaluation else NO_SCORES,
        format_section("Versions when this was written", version_rows()),
        USE,
        LIMITS,
    ]
    return "\n\n".join(parts) + "\n"


NO_SCORES = """## Scores

None yet. The command `train` writes them here when it ends, and `evaluate --model FOLDER` prints them."""
USE = """## Use

```python
from transformer_lab.translator import Translator

Translator.load("FOLDER").translate("…")
```"""
LIMITS = """## Limits

The model has seen nothing but its training pairs. On other kinds of text it does worse than its
scores say, and it repeats the mistakes and prejudices of those pairs. The test sentences come from
the same source as the training pairs, and nobody has checked the translations one by one."""


def export_card(folder: Path, use: str) -> str | None:
    """Return a saved model's card, adapted for export to another library, or None if it has none.

    Args:
        folder: The folder of the saved model.
        use: Code that uses the exported model. It replaces the code for this package in the card,
            unless somebody else wrote the card.
    """
    path = folder / CARD
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8")
    if not text.startswith(MARK):
        return text
    text = text.removeprefix(MARK).lstrip().replace(NO_SCORES, "## Scores\n\nNone yet.")
    before = "The model's scores before it was exported, with the beam search of `transformer_lab`."
    text = text.replace("## Scores\n\n|", f"## Scores\n\n{before}\n\n|")
    return text.replace(USE, f"## Use\n\n```\n{use}\n```")


def format_section(title: str, rows: list[tuple[str, object]]) -> str:
    """Return a heading and a two-column table, in Markdown."""
    cells = [(name, escape_for_terminal(str(value)).replace("|", "\\|")) for name, value in rows]
    lines = [f"| {name} | {value} |" for name, value in cells]
    return "\n".join([f"## {title}", "", "| | |", "| --- | --- |", *lines])


def data_rows(about: dict[str, Any], splits: Splits[Any]) -> list[tuple[str, object]]:
    """Return the rows about the corpus: its name and fingerprint, and the sizes of its splits."""
    name = drop_folder(about.get("corpus") or "unknown")
    rows: list[tuple[str, object]] = [("corpus", f"`{name}`")]
    if splits.said:
        rows.append(("read", splits.said))
    if splits.form:  # the package's own corpora need no description
        rows += reading_rows(splits)
    if about.get("data"):
        rows.append(("fingerprint of the training pairs", f"`{about['data']}`"))
    for name in ("train", "validation", "test"):
        rows.append((f"pairs, {name}", f"{len(getattr(splits, name)):,}"))
    return [*rows, ("seed of the splits", about.get("seed", 0))]


def reading_rows(splits: Splits[Any]) -> list[tuple[str, object]]:
    """Return the rows about how the pairs were read: form, script and tokenization for BLEU."""
    targets = [pair.target for pair in splits.test]
    rows: list[tuple[str, object]] = [("form", splits.form)] if splits.form else []
    return [
        *rows,
        ("script of the targets", main_script(targets)),
        ("tokenization for BLEU", f"tok:{choose_bleu_tokenization(targets)}"),
    ]


EXAMPLES, EXAMPLE_SIGNS = 3, 100
"""The number of pairs shown before training, and the number of characters shown of each side."""


def describe_corpus(corpus: str | None, splits: Splits[Any]) -> str:
    """Describe a corpus for the user to check: its languages, first pairs and form."""
    source, target = language_names(corpus)
    lines = [f"{source} → {target}" if source != "source" else "source → target"]
    for place in range(min(EXAMPLES, len(splits.train))):
        pair = splits.train[place]
        sides = (escape_for_terminal(side[:EXAMPLE_SIGNS]) for side in (pair.source, pair.target))
        lines.append("  " + " → ".join(sides))
    rows = [*([("read", splits.said)] if splits.said else []), *reading_rows(splits)]
    return "\n".join([*lines, *(escape_for_terminal(f"{name}: {value}") for name, value in rows)])


def training_rows(about: dict[str, Any]) -> list[tuple[str, object]]:
    """Return the rows about training: preset, steps and tokens so far, and the configuration."""
    said = {name: about[name] for name in ("preset", "steps", "tokens", "stop") if name in about}
    training = about.get("training") or {}
    return [(name, value) for name, value in {**said, **training}.items() if value is not None]


def size_rows(translator: Translator) -> list[tuple[str, object]]:
    """Return the rows about the model: the parameter counts of its parts, and its configuration."""
    counts = count_parameters(translator.model)
    rows: list[tuple[str, object]] = [
        (f"parameters, {name}", f"{count:,}") for name, count in counts.items() if count
    ]
    return rows + [(k, v) for k, v in translator.model.config.to_dict().items() if v is not None]


def score_rows(evaluation: Evaluation) -> list[tuple[str, object]]:
    """Return the rows about the test scores, with the signatures that make them reproducible."""
    rows: list[tuple[str, object]] = [
        ("test sentences", f"{evaluation.sentences:,}"),
        ("BLEU", f"{evaluation.bleu:.1f} (`{evaluation.bleu_signature}`)"),
        ("chrF", f"{evaluation.chrf:.1f} (`{evaluation.chrf_signature}`)"),
        ("exact match", f"{100 * evaluation.exact_match:.1f}%"),
    ]
    if evaluation.pronouns is not None:
        rows.append(("right pronouns", f"{100 * evaluation.pronouns:.1f}%"))
    return rows


def version_rows() -> list[tuple[str, object]]:
    """Return the versions of Python and of the packages that influence the scores."""
    return [("Python", platform.python_version()), *((name, version_of(name)) for name in PACKAGES)]


def version_of(package: str) -> str:
    """Return an installed package's version without its local part, such as +cu121.

    Return "not installed" if the package is missing.
    """
    try:
        return version(package).partition("+")[0]
    except PackageNotFoundError:
        return "not installed"
