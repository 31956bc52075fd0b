"""Records of Hugging Face's models: tiny ones with random weights, made here and not fetched."""

import numpy as np
import pytest
import torch

from transformer_lab.attention.record import AttentionRecord
from transformer_lab.lab.record_data import record_data

transformers = pytest.importorskip("transformers", exc_type=ImportError)

IDS = torch.tensor([[5, 6, 7, 8, 9, 10, 11], [5, 6, 7, 8, 9, 0, 0]])
MASK = (IDS != 0).long()
TARGET = torch.tensor([[1, 3, 4, 5, 6], [1, 3, 4, 0, 0]])
SOURCE_TOKENS, TARGET_TOKENS = tuple("abcdefg"), tuple("uvwxy")


def bert(how="eager"):
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=23,
        hidden_size=12,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=31,
        max_position_embeddings=37,
        attn_implementation=how,
    )
    return transformers.BertModel(config).eval()


def gpt2(how="eager"):
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=23,
        n_embd=20,
        n_layer=3,
        n_head=5,
        n_positions=37,
        bos_token_id=1,
        eos_token_id=2,
        attn_implementation=how,
    )
    return transformers.GPT2LMHeadModel(config).eval()


def marian():
    torch.manual_seed(0)
    config = transformers.MarianConfig(
        vocab_size=23,
        d_model=12,
        encoder_layers=2,
        decoder_layers=3,
        encoder_attention_heads=3,
        decoder_attention_heads=2,
        encoder_ffn_dim=31,
        decoder_ffn_dim=29,
        max_position_embeddings=37,
        pad_token_id=0,
        eos_token_id=2,
        decoder_start_token_id=1,
        forced_eos_token_id=2,
        attn_implementation="eager",
    )
    return transformers.MarianMTModel(config).eval()


@torch.no_grad()
def outputs(model, **more):
    return model(input_ids=IDS, attention_mask=MASK, output_attentions=True, **more)


@pytest.fixture(scope="module")
def both():
    """What an encoder-decoder returns for a batch of two sentences, the second one padded."""
    return outputs(marian(), decoder_input_ids=TARGET)


def test_an_encoder_alone():
    seen = outputs(bert())
    record = AttentionRecord.from_transformers(seen, source_tokens=SOURCE_TOKENS)
    assert [layer.shape for layer in record.encoder] == [(3, 7, 7)] * 2
    np.testing.assert_array_equal(record.encoder[1], seen.attentions[1][0].numpy())
    assert (record.decoder, record.cross, record.target_tokens) == ((), (), ())
    assert record.source_tokens == tuple(SOURCE_TOKENS)
    assert list(record_data(record)["heads"]) == ["encoder"]


def test_a_decoder_alone():
    seen = outputs(gpt2())
    record = AttentionRecord.from_transformers(seen, target_tokens=SOURCE_TOKENS)
    assert [layer.shape for layer in record.decoder] == [(5, 7, 7)] * 3
    np.testing.assert_array_equal(record.decoder[2], seen.attentions[2][0].numpy())
    assert record.written_tokens == (*"bcdefg", "…")
    assert np.all(np.triu(record.decoder[0][0], 1) == 0)
    given = AttentionRecord.from_transformers(
        seen, target_tokens=SOURCE_TOKENS, written_tokens=tuple("tuvwxyz"), label="mine"
    )
    assert (given.written_tokens, given.label) == (tuple("tuvwxyz"), "mine")


def test_an_encoder_and_a_decoder_of_other_depth_and_heads(both):
    record = AttentionRecord.from_transformers(
        both, source_tokens=SOURCE_TOKENS, target_tokens=TARGET_TOKENS, alignment=((6, 4),)
    )
    assert [layer.shape for layer in record.encoder] == [(3, 7, 7)] * 2
    assert [layer.shape for layer in record.decoder] == [(2, 5, 5)] * 3
    assert [layer.shape for layer in record.cross] == [(2, 5, 7)] * 3
    np.testing.assert_array_equal(record.cross[2], both.cross_attentions[2][0].numpy())
    assert record.tokens("cross") == ((*"vwxy", "…"), tuple(SOURCE_TOKENS))
    assert record.alignment == ((6, 4),)


def test_a_chosen_sentence_is_cut_to_its_tokens(both):
    record = AttentionRecord.from_transformers(
        both, source_tokens=tuple("abcde"), target_tokens=tuple("uvw"), sentence=1
    )
    assert [layer.shape for layer in record.cross] == [(2, 3, 5)] * 3
    np.testing.assert_array_equal(record.cross[1], both.cross_attentions[1][1, :, :3, :5].numpy())
    np.testing.assert_array_equal(record.encoder[0], both.encoder_attentions[0][1, :, :5, :5])


