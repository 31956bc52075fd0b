"""Lesson 09's long run: a translator trained on Debian's package descriptions, English to French.

    python -m transformer_lab.studies.real_text.debian_french

The run takes 20 minutes on two cores. It needs apt and, the first time, a network connection. At
the end, it replaces the stored result.
"""

from dataclasses import replace
from typing import Any

from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import SentencePair, Splits
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.evaluation import evaluate
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common import store
from transformer_lab.training.state import Progress
from transformer_lab.translator import Translator

NAME = "debian_french"
CORPUS = "debian:fr"
SHOWN = 4
"""The number of translations to store, taken at equal intervals from the test set."""


def summarize_run(
    translator: Translator, splits: Splits[SentencePair], progress: Progress
) -> dict[str, Any]:
    """Return the statistics and test scores of a finished run, with a few translations.

    Returns:
        "train_pairs": the number of training pairs.
        "sentences": the number of test sentences.
        "steps": the number of training steps.
        "target_tokens": the number of target tokens trained on.
        "minutes": the training time.
        "history": the metrics of each validation.
        "exact_match", "bleu", "bleu_signature" and "chrf": the test scores with a beam of 4.
        "translations": a few sources with their translations and references.
    """
    result = evaluate(translator, splits.test, beam_size=4)
    samples = splits.test[:: len(splits.test) // SHOWN][:SHOWN]
    written = translator.translate([pair.source for pair in samples])
    return {
        "train_pairs": len(splits.train),
        "sentences": result.sentences,
        "steps": progress.step,
        "minutes": round(progress.seconds / 60, 2),
        "target_tokens": progress.tokens,
        "history": progress.history,
        "exact_match": result.exact_match,
        "bleu": result.bleu,
        "bleu_signature": result.bleu_signature,
        "chrf": result.chrf,
        "translations": [
            {"source": pair.source, "written": one.translation, "reference": pair.target}
            for pair, one in zip(samples, written, strict=True)
        ],
    }


def main() -> None:
    """Train the translator, evaluate it and store the result."""
    splits = find_corpus(CORPUS).splits()
    preset = PRESETS["small"]
    translator = build_translator(splits, CORPUS, preset)
    training = replace(preset.training, save_every=None, device="cpu")
    trainer = make_trainer(translator, splits, training, show_progress=False)
    trainer.train()
    found = summarize_run(translator, splits, trainer.progress)
    store.save(NAME, found)
    print({name: value for name, value in found.items() if isinstance(value, int | float | str)})


if __name__ == "__main__":
    main()
