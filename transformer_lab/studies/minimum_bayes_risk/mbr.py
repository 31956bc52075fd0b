"""Lesson 10c's study: is the sample that agrees best with the others better than the beam's output?

    python -m transformer_lab.studies.minimum_bayes_risk.mbr

It compares greedy decoding, a beam of 4 (α = 0.6), one sample, and minimum Bayes risk decoding over
4, 16 and 64 samples with chrF as the utility. It tests the package's translator at three stages of
its training, and a model that the run trains on Debian's short sentences (see
`short_french.train_short_french`; the model is not kept).

This was fixed before the first run: a gain over the beam counts if its 95% bootstrap interval over
sentences excludes 0; one in twenty such intervals does so by chance. Each way of sampling is
repeated with three seeds. chrF is both the utility and a score, which favours minimum Bayes risk
decoding, so BLEU is also reported.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from transformer_lab.data.corpora import debian
from transformer_lab.data.corpus import find_corpus, train_shared_bpe
from transformer_lab.data.pair import SentencePair
from transformer_lab.decoding import mean_utilities
from transformer_lab.evaluation.bleu import exact_match, score, sentence_chrf
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.intervals import (
    bleu_gain_interval,
    mean_interval,
    round_interval,
)
from transformer_lab.studies.common.short_french import PIECES, is_short, train_short_french
from transformer_lab.translator import Translator

NAME = "mbr"
COUNTS = (4, 16, 64)
BASE = "beam 4"
WAYS = {"as the model says": None, "top-p 0.9": 0.9}
"""The ways of sampling at a temperature of 1, each with its top-p."""
WORLD, REAL = "world", "debian:fr"
SEEDS = [0, 1, 2]
GRID: list[Setting] = [
    *(
        {"corpus": WORLD, "weights": weights, "ways": [*WAYS][:1], "sentences": 250, "seeds": SEEDS}
        for weights in ("step_00200", "step_00500", "model")
    ),
    {"corpus": REAL, "steps": 1_500, "ways": [*WAYS], "sentences": 64, "seeds": SEEDS},
]


def run(setting: Setting) -> dict[str, Any]:
    """Compare greedy decoding, beam search, sampling and MBR on one corpus.

    Returns:
        The result of `compare_decoders`, for each way of sampling that the setting names.
    """
    if setting["corpus"] == WORLD:
        translator = Translator.load(weights=setting["weights"], device="cpu")
        pairs: Sequence[SentencePair] = find_corpus(WORLD).splits().test
    else:
        splits = debian("fr")
        short = [pair for pair in splits.train if is_short(pair)]
        tokenizer, _ = train_shared_bpe(short, PIECES)
        translator = train_short_french(short, tokenizer, setting["steps"], seed=0)
        pairs = [pair for pair in (*splits.validation, *splits.test) if is_short(pair)]
    asked = pairs[:: len(pairs) // setting["sentences"]][: setting["sentences"]]
    seeds = setting["seeds"]
    return {way: compare_decoders(translator, asked, WAYS[way], seeds) for way in setting["ways"]}


def compare_decoders(
    translator: Translator,
    pairs: Sequence[SentencePair],
    top_p: float | None,
    seeds: Sequence[int],
) -> dict[str, Any]:
    """Return the scores of greedy decoding, beam search, one sample and MBR.

    Returns:
        For each decoder:

        "chrf": the mean sentence chrF, averaged over the seeds.
        "bleu": the corpus BLEU for each seed.
        "exact": the share of sentences translated exactly, for each seed.
        "chrf gain": the 95% interval of the gain in chrF over the beam, averaged over the seeds.
        "bleu gain": the 95% interval of the gain in BLEU over the beam, for each seed.

        Greedy decoding and the beam are deterministic, so their lists have only one value.
    """
    sources, references = [p.source for p in pairs], [p.target for p in pairs]
    chosen = {
        name: [[t.translation for t in translator.translate(sources, beam_size=size)]]
        for name, size in (("greedy", 1), (BASE, 4))
    }
    for seed in seeds:
        groups = draw_samples(translator, sources, top_p, seed)
        best = [choose_by_agreement(texts) for texts in groups]
        chosen.setdefault("1 sample", []).append([texts[0] for texts in groups])
        for count in COUNTS:
            chosen.setdefault(f"MBR {count}", []).append([own[count] for own in best])
    (base,) = chosen[BASE]
    base_chrf = sentence_chrfs(base, references)
    found = {}
    for name, systems in chosen.items():
        chrf = np.mean([sentence_chrfs(texts, references) for texts in systems], axis=0)
        found[name] = {
            "chrf": round(float(chrf.mean()), 2),
            "bleu": [round(score(texts, references).bleu, 2) for texts in systems],
            "exact": [round(exact_match(texts, references), 4) for texts in systems],
            "chrf gain": round_interval(mean_interval(chrf - base_chrf), 2),
            "bleu gain": [
                round_interval(bleu_gain_interval(base, texts, references), 2) for texts in systems
            ],
        }
    return found


def draw_samples(
    translator: Translator, sources: Sequence[str], top_p: float | None, seed: int
) -> list[list[str]]:
    """Return `COUNTS[-1]` sampled translations for each source, in the order of sampling."""
    count = COUNTS[-1]
    repeated = [source for source in sources for _ in range(count)]
    drawn = [t.translation for t in translator.sample(repeated, seed=seed, top_p=top_p)]
    return [drawn[i : i + count] for i in range(0, len(drawn), count)]


def choose_by_agreement(texts: Sequence[str]) -> dict[int, str]:
    """Return the sample chosen by MBR with mean chrF, for each number of samples in `COUNTS`."""
    different = [*dict.fromkeys(texts)]
    place = {text: i for i, text in enumerate(different)}
    table = chrf_table(different)

    def utility(one: str, other: str) -> float:
        return float(table[place[one], place[other]])

    best = {}
    for count in COUNTS:
        means = mean_utilities(texts[:count], utility)
        best[count] = texts[max(range(count), key=means.__getitem__)]
    return best


ORDERS, BETA = range(1, 7), 2
"""The orders of chrF's character n-grams, and the weight of recall relative to precision."""


