"""The parts of the study of gender that look inside: patching, muting, pointing, probes."""

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import torch

from transformer_lab.attention_record import Head
from transformer_lab.experiments.probe import linear_probe
from transformer_lab.experiments.production.gender_causes import (
    PLACES,
    Asked,
    all_heads,
    crossed,
    odds,
    on_the_nouns,
    pointed,
    states,
    towards_the_donor,
)
from transformer_lab.experiments.production.gender_reading import Reading, choice, read
from transformer_lab.experiments.production.gender_scores import effects, interval
from transformer_lab.experiments.production.gender_sentences import FRAMES, one_noun
from transformer_lab.translator import Translator

LIMIT = 0.25
"""Nats. A change whose interval does not reach this far from 0 is none that this study speaks of."""
PAIRS = 10  # of each frame
ADJECTIVE = "expensive"
NOUNS_TRIED = 70  # of each frame, so that ten pairs are found
CAUSE_FRAMES = ("is", "relative clause", "because", "two sentences")
PROBE_FRAME = "because"
FOLDS, SHUFFLES = 5, 3
SET, RANDOM_SETS = 4, 20
POINTED = 32  # pairs


def minimal_pairs(
    translator: Translator, language: str
) -> tuple[list[Reading], list[Reading], list[Reading]]:
    """Sentences, those with a noun of the other gender, and those with another noun of the same.

    All three stand in the same frames and have their pieces at the same places. Each sentence is base
    once, so half of them are masculine.
    """
    base, other, same = [], [], []
    for frame in CAUSE_FRAMES:
        groups: dict[tuple[int, str], list[Reading]] = defaultdict(list)
        tried = one_noun(language, frame, ADJECTIVE)
        tried = Random(18).sample(tried, len(tried))
        known = [q for q in tried if not translator.source_tokenizer.unknown(q.source)]
        for reading in read(translator, known[:NOUNS_TRIED], language):
            if reading.usable and reading.shown is not None:
                found = choice(translator, reading.question.source, reading.shown)
                if found is not None:
                    groups[len(found.source), reading.question.gender].append(reading)
        left = PAIRS
        for length in sorted({length for length, _ in groups}):
            m, f = (groups[length, gender] for gender in "mf")
            count = min(len(m), len(f), left)
            if count > 1:
                m, f, left = m[:count], f[:count], left - count
                base += m + f
                other += f + m
                same += m[1:] + m[:1] + f[1:] + f[:1]
    return base, other, same


def patching(
    translator: Translator, language: str, untrained: Sequence[Translator]
) -> dict[str, Any]:
    """What moves a gender: the source's states by place and depth, the whole source, the prefix.

    `moved[place]` has for each depth the mean move towards the donor's gender with its interval;
    `moved_by_frame` the means alone. `same_gender` is the control, a donor of the base's gender.
    """
    base, other, same = (Asked(translator, r) for r in minimal_pairs(translator, language))
    frames = np.array([r.question.frame for r in base.readings])
    result: dict[str, Any] = {"sentences": {f: int((frames == f).sum()) for f in CAUSE_FRAMES}}
    if not len(base):
        return result
    moved, before = towards_the_donor(base, other), odds(base)
    control = towards_the_donor(base, same)
    has_it = base.at("it").any(dim=1).numpy()
    for name, found in (("moved", moved), ("same_gender", control)):
        result[name] = {
            place: [interval(row[has_it] if place == "it" else row) for row in found[place]]
            for place in PLACES
        }
    result["moved_by_frame"] = {
        frame: {
            place: np.round(moved[place][:, frames == frame].mean(axis=1), 3).tolist()
            for place in PLACES
        }
        for frame in CAUSE_FRAMES
        if (frames == frame).any()
    }
    result["right_before"] = interval(base.signs * before > 0)
    result["donors_gender"] = interval(base.signs * before - moved["everywhere"][-1] < 0)
    result["prefix"] = {
        frame: source_and_prefix(base, other, frames == frame) for frame in result["moved_by_frame"]
    }
    result["prefix"]["all"] = source_and_prefix(base, other, frames != "")
    result["prefix"]["same gender"] = source_and_prefix(base, same, frames != "")
    result["prefix"]["untrained"] = [
        source_and_prefix(Asked(t, base.readings), Asked(t, other.readings), frames != "")
        for t in untrained
    ]
    return result


def source_and_prefix(base: Asked, donor: Asked, kept: np.ndarray) -> dict[str, list[float]]:
    """How far the source's gender moves the log-odds, and how far the prefix's, in nats.

    `follows_prefix` is the share of those with a source of one gender and a prefix of the other whose
    odds have the prefix's gender.
    """
    table = base.signs * crossed(base, donor)  # [source][prefix], towards the base's gender
    own, other_prefix, other_source = table[0, 0], table[0, 1], table[1, 0]
    both = table[1, 1]
    return {
        "source": interval(((own - other_source + other_prefix - both) / 2)[kept]),
        "prefix": interval(((own - other_prefix + other_source - both) / 2)[kept]),
        "follows_prefix": interval(
            np.concatenate([other_prefix[kept] < 0, other_source[kept] > 0])
        ),
    }


