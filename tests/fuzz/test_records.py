"""Records and the live explorer: what is drawn is what there is, and every question is answered."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.fuzz.cases import cases, depths, jsons, odd, sentences, texts, tried
from tests.records import WordByWord, make_record
from transformer_lab.attention.record import AttentionRecord
from transformer_lab.lab import AttentionExplorer


@cases(0.053)
@given(sentences, sentences, depths, depths, st.data())
def test_a_record_fits_or_names_what_does_not(source, target, encoder, cross, data):
    whole = make_record(source, target, target, encoder=encoder, cross=cross, decoder=cross)
    kind = data.draw(st.sampled_from(["encoder", "decoder", "cross"]))
    layers = [np.array(layer) for layer in getattr(whole, kind)]
    layer = data.draw(st.integers(0, len(layers) - 1))
    place = tuple(data.draw(st.integers(0, n - 1)) for n in layers[layer].shape)
    value = data.draw(st.sampled_from([0.0, -0.5, 7.0, math.nan, math.inf]))
    changed = layers[layer].copy()
    changed[place] = value
    row = changed[place[:2]]
    layers[layer] = changed
    fields = {n: getattr(whole, n) for n in ("encoder", "decoder", "cross")}
    fields |= {kind: tuple(layers)}
    off = abs(row.sum() - 1)
    assume(math.isnan(off) or not 1e-5 < off < 1e-3)  # a row is allowed to be rounded
    is_one = bool((row >= 0).all() and (off <= 1e-5 or row.sum() == 0))
    sides = tuple(source), tuple(target), tuple(target)
    record, said = tried(AttentionRecord, *sides, **fields)
    assert bool(said) != is_one
    if said:
        assert kind in said
        return
    np.testing.assert_array_equal(getattr(record, kind)[layer], changed)


heads = st.tuples(st.sampled_from(["encoder", "decoder", "cross", "other"]), odd, odd).map(list)
known = st.tuples(st.sampled_from(["encoder", "cross"]), st.integers(0, 3), st.integers(0, 3))
rows = st.fixed_dictionaries(
    {"kind": st.sampled_from(["encoder", "decoder", "cross"])}
    | {name: st.integers(-1, 3) | odd for name in ("layer", "head", "query", "key")}
)
messages = jsons | st.fixed_dictionaries(
    {"ask": st.integers(), "source": texts | st.just("a cat") | odd},
    optional={
        "mute": st.lists(known.map(list) | heads, max_size=2) | odd,
        "patch": st.lists(rows, max_size=2) | odd,
    },
)


@cases(0.053)
@given(st.lists(messages, min_size=1, max_size=3))
def test_every_question_of_a_page_is_answered_once(asked):
    """With an answer or a sentence; and the next question, a plain one, always with an answer."""
    explorer = AttentionExplorer(WordByWord(), source="the cat sees")
    answers = []
    explorer.send = lambda content, buffers=None: answers.append(content)
    plain = {"ask": 10, "source": "a dog", "mute": [], "patch": []}
    for message in [*asked, plain]:
        del answers[:]
        explorer.hear(explorer, message, [])
        if isinstance(message, dict) and "ask" in message:
            (answer,) = answers
            assert answer["answer"] == message["ask"]
            assert answer.get("error", ".").endswith(".")
        else:
            assert answers == []
    assert answers == [{"answer": 10}]
    assert explorer.record.source_tokens[:2] == ("a", "dog")
