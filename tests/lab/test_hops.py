"""The two hops as data: what the model is asked, and what is told of its answers."""

from collections.abc import Iterable
from itertools import product

import numpy as np
import pytest

from tests.records import make_record
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import FAMOUS, sentences
from transformer_lab.lab import two_hops

HEADS = [Head("encoder", 1, 2), Head("cross", 0, 1), Head("cross", 1, 2)]


def probability(source: str, mute: Iterable[Head]) -> float:
    """Another one for each sentence and each set of muted heads."""
    return (0.5 + sum(1 << HEADS.index(head) for head in mute)) / 10 + ("wide" in source) / 100


class Answers:
    """Reads the famous pair, with weights at random."""

    def __init__(self):
        self.asked = []

    def attend(self, source, target=None, *, mute=(), top=5):
        pair = next(pair for pair in FAMOUS if pair.source == source)
        assert target == pair.target
        self.asked.append(frozenset(mute))
        chance = probability(source, mute)
        step = (("il", chance), ("ils", 0.0001), ("elle", 1 - chance))[:top]
        written = (*pair.target_tokens, "<eos>")
        return make_record(
            (*pair.source_tokens, "<eos>"),
            ("<bos>", *pair.target_tokens),
            written,
            next_tokens=(step,) * len(written),
            muted=frozenset(mute),
        )


@pytest.fixture(scope="module")
def drawn():
    return two_hops(Answers(), FAMOUS, HEADS)


def test_each_set_of_muted_heads_is_one_run_of_each_pair():
    reader = Answers()
    two_hops(reader, FAMOUS, HEADS)
    sets = {
        frozenset(h for h, on in zip(HEADS, bits, strict=True) if on)
        for bits in product((0, 1), repeat=3)
    }
    assert len(reader.asked) == 2 * len(sets)
    assert set(reader.asked) == sets


def test_an_answers_place_has_a_bit_for_each_muted_head(drawn):
    assert drawn.data["pronouns"] == ["il", "elle"]
    for pair, told in zip(FAMOUS, drawn.data["pairs"], strict=True):
        for place, answer in enumerate(told["answers"]):
            mute = [head for i, head in enumerate(HEADS) if place & (1 << i)]
            chance = probability(pair.source, mute)
            assert answer == pytest.approx([chance, 1 - chance], abs=1e-4)


def test_maps_and_places_are_the_records_and_the_grammars(drawn):
    for pair, told in zip(FAMOUS, drawn.data["pairs"], strict=True):
        record = Answers().attend(pair.source, pair.target)
        for head, weights in zip(HEADS, told["maps"], strict=True):
            np.testing.assert_allclose(weights, record.weights(head), atol=0.0006)
        assert told["source"][told["noun"]] == ("animal" if "tired" in pair.source else "street")
        assert told["source"][told["pronoun"]] == "it"
        assert told["target"][told["step"]] == pair.target_tokens[pair.coreference.target_pronoun]


def test_the_words_say_the_path_and_the_numbers_before_and_after(drawn):
    first = drawn.data["pairs"][0]
    weight = first["maps"][0][first["decider"]][first["noun"]]
    assert drawn.alt.startswith("Two hops: animal → tired → il, and street → wide → elle.")
    assert f"{weight:.2f} in e2.3" in drawn.alt
    before, after = (probability(FAMOUS[0].source, mute) for mute in ((), HEADS[1:]))
    assert (
        f"il has a probability of {before:.2f}, and of {after:.2f} without c1.2 and c2.3"
        in drawn.alt
    )


def test_heads_may_be_called_by_what_they_do():
    called = ["the noun-finder", "the first reader", "the second reader"]
    named = two_hops(Answers(), FAMOUS, HEADS, called)
    assert [head["called"] for head in named.data["heads"]] == called
    assert " in the noun-finder (e2.3), 0." in named.alt
    assert " without the first reader (c1.2) and the second reader (c2.3)" in named.alt
    with pytest.raises(ValueError, match=r"`called` has 1 name; expected either none or 3"):
        two_hops(Answers(), FAMOUS, HEADS, called[:1])


@pytest.mark.parametrize(
    ("pairs", "heads", "words"),
    [
        (
            FAMOUS,
            HEADS[1:],
            r"heads are of kind 'cross'; expected at least one 'encoder' head",
        ),
        (FAMOUS, [*HEADS, *HEADS], r"len\(heads\).*6; expected 2 to 4"),
        (FAMOUS[:1], HEADS, r"len\(pairs\).*1; expected 2"),
        (
            [FAMOUS[0], next(p for p in sentences(seed=0) if not p.coreference)],
            HEADS,
            r"pairs with a pronoun.*1;",
        ),
    ],
)
def test_what_cannot_be_drawn_is_named(pairs, heads, words):
    with pytest.raises(ValueError, match=words):
        two_hops(Answers(), pairs, heads)
