"""Lesson 12's second question: if a row looks at a noun, does the pronoun take that noun's gender?

    python -m transformer_lab.studies.finding_the_noun.pronoun_gender

If a pronoun changes when a row is redirected, the model needs something in that row. But the row
identifies a noun only if the pronoun always takes the gender of the noun that the row is made to
look at, and stays right if that noun is the referent. Four settings of the study `coreference` are
trained again for this question. The first two are those in which redirecting the row for *it* to
the wrong noun, in a layer above layer 1, changed the most pronouns. In the third, the row for *it*
preferred the referent within layer 1. In the fourth, nearly all pronouns were right. On another
processor, the same settings give different models.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from transformer_lab.attention.capture import AttentionCapture
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.finding_the_noun.coreference import SENTENCES, SHAPE, train_translator
from transformer_lab.studies.finding_the_noun.pronoun_causes import (
    are_pronouns_right,
    point,
    predict_pronouns,
    pronouns_changed_by_pointing,
)
from transformer_lab.studies.finding_the_noun.pronoun_heads import ROWS, referent_differences
from transformer_lab.studies.finding_the_noun.pronoun_sentences import (
    draw_pronoun_pairs,
    get_coreference,
    mean_by_order,
)
from transformer_lab.translator import Translator

NAME = "pronoun_gender"
GRID: list[Setting] = [
    {"encoder_layers": e, "decoder_layers": d, **SHAPE, "seed": seed}
    for e, d, seed in ((2, 1, 0), (4, 1, 0), (1, 1, 0), (2, 2, 1))
]
COLUMNS = ("referent", "other", "pronoun", "decider", "eos")
"""The words that a row is made to look at."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator, and make one encoder head in each layer look at each word in turn.

    This head is the one that changes the most pronouns when its row looks at the wrong noun.

    Returns:
        "exact_match": the share of validation sentences translated exactly.
        "pronouns": the pronoun accuracy, by clause order.
        "pointed": the result of `pronouns_changed_by_pointing` for the rows "it" and "decider".
        "heads": the chosen head of each layer, by row.
        "written": the gender of each sentence's pronoun as one letter (see `encode_genders`).
        "asked": the same letters after redirecting the chosen head, for each row, layer and word in
            `COLUMNS`.
        "preference": the weight on the referent minus the weight on the other noun, for each chosen
            head and sentence.
    """
    translator, exact_match = train_translator(setting)
    pairs = draw_pronoun_pairs(SENTENCES)
    capture, written = predict_pronouns(translator, pairs)
    differences = referent_differences(capture, pairs)
    pointed = {
        row: pronouns_changed_by_pointing(translator, pairs, row) for row in ("it", "decider")
    }
    heads = {row: np.argmax(shares, axis=1).tolist() for row, shares in pointed.items()}
    return {
        "exact_match": exact_match,
        "pronouns": mean_by_order(are_pronouns_right(written, pairs)),
        "pointed": pointed,
        "written": encode_genders(written),
        "heads": heads,
        "asked": {
            row: [
                {
                    column: encode_genders(
                        predict_with_pointed_row(translator, pairs, capture, head, row, column)
                    )
                    for column in COLUMNS
                }
                for head in (Head("encoder", layer, n) for layer, n in enumerate(numbers))
            ]
            for row, numbers in heads.items()
        },
        "preference": {
            row: [
                np.round(differences[row][:, layer, n], 3).tolist()
                for layer, n in enumerate(numbers)
            ]
            for row, numbers in heads.items()
        },
    }


def predict_with_pointed_row(
    translator: Translator,
    pairs: Sequence[WorldPair],
    capture: AttentionCapture,
    head: Head,
    row: str,
    column: str,
) -> list[str]:
    """Return the word written for each pronoun when one head's row looks at only one word."""
    maps = capture.encoder[head.layer][:, head.head]
    patch = [
        point(weights, getattr(get_coreference(pair), ROWS[row]), find_place(pair, column))
        for weights, pair in zip(maps, pairs, strict=True)
    ]
    return predict_pronouns(translator, pairs, patch={head: np.stack(patch)})[1]


def find_place(pair: WorldPair, column: str) -> int:
    """Return the source position of one of `COLUMNS`."""
    if column == "eos":
        return len(pair.source_tokens)
    found: int = getattr(get_coreference(pair), column)
    return found


def encode_genders(written: Sequence[str]) -> str:
    """Return one letter per word: f for elle and elles, m for il and ils, - for anything else."""
    return "".join(
        "f" if word in ("elle", "elles") else "m" if word in ("il", "ils") else "-"
        for word in written
    )


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
