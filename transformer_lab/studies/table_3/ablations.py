"""Lesson 14's study: the rows of the paper's Table 3, for a translator trained on few sentences.

    python -m transformer_lab.studies.table_3.ablations

Each setting changes one thing in `BASE`. There are so few training pairs that a model can learn
them by heart, and half of the test sentences contain combinations of words that never occur in
training. The learning rate is not tuned again for each setting, and only 2,000 pairs are tried.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F

from transformer_lab.config import TrainingConfig
from transformer_lab.data.batching import PAD_ID, buckets, collate, encode_pairs
from transformer_lab.data.pair import Splits
from transformer_lab.data.world.grammar import WorldPair, is_held_out, world
from transformer_lab.evaluation.bleu import exact_match, score
from transformer_lab.model.size import count_parameters
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.presets import PRESETS
from transformer_lab.studies.common.first_recipe import FIRST
from transformer_lab.studies.common.grid import Setting, make_study_config, run_study_command
from transformer_lab.translator import Translator

NAME = "ablations"
WORDS_OF = 4_000
"""The number of pairs from which the vocabulary is built, however many the model trains on."""
NUM_TEST_SENTENCES = 300  # test sentences that are translated

BASE: Setting = {
    "pairs": 2_000,
    "steps": 1_200,
    "peak_rate": 3e-3,
    "num_heads": 4,
    "d_k": None,  # d_model / num_heads
    "num_layers": 2,  # on each side
    "d_model": 64,
    "d_ff": 256,
    "norm": "post",
    "positions": "sinusoidal",
    "embedding_dropout": 0.1,
    "residual_dropout": 0.1,
    "attention_dropout": 0.0,
    "feed_forward_dropout": 0.0,
    "label_smoothing": 0.1,
}
"""The paper's base model in miniature, with dropout on the stacks' inputs and each sub-layer."""


def dropout_setting(
    embedding: float = 0.0, residual: float = 0.0, attention: float = 0.0, feed_forward: float = 0.0
) -> Setting:
    """Return a setting's four dropout fields with these probabilities."""
    return {
        "embedding_dropout": embedding,
        "residual_dropout": residual,
        "attention_dropout": attention,
        "feed_forward_dropout": feed_forward,
    }


ROWS: list[tuple[str, Setting]] = [
    ("base", {}),
    *[("A", {"num_heads": h}) for h in (1, 2, 8, 16, 32)],
    *[("B", {"d_k": d_k}) for d_k in (2, 4, 8)],
    *[("C", {"num_layers": layers}) for layers in (1, 4)],
    *[("C", {"d_model": d_model}) for d_model in (32, 128)],
    *[("C", {"d_ff": d_ff}) for d_ff in (64, 1_024)],
    *[("norm", {"norm": "pre", "num_layers": layers}) for layers in (1, 2, 4)],
    *[("D", dropout_setting(p, p)) for p in (0.0, 0.2, 0.3)],
    *[("D", {"label_smoothing": epsilon}) for epsilon in (0.0, 0.2)],
    ("places", dropout_setting(embedding=0.1)),
    ("places", dropout_setting(residual=0.1)),
    ("places", dropout_setting(attention=0.1)),
    ("places", dropout_setting(feed_forward=0.1)),
    ("places", dropout_setting(attention=0.1, feed_forward=0.1)),
    ("places", dropout_setting(0.1, 0.1, 0.1, 0.1)),
    ("E", {"positions": "learned"}),
]
"""The rows of Table 3, each with its differences from `BASE`.

Two groups are not in the paper's table: "norm", and "places" (where dropout is applied).
"""

GRID: list[Setting] = [
    {"row": row, **BASE, **changes, "seed": seed}
    for seed in range(5)
    for row, changes in ROWS
    if seed < 3 or row == "base"
]
SMALL: list[Setting] = [
    {"row": "small", **BASE, "pairs": 500, "steps": 40, "seed": seed} for seed in range(5)
]
"""Runs of a few seconds; the tests repeat one of them."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator and return its scores.

    Returns:
        "parameters": the parameter count.
        "epochs": the number of epochs.
        "test_loss" and "train_loss": the next-word cross-entropy in nats, without smoothing.
        "next_word": the next-word accuracy on the test set.

        The dict also has the entries of `score_translations`.
    """
    splits = draw_splits(setting)
    return train_and_score(build(setting, splits), splits, setting)


