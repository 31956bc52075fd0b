"""Measure how muting heads, or pointing them at a noun, changes the gender written (lesson 18).

The study `gender` uses them.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from transformer_lab.attention.record import Head
from transformer_lab.studies.production_translators.gender_detection import Reading
from transformer_lab.studies.production_translators.gender_interventions import (
    GenderBatch,
    batch_log_odds,
    list_heads,
    log_odds_with_pointed_row,
    weights_on_nouns,
)
from transformer_lab.studies.production_translators.gender_patching import make_minimal_pairs
from transformer_lab.studies.production_translators.gender_scores import (
    estimate_effects,
    mean_and_interval,
    mean_per_pair,
)
from transformer_lab.translator import Translator

LIMIT = 0.25
"""The smallest change that the study reports, in nats; the whole interval must lie beyond it."""
SET, RANDOM_SETS = 4, 20
POINTED = 32  # pairs


def score_muted_heads(translator: Translator, language: str) -> dict[str, Any]:
    """Measure how muting each head changes the log-odds of sentences with one noun, in nats.

    Returns:
        "sentences": the number of sentences.
        "limit": the smallest change that is reported.
        "right_margin": the unmuted log-odds of the right gender.
        "heads": for each head, its kind, layer and number, the change towards the right gender
            (mean, low, high), and the mean change towards masculine.
        "with_it": "sentences", "right_margin" and "heads" for only the sentences that contain "it".
            These "heads" lack the change towards masculine.
        "four": the four heads whose muting costs most in one half of the pairs, and the change in
            the other half when these four are muted together.
        "random_fours": the mean change in that other half for random groups of four of the
            remaining heads.
    """
    base = GenderBatch(translator, make_minimal_pairs(translator, language)[0])
    before, signs = batch_log_odds(base), base.signs
    changes = {h: batch_log_odds(base, mute=[h]) - before for h in list_heads(translator)}
    half = np.arange(len(base)) // 2 % 2 == 0
    order = sorted(changes, key=lambda h: (signs * changes[h])[half].mean())
    chosen, others = order[:SET], order[SET:]
    rng = np.random.default_rng(18)
    has_it = base.at("it").any(dim=1).numpy()

    def together(muted: Sequence[Head]) -> np.ndarray:
        return mean_per_pair((signs * (batch_log_odds(base, mute=muted) - before))[~half])

    drawn = [rng.choice(len(others), SET, replace=False) for _ in range(RANDOM_SETS)]
    return {
        "limit": LIMIT,
        "sentences": len(base),
        "right_margin": mean_and_interval(mean_per_pair(signs * before)),
        "heads": [
            [
                *head,
                *mean_and_interval(mean_per_pair(signs * change)),
                round(float(change.mean()), 3),
            ]
            for head, change in changes.items()
        ],
        "with_it": {
            "sentences": int(has_it.sum()),
            "right_margin": mean_and_interval(mean_per_pair((signs * before)[has_it])),
            "heads": [
                [*head, *mean_and_interval(mean_per_pair((signs * change)[has_it]))]
                for head, change in changes.items()
            ],
        },
        "four": {"heads": chosen, "change": mean_and_interval(together(chosen))},
        "random_fours": [
            round(float(together([others[i] for i in draw]).mean()), 3) for draw in drawn
        ],
    }


def score_pointed_rows(
    translator: Translator, couples: Sequence[tuple[Reading, Reading]]
) -> dict[str, Any]:
    """Measure how each encoder head's row for "it" changes the log-odds in pairs of sentences.

    A move is how far the log-odds move towards the right gender when a row looks at the right noun
    instead of the wrong one. Moves and effects are given as mean, low, high.

    Returns:
        "heads": for each head, its layer and number, the weight of its row on the right noun and on
            the wrong one, the move, and the `referent` effect of `estimate_effects` when the head
            is muted.
        "unmuted": the `referent` effect with all heads active.
        "layers": for each layer, the move when the rows of all its heads look at the noun.
        "deciders": for each head, its layer and number, and the move for the row of the deciding
            word.
        "pairs": the number of pairs.
        "limit": how large a move must be to count.
    """
    drawn = Random(18).sample(couples, len(couples))
    couples = [
        couple
        for gender in "mf"
        for couple in [c for c in drawn if c[0].question.genders[0] == gender][: POINTED // 2]
    ]
    batch = GenderBatch(translator, [one for couple in couples for one in couple])
    masculine = np.array([a.question.genders[0] == "m" for a, _ in couples])
    weights = weights_on_nouns(batch)

    def measure_redirection(heads: Sequence[Head], row: str = "it") -> list[float]:
        right, other = (
            log_odds_with_pointed_row(batch, heads, word, row) for word in ("noun", "other noun")
        )
        return mean_and_interval(mean_per_pair(batch.signs * (right - other)))

    def referent(mute: Sequence[Head]) -> list[float]:
        return estimate_effects(batch_log_odds(batch, mute=mute).reshape(-1, 2), masculine)[
            "referent"
        ]

    layers, number = weights.shape[:2]
    encoder = [Head("encoder", layer, h) for layer in range(layers) for h in range(number)]
    rows = [
        [
            *(head.layer, head.head),
            *np.round(weights[head.layer, head.head].astype(float), 3).tolist(),
            *measure_redirection([head]),
            *referent([head]),
        ]
        for head in encoder
    ]
    return {
        "limit": LIMIT,
        "pairs": len(couples),
        "heads": rows,
        "layers": [
            measure_redirection([h for h in encoder if h.layer == layer]) for layer in range(layers)
        ],
        "deciders": [[h.layer, h.head, *measure_redirection([h], "adjective")] for h in encoder],
        "unmuted": referent([]),
    }