def test_a_batch_that_is_padded_on_the_left():
    ids = torch.tensor([[5, 6, 7, 8, 9], [0, 0, 5, 6, 7]])
    model, asked = gpt2(), {"output_attentions": True, "attention_mask": (ids != 0).long()}
    with torch.no_grad():
        seen = model(input_ids=ids, **asked)
    given = {"target_tokens": tuple("abc"), "sentence": 1}
    record = AttentionRecord.from_transformers(seen, padding="left", **given)
    np.testing.assert_array_equal(record.decoder[0], seen.attentions[0][1, :, 2:, 2:].numpy())
    # What stands in the rows of padding differs from version to version: here 1/5 for each key.
    padding = (ids == 0)[:, None, :, None]
    seen.attentions = tuple(layer.masked_fill(padding, 1 / 5) for layer in seen.attentions)
    with pytest.raises(ValueError, match="row .* sums to"):
        AttentionRecord.from_transformers(seen, **given)


def test_a_decoder_that_looks_at_an_encoder_that_is_not_recorded():
    config = gpt2().config
    config.add_cross_attention = True
    torch.manual_seed(0)
    model = transformers.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        memory = torch.randn(1, 7, 20)
        seen = model(input_ids=TARGET[:1], encoder_hidden_states=memory, output_attentions=True)
    record = AttentionRecord.from_transformers(
        seen, source_tokens=SOURCE_TOKENS, target_tokens=TARGET_TOKENS
    )
    assert [layer.shape for layer in record.cross] == [(5, 5, 7)] * 3
    assert [layer.shape for layer in record.decoder] == [(5, 5, 5)] * 3
    assert record.encoder == ()


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_a_model_in_half_precision(kind):
    seen = outputs(bert().to(kind))
    record = AttentionRecord.from_transformers(seen, source_tokens=SOURCE_TOKENS)
    expected = seen.attentions[0][0].float().numpy()
    np.testing.assert_allclose(record.encoder[0], expected, atol=1e-6)
    assert record_data(record)["scores"]["encoder"][0]["values"][0] > 0


def test_outputs_that_lead_to_a_gradient():
    seen = bert()(input_ids=IDS, attention_mask=MASK, output_attentions=True)
    assert seen.attentions[0].requires_grad
    record = AttentionRecord.from_transformers(seen, source_tokens=SOURCE_TOKENS)
    assert isinstance(record.encoder[0], np.ndarray)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "outputs contain encoder attention, but source_tokens is missing or empty"),
        ({"source_tokens": SOURCE_TOKENS}, "contain decoder attention, but target_tokens is"),
        ({"target_tokens": TARGET_TOKENS}, "contain encoder attention, but source_tokens is"),
        (
            {"source_tokens": tuple("abcdefgh"), "target_tokens": tuple("uvw")},
            r"encoder layer 0 has 7 queries and 7 keys; expected at least 8 of each for",
        ),
        (
            {"source_tokens": tuple("abcd"), "target_tokens": tuple("uvw")},
            r"row \(0, 0\) of encoder layer 0 sums to 0",
        ),
        (
            {"source_tokens": SOURCE_TOKENS, "target_tokens": tuple("uvw"), "sentence": 2},
            "`sentence` is 2, but the batch has 2 sentences, counted from 0",
        ),
        (
            {
                "source_tokens": SOURCE_TOKENS,
                "target_tokens": tuple("uvw"),
                "written_tokens": tuple("x"),
            },
            "written_tokens has 1 token; expected 3, as in target_tokens",
        ),
    ],
)
def test_tokens_that_do_not_fit_are_named(given, message, both):
    with pytest.raises(ValueError, match=message):
        AttentionRecord.from_transformers(both, **given)


@pytest.mark.parametrize(
    "given", [{}, {"source_tokens": tuple("abc"), "target_tokens": tuple("uvw")}]
)
def test_one_stack_must_be_told_which_it_is(given):
    with pytest.raises(ValueError, match="outputs come from a single stack; expected source"):
        AttentionRecord.from_transformers(outputs(bert()), **given)


def test_outputs_without_weights_say_how_to_get_them():
    """The fused path returns none; the library warns, and newer ones leave the tuple empty."""
    with torch.no_grad():
        without = bert()(input_ids=IDS, attention_mask=MASK)
        fused = bert("sdpa")(input_ids=IDS, attention_mask=MASK)
    for seen in (without, fused):
        with pytest.raises(ValueError, match='attn_implementation="eager"'):
            AttentionRecord.from_transformers(seen, source_tokens=SOURCE_TOKENS)


def test_outputs_of_a_fused_path_that_was_asked_for_weights(recwarn):
    seen = outputs(bert("sdpa"))
    if seen.attentions and seen.attentions[0] is not None:
        pytest.skip("this release computes the weights all the same")
    with pytest.raises(ValueError, match='attn_implementation="eager"'):
        AttentionRecord.from_transformers(seen, source_tokens=SOURCE_TOKENS)


def test_outputs_of_generate_are_not_of_one_pass(both):
    steps = type(both)(
        encoder_attentions=both.encoder_attentions, decoder_attentions=((), ()), cross_attentions=()
    )
    with pytest.raises(
        ValueError, match=r"decoder layer 0 is of type tuple; expected a tensor .* pass"
    ):
        AttentionRecord.from_transformers(
            steps, source_tokens=SOURCE_TOKENS, target_tokens=TARGET_TOKENS
        )
