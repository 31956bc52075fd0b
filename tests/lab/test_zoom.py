"""The zoom's numbers are the model's: what is packed gives back its weights, and its words are told."""

import base64

import numpy as np
import pytest

from tests.lab.test_flow import SENTENCE, make_brief_translator, make_translator
from transformer_lab.attention.record import Head
from transformer_lab.lab import zoom_to_weight
from transformer_lab.lab.drawings.zoom import pack_numbers
from transformer_lab.numpy_reference import scaled_dot_product_attention
from transformer_lab.translator import Translator

START = {"head": Head("encoder", 1, 3), "query": "runs", "key": "cat"}


def unpack(packed: dict) -> np.ndarray:
    """What `pack_numbers` was given, but for half a unit."""
    whole = np.frombuffer(base64.b64decode(packed["numbers"]), dtype="<i2")
    return whole.reshape(packed["shape"]) * packed["unit"]


@pytest.fixture(scope="module")
def translator():
    return make_brief_translator()


@pytest.fixture(scope="module")
def zoom(translator):
    return zoom_to_weight(translator, SENTENCE, **START)


def test_packed_numbers_are_off_by_half_a_unit_at_most():
    given = np.random.default_rng(0).normal(size=(3, 5, 7))
    packed = pack_numbers(given)
    assert abs(unpack(packed) - given).max() <= packed["unit"] / 2 * (1 + 1e-9)
    assert (unpack(pack_numbers(np.zeros((1, 2, 3)))) == 0).all()


def test_every_attention_gives_the_weights_of_the_record(translator, zoom):
    record = translator.attend(SENTENCE)
    seen = []
    for block in zoom.data["blocks"]:
        for part in block["parts"]:
            if "kind" not in part:
                assert set(part) == {"text"}
                continue
            weights = getattr(record, part["kind"])[block["layer"]]
            query, key, value = (unpack(part[point]) for point in ("query", "key", "value"))
            mask = np.tril(np.ones(weights.shape, dtype=bool)) if part["causal"] else None
            _, found = scaled_dot_product_attention(query, key, value, mask)
            np.testing.assert_allclose(found, weights, atol=1e-3)
            seen.append((part["kind"], block["layer"]))
    assert seen == [("encoder", 0), ("encoder", 1), ("decoder", 0), ("cross", 0)]


def test_the_steps_lead_to_the_weight_that_was_asked_for(translator, zoom):
    record = translator.attend(SENTENCE)
    assert zoom.data["start"] == {"block": 1, "part": 0, "head": 3, "row": 2, "column": 1}
    weight = record.weights(START["head"])[2, 1]
    assert f"the softmax turns that into {weight:.2f}." in zoom.alt


def test_cross_attention_stands_behind_the_decoders_own(translator):
    record = translator.attend(SENTENCE)
    head = Head("cross", 0, 4)
    drawn = zoom_to_weight(
        translator, SENTENCE, head=head, query=record.target_tokens[1], key="runs"
    )
    start = drawn.data["start"]
    assert drawn.data["blocks"][start["block"]]["parts"][start["part"]]["kind"] == "cross"


@pytest.mark.parametrize(
    ("changes", "arguments", "words"),
    [
        ({"norm": "pre"}, {}, "norm is 'pre'; expected 'post'"),
        ({"num_decoder_layers": 0}, {}, "num_decoder_layers is 0; expected at least 1"),
        (
            {"max_length": 30},
            {"source": " ".join(["cat"] * 17)},
            "the source has 18 tokens; expected at most 16",
        ),
        ({}, {"query": "dog"}, "query is 'dog'; expected 'a', 'cat', 'runs'"),
        ({}, {"key": "dog"}, "key is 'dog'; expected 'a', 'cat', 'runs'"),
        ({}, {"head": Head("encoder", 2, 0)}, "head is .*; expected a head of the model"),
    ],
)
def test_what_cannot_be_drawn_is_named(changes, arguments, words, as_users_run_it, translator):
    made = make_translator(**changes) if changes else translator
    with pytest.raises(ValueError, match=words):
        zoom_to_weight(made, **{"source": SENTENCE, **START, **arguments})


def test_a_weight_that_the_mask_hides_is_named():
    shipped, sentence = Translator.load(device="cpu"), "the cat sleeps"
    later = shipped.attend(sentence).target_tokens[1]
    asked = {"head": Head("decoder", 0, 0), "query": "<bos>", "key": later}
    with pytest.raises(ValueError, match="expected a word that '<bos>' may attend to"):
        zoom_to_weight(shipped, sentence, **asked)
