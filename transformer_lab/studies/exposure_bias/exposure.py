"""Lesson 10: what does it cost to read your own words after training on the right ones?

    python -m transformer_lab.studies.exposure_bias.exposure

In training, each word is predicted from the words of the reference (teacher forcing); in use, it is
predicted from the words that the model has written so far. The study measures the package's
translator at four stages of its training, and Debian's model on real text.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from transformer_lab.data.batching import PAD_ID, Batch, collate, encode_pairs, pad
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import SentencePair
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.intervals import mean_interval, round_interval
from transformer_lab.studies.production_translators.models import DEBIAN, TOY, load_translator
from transformer_lab.translator import Translator

NAME = "exposure"
BATCH_SIZE = 100
WORDS_AFTER_ERROR = 6
"""The number of words compared after an error."""
PLACES = ((0, 2), (3, 5), (6, 8), (9, 11), (12, 14))
"""The first and last position of each group of positions in a translation, counted from 0."""
SNAPSHOTS = ("step_00200", "step_00500", "step_01000", "model")
GRID: list[Setting] = [
    *({"model": TOY, "weights": weights, "sentences": 1_000} for weights in SNAPSHOTS),
    {"model": DEBIAN, "weights": "model", "sentences": 900},
]


def run(setting: Setting) -> dict[str, Any]:
    """Return the error rates of one model on test sentences.

    Returns:
        The entries of `error_rates_after_error`, plus one more:
        "places": the result of `error_rates_by_place`.
    """
    toy = setting["model"] == TOY
    translator = (
        Translator.load(weights=setting["weights"], device="cpu")
        if toy
        else load_translator(DEBIAN)
    )
    corpus = "world" if toy else "debian:fr"
    pairs = find_corpus(corpus).splits().test[: setting["sentences"]]
    return error_rates_after_error(translator, pairs) | {
        "places": error_rates_by_place(translator, pairs)
    }


@torch.no_grad()
def error_rates_by_place(
    translator: Translator, pairs: Sequence[SentencePair]
) -> list[dict[str, Any]]:
    """Measure the share of wrong words in each group of positions, as listed in `PLACES`.

    Returns:
        For each group of positions that has words:

        "words": the number of words.
        "gold": the share of words that are wrong when predicted after the reference's words.
        "own": the share of words that are wrong when predicted after the model's own greedy output.
        "gold bag" and "own bag": the same shares, but a word counts as correct if it occurs
            anywhere in the reference.

        For "gold" and "own", a word counts as correct only if the reference has the same word at
        the same position. So one extra word makes all later words wrong.
    """
    counts = np.zeros((len(PLACES), 5))
    for batch, gold in predict_after_reference(translator, pairs):
        begun = batch.target_input[:, :1].tolist()
        own = continue_greedily(translator, batch.source, begun, PLACES[-1][1] + 1)
        for row, written in enumerate(own):
            right = batch.target_output[row][batch.target_output[row] != PAD_ID].tolist()
            for place, (first, last) in enumerate(PLACES):
                for at in range(first, min(last + 1, len(right))):
                    word = written[at] if at < len(written) else -1
                    behind_gold = int(gold[row, at])
                    counts[place] += [
                        1,
                        behind_gold != right[at],
                        word != right[at],
                        behind_gold not in right,
                        word not in right,
                    ]
    names = ("gold", "own", "gold bag", "own bag")
    return [
        {"words": int(words)}
        | {name: round(float(n / words), 4) for name, n in zip(names, wrong, strict=True)}
        for words, *wrong in counts
        if words
    ]


@torch.no_grad()
def error_rates_after_error(
    translator: Translator, pairs: Sequence[SentencePair]
) -> dict[str, Any]:
    """Measure how translations continue after the first wrong word, with and without correcting it.

    After an error, words are compared as bags, so an extra word shifts nothing.

    Returns:
        "right": the share of sentences without a wrong word. It is the same whether words are
            predicted from the reference or from the model's own words.
        "first": the share of wrong words among those before which every word is correct.
        "own": the share of the reference's next `WORDS_AFTER_ERROR` words that the model does not
            write after its first wrong word.
        "corrected": the same share if the wrong word is corrected first.
        "difference": the 95% bootstrap interval of the mean of "own" − "corrected" over sentences.
        "sentences": the number of sentences with words after the first error.
    """
    rights: list[bool] = []
    own: list[float] = []
    corrected: list[float] = []
    wrong = words = 0
    for batch, best in predict_after_reference(translator, pairs):
        errors = (best != batch.target_output) & (batch.target_output != PAD_ID)
        rights += (~errors.any(dim=1)).tolist()
        rows = errors.any(dim=1).nonzero()[:, 0]
        first = errors.int().argmax(dim=1)
        lengths = (batch.target_output != PAD_ID).sum(dim=1)
        wrong += len(rows)
        words += int(torch.where(errors.any(dim=1), first + 1, lengths).sum())
        rows = rows[(lengths - first)[rows] > 1]  # there is nothing to write after eos
        if len(rows):
            behind = [batch.target_output[r, first[r] + 1 : lengths[r]].tolist() for r in rows]
            for kept, chosen in ((own, best), (corrected, batch.target_output)):
                begun = [
                    [*batch.target_input[r, : first[r] + 1].tolist(), int(chosen[r, first[r]])]
                    for r in rows
                ]
                goes_on = continue_greedily(translator, batch.source[rows], begun)
                kept += [missing_share(b, w) for b, w in zip(behind, goes_on, strict=True)]
    difference = np.array(own) - np.array(corrected)
    return {
        "right": round(float(np.mean(rights)), 4),
        "first": round(wrong / words, 4),
        "own": round(float(np.mean(own)), 4),
        "corrected": round(float(np.mean(corrected)), 4),
        "difference": round_interval(mean_interval(difference), 4),
        "sentences": len(own),
    }


def predict_after_reference(
    translator: Translator, pairs: Sequence[SentencePair]
) -> Iterator[tuple[Batch, Int[Tensor, "batch target"]]]:
    """Yield each batch, with the most probable id after each prefix of its references."""
    examples = encode_pairs(pairs, translator.source_tokenizer, translator.target_tokenizer)
    for start in range(0, len(examples), BATCH_SIZE):
        batch = collate(examples[start : start + BATCH_SIZE])
        yield batch, translator.model(batch.source, batch.target_input).argmax(dim=-1)


def continue_greedily(
    translator: Translator,
    source: Int[Tensor, "batch source"],
    begun: Sequence[Sequence[int]],
    count: int = WORDS_AFTER_ERROR,
) -> list[list[int]]:
    """Return the ids that greedy decoding writes after each prefix, up to eos or `count` ids.

    Args:
        translator: The translator that writes.
        source: The padded source ids.
        begun: For each sentence, the target ids so far; these prefixes may differ in length.
        count: The maximum number of ids to write.
    """
    lengths = torch.tensor([len(ids) for ids in begun])
    target = pad([*map(list, begun)])
    every = torch.arange(len(begun))
    target = torch.nn.functional.pad(target, (0, count))
    for step in range(count):
        longest = int(lengths.max()) + step
        logits = translator.model(source, target[:, :longest])
        target[every, lengths + step] = logits[every, lengths + step - 1].argmax(dim=-1)
    eos = translator.model.config.eos_id
    found = []
    for row, length in zip(target.tolist(), lengths.tolist(), strict=True):
        written = row[length : length + count]
        found.append(written[: written.index(eos) + 1] if eos in written else written)
    return found


def missing_share(reference: Sequence[int], written: Sequence[int]) -> float:
    """Return the share of the reference's next words that are missing from what the model wrote.

    Both sides are compared as bags of their first `WORDS_AFTER_ERROR` words.
    """
    rest = list(written[:WORDS_AFTER_ERROR])
    missing = 0
    for word in reference[:WORDS_AFTER_ERROR]:
        if word in rest:
            rest.remove(word)
        else:
            missing += 1
    return missing / len(reference[:WORDS_AFTER_ERROR])


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
