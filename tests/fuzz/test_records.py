"""Records, and the lab on a kernel: what is drawn is what there is, and every question is answered."""

import math

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.fuzz.cases import cases, depths, jsons, odd, sentences, texts, tried
from tests.records import WordByWord, make_record
from transformer_lab.attention.record import AttentionRecord
from transformer_lab.lab import lab


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


kinds = st.sampled_from(["encoder", "decoder", "cross"])
numbers = st.integers(-1, 3) | odd
heads = st.fixed_dictionaries({"kind": kinds | odd, "layer": numbers, "head": numbers})
known = st.fixed_dictionaries(
    {"kind": kinds, "layer": st.integers(0, 1), "head": st.integers(0, 1)}
)
places = {"query": numbers, "key": numbers, "share": st.floats(-1, 2) | odd}
points = st.fixed_dictionaries({"kind": kinds | odd, "layer": numbers, "head": numbers} | places)
changes = odd | st.fixed_dictionaries(
    {
        "mute": st.lists(known | heads, max_size=2) | odd,
        "points": st.lists(points, max_size=2) | odd,
    }
)
messages = jsons | st.fixed_dictionaries(
    {"ask": st.integers(), "text": texts | st.just("a cat") | odd},
    optional={"kept": changes, "changes": changes},
)
NOTHING = {"mute": [], "points": []}


@cases(0.053)
@given(st.lists(messages, min_size=1, max_size=3))
def test_every_question_of_a_page_is_answered_once(asked):
    """With an answer or a sentence; and the next question, a plain one, always with an answer."""
    widget = lab(WordByWord(), "the cat sees", kernel=True)
    answers = []
    widget.send = lambda content, buffers=None: answers.append(content)
    plain = {"ask": 10, "text": "a dog", "kept": NOTHING, "changes": NOTHING}
    for message in [*asked, plain]:
        del answers[:]
        widget.hear(widget, message, [])
        if isinstance(message, dict) and "ask" in message:
            (answer,) = answers
            assert answer["answer"] == message["ask"]
            assert answer.get("error", ".").endswith(".")
        else:
            assert answers == []
    assert answers == [{"answer": 10}]
    assert widget.record.source_tokens[:2] == ("a", "dog")
