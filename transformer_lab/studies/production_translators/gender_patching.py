"""Find where a gender is decided, by patching one sentence with another (lesson 18).

The study `gender` uses them.
"""

from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np

from transformer_lab.studies.production_translators.gender_detection import (
    Reading,
    find_choice,
    translate_questions,
)
from transformer_lab.studies.production_translators.gender_interventions import (
    PLACES,
    GenderBatch,
    batch_log_odds,
    cross_source_and_prefix,
    measure_patching,
)
from transformer_lab.studies.production_translators.gender_scores import (
    mean_and_interval,
    mean_per_pair,
)
from transformer_lab.studies.production_translators.gender_sentences import make_noun_questions
from transformer_lab.translator import Translator

PAIRS = 10  # of each frame
ADJECTIVE = "expensive"
NOUNS_TRIED = 70  # of each frame, so that ten pairs are found
CAUSE_FRAMES = ("is", "relative clause", "because", "two sentences")


def make_minimal_pairs(
    translator: Translator, language: str
) -> tuple[list[Reading], list[Reading], list[Reading]]:
    """Return readings of base sentences, of other-gender donors, and of same-gender donors.

    Sentences at the same index have the same frame, with their subwords at the same positions. The
    base sentences come in pairs, a masculine one followed by a feminine one. In the list of
    other-gender donors, the two are swapped.
    """
    base, other, same = [], [], []
    for frame in CAUSE_FRAMES:
        groups: dict[tuple[int, str], list[Reading]] = defaultdict(list)
        tried = make_noun_questions(language, frame, ADJECTIVE)
        tried = Random(18).sample(tried, len(tried))
        known = [q for q in tried if not translator.source_tokenizer.unknown(q.source)]
        for reading in translate_questions(translator, known[:NOUNS_TRIED], language):
            if reading.usable and reading.shown is not None:
                found = find_choice(translator, reading.question.source, reading.shown)
                if found is not None:
                    groups[len(found.source), reading.question.gender].append(reading)
        left = PAIRS
        for length in sorted({length for length, _ in groups}):
            m, f = (groups[length, gender] for gender in "mf")
            count = min(len(m), len(f), left)
            if count > 1:
                left -= count
                pairs = list(zip(m[:count], f[:count], strict=True))
                base += [one for pair in pairs for one in pair]
                other += [one for pair in pairs for one in pair[::-1]]
                same += [one for pair in pairs[1:] + pairs[:1] for one in pair]
    return base, other, same


def score_patching(
    translator: Translator, language: str, untrained: Sequence[Translator]
) -> dict[str, Any]:
    """Measure what moves a gender: states of the source, the whole source, or the prefix.

    Both sentences of a pair act as base and donor in turn, so intervals are over pairs.

    Returns:
        "sentences": the number of sentences in each frame.
        "pairs": the number of pairs.
        "moved": for each place and depth, the mean move towards the donor's gender as [mean, low,
            high].
        "moved_by_frame": the mean moves for each frame.
        "same_gender": the same as "moved" for the control, a donor of the base's gender.
        "right_before": the share of sentences with the right gender before patching.
        "donors_gender": the share with the donor's gender when all states after the last layer are
            replaced.
        "prefix": the result of `compare_source_and_prefix` for each frame, for "all", and for the
            controls "same gender" and "untrained".
    """
    base, other, same = (
        GenderBatch(translator, r) for r in make_minimal_pairs(translator, language)
    )
    frames = np.array([r.question.frame for r in base.readings])
    result: dict[str, Any] = {
        "sentences": {f: int((frames == f).sum()) for f in CAUSE_FRAMES},
        "pairs": len(base) // 2,
    }
    if not len(base):
        return result
    moved, before = measure_patching(base, other), batch_log_odds(base)
    control = measure_patching(base, same)
    has_it = base.at("it").any(dim=1).numpy()
    for name, found in (("moved", moved), ("same_gender", control)):
        result[name] = {
            place: [
                mean_and_interval(mean_per_pair(row[has_it] if place == "it" else row))
                for row in rows
            ]
            for place, rows in found.items()
        }
    result["moved_by_frame"] = {
        frame: {
            place: np.round(moved[place][:, frames == frame].mean(axis=1), 3).tolist()
            for place in PLACES
        }
        for frame in CAUSE_FRAMES
        if (frames == frame).any()
    }
    result["right_before"] = mean_and_interval(mean_per_pair(base.signs * before > 0))
    own_gender = base.signs * before - moved["everywhere"][-1] > 0
    result["donors_gender"] = mean_and_interval(mean_per_pair(~own_gender))
    result["prefix"] = {
        frame: compare_source_and_prefix(base, other, frames == frame)
        for frame in result["moved_by_frame"]
    }
    result["prefix"]["all"] = compare_source_and_prefix(base, other, frames != "")
    result["prefix"]["same gender"] = compare_source_and_prefix(base, same, frames != "")
    result["prefix"]["untrained"] = [
        compare_source_and_prefix(
            GenderBatch(t, base.readings), GenderBatch(t, other.readings), frames != ""
        )
        for t in untrained
    ]
    return result


def compare_source_and_prefix(
    base: GenderBatch, donor: GenderBatch, kept: np.ndarray
) -> dict[str, list[float]]:
    """Measure how far the genders of the source and of the prefix move the log-odds, in nats.

    `kept` marks the sentences to include. Each sentence of a pair acts as base and as donor.

    Returns:
        Each value as [mean, low, high]:

        "source": how far the source moves the log-odds.
        "prefix": how far the prefix moves the log-odds.
        "follows_prefix": the share of sentences whose log-odds follow the prefix's gender when the
            source has the other gender.
    """
    table = base.signs * cross_source_and_prefix(
        base, donor
    )  # [source][prefix], towards the base's gender
    own, other_prefix, other_source = table[0, 0], table[0, 1], table[1, 0]
    both = table[1, 1]
    follows = ((other_prefix < 0).astype(float) + (other_source > 0)) / 2
    return {
        "source": mean_and_interval(
            mean_per_pair(((own - other_source + other_prefix - both) / 2)[kept])
        ),
        "prefix": mean_and_interval(
            mean_per_pair(((own - other_prefix + other_source - both) / 2)[kept])
        ),
        "follows_prefix": mean_and_interval(mean_per_pair(follows[kept])),
    }
