"""Interventions that show which heads, and which of their rows, a translator needs for the pronoun.

Lesson 12 and the studies of pronouns use them.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from jaxtyping import Float

from transformer_lab.attention.capture import AttentionCapture, capture_attention
from transformer_lab.attention.record import Head, Kind, PatchFunction
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.studies.finding_the_noun.pronoun_heads import ROWS
from transformer_lab.studies.finding_the_noun.pronoun_sentences import get_coreference, make_batch
from transformer_lab.translator import Translator


def predict_pronouns(
    translator: Translator,
    pairs: Sequence[WorldPair],
    mute: Sequence[Head] = (),
    patch: Mapping[Head, np.ndarray | PatchFunction] | None = None,
) -> tuple[AttentionCapture, list[str]]:
    """Return the attention in a teacher-forced pass, and the word predicted for each pronoun.

    That word is the most probable one at the pronoun's step, given the reference's words before it.

    Args:
        translator: The translator to examine.
        pairs: Sentences with a pronoun.
        mute: The heads to mute.
        patch: For some heads, the weights (sentence, query, key) that replace their own, or a
            function that computes the new weights from the old.
    """
    batch = make_batch(translator, pairs)
    translator.model.eval()
    with torch.no_grad(), capture_attention(translator.model, mute=mute, patch=patch) as capture:
        logits = translator.model(batch.source, batch.target_input)
    steps = torch.tensor([get_coreference(pair).target_pronoun for pair in pairs])
    best = logits.argmax(dim=-1)[torch.arange(len(pairs)), steps]
    return capture, translator.target_tokenizer.tokens(best.tolist())


def are_pronouns_right(written: Sequence[str], pairs: Sequence[WorldPair]) -> np.ndarray:
    """Return whether each written word is the reference's pronoun, (sentence,)."""
    right = [pair.target_tokens[get_coreference(pair).target_pronoun] for pair in pairs]
    return np.array(written) == np.array(right)


def pronoun_accuracy_without_head(
    translator: Translator, pairs: Sequence[WorldPair]
) -> dict[str, list[list[float]]]:
    """Return the pronoun accuracy with each head muted in turn.

    For each kind of attention, the result has a nested list, indexed as [layer][head].
    """
    config = translator.model.config
    depths: dict[Kind, int] = {
        "encoder": config.num_encoder_layers,
        "decoder": config.num_decoder_layers,
        "cross": config.num_decoder_layers,
    }

    def right(head: Head) -> float:
        _, written = predict_pronouns(translator, pairs, mute=[head])
        return round(float(are_pronouns_right(written, pairs).mean()), 4)

    heads = range(config.num_heads)
    return {
        kind: [[right(Head(kind, layer, head)) for head in heads] for layer in range(layers)]
        for kind, layers in depths.items()
    }


def pronouns_changed_by_pointing(
    translator: Translator, pairs: Sequence[WorldPair], row: str
) -> list[list[float]]:
    """Return the share of pronouns that change when one head's row looks at the wrong noun.

    In the encoder row named by `row` ("it" or "decider"), all the weight is moved to the noun that
    is not the referent. If both nouns have the same gender, the pronoun has no reason to change.

    Returns:
        The share for each encoder head, as a nested list indexed by layer and head.
    """
    capture, before = predict_pronouns(translator, pairs)

    def measure_change(head: Head) -> float:
        maps = capture.encoder[head.layer][:, head.head]
        patch = np.stack(
            [
                point(
                    weights, getattr(get_coreference(pair), ROWS[row]), get_coreference(pair).other
                )
                for weights, pair in zip(maps, pairs, strict=True)
            ]
        )
        _, after = predict_pronouns(translator, pairs, patch={head: patch})
        return round(float(np.mean(np.array(before) != np.array(after))), 4)

    config = translator.model.config
    return [
        [measure_change(Head("encoder", layer, head)) for head in range(config.num_heads)]
        for layer in range(config.num_encoder_layers)
    ]


def point(
    weights: Float[np.ndarray, "query key"], query: int, key: int
) -> Float[np.ndarray, "query key"]:
    """Return a copy of an attention map in which row `query` puts all its weight on `key`.

    The other rows are unchanged.
    """
    pointed = np.array(weights)
    pointed[query] = 0
    pointed[query, key] = 1
    return pointed
