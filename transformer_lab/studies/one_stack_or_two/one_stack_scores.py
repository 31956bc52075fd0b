"""Scores for lesson 16's trained translators: loss, translation quality and attention.

The study `one_stack` uses them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from jaxtyping import Float

from transformer_lab.attention.scores import alignment_error_rate, strongest_links
from transformer_lab.data.batching import Example, buckets, encode_pairs, encode_source
from transformer_lab.data.corpus import Tokenizers
from transformer_lab.data.pair import SentencePair
from transformer_lab.data.world.grammar import WorldPair
from transformer_lab.evaluation.bleu import exact_match, score
from transformer_lab.evaluation.pronouns import pronoun_accuracy
from transformer_lab.studies.one_stack_or_two.one_stack_training import RECIPE
from transformer_lab.studies.one_stack_or_two.one_stack_translator import (
    StackTranslator,
    write_greedily,
)


@torch.inference_mode()
def held_out_loss(translator: StackTranslator, examples: Sequence[Example]) -> float:
    """Return the mean cross-entropy of these examples' target words, in nats."""
    total, words = 0.0, 0
    for group in buckets(examples, 4 * RECIPE.batch_tokens):
        logits, right = translator.logits(group)
        total += F.cross_entropy(logits, right, reduction="sum").item()
        words += len(right)
    return round(total / words, 5)


def score_greedy(
    translator: StackTranslator, tokenizers: Tokenizers, pairs: Sequence[SentencePair]
) -> dict[str, float]:
    """Return the exact match (0 to 1) and BLEU (0 to 100) of greedy translations.

    For pairs of the bilingual world, it also returns "pronouns", the pronoun accuracy (0 to 1).
    """
    source_tokenizer, tokenizer = tokenizers
    written = write_greedily(
        translator, [encode_source(pair.source, source_tokenizer) for pair in pairs]
    )
    texts, references = [tokenizer.decode(ids) for ids in written], [pair.target for pair in pairs]
    found = {
        "exact_match": exact_match(texts, references),
        "bleu": round(score(texts, references).bleu, 2),
    }
    world = [pair for pair in pairs if isinstance(pair, WorldPair)]
    if world:
        tokens = [tokenizer.tokens(ids) for ids in written]
        found["pronouns"] = round(pronoun_accuracy(tokens, world), 4)
    return found


def score_attention(
    translator: StackTranslator, tokenizers: Tokenizers, pairs: Sequence[WorldPair]
) -> dict[str, Any]:
    """Find the head that aligns words best, and measure the attention on the source.

    Returns:
        "aligner" and "alignment_error": the result of `find_best_aligner`.
        "on_source": for each layer, the mean weight that a target word's row puts on all source
            words together, from 0 to 1.
    """
    maps = [translator.looks(example) for example in encode_pairs(pairs, *tokenizers)]
    errors = np.array(
        [
            [[head_alignment_error(head, pair) for head in layer] for layer in layers]
            for layers, pair in zip(maps, pairs, strict=True)
        ]
    )  # (pairs, layers, heads)
    on_source = np.array([[layer.sum(axis=-1).mean() for layer in layers] for layers in maps])
    return {
        **find_best_aligner(errors),
        "on_source": [round(float(share), 4) for share in on_source.mean(axis=0)],
    }


def find_best_aligner(errors: Float[np.ndarray, "pairs layers heads"]) -> dict[str, Any]:
    """Find the head with the smallest mean alignment error rate.

    Returns:
        "aligner": the head as "layer.head", counted from 1, chosen on every second sentence.
        "alignment_error": its mean error rate on the other sentences, from 0 to 1.
    """
    chosen, measured = errors[::2].mean(axis=0), errors[1::2].mean(axis=0)
    layer, head = np.unravel_index(chosen.argmin(), chosen.shape)
    error = round(float(measured[layer, head]), 4)
    return {"aligner": f"{layer + 1}.{head + 1}", "alignment_error": error}


def head_alignment_error(weights: np.ndarray, pair: WorldPair) -> float:
    """Return the alignment error rate of one head.

    Each target word is linked to the source word to which it gives the largest weight. `weights` is
    (steps, source).
    """
    steps = sorted({step for _, step in pair.alignment})
    return alignment_error_rate(strongest_links(weights, steps), pair.alignment)
