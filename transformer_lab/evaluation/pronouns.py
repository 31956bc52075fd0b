"""Accuracy of translated pronouns, measured on sentences from the bilingual world.

Lessons and studies use it; the world's gold annotation says which pronoun is right.
"""

from collections.abc import Sequence

from transformer_lab.data.world.grammar import WorldPair


def pronoun_accuracy(hypotheses: Sequence[Sequence[str]], pairs: Sequence[WorldPair]) -> float:
    """Return the fraction of pronouns translated correctly, or NaN if no pair has a pronoun.

    A pronoun at a different position than in the reference counts as wrong.

    Args:
        hypotheses: The tokens of each translation.
        pairs: The pairs that were translated. Pairs without an annotated pronoun are ignored.
    """
    right = []
    for words, pair in zip(hypotheses, pairs, strict=True):
        if pair.coreference is not None:
            at = pair.coreference.target_pronoun
            right.append(at < len(words) and words[at] == pair.target_tokens[at])
    return sum(right) / len(right) if right else float("nan")
