"""The flow's boxes hold what the model computes: each is worked out again from those before it."""

import numpy as np
import pytest
import torch

from tests.lab.test_translator_page import TEXTS
from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.lab import forward_flow
from transformer_lab.lab.drawings import flow
from transformer_lab.model import Transformer
from transformer_lab.numpy_reference import sinusoidal_positions
from transformer_lab.translator import Translator

SENTENCE = "a cat runs"


def make_translator(seed: int = 3, **changes) -> Translator:
    tokenizer = WordTokenizer.train(TEXTS)
    size = tokenizer.vocab_size
    sizes = {"d_model": 20, "d_ff": 31, "num_heads": 5, "num_encoder_layers": 2}
    config = TransformerConfig(
        source_vocab_size=size,
        target_vocab_size=size,
        **{**sizes, "num_decoder_layers": 1, "max_length": 7, **changes},
    )
    torch.manual_seed(seed)
    return Translator(Transformer(config).eval(), tokenizer, tokenizer)


def make_brief_translator() -> Translator:
    """Seeds differ in how much an untrained model writes; this one stops in time to be drawn."""
    for seed in range(100):
        made = make_translator(seed)
        if len(made.attend(SENTENCE).written_tokens) in (2, 3, 5):
            return made
    raise AssertionError("all of them write on and on")


@pytest.fixture(scope="module")
def translator():
    return make_brief_translator()


@pytest.fixture(scope="module")
def drawn(translator):
    return forward_flow(translator, SENTENCE)


@pytest.fixture(scope="module")
def boxes(drawn):
    return {box["name"]: box for box in drawn.data["boxes"]}


def test_the_boxes_come_in_the_order_of_the_pass(drawn, boxes):
    names = list(boxes)
    assert names[:3] == ["source_embedding", "source_positions", "encoder.self_attention"]
    assert names[6:8] == ["encoder.rest", "target_embedding"]
    assert names[-2:] == ["output", "softmax"]
    assert "decoder.rest" not in names  # it has one layer
    assert len(names) == 17


def test_positions_are_the_papers_and_the_sum_is_normalised(translator, boxes):
    values = {name: np.array(box["values"]) for name, box in boxes.items()}
    table = sinusoidal_positions(4, 20)[:, : flow.COLUMNS]
    added = values["source_positions"] - values["source_embedding"]
    np.testing.assert_allclose(added, table, atol=0.011)
    for box in (
        boxes["encoder.add_norm_1"],
        boxes["decoder.add_norm_3"],
    ):  # gain 1, bias 0 at first
        np.testing.assert_allclose(box["mean"], 0, atol=0.002)
        np.testing.assert_allclose(box["spread"], 1, atol=0.02)
    summed = values["encoder.add_norm_1"] + values["encoder.feed_forward"]
    slope, residual = np.polyfit(summed[0], values["encoder.add_norm_2"][0], 1), 0.05
    np.testing.assert_allclose(
        np.polyval(slope, summed[0]), values["encoder.add_norm_2"][0], atol=residual
    )


def test_the_last_boxes_are_what_the_model_says(translator, drawn, boxes):
    source = torch.tensor([translator.encode(SENTENCE)])
    names = translator.target_tokenizer.tokens(
        list(range(translator.model.config.target_vocab_size))
    )
    ids = [names.index(token) for token in translator.attend(SENTENCE).target_tokens]
    with torch.no_grad():
        logits = translator.model(source, torch.tensor([ids]))[0]
        mask = torch.ones(1, 1, 1, source.size(1), dtype=torch.bool)
        memory = translator.model.encode(source, mask)[0]
    np.testing.assert_allclose(
        boxes["encoder.rest"]["values"], memory[:, : flow.COLUMNS], atol=0.006
    )
    columns = [names.index(word) for word in boxes["softmax"]["columns"]]
    assert len(set(columns)) == flow.WORDS
    np.testing.assert_allclose(boxes["output"]["values"], logits[:, columns], atol=0.06)
    chances = logits.softmax(dim=-1)
    np.testing.assert_allclose(boxes["softmax"]["values"], chances[:, columns], atol=1e-4)
    best = [names[i] for i in chances.argmax(dim=-1).tolist()]
    assert best == drawn.data["written"]
    assert set(best) <= set(boxes["softmax"]["columns"])


def test_weights_are_the_first_layers_and_later_words_are_hidden(translator, boxes):
    record = translator.attend(SENTENCE)
    found = boxes["decoder.cross_attention"]["maps"]
    np.testing.assert_allclose(found, record.cross[0], atol=0.0006)
    for head in boxes["decoder.self_attention"]["maps"]:
        for query, row in enumerate(head):
            assert [weight is None for weight in row] == [key > query for key in range(len(row))]


def test_the_shapes_are_told(drawn):
    assert "4 × 20" in drawn.alt


@pytest.mark.parametrize(
    ("changes", "sentence", "words"),
    [
        ({"norm": "pre"}, SENTENCE, "norm is 'pre'; expected 'post'"),
        (
            {"num_decoder_layers": 0},
            SENTENCE,
            "num_decoder_layers is 0; expected at least 1",
        ),
        (
            {"max_length": 30},
            " ".join(["cat"] * 9),
            r"the source has 10 tokens; expected at most 8",
        ),
    ],
)
def test_what_cannot_be_drawn_is_named(changes, sentence, words):
    with pytest.raises(ValueError, match=words):
        forward_flow(make_translator(**changes), sentence)
