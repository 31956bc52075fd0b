"""Lesson 12's second question: a row that is pointed at a noun, does the pronoun take its gender?

    python -m transformer_lab.studies.finding_the_noun.pronoun_gender

That a pronoun changes says that the row held something that is needed; only if it takes the gender
of the noun that the row is pointed at, and keeps the right one if that is the referent, did the
row name a noun. Four settings of the study `coreference` are trained again and asked this: the two
whose row of *it* moved most above layer 1, the one that preferred the referent within layer 1, and
one that was right nearly always. Another processor trains other models from the same settings.
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
"""The words that a row is pointed at."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator; ask in each layer the head of which pointing moves most pronouns.

    `written` has the gender of each sentence's pronoun as one letter, see `encode_genders`; `asked` has
    the same for each row, layer and word that its head is pointed at. `preference` is weight on the
    referent minus weight on the other noun, sentence by sentence, in those heads.
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
    """The word at each pronoun's step when a row of one encoder head looks at one word alone."""
    maps = capture.encoder[head.layer][:, head.head]
    patch = [
        point(weights, getattr(get_coreference(pair), ROWS[row]), find_place(pair, column))
        for weights, pair in zip(maps, pairs, strict=True)
    ]
    return predict_pronouns(translator, pairs, patch={head: np.stack(patch)})[1]


def find_place(pair: WorldPair, column: str) -> int:
    """The position in the source of one of `COLUMNS`."""
    if column == "eos":
        return len(pair.source_tokens)
    found: int = getattr(get_coreference(pair), column)
    return found


def encode_genders(written: Sequence[str]) -> str:
    """One letter for each word: f for elle and elles, m for il and ils, - for anything else."""
    return "".join(
        "f" if word in ("elle", "elles") else "m" if word in ("il", "ils") else "-"
        for word in written
    )


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