def heads(translator: Translator, language: str) -> dict[str, Any]:
    """What each head, muted, does to the log-odds of sentences with one noun.

    For each head [mean change towards the right gender, low, high, mean change towards masculine].
    The four whose muting costs most in half of the sentences are muted together in the other half,
    beside random fours of the others.
    """
    base = Asked(translator, minimal_pairs(translator, language)[0])
    before, signs = odds(base), base.signs
    changes = {h: odds(base, mute=[h]) - before for h in all_heads(translator)}
    half = np.arange(len(base)) % 2 == 0
    order = sorted(changes, key=lambda h: (signs * changes[h])[half].mean())
    chosen, others = order[:SET], order[SET:]
    rng = np.random.default_rng(18)

    def together(muted: Sequence[Head]) -> np.ndarray:
        return (signs * (odds(base, mute=muted) - before))[~half]

    drawn = [rng.choice(len(others), SET, replace=False) for _ in range(RANDOM_SETS)]
    return {
        "limit": LIMIT,
        "sentences": len(base),
        "right_margin": interval(signs * before),
        "heads": [
            [*head, *interval(signs * change), round(float(change.mean()), 3)]
            for head, change in changes.items()
        ],
        "four": {"heads": chosen, "change": interval(together(chosen))},
        "random_fours": [
            round(float(together([others[i] for i in draw]).mean()), 3) for draw in drawn
        ],
    }


def pointing(translator: Translator, couples: Sequence[tuple[Reading, Reading]]) -> dict[str, Any]:
    """What the row of "it" does in the pairs, for each encoder head.

    `heads`: layer, head, its weight on the right noun and on the other one, how far the log-odds
    move towards the right gender when it is pointed at the right noun instead of the other (mean,
    low, high), and the `referent` effect when it is muted. `layers`: all heads of a layer pointed.
    """
    drawn = Random(18).sample(couples, len(couples))
    couples = [
        couple
        for gender in "mf"
        for couple in [c for c in drawn if c[0].question.genders[0] == gender][: POINTED // 2]
    ]
    asked = Asked(translator, [one for couple in couples for one in couple])
    masculine = np.array([a.question.genders[0] == "m" for a, _ in couples])
    weights = on_the_nouns(asked)

    def turned(heads: Sequence[Head]) -> list[float]:
        right, other = (pointed(asked, heads, word) for word in ("noun", "other noun"))
        return interval(asked.signs * (right - other))

    def referent(mute: Sequence[Head]) -> list[float]:
        return effects(odds(asked, mute=mute).reshape(-1, 2), masculine)["referent"]

    layers, number = weights.shape[:2]
    rows = [
        [
            *(layer, h, *np.round(weights[layer, h].astype(float), 3).tolist()),
            *turned([Head("encoder", layer, h)]),
            *referent([Head("encoder", layer, h)]),
        ]
        for layer in range(layers)
        for h in range(number)
    ]
    return {
        "limit": LIMIT,
        "pairs": len(couples),
        "heads": rows,
        "layers": [turned([Head("encoder", la, h) for h in range(number)]) for la in range(layers)],
        "unmuted": referent([]),
    }


def probes(
    translator: Translator,
    language: str,
    couples: Sequence[tuple[Reading, Reading]],
    untrained: Sequence[Translator],
) -> dict[str, Any]:
    """How well a line reads the noun's gender off the stream, for nouns that it did not learn on.

    For each word and depth the accuracy over FOLDS of held-out nouns: of the model, of the same with
    shuffled genders, and untrained. `pairs`: the line learnt at "it" in sentences with one noun is
    asked at "it" of the pairs; how often it gives the right noun's gender, and the first noun's.
    """
    readings = [
        r for r in read(translator, one_noun(language, PROBE_FRAME, "old"), language) if r.usable
    ]
    single = Asked(translator, readings)
    genders = torch.tensor(single.signs > 0).float()
    shuffled = [
        genders[torch.randperm(len(genders), generator=torch.Generator().manual_seed(seed))]
        for seed in range(SHUFFLES)
    ]
    words = ("noun", "it", "adjective")
    at = {word: mean_states(single, word) for word in words}
    bare = {
        word: [mean_states(Asked(t, single.readings), word) for t in untrained] for word in words
    }
    double = Asked(translator, [one for couple in couples for one in couple])
    right = double.signs > 0
    first = np.array([r.question.genders[0] == "m" for r in double.readings])
    asked = mean_states(double, "it")
    return {
        "frame": FRAMES[PROBE_FRAME],
        "nouns": {g: int((single.signs == s).sum()) for g, s in (("m", 1), ("f", -1))},
        "accuracy": {w: [folds(x, genders) for x in at[w]] for w in words},
        "shuffled": {w: [[folds(x, y) for x in at[w]] for y in shuffled] for w in words},
        "untrained": {
            w: [[folds(x, genders) for x in states] for states in bare[w]] for w in words
        },
        "pairs": {
            name: [
                round(linear_probe(x, genders, y, torch.tensor(truth).float()), 3)
                for x, y in zip(at["it"], asked, strict=True)
            ]
            for name, truth in (("right noun", right), ("first noun", first))
        },
    }


def mean_states(asked: Asked, word: str) -> torch.Tensor:
    """The stream at a word, the mean over its pieces: (depth, sentences, d_model)."""
    mask = asked.at(word).float()
    total = torch.einsum("dsqm,sq->dsm", states(asked), mask)
    return total / mask.sum(dim=1)[:, None]


def folds(x: torch.Tensor, y: torch.Tensor) -> float:
    """The accuracy of a linear probe on nouns that it has not seen, each asked once."""
    number = torch.arange(len(x)) % FOLDS
    right = [
        linear_probe(x[number != k], y[number != k], x[number == k], y[number == k])
        * int((number == k).sum())
        for k in range(FOLDS)
    ]
    return round(sum(right) / len(x), 3)
