"""Lesson 12's second question: a row that is pointed at a noun, does the pronoun take its gender?

    python -m transformer_lab.experiments.pronoun_gender

That a pronoun changes says that the row held something that is needed; only if it takes the gender
of the noun that the row is pointed at, and keeps the right one if that is the referent, did the
row name a noun. Four settings of the study `coreference` are trained again and asked this: the two
whose row of *it* moved most above layer 1, the one that preferred the referent within layer 1, and
one that was right nearly always. Another processor trains other models from the same settings.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from transformer_lab.attention_record import Head
from transformer_lab.capture import AttentionCapture
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.experiments.coreference import SENTENCES, SHAPE, trained
from transformer_lab.experiments.pronoun_causes import (
    are_right,
    point,
    pronouns_pointed,
    read,
)
from transformer_lab.experiments.pronoun_heads import ROWS, referent_differences
from transformer_lab.experiments.pronoun_sentences import ORDERS, asked, by_order, place
from transformer_lab.experiments.study import Setting, command
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

    `written` has the gender of each sentence's pronoun as one letter, see `letters`; `asked` has
    the same for each row, layer and word that its head is pointed at. `preference` is weight on the
    referent minus weight on the other noun, sentence by sentence, in those heads.
    """
    translator, exact_match = trained(setting)
    pairs = [p for order in ORDERS for p in islice(asked(order), SENTENCES)]
    capture, written = read(translator, pairs)
    differences = referent_differences(capture, pairs)
    pointed = {row: pronouns_pointed(translator, pairs, row) for row in ("it", "decider")}
    heads = {row: np.argmax(shares, axis=1).tolist() for row, shares in pointed.items()}
    return {
        "exact_match": exact_match,
        "pronouns": by_order(are_right(written, pairs)),
        "pointed": pointed,
        "written": letters(written),
        "heads": heads,
        "asked": {
            row: [
                {
                    column: letters(pointed_at(translator, pairs, capture, head, row, column))
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


def pointed_at(
    translator: Translator,
    pairs: Sequence[WorldPair],
    capture: AttentionCapture,
    head: Head,
    row: str,
    column: str,
) -> list[str]:
    """The word at each pronoun's step if one row of a head lays all its weight on one word."""
    maps = capture.encoder[head.layer][:, head.head]
    patch = [
        point(weights, getattr(place(pair), ROWS[row]), column_of(pair, column))
        for weights, pair in zip(maps, pairs, strict=True)
    ]
    return read(translator, pairs, patch={head: np.stack(patch)})[1]


def column_of(pair: WorldPair, column: str) -> int:
    """The place of a word of `COLUMNS` in the source."""
    if column == "eos":
        return len(pair.source_tokens)
    found: int = getattr(place(pair), column)
    return found


def letters(written: Sequence[str]) -> str:
    """One letter a sentence: f for elle and elles, m for il and ils, - for any other word."""
    return "".join(
        "f" if word in ("elle", "elles") else "m" if word in ("il", "ils") else "-"
        for word in written
    )


if __name__ == "__main__":
    command(NAME, run, GRID)
