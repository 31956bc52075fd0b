"""Lesson 09's study of back-translation: what are French sentences without a translation worth?

    python -m transformer_lab.studies.back_translation.back_translation

The method is that of Sennrich, Haddow and Birch 2016. A model learns to translate French to English
from `PARALLEL` pairs of Debian's descriptions. It then translates `MONOLINGUAL` French sentences
greedily. An English-to-French model trains on the pairs plus these translations, so it reads
English written by a machine and learns to write French written by people. Two controls have the
same steps, tokenizer, initial weights and seed. One trains on the pairs alone. The other ("real")
also trains on the monolingual French, but with the English that people wrote.

No family of packages occurs in more than one part, and everything is measured on the families that
`debian` holds out. To save time, the study uses the sentences and models of `short_french`.

This was fixed before the first run: a gain in BLEU over the pairs alone counts if two intervals
exclude 0. One is Student's t over the seeds, each of which samples its own pairs and sentences; the
other is, for each seed, the paired bootstrap over the test sentences. A gain of less than `LEAST`
BLEU does not count. The steps and sizes come from a pilot with seed 100, on sentences that are not
held out.
"""

import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from transformer_lab.data.corpora import debian, debian_rows
from transformer_lab.data.corpus import train_shared_bpe
from transformer_lab.data.debian import Row
from transformer_lab.data.pair import Pair
from transformer_lab.data.splits import split_groups
from transformer_lab.evaluation.bleu import score
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.intervals import bleu_gain_interval, round_interval
from transformer_lab.studies.common.short_french import PIECES, is_short, train_short_french
from transformer_lab.translator import Translator

NAME = "back_translation"
PARALLEL, MONOLINGUAL, STEPS = 2_500, 10_000, 1_300
"""The numbers of sentence pairs, untranslated French sentences, and training steps."""
LEAST = 1.0
"""The smallest gain that counts, in BLEU points (BLEU ranges from 0 to 100)."""
SHOWN = 3
"""The number of back-translations that are stored."""
GRID: list[Setting] = [
    {"parallel": PARALLEL, "monolingual": MONOLINGUAL, "steps": STEPS, "seed": seed}
    for seed in range(5)
]


class Parts(NamedTuple):
    """The pairs of one run: `parallel` to train on, `monolingual` for back-translation.

    The two have no family of Debian packages and no French sentence in common.
    """

    parallel: list[Pair]
    monolingual: list[Pair]
    """The study reads the French side of these pairs; the English side is for the control."""


def split_parts(rows: Sequence[Row], train: Sequence[Pair], setting: Setting) -> Parts:
    """Sample families of packages until both parts have as many sentences as the setting asks for.

    Only short pairs from `train` are used.
    """
    kept = set(train)
    short = [row for row in rows if row.pair in kept and is_short(row.pair)]
    sizes = setting["parallel"], setting["monolingual"]
    drawn = split_groups(short, setting["seed"], *sizes)
    known = {pair.target for pair in drawn.validation}
    new = {pair.target: pair for pair in drawn.test if pair.target not in known}
    parts = Parts(list(drawn.validation), list(new.values()))
    for part in parts:
        random.Random(setting["seed"]).shuffle(part)
    return parts


def translate_greedily(translator: Translator, texts: Sequence[str]) -> list[str]:
    """Return the greedy translations of these sentences, in order."""
    return [t.translation for t in translator.translate(texts, beam_size=1)]


def run(setting: Setting) -> dict[str, Any]:
    """Train the backward model, back-translate with it, then train and score three forward models.

    Returns:
        "sentences": the number of held-out sentences that are scored.
        "back": the BLEU of the back-translations, compared with the English that people wrote.
        "pairs": the number of training pairs of each forward model.
        "bleu" and "chrf": the scores of each forward model.
        "gains": for each model with added pairs, the 95% bootstrap interval of its gain in BLEU
            over the pairs alone.
        "bleu_signature": sacreBLEU's signature.
        "examples": French sentences with their back-translations and the English that people wrote.
    """
    seed, steps = setting["seed"], setting["steps"]
    splits = debian("fr")
    unseen = [pair for pair in (*splits.validation, *splits.test) if is_short(pair)]
    parallel, monolingual = split_parts(debian_rows("fr"), splits.train, setting)
    tokenizer, _ = train_shared_bpe(parallel, PIECES)
    back = train_short_french([Pair(p.target, p.source) for p in parallel], tokenizer, steps, seed)
    french = [pair.target for pair in monolingual]
    english = translate_greedily(back, french)
    added = {
        "parallel": [],
        "back-translated": pair_sentences(english, french),
        "real": monolingual,
    }
    sources, references = [p.source for p in unseen], [p.target for p in unseen]
    texts = {
        kind: translate_greedily(
            train_short_french([*parallel, *pairs], tokenizer, steps, seed), sources
        )
        for kind, pairs in added.items()
    }
    scores = {kind: score(own, references) for kind, own in texts.items()}
    gains = {
        kind: bleu_gain_interval(texts["parallel"], own, references)
        for kind, own in texts.items()
        if kind != "parallel"
    }
    return {
        "sentences": len(unseen),
        "back": round(score(english, [p.source for p in monolingual]).bleu, 2),
        "pairs": {kind: len(parallel) + len(pairs) for kind, pairs in added.items()},
        "bleu": {kind: round(found.bleu, 2) for kind, found in scores.items()},
        "chrf": {kind: round(found.chrf, 2) for kind, found in scores.items()},
        "gains": {kind: round_interval(ends, 2) for kind, ends in gains.items()},
        "bleu_signature": scores["parallel"].bleu_signature,
        "examples": [
            {"french": p.target, "back": e, "english": p.source}
            for p, e in list(zip(monolingual, english, strict=True))[:SHOWN]
        ],
    }


def pair_sentences(english: Sequence[str], french: Sequence[str]) -> list[Pair]:
    """Return the sentences as pairs, leaving out those whose English is empty."""
    return [Pair(e, f) for e, f in zip(english, french, strict=True) if e.strip()]


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
