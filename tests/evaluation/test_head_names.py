"""Names of heads: each behaviour is made by hand, and gets its name; what shows none is mixed."""

from dataclasses import replace

import numpy as np
import pytest

from tests.records import make_record
from transformer_lab.attention.head_names import BEHAVIOURS, MIXED, name_heads
from transformer_lab.attention.record import Head, Referent

WHO = Referent(pronoun=4, referent=1, other=3, step=2, decider=5)
GOLD = ((1, 0), (2, 1), (2, 2), (0, 3))
QUERIES, KEYS = 5, 7


def spread_over(shape: tuple[int, int], *, causal: bool = False) -> np.ndarray:
    """Even rows, as a head has them that looks nowhere in particular."""
    rows = np.ones(shape)
    if causal:
        rows = np.tril(rows)
    return rows / rows.sum(axis=1, keepdims=True)


def point(weights: np.ndarray, query: int, key: int, share: float) -> np.ndarray:
    """These weights with a share of one row given to one key; the others shrink alike."""
    weights = weights.copy()
    others = 1 - weights[query, key]
    weights[query] *= (1 - share) / others
    weights[query, key] = share
    return weights


def along(shape: tuple[int, int], offset: int, share: float, *, causal: bool = False) -> np.ndarray:
    """Rows that give this share to the key so many places after the query, where there is one."""
    weights = spread_over(shape, causal=causal)
    for query in range(shape[0]):
        key = query + offset
        if 0 <= key < shape[1] and not (causal and query == 0):
            weights = point(weights, query, key, share)
    return weights


def look_at(shape: tuple[int, int], key: int, share: float, *, causal: bool = False) -> np.ndarray:
    """Rows that give this share to one key."""
    weights = spread_over(shape, causal=causal)
    for query in range(int(causal), shape[0]):
        weights = point(weights, query, key, share)
    return weights


def name_of(kind: str, weights: np.ndarray, **facts) -> str:
    """The name of a single head with these weights, in a record of these facts."""
    record = make_record(encoder=[1], decoder=[1], cross=[1])
    record = replace(record, **{kind: (weights[None].astype(np.float32),)}, **facts)
    return name_heads([record])[Head(kind, 0, 0)]


ENCODER, DECODER, CROSS = (KEYS, KEYS), (QUERIES, QUERIES), (QUERIES, KEYS)
MADE = {
    "finds the noun": ("encoder", point(spread_over(ENCODER), WHO.decider, WHO.referent, 0.7)),
    "sometimes finds the noun": (
        "encoder",
        point(spread_over(ENCODER), WHO.decider, WHO.referent, 0.4),
    ),
    "reads the deciding word": ("cross", point(spread_over(CROSS), WHO.step, WHO.decider, 0.7)),
    "reads the pronoun": ("cross", point(spread_over(CROSS), WHO.step, WHO.pronoun, 0.7)),
    "looks one word back": ("decoder", along(DECODER, -1, 0.6, causal=True)),
    "looks one word on": ("encoder", along(ENCODER, 1, 0.6)),
    "looks at itself": ("encoder", along(ENCODER, 0, 0.6)),
    "looks at the first word": ("decoder", look_at(DECODER, 0, 0.7, causal=True)),
    "looks at the end": ("cross", look_at(CROSS, KEYS - 1, 0.7)),
    "looks all around": ("cross", spread_over(CROSS)),
}


@pytest.mark.parametrize("name", MADE)
def test_a_head_that_does_one_thing_is_called_by_it(name):
    kind, weights = MADE[name]
    assert name_of(kind, weights, referent=WHO) == name


def test_a_head_that_follows_the_gold_links_translates_word_for_word():
    weights = spread_over(CROSS)
    for _, step in GOLD:
        weights[step] = 0.1 / KEYS
    for source, step in GOLD:
        weights[step, source] += 0.45 if step in (1, 2) else 0.9
    weights /= weights.sum(axis=1, keepdims=True)
    assert name_of("cross", weights, alignment=GOLD) == "translates word for word"
    # Nobody can say so without the links.
    assert name_of("cross", weights) == MIXED


def test_every_behaviour_is_made_here():
    assert {*MADE, "translates word for word"} == {behaviour.name for behaviour in BEHAVIOURS}


def test_what_shows_no_behaviour_is_mixed_and_so_is_a_head_of_few_tokens():
    weights = look_at(ENCODER, 2, 0.8)
    assert name_of("encoder", weights, referent=WHO) == MIXED
    for words in (["a"], ["a", "b", "c"]):
        short = make_record(words, words, words, encoder=[2], decoder=[2], cross=[2])
        assert set(name_heads([short]).values()) == {MIXED}


def test_the_mean_over_the_records_counts_and_those_without_a_referent_are_left_out():
    facts = {"referent": WHO}
    strong, weak = (
        replace(
            make_record(encoder=[1], decoder=[1], cross=[1], **facts),
            encoder=(point(spread_over(ENCODER), WHO.decider, WHO.referent, share)[None],),
        )
        for share in (0.9, 0.2)
    )
    head = Head("encoder", 0, 0)
    assert name_heads([strong, replace(weak, referent=None)])[head] == "finds the noun"
    assert name_heads([strong, weak])[head] == "sometimes finds the noun"
    with pytest.raises(ValueError, match="`records` is empty"):
        name_heads([])