def chrf_table(texts: Sequence[str]) -> Float[np.ndarray, "n n"]:
    """Return the chrF (0 to 100) of each sentence (row) with every sentence as reference (column).

    The values are those of `sentence_chrf`, but each sentence is split into character n-grams only
    once, although 64 sentences form 4,096 pairs.
    """
    precision, recall, orders = np.zeros((3, len(texts), len(texts)))
    for order in ORDERS:
        runs = [count_letter_ngrams(text, order) for text in texts]
        column = {run: i for i, run in enumerate({run for own in runs for run in own})}
        counts = np.zeros((len(texts), len(column)), dtype=np.int16)
        for row, own in zip(counts, runs, strict=True):
            for run, times in own.items():
                row[column[run]] = times
        shared = np.stack([np.minimum(row, counts).sum(axis=1) for row in counts])
        sizes = counts.sum(axis=1)
        both = (sizes[:, None] > 0) & (sizes > 0)
        precision += np.where(both, shared / np.maximum(sizes, 1)[:, None], 0)
        recall += np.where(both, shared / np.maximum(sizes, 1), 0)
        orders += both
    precision, recall = (part / np.maximum(orders, 1) for part in (precision, recall))
    below = BETA**2 * precision + recall
    together = (1 + BETA**2) * precision * recall
    return 100 * np.divide(together, below, out=np.zeros_like(below), where=below > 0)


def count_letter_ngrams(text: str, order: int) -> Counter[str]:
    """Count the character n-grams of this order in a string, ignoring spaces."""
    letters = "".join(text.split())
    return Counter(letters[i : i + order] for i in range(len(letters) - order + 1))


def sentence_chrfs(texts: Sequence[str], references: Sequence[str]) -> Float[np.ndarray, " n"]:
    """Return the chrF of each sentence against its reference, from 0 to 100."""
    return np.array([sentence_chrf(t, r) for t, r in zip(texts, references, strict=True)])


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
