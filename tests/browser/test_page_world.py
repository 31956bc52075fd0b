"""The bilingual world in the page: from the same seed, the same sentences and splits as Python's."""

import hashlib
from itertools import islice
from random import Random

import pytest
from playwright.sync_api import Error

from transformer_lab.data.world.constructions import CONSTRUCTIONS
from transformer_lab.data.world.grammar import is_held_out, sentences, world

GRAMMAR = "tasks/world/grammar.js"
RANDOM = "tasks/world/random.js"

TELL = """(pair) => [
    pair.source, pair.target, pair.sourceTokens, pair.targetTokens, pair.construction, pair.combinations,
]"""
DRAW = f"""({{ makeSentences, isHeldOut }}, [seed, count]) => {{
    const drawn = [];
    for (const pair of makeSentences(seed)) {{
        if (drawn.push([...({TELL})(pair), isHeldOut(pair)]) === count) return drawn;
    }}
}}"""
SPLIT = f"""({{ makeWorld }}, sizes) => Object.fromEntries(
    Object.entries(makeWorld(sizes)).map(([name, pairs]) => [name, pairs.map({TELL})]))"""
HASH = """async ({ makeWorld }, sizes) => {
    const { train } = makeWorld(sizes);
    const lines = train.map((pair) => `${pair.source}|${pair.target}|${pair.construction}\\n`);
    const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(lines.join("")));
    return [train.length, [...new Uint8Array(hash)]];
}"""


def tell(pair):
    """What the page tells of a pair, of Python's."""
    return [
        pair.source,
        pair.target,
        list(pair.source_tokens),
        list(pair.target_tokens),
        pair.construction,
        [list(combination) for combination in pair.combinations],
    ]


# ---------------------------------------------------------------- random numbers

DRAWS = """({ Random }, { seed, weights }) => {
    const rng = new Random(seed);
    const many = (draw) => Array.from({ length: 700 }, draw);
    const shuffled = [...weights.keys()];
    const found = {
        random: many(() => rng.random()),
        bits: many((_, i) => rng.getrandbits(1 + (i % 32))),
        range: many((_, i) => rng.randrange(1 + i ** 3)),
        choice: many(() => rng.choice("abcde")),
        choices: rng.choices([...weights.keys()], weights, 700),
    };
    rng.shuffle(shuffled);
    return { ...found, shuffled, last: rng.random() };
}"""


@pytest.mark.parametrize("seed", [0, 7, -7, 2**31 + 11, 2**32, 2**53 - 1])
def test_random_numbers_are_pythons(ask, seed):
    """Each draw begins where the one before has ended, and 700 draws go past a refill of 624 words."""
    weights = [4, 0, 7, 32, 0.5, 3, 1]
    rng = Random(seed)
    expected = {
        "random": [rng.random() for _ in range(700)],
        "bits": [rng.getrandbits(1 + i % 32) for i in range(700)],
        "range": [rng.randrange(1 + i**3) for i in range(700)],
        "choice": [rng.choice("abcde") for _ in range(700)],
        "choices": rng.choices(range(len(weights)), weights, k=700),
        "shuffled": list(range(len(weights))),
    }
    rng.shuffle(expected["shuffled"])
    expected["last"] = rng.random()
    assert ask(RANDOM, DRAWS, {"seed": seed, "weights": weights}) == expected


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("new Random(0.5)", r"the seed is 0\.5; expected an integer of at most 2\*\*53 - 1"),
        ("new Random(2 ** 53)", r"the seed is 9007199254740992; expected an integer of at most"),
        ("new Random(1).getrandbits(33)", r"33 bits were asked for; expected 1 to 32"),
        ("new Random(1).getrandbits(0)", r"0 bits were asked for; expected 1 to 32"),
        ("new Random(1).randrange(0)", r"the end of the range is 0; expected 1 to 2\*\*32 - 1"),
        ("new Random(1).choice([])", r"the end of the range is 0; expected 1 to 2\*\*32 - 1"),
    ],
)
def test_what_cannot_be_drawn_is_said(ask, asked, said):
    with pytest.raises(Error, match=said):
        ask(RANDOM, f"({{ Random }}) => {asked}")


# ---------------------------------------------------------------- sentences


@pytest.mark.parametrize(("seed", "count"), [(0, 10_000), (2**31 + 11, 3_001)])
def test_the_first_sentences_are_pythons(ask, seed, count):
    pairs = list(islice(sentences(seed), count))
    assert {pair.construction for pair in pairs} == set(CONSTRUCTIONS)
    expected = [[*tell(pair), is_held_out(pair)] for pair in pairs]
    found = ask(GRAMMAR, DRAW, [seed, count])
    assert len(found) == count
    # The first that differs says more than ten thousand that are printed.
    assert next(((f, e) for f, e in zip(found, expected, strict=True) if f != e), None) is None


# ---------------------------------------------------------------- splits


@pytest.mark.parametrize(
    "sizes",
    [
        {"train": 2_003, "validation": 101, "test": 103, "seed": 3},
        {"train": 0, "validation": 0, "test": 1, "seed": 0},
        {"train": 7, "validation": 0, "test": 0, "seed": 5},
    ],
)
def test_the_splits_are_pythons(ask, sizes):
    splits = world(**sizes)
    found = ask(GRAMMAR, SPLIT, sizes)
    for name in ("train", "validation", "test"):
        expected = [tell(pair) for pair in getattr(splits, name)]
        assert len(expected) == sizes[name]
        assert found[name] == expected


def test_what_is_not_asked_for_is_as_in_python(ask):
    splits = world(0, 0)
    assert ask(GRAMMAR, SPLIT, {"train": 0, "validation": 0}) == {
        "train": [],
        "validation": [],
        "test": [tell(pair) for pair in splits.test],
    }


@pytest.mark.thorough(caught_by=["test_the_splits_are_pythons"])
def test_sixty_thousand_training_pairs_are_pythons(ask):
    """The sizes that the page trains on; a hash, because 60,000 pairs are much to print."""
    pairs = world(60_000, seed=1).train
    text = "".join(f"{pair.source}|{pair.target}|{pair.construction}\n" for pair in pairs)
    expected = list(hashlib.sha256(text.encode()).digest())
    assert ask(GRAMMAR, HASH, {"train": 60_000, "seed": 1}) == [60_000, expected]


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"validation": -1}, r"validation is -1; expected an integer of at least 0"),
        ({"test": 0.5}, r"test is 0\.5; expected an integer of at least 0"),
        (
            {"train": 200_000, "validation": 1, "test": 0},
            r"train \+ validation \+ test is 200001, but the grammar gives at most 200000 pairs",
        ),
        ({"train": 1, "seed": 0.5}, r"the seed is 0\.5; expected an integer of at most"),
    ],
)
def test_a_world_that_cannot_be_made_is_refused(ask, sizes, said):
    with pytest.raises(Error, match=said):
        ask(GRAMMAR, SPLIT, sizes)
