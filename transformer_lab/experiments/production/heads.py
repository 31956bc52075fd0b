"""Lesson 18: what the heads of three translators look at, on sentences whose grammar is known.

    python -m transformer_lab.experiments.production.heads

Each model as it is, and untrained with three seeds. Pieces are joined to words throughout.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from transformer_lab.attention_record import AttentionRecord
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import world
from transformer_lab.evaluation.alignment import entropy
from transformer_lab.experiments.production.alignments import align, words_of
from transformer_lab.experiments.production.hand_marked import HAND_MARKED
from transformer_lab.experiments.production.models import (
    DEBIAN,
    MODELS,
    PRODUCTION,
    TOY,
    translator,
    untrained,
)
from transformer_lab.experiments.production.texts import (
    between_words,
    grammatical,
    places_of,
    real,
    shuffled,
)
from transformer_lab.experiments.relation_scores import encoder_maps, scored
from transformer_lab.experiments.study import Setting, command
from transformer_lab.translator import Translator

NAME = "production.heads"
SENTENCES = 360
REAL = 320
CORPUS = {PRODUCTION: "debian:pt_BR", DEBIAN: "debian:fr", TOY: "world"}
BESIDE = 12_000
"""Pairs of the corpus that the aligner learns from, beside those asked."""
GRID: list[Setting] = [{"model": name, "trained": True} for name in MODELS] + [
    {"model": name, "trained": False, "seed": seed} for name in MODELS for seed in (0, 1, 2)
]


def run(setting: Setting) -> dict[str, Any]:
    """All heads of one model; the parts are described at the functions."""
    name = setting["model"]
    known = translator(name)
    asked = known if setting["trained"] else untrained(known, setting["seed"])
    marked = grammatical(name, SENTENCES)
    found = {
        "heads": kinds(asked, [m.text for m in marked] if name == TOY else real(name, REAL)),
        "relations": scored(asked, marked),
    }
    if name != TOY:
        found["hand"] = scored(asked, HAND_MARKED)
    if setting == GRID[0]:
        found["aligner"] = aligner_on_the_world()
    return found | {"cross": alignments(name, asked, known)}


# ---------------------------------------------------------------- where heads look


def kinds(asked: Translator, texts: Sequence[str]) -> dict[str, Any]:
    """Mean weight of each encoder head (layer, head) on a place that is the same in all sentences.

    "previous", "next", "same": the word before, after, and the word itself. "end": the sentence's
    end. "stop": the last word or sign before it. "shuffled" has the first three again with the words
    in another order. "entropy" is a share of its greatest.
    """
    sums: dict[str, list[np.ndarray]] = {}
    mixed = [shuffled(text, number) for number, text in enumerate(texts)]
    for prefix, read in (("", texts), ("shuffled ", mixed)):
        for maps in encoder_maps(asked, [(text, words_of(text)) for text in read]):
            if maps is None:
                continue
            n = maps.shape[-1] - 1  # words
            rows = maps[:, :, :n]
            for word, offset in (("previous", -1), ("next", 1), ("same", 0)):
                diagonal = np.diagonal(rows[..., :n], offset, axis1=2, axis2=3)
                sums.setdefault(prefix + word, []).append(diagonal.mean(axis=-1))
            if not prefix:
                sums.setdefault("end", []).append(rows[..., n].mean(axis=-1))
                sums.setdefault("stop", []).append(rows[..., n - 1].mean(axis=-1))
                flat = rows.reshape(-1, n, n + 1)
                spread = np.array([entropy(one) for one in flat]) / np.log(n + 1)
                sums.setdefault("entropy", []).append(spread.reshape(maps.shape[:2]))
    found: dict[str, Any] = {k: np.round(np.mean(v, axis=0), 3).tolist() for k, v in sums.items()}
    return found | {"sentences": len(sums["end"])}


# ---------------------------------------------------------------- cross-attention


def alignments(name: str, asked: Translator, known: Translator) -> dict[str, Any]:
    """For each cross head the share of target words whose largest weight lies on the aligned word.

    The texts are the trained model's own, the gold is that of `align`. "before" and "after" count
    the neighbours of the aligned word in the source.
    """
    pairs = gold(name, known)
    right: dict[str, list[np.ndarray]] = {"aligned": [], "before": [], "after": []}
    for source, target, links in pairs:
        record = asked.attend(source, target)
        maps = cross_maps(record, source, target)
        if maps is None:
            continue
        for s, t in links:
            if not maps[0, 0, t].any() or not maps[:, :, :, s].any():
                continue  # no piece of its own
            largest = maps[:, :, t, :-1].argmax(axis=-1)
            for word, offset in (("aligned", 0), ("before", -1), ("after", 1)):
                right[word].append(largest == s + offset)
    found: dict[str, Any] = {k: np.round(np.mean(v, axis=0), 3).tolist() for k, v in right.items()}
    return found | {"links": len(right["aligned"]), "sentences": len(pairs)}


def cross_maps(
    record: AttentionRecord, source: str, target: str
) -> Float[np.ndarray, "layer head word word"] | None:
    """Cross-attention between the words that are written and those of the source."""
    written, read = words_of(target), words_of(source)
    rows, columns = places_of(record.written_tokens, written), places_of(record.source_tokens, read)
    if rows is None or columns is None:
        return None
    sides = (rows, len(written)), (columns, len(read))
    return np.stack([between_words(layer, *sides) for layer in record.cross])


@cache
def gold(name: str, known: Translator) -> list[tuple[str, str, tuple[tuple[int, int], ...]]]:
    """Sources, the model's own translations (greedy), and the links between their words."""
    sources = real(name, REAL)
    written = [one.translation for one in known.translate(sources, beam_size=1, max_length=60)]
    asked = [(words_of(s), words_of(t)) for s, t in zip(sources, written, strict=True)]
    train = find_corpus(CORPUS[name]).splits().train[:BESIDE]
    beside = [(words_of(pair.source), words_of(pair.target)) for pair in train]
    links = align([*asked, *beside])[: len(asked)]
    return list(zip(sources, written, links, strict=True))


def aligner_on_the_world() -> dict[str, float]:
    """Precision and recall of `align` where the gold is known: on the grammar's own pairs."""
    pairs = world(20_000, seed=0).train[:BESIDE]
    found = align([(pair.source_tokens, pair.target_tokens) for pair in pairs])
    both = sum(len({*f} & {*p.alignment}) for f, p in zip(found, pairs, strict=True))
    return {
        "precision": round(both / sum(map(len, found)), 3),
        "recall": round(both / sum(len(pair.alignment) for pair in pairs), 3),
    }


if __name__ == "__main__":
    command(NAME, run, GRID)
