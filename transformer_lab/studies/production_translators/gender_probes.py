"""Scores of a linear probe for a noun's gender, by word and layer (lesson 18).

The study `gender` uses them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from transformer_lab.studies.common.probe import linear_probe
from transformer_lab.studies.production_translators.gender_detection import (
    Reading,
    translate_questions,
)
from transformer_lab.studies.production_translators.gender_interventions import (
    GenderBatch,
    batch_states,
)
from transformer_lab.studies.production_translators.gender_sentences import (
    FRAMES,
    make_noun_questions,
)
from transformer_lab.translator import Translator

PROBE_FRAME = "because"
FOLDS, SHUFFLES = 5, 3


def score_probes(
    translator: Translator,
    language: str,
    couples: Sequence[tuple[Reading, Reading]],
    untrained: Sequence[Translator],
) -> dict[str, Any]:
    """Measure how well a linear probe reads the gender of nouns that it was not fitted on.

    Returns:
        "accuracy": the probe's accuracy for each word and depth, over `FOLDS` folds of held-out
            nouns.
        "shuffled": the same with shuffled gender labels.
        "untrained": the same for untrained models.
        "pairs": for the states at "it" in the pairs, the share for which a probe predicts the
            gender of the right noun, and the share for which it predicts that of the first noun.
            The probe is fitted at "it" in the sentences with one noun.
        "frame": the frame of the sentences with one noun.
        "nouns": the number of nouns of each gender.
    """
    readings = [
        r
        for r in translate_questions(
            translator, make_noun_questions(language, PROBE_FRAME, "old"), language
        )
        if r.usable
    ]
    single = GenderBatch(translator, readings)
    genders = torch.tensor(single.signs > 0).float()
    shuffled = [
        genders[torch.randperm(len(genders), generator=torch.Generator().manual_seed(seed))]
        for seed in range(SHUFFLES)
    ]
    words = ("noun", "it", "adjective")
    at = {word: mean_word_states(single, word) for word in words}
    bare = {
        word: [mean_word_states(GenderBatch(t, single.readings), word) for t in untrained]
        for word in words
    }
    double = GenderBatch(translator, [one for couple in couples for one in couple])
    right = double.signs > 0
    first = np.array([r.question.genders[0] == "m" for r in double.readings])
    it_states = mean_word_states(double, "it")
    return {
        "frame": FRAMES[PROBE_FRAME],
        "nouns": {g: int((single.signs == s).sum()) for g, s in (("m", 1), ("f", -1))},
        "accuracy": {w: [cross_validate_probe(x, genders) for x in at[w]] for w in words},
        "shuffled": {
            w: [[cross_validate_probe(x, y) for x in at[w]] for y in shuffled] for w in words
        },
        "untrained": {
            w: [[cross_validate_probe(x, genders) for x in states] for states in bare[w]]
            for w in words
        },
        "pairs": {
            name: [
                round(linear_probe(x, genders, y, torch.tensor(truth).float()), 3)
                for x, y in zip(at["it"], it_states, strict=True)
            ]
            for name, truth in (("right noun", right), ("first noun", first))
        },
    }


def mean_word_states(batch: GenderBatch, word: str) -> torch.Tensor:
    """Return the residual stream at a word, averaged over the word's subwords.

    The result is (depth, sentences, d_model).
    """
    mask = batch.at(word).float()
    total = torch.einsum("dsqm,sq->dsm", batch_states(batch), mask)
    return total / mask.sum(dim=1)[:, None]


def cross_validate_probe(x: torch.Tensor, y: torch.Tensor) -> float:
    """Return a linear probe's cross-validated accuracy; each noun is held out once."""
    number = torch.arange(len(x)) % FOLDS
    right = [
        linear_probe(x[number != k], y[number != k], x[number == k], y[number == k])
        * int((number == k).sum())
        for k in range(FOLDS)
    ]
    return round(sum(right) / len(x), 3)
