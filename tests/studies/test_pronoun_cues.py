"""Other words in the place of the decider: whose they are, and that nothing else changes."""

from dataclasses import replace
from itertools import islice

import pytest

from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.data.world.lexicon import ADJECTIVES
from transformer_lab.studies.finding_the_noun.pronoun_cues import (
    adjectives_by_noun,
    replace_deciders,
)
from transformer_lab.studies.finding_the_noun.pronoun_sentences import (
    ORDERS,
    get_coreference,
    iterate_pronoun_pairs,
)

PAIRS = [pair for order in ORDERS for pair in islice(iterate_pronoun_pairs(order), 53)]


@pytest.fixture(scope="module")
def said_of():
    return adjectives_by_noun(
        pair for order in ORDERS for pair in islice(iterate_pronoun_pairs(order, unseen=False), 997)
    )


def test_a_reason_is_the_adjective_that_decides_for_the_noun():
    assert adjectives_by_noun(FAMOUS) == {"animal": {"tired"}, "street": {"wide"}}
    limping = (*FAMOUS[0].source_tokens[: get_coreference(FAMOUS[0]).decider], "limping")
    assert adjectives_by_noun([replace(FAMOUS[0], source_tokens=limping)]) == {}


def test_tired_becomes_wide():
    (wide,) = replace_deciders(FAMOUS[:1], adjectives_by_noun(FAMOUS), of="other")
    assert wide.source_tokens == FAMOUS[1].source_tokens
    assert wide.target_tokens == FAMOUS[0].target_tokens
    assert replace_deciders(FAMOUS, adjectives_by_noun(FAMOUS), of="referent") == [None, None]
    assert replace_deciders(FAMOUS, adjectives_by_noun(FAMOUS), of="neither") == [None, None]


@pytest.mark.parametrize("of", ["referent", "other", "neither"])
def test_a_new_word_is_of_whom_it_was_asked_for_and_all_else_stays(said_of, of):
    changed = replace_deciders(PAIRS, said_of, of=of, seed=3)
    assert changed == replace_deciders(PAIRS, said_of, of=of, seed=3)
    together = [(a, b) for a, b in zip(PAIRS, changed, strict=True) if b is not None]
    assert len(together) > 80
    for pair, new in together:
        who = get_coreference(pair)
        places = [i for i, word in enumerate(pair.source_tokens) if word != new.source_tokens[i]]
        assert places == [who.decider]
        word = new.source_tokens[who.decider]
        assert word in ADJECTIVES
        for noun, whose in ((who.referent, "referent"), (who.other, "other")):
            assert (word in said_of.get(pair.source_tokens[noun], set())) == (whose == of)


def test_what_an_adjective_cannot_replace_is_left_out(said_of):
    deciding_verbs = [
        p for p in PAIRS if p.source_tokens[get_coreference(p).decider] not in ADJECTIVES
    ]
    assert deciding_verbs
    assert set(replace_deciders(deciding_verbs, said_of, of="other")) == {None}
