"""Lesson 18: what do the heads of three translators look at, on sentences whose grammar is known?

    python -m transformer_lab.studies.production_translators.heads

Each trained model is examined, and so are untrained copies of it with three seeds. Attention
between subwords is always merged into attention between words.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from jaxtyping import Float

from transformer_lab.attention.record import AttentionRecord
from transformer_lab.attention.scores import entropy
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.world.grammar import world
from transformer_lab.evaluation.alignments import Link, align_words, split_words
from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.common.untrained import untrained_translator
from transformer_lab.studies.finding_the_noun.relation_scores import (
    encoder_word_maps,
    score_relations,
)
from transformer_lab.studies.production_translators.hand_marked import HAND_MARKED
from transformer_lab.studies.production_translators.models import (
    DEBIAN,
    MODELS,
    PRODUCTION,
    TOY,
    load_translator,
)
from transformer_lab.studies.production_translators.texts import (
    find_word_numbers,
    load_grammatical_sentences,
    load_real_sentences,
    merge_pieces,
    shuffle_words,
)
from transformer_lab.translator import Translator

NAME = "heads"
SENTENCES = 360
REAL = 320
CORPUS = {PRODUCTION: "debian:pt_BR", DEBIAN: "debian:fr", TOY: "world"}
NUM_EXTRA_PAIRS = 12_000
"""The number of pairs that the aligner learns from, in addition to the sentences to align."""
GRID: list[Setting] = [{"model": name, "trained": True} for name in MODELS] + [
    {"model": name, "trained": False, "seed": seed} for name in MODELS for seed in (0, 1, 2)
]


def run(setting: Setting) -> dict[str, Any]:
    """Score all heads of one model.

    Returns:
        "heads": the result of `score_positions`.
        "relations": the result of `score_relations` on sentences of the bilingual world.
        "hand": the same on sentences marked by hand, except for the toy model.
        "cross": the result of `score_alignments` on the trained model's own translations (see
            `align_translations`), plus "sentences", the number of these translations.
        "aligner": the result of `score_aligner`, only for the first run.
    """
    name = setting["model"]
    known = load_translator(name)
    translator = known if setting["trained"] else untrained_translator(known, setting["seed"])
    marked = load_grammatical_sentences(name, SENTENCES)
    found = {
        "heads": score_positions(
            translator, [m.text for m in marked] if name == TOY else load_real_sentences(name, REAL)
        ),
        "relations": score_relations(translator, marked),
    }
    if name != TOY:
        found["hand"] = score_relations(translator, HAND_MARKED)
    if setting == GRID[0]:
        found["aligner"] = score_aligner()
    aligned = align_translations(name, known)
    scores = score_alignments(translator, aligned)
    return found | {"cross": scores | {"sentences": len(aligned)}}


# ---------------------------------------------------------------- where heads look


def score_positions(translator: Translator, texts: Sequence[str]) -> dict[str, Any]:
    """Measure each encoder head's mean attention between words.

    Returns:
        Except for "sentences", nested lists indexed by layer and head:

        "previous": the mean weight that a word's row puts on the word before.
        "next": the mean weight on the word after.
        "same": the mean weight on the word itself.
        "end": the mean weight on eos.
        "stop": the mean weight on the last word or punctuation mark of the sentence.
        "shuffled previous", "shuffled next" and "shuffled same": the same with the words shuffled.
        "entropy": the mean entropy of a row, as a share of its maximum.
        "sentences": the number of sentences that were read.
    """
    sums: dict[str, list[np.ndarray]] = {}
    mixed = [shuffle_words(text, number) for number, text in enumerate(texts)]
    for prefix, read in (("", texts), ("shuffled ", mixed)):
        for maps in encoder_word_maps(translator, [(text, split_words(text)) for text in read]):
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


def score_alignments(
    translator: Translator, aligned: Sequence[tuple[str, str, Sequence[Link]]]
) -> dict[str, Any]:
    """Compare each cross-attention head with word alignments.

    Args:
        translator: Any translator; weights between subwords are merged.
        aligned: For each sentence, its source, its target, and the links between their words. The
            words are those of `split_words`, and the links are as `align_words` returns them.

    Returns:
        Except for "links", nested lists indexed by layer and head:

        "aligned": the share of linked target words whose largest weight is on their source word.
        "before": the share whose largest weight is on the word before that source word.
        "after": the share whose largest weight is on the word after it.
        "links": the number of links.
    """
    right: dict[str, list[np.ndarray]] = {"aligned": [], "before": [], "after": []}
    for source, target, links in aligned:
        record = translator.attend(source, target)
        maps = cross_word_maps(record, source, target)
        if maps is None:
            continue
        for s, t in links:
            if not maps[0, 0, t].any() or not maps[:, :, :, s].any():
                continue  # no piece of its own
            largest = maps[:, :, t, :-1].argmax(axis=-1)
            for word, offset in (("aligned", 0), ("before", -1), ("after", 1)):
                right[word].append(largest == s + offset)
    found: dict[str, Any] = {k: np.round(np.mean(v, axis=0), 3).tolist() for k, v in right.items()}
    return found | {"links": len(right["aligned"])}


def cross_word_maps(
    record: AttentionRecord, source: str, target: str
) -> Float[np.ndarray, "layer head word word"] | None:
    """Return the cross-attention weights from written words to source words.

    The last row and column are eos. The result is None if the subwords of one side do not spell its
    words.
    """
    written, read = split_words(target), split_words(source)
    rows, columns = (
        find_word_numbers(record.written_tokens, written),
        find_word_numbers(record.source_tokens, read),
    )
    if rows is None or columns is None:
        return None
    sides = (rows, len(written)), (columns, len(read))
    return np.stack([merge_pieces(layer, *sides) for layer in record.cross])


@cache
def align_translations(
    name: str, known: Translator
) -> list[tuple[str, str, tuple[tuple[int, int], ...]]]:
    """Return the sources, the model's greedy translations, and the links between their words."""
    sources = load_real_sentences(name, REAL)
    written = [one.translation for one in known.translate(sources, beam_size=1, max_length=60)]
    texts = [(split_words(s), split_words(t)) for s, t in zip(sources, written, strict=True)]
    train = find_corpus(CORPUS[name]).splits().train[:NUM_EXTRA_PAIRS]
    extra = [(split_words(pair.source), split_words(pair.target)) for pair in train]
    links = align_words([*texts, *extra])[: len(texts)]
    return list(zip(sources, written, links, strict=True))


def score_aligner() -> dict[str, float]:
    """Return the precision and recall of `align_words` on the bilingual world's known links."""
    pairs = world(20_000, seed=0).train[:NUM_EXTRA_PAIRS]
    found = align_words([(pair.source_tokens, pair.target_tokens) for pair in pairs])
    both = sum(len({*f} & {*p.alignment}) for f, p in zip(found, pairs, strict=True))
    return {
        "precision": round(both / sum(map(len, found)), 3),
        "recall": round(both / sum(len(pair.alignment) for pair in pairs), 3),
    }


if __name__ == "__main__":
    run_study_command(NAME, run, GRID)
