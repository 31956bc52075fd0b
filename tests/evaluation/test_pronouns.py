"""Pronouns against the gold answer."""

import math

from transformer_lab.data.world.grammar import FAMOUS, world
from transformer_lab.evaluation.pronouns import pronoun_accuracy


def test_the_right_pronoun_counts_wherever_else_the_translation_is_wrong():
    tired, wide = FAMOUS
    words = list(tired.target_tokens)
    other = [*words[:1], "chat", *words[2:]]
    swapped = [*words[:10], "elle", *words[11:]]
    assert pronoun_accuracy([words, other, swapped], [tired] * 3) == 2 / 3
    assert pronoun_accuracy([wide.target_tokens, wide.target_tokens], [tired, wide]) == 0.5


def test_a_translation_that_ends_before_its_pronoun_is_wrong():
    assert pronoun_accuracy([["l'", "animal"], []], list(FAMOUS)) == 0


def test_pairs_without_a_pronoun_to_decide_are_passed_over():
    plain = next(p for p in world(7, 0, 0).train if p.coreference is None)
    assert pronoun_accuracy([["x"], FAMOUS[0].target_tokens], [plain, FAMOUS[0]]) == 1
    assert math.isnan(pronoun_accuracy([["x"]], [plain]))
