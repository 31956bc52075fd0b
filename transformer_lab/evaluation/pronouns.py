"""Does a translated pronoun stand for the right noun? Measured where the gold answer is known."""

from collections.abc import Sequence

from transformer_lab.data.world.grammar import WorldPair


def pronoun_accuracy(hypotheses: Sequence[Sequence[str]], pairs: Sequence[WorldPair]) -> float:
    """The share of pronouns that are the right one, from 0 to 1; NaN where no pair has any.

    A pronoun that stands at another place than in the reference counts as wrong.

    Args:
        hypotheses: The tokens of each translation.
        pairs: The pairs that were translated; those without a coreference are passed over.
    """
    right = []
    for words, pair in zip(hypotheses, pairs, strict=True):
        if pair.coreference is not None:
            at = pair.coreference.target_pronoun
            right.append(at < len(words) and words[at] == pair.target_tokens[at])
    return sum(right) / len(right) if right else float("nan")
