"""A record as a Python value: what equals it, how it prints, what it refuses, and that it is no key."""

import re
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import transformer_lab
from tests.conftest import make_model
from tests.records import make_record
from transformer_lab.attention.capture import capture_attention
from transformer_lab.attention.record import AttentionRecord, Head, Referent, check_weights

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


# ---------------------------------------------------------------- what is handed in

LABELS = {
    "bytes": [b"the", b"cat"],
    "none": ["the", None],
    "ids": [3, 5],
    "numpy": np.array([3, 5]),
    "tensor": torch.tensor([3, 5]),
    "two rows": torch.tensor([[3, 5], [7, 11]]),
    "a text": "ab",
    "one of bytes": b"ab",
    "a dict": {"the": 3, "cat": 5},
    "a set": {"the", "cat"},
    "nothing": None,
    "a number": 2,
    "lists": [["the"], ["cat"]],
}
AXES = ("source_tokens", "target_tokens", "written_tokens")


def record_of(labels, axis):
    size = {**dict.fromkeys(AXES, ("a", "b")), axis: labels}
    return AttentionRecord(*size.values(), encoder=(), decoder=(), cross=())


def from_outputs(labels, axis):
    half = torch.full((1, 3, 2, 2), 0.5)
    seen = SimpleNamespace(
        encoder_attentions=(half,), decoder_attentions=(half,), cross_attentions=(half,)
    )
    return AttentionRecord.from_transformers(
        seen, **{**dict.fromkeys(AXES, ("a", "b")), axis: labels}
    )


def captured(labels, axis):
    model = make_model()
    with torch.no_grad(), capture_attention(model) as capture:
        model(torch.tensor([[5, 2]]), torch.tensor([[1, 5]]))
    return capture.record(*{**dict.fromkeys(AXES, ("a", "b")), axis: labels}.values())


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("door", [record_of, from_outputs, captured])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_that_are_no_texts_are_refused_by_name(as_users_run_it, door, axis, kind):
    if (door, axis, kind) == (from_outputs, "written_tokens", "nothing"):
        return  # there it stands for the words that were read next
    with pytest.raises(ValueError, match=rf"{axis}(\[\d\])? is .*; expected") as error:
        door(LABELS[kind], axis)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


@pytest.mark.parametrize("door", [record_of, from_outputs, captured])
@pytest.mark.parametrize("labels", [["a", "b"], ("a", "b"), np.array(["a", "b"]), ["", "👩‍🚀"]])
def test_labels_that_are_texts_are_kept_as_a_tuple(as_users_run_it, door, labels):
    found = door(labels, "source_tokens").source_tokens
    assert isinstance(found, tuple)
    assert len(found) == 2
    assert all(isinstance(label, str) for label in found)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"label": b"step 3"}, "label is b'step 3'; expected a string or None"),
        ({"label": 3}, "label is 3; expected a string or None"),
        ({"unknown": "le"}, "unknown is 'le'; expected a list of strings"),
        ({"unknown": (None,)}, r"unknown\[0\] is None \(NoneType\); expected a string"),
        ({"alignment": ((0, "1"),)}, r"alignment contains \(0, '1'\); expected pairs of integers"),
        ({"alignment": ((0, 1, 2),)}, "alignment contains .*; expected pairs of integers"),
        ({"alignment": (3,)}, "alignment contains 3; expected pairs of integers"),
        ({"referent": (0, 1, 2, 3, 4)}, r"referent is \(0, 1, 2, 3, 4\); expected a Referent"),
        (
            {"referent": Referent(0, 1, 2, "3", 4)},
            "referent is .*; expected a Referent whose fields are integers",
        ),
        ({"next_tokens": ((("le", "1"),),) * 5}, "step 0 of next_tokens is .*; expected pairs"),
        ({"next_tokens": ((("le", 7.0),),) * 5}, "step 0 of next_tokens is .*; expected pairs"),
        ({"next_tokens": (((b"le", 0.5),),) * 5}, "step 0 of next_tokens is .*; expected pairs"),
        ({"next_tokens": ("le",) * 5}, "step 0 of next_tokens is 'le'; expected pairs"),
    ],
)
def test_facts_of_another_kind_are_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        make_record(**changes)


@pytest.mark.parametrize("layers", [None, 3, "x", np.full((2, 3, 7, 7), 1 / 7)])
def test_layers_that_are_no_list_are_refused(layers):
    with pytest.raises(ValueError, match="encoder is .*; expected a list with one array per layer"):
        AttentionRecord(("a",), (), (), encoder=layers, decoder=(), cross=())


def test_a_row_that_does_not_sum_to_1_says_what_usually_causes_it():
    weights = np.full((3, 2, 2), 0.5, dtype=np.float32)
    weights[1, 1] = 0.46265
    with pytest.raises(
        ValueError, match=r"row \(1, 1\) of encoder layer 0 sums to 0.9253; expected 1"
    ) as error:
        AttentionRecord(("a", "b"), (), (), encoder=(weights,), decoder=(), cross=())
    for cause in ("model.eval()", "see `padding` in from_transformers", "attention sink"):
        assert cause in str(error.value)


def test_a_patch_has_other_causes():
    with pytest.raises(ValueError, match="sums to 0.5; expected 1") as error:
        check_weights("patch", np.array([[0.25, 0.25]]))
    assert "model.eval()" not in str(error.value)


def test_a_side_of_the_padding_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="padding is 'rigth'; expected 'right' or 'left'"):
        AttentionRecord.from_transformers(None, source_tokens=["a"], padding="rigth")


def test_the_package_has_it_by_name():
    assert transformer_lab.AttentionRecord is AttentionRecord
    assert "AttentionRecord" in dir(transformer_lab)