def train_and_score(
    translator: Translator, splits: Splits[WorldPair], setting: Setting
) -> dict[str, Any]:
    """Train a translator in place and return its scores, as `run` does."""
    splits = replace(splits, train=splits.train[: setting["pairs"]])
    trainer = make_trainer(translator, splits, make_training_config(setting), show_progress=False)
    trainer.train()
    loss, right = score_next_words(translator, splits.test)
    train_loss, _ = score_next_words(translator, splits.train[:1_000])
    return {
        "parameters": count_parameters(translator.model)["total"],
        "epochs": trainer.progress.epoch,
        "test_loss": loss,
        "next_word": right,
        "train_loss": train_loss,
        **score_translations(translator, splits.test[:NUM_TEST_SENTENCES]),
    }


def draw_splits(setting: Setting) -> Splits[WorldPair]:
    """Return the splits for a setting's seed.

    There are at least `WORDS_OF` training pairs, so the vocabulary can be built from them.
    """
    return world(train=max(WORDS_OF, setting["pairs"]), validation=0, seed=setting["seed"])


def build(setting: Setting, splits: Splits[WorldPair]) -> Translator:
    """Build an untrained translator for a setting.

    The paper applies dropout in two places, for which the configuration has a single field. So the
    model is built with the probability for the sub-layers, and the dropout after the embeddings is
    changed afterwards.
    """
    translator = build_translator(
        replace(splits, train=splits.train[:WORDS_OF]),
        "world",
        PRESETS["tiny"],
        setting["seed"],
        num_heads=setting["num_heads"],
        d_k=setting["d_k"],
        num_encoder_layers=setting["num_layers"],
        num_decoder_layers=setting["num_layers"],
        d_model=setting["d_model"],
        d_ff=setting["d_ff"],
        norm=setting["norm"],
        positions=setting["positions"],
        dropout=setting["residual_dropout"],
        attention_dropout=setting["attention_dropout"],
        feed_forward_dropout=setting["feed_forward_dropout"],
        max_length=64,  # rows of a learned table; no sentence is as long
    )
    translator.model.dropout.p = setting["embedding_dropout"]
    return translator


def make_training_config(setting: Setting) -> TrainingConfig:
    """Return a setting's training configuration: the first recipe with fewer steps."""
    steps = setting["steps"]
    return make_study_config(
        FIRST.training,
        steps,
        setting["seed"],
        warmup_steps=min(200, steps // 4),
        peak_rate=setting["peak_rate"],
        label_smoothing=setting["label_smoothing"],
    )


@torch.no_grad()
def score_next_words(translator: Translator, pairs: Sequence[WorldPair]) -> tuple[float, float]:
    """Return the next-word cross-entropy and accuracy, with teacher forcing.

    The cross-entropy is in nats, without smoothing. A prediction is correct if the most probable
    word is that of the reference.
    """
    model = translator.model.eval()
    examples = encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer)
    loss, right, words = 0.0, 0, 0
    for batch in map(collate, buckets(examples, 2_000)):
        logits = model(batch.source, batch.target_input)
        real = batch.target_output != PAD_ID
        loss += F.cross_entropy(logits[real], batch.target_output[real], reduction="sum").item()
        right += int((logits.argmax(dim=-1) == batch.target_output)[real].sum())
        words += int(real.sum())
    return round(loss / words, 4), round(right / words, 4)


def score_translations(translator: Translator, pairs: Sequence[WorldPair]) -> dict[str, float]:
    """Score greedy translations.

    Returns:
        "exact_match": the share of sentences translated exactly.
        "unseen": the same for sentences with held-out combinations.
        "bleu": BLEU from 0 to 100.
    """
    written = translator.translate([pair.source for pair in pairs], beam_size=1)
    texts, references = [one.translation for one in written], [pair.target for pair in pairs]
    unseen = [n for n, pair in enumerate(pairs) if is_held_out(pair)]
    return {
        "exact_match": round(exact_match(texts, references), 4),
        "unseen": round(
            exact_match([texts[n] for n in unseen], [references[n] for n in unseen]), 4
        ),
        "bleu": round(score(texts, references).bleu, 2),
    }


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
