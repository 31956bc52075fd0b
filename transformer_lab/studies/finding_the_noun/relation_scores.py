"""Scores for heads on grammatical relations: the best head against the best fixed offset.

The studies `heads` (lesson 18) and `emergence` use them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float

from transformer_lab.attention.capture import capture_attention
from transformer_lab.studies.common.intervals import clustered_mean_interval, round_interval
from transformer_lab.studies.production_translators.texts import (
    MarkedSentence,
    find_word_numbers,
    merge_pieces,
)
from transformer_lab.translator import Translator

BATCH_SIZE = 32
OFFSETS = range(-6, 7)

Maps = Float[np.ndarray, "layer head word word"]


@torch.no_grad()
def encoder_word_maps(
    translator: Translator, texts: Sequence[tuple[str, Sequence[str]]]
) -> list[Maps | None]:
    """Return the encoder's attention weights between the words of each sentence, with eos last.

    The entry of a sentence is None if its subwords do not spell its words.
    """
    found: list[Maps | None] = []
    for start in range(0, len(texts), BATCH_SIZE):
        some = texts[start : start + BATCH_SIZE]
        encoded = [translator.encode(text) for text, _ in some]
        ids, mask = translator.batch(encoded)
        with capture_attention(translator.model) as capture:
            translator.model.encode(ids, mask)
        layers = np.stack(capture.encoder, axis=1)
        for weights, piece_ids, (_, words) in zip(layers, encoded, some, strict=True):
            n = len(piece_ids)
            places = find_word_numbers(translator.source_tokenizer.tokens(piece_ids), words)
            sides = None if places is None else (places, len(words))
            cut = weights[..., :n, :n]
            found.append(sides and np.stack([merge_pieces(one, sides, sides) for one in cut]))
    return found


def score_relations(translator: Translator, sentences: Sequence[MarkedSentence]) -> dict[str, Any]:
    """Find the best encoder head and the best fixed offset for each relation and direction.

    A relation links two words. A head finds a link if, in the row of one word, the largest weight
    (ignoring eos) is on the other word. The head and the offset are chosen on even-numbered
    sentences and measured on odd ones. Keys such as "nsubj to head" hold the results of
    `compare_with_offset`.
    """
    maps = encoder_word_maps(translator, [(m.text, m.words) for m in sentences])
    together: dict[str, Any] = {}
    for relation in sentences[0].links:
        for way in ("to head", "to dependent"):
            links, right, offsets = [], [], []
            for number, (sentence, found) in enumerate(zip(sentences, maps, strict=True)):
                for dependent, head in sentence.links[relation]:
                    start, end = (dependent, head) if way == "to head" else (head, dependent)
                    if found is None:
                        continue
                    links.append(number)
                    right.append(found[:, :, start, :-1].argmax(axis=-1) == end)
                    offsets.append([end - start == offset for offset in OFFSETS])
            if links:
                together[f"{relation} {way}"] = compare_with_offset(
                    np.array(links), np.array(right), np.array(offsets)
                )
    return together


def compare_with_offset(
    sentence: np.ndarray,
    right: Bool[np.ndarray, "link layer head"],
    offsets: Bool[np.ndarray, "link offset"],
) -> dict[str, Any]:
    """Compare the best head with the best fixed offset between the two words of a link.

    Both are chosen on even-numbered sentences and measured on odd ones.

    Args:
        sentence: For each link, the index of its sentence, (link,).
        right: Whether each head finds each link.
        offsets: Whether each of `OFFSETS` finds each link.

    Returns:
        "links": the number of links.
        "head": the chosen head, as [layer, head].
        "offset": the chosen offset.
        "right": the share of links in the odd sentences that the head finds.
        "by offset": the share of links in the odd sentences that the offset finds.
        "better": the 95% interval of the difference between these two shares, with whole sentences
            resampled.
        "all": the share of links in all sentences that each head finds, as a nested list indexed
            by layer and head.
        "offsets": the share of links in all sentences that each offset finds.
    """
    even, odd = sentence % 2 == 0, sentence % 2 == 1
    shares = right[even].mean(axis=0)
    layer, head = np.unravel_index(shares.argmax(), shares.shape)
    offset = int(offsets[even].mean(axis=0).argmax())
    ours, fixed = right[odd][:, layer, head], offsets[odd][:, offset]
    better = clustered_mean_interval(ours.astype(float) - fixed, sentence[odd])
    return {
        "links": len(right),
        "head": [int(layer), int(head)],
        "right": round(float(ours.mean()), 3),
        "offset": OFFSETS[offset],
        "by offset": round(float(fixed.mean()), 3),
        "better": round_interval(better, 3),
        "all": np.round(right.mean(axis=0), 3).tolist(),
        "offsets": np.round(offsets.mean(axis=0), 3).tolist(),
    }
