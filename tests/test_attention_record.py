"""A record as a Python value: what equals it, how it prints, and that it cannot be a key."""

import re
from dataclasses import fields, replace

import numpy as np
import pytest

from tests.records import make_record
from transformer_lab.attention_record import AttentionRecord, Head, Referent

FACTS = {
    "next_tokens": ((("le", 0.5),),) * 5,
    "alignment": ((0, 0), (1, 1)),
    "referent": Referent(1, 4, 5, 2, 3),
    "muted": frozenset({Head("cross", 0, 1)}),
    "label": "step 7",
}


def shaken(layers):
    """The same weights, but for two that have changed places in the last row of the last head."""
    last = layers[-1].copy()
    last[-1, -1] = np.roll(last[-1, -1], 1)
    return (*layers[:-1], last)


def test_equal_contents_are_equal_records():
    one, other = make_record(**FACTS), make_record(**FACTS)
    assert one.cross[0] is not other.cross[0]
    assert one == other


@pytest.mark.parametrize("name", [field.name for field in fields(AttentionRecord)])
def test_every_field_counts(name):
    record = make_record(**FACTS)
    others = {
        "source_tokens": tuple("abcdefg"),
        "target_tokens": tuple("abcde"),
        "written_tokens": tuple("abcde"),
        "encoder": shaken(record.encoder),
        "decoder": shaken(record.decoder),
        "cross": shaken(record.cross),
        "muted": frozenset(),
    }
    assert replace(record, **{name: others.get(name)}) != record


def test_fewer_layers_and_other_things_are_not_equal():
    record = make_record()
    assert replace(record, cross=record.cross[:-1]) != record
    assert replace(record, cross=()) != record
    assert record != "a record"


def test_a_record_is_no_key():
    with pytest.raises(TypeError, match="unhashable type: 'AttentionRecord'"):
        hash(make_record())


def test_what_it_prints_is_short_whatever_its_length():
    assert repr(make_record()) == (
        "<AttentionRecord 'the cat sees a dog . <eos>' → 'le chat voit chien <eos>'; "
        "heads: 5 encoder, 9 decoder, 9 cross>"
    )
    long = make_record(source=[f"word{i}" for i in range(97)])
    assert len(repr(long)) < 200
    assert re.search(r"'word0 word1 .* …' →", repr(long))
