"""Our models written as checkpoints of MarianMT and Pegasus, against Transformers, and read back."""

import json
from itertools import islice

import pytest
import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.data.pair import Pair
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer
from transformer_lab.data.world.grammar import sentences
from transformer_lab.decoding import greedy
from transformer_lab.formats.marian import from_marian, load_marian, quiet_transformers
from transformer_lab.formats.to_transformers import build_transformers_model, to_transformers
from transformer_lab.model.build import build_model
from transformer_lab.model.masks import length_mask
from transformer_lab.translator import Translator

pytestmark = pytest.mark.slow

transformers = pytest.importorskip("transformers", exc_type=ImportError)

PRIMES = {
    "d_model": 21,
    "d_ff": 31,
    "num_heads": 3,
    "num_encoder_layers": 2,
    "num_decoder_layers": 1,
    "max_length": 37,
    "dropout": 0.13,
    "attention_dropout": 0.07,
    "feed_forward_dropout": 0.03,
}
SHAPES = {
    "two vocabularies": {"source_vocab_size": 53, "target_vocab_size": 47},
    "one": {"source_vocab_size": 53, "target_vocab_size": 53, "activation": "gelu"},
    "two of one size": {
        "source_vocab_size": 53,
        "target_vocab_size": 53,
        "tie_source_target": False,
        "activation": "silu",
    },
    "norm first": {"source_vocab_size": 53, "target_vocab_size": 53, "norm": "pre"},
}
ONE_LIST = ("one", "norm first")


def drawn(seed=0, **changes):
    """A model whose every weight and bias is random, its norms included."""
    sizes = {**PRIMES, "tie_source_target": False, **changes}
    torch.manual_seed(seed)
    model = build_model(TransformerConfig(**sizes)).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return model


@pytest.fixture(params=SHAPES)
def model(request):
    shape = SHAPES[request.param]
    return drawn(**{"tie_source_target": request.param in ONE_LIST, **shape})


def asked(model):
    """Two sources of other lengths with their mask, and what the decoder reads."""
    source = torch.randint(4, 43, (2, 11))
    source[1, 7:] = model.config.pad_id
    target = torch.randint(4, 43, (2, 13))
    target[:, 0] = model.config.bos_id
    return source, target, length_mask(torch.tensor([11, 7]), 11)


def logits_of(theirs, source, target, mask):
    with torch.no_grad():
        return theirs(
            input_ids=source,
            attention_mask=mask[:, 0, 0].long(),
            decoder_input_ids=target,
        ).logits


@torch.no_grad()
def test_their_logits_are_ours(model):
    batch = asked(model)
    found = logits_of(build_transformers_model(model), *batch)
    assert found.shape == (2, 13, model.config.target_vocab_size)
    torch.testing.assert_close(found, model(*batch), atol=1e-5, rtol=1e-5)


def same(a, b):
    """Whether two models have the same configuration and the same bits."""
    pairs = zip(a.state_dict().items(), b.state_dict().items(), strict=True)
    return a.config == b.config and all(m == n and torch.equal(x, y) for (m, x), (n, y) in pairs)


@pytest.mark.parametrize("model", sorted({*SHAPES} - {"norm first"}), indirect=True)
def test_our_weights_come_back_to_the_bit(model):
    assert same(from_marian(build_transformers_model(model), unk_id=3), model)


def test_writing_draws_no_random_numbers(model):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    build_transformers_model(model)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"norm": "pre"},
            "tie_source_target is False; expected True, .* Pegasus, which has one shared vocabulary",
        ),
        (
            {"norm": "pre", "positions": "learned"},
            "positions is 'learned'; expected 'sinusoidal', as in Pegasus",
        ),
        ({"positions": "rotary", "d_k": 8, "d_v": 7}, "positions is 'rotary'; expected 'sinus"),
        ({"positions": "learned"}, "positions is 'learned'"),
        ({"num_key_value_heads": 1}, "num_key_value_heads is 1; expected None"),
        ({"recurrent_decoder": True}, "recurrent_decoder is True; expected False"),
        ({"tie_target_output": False}, "tie_target_output is False; expected True"),
        ({"d_k": 5}, r"d_k is 5; expected 7 \(d_model / num_heads\)"),
        ({"d_v": 11}, r"d_v is 11; expected 7 \(d_model / num_heads\)"),
    ],
)
def test_what_marian_cannot_be_is_refused_by_the_name_of_the_field(changes, message):
    model = drawn(source_vocab_size=53, target_vocab_size=47, **changes)
    with pytest.raises(ValueError, match=message):
        build_transformers_model(model)


# ---------------------------------------------------------------- folders


@pytest.fixture(scope="module")
def shipped():
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def texts():
    return [pair.source for pair in islice(sentences(seed=31), 40)]


@pytest.fixture(scope="module")
def folder(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("marian") / "tiny"
    to_transformers(shipped, path)
    return path


def loaded(folder):
    with quiet_transformers():
        found, about = transformers.MarianMTModel.from_pretrained(folder, output_loading_info=True)
    assert not about["missing_keys"]
    assert not about["unexpected_keys"]
    return found.eval()


def test_the_shipped_translator_goes_and_comes_back(shipped, folder, texts):
    back = load_marian(folder, device="cpu")
    assert same(back.model, shipped.model)
    assert back.translate(texts[:7]) == shipped.translate(texts[:7])
    names = ["config.json", "generation_config.json", "model.safetensors"]
    ours = ["source_tokenizer.json", "target_tokenizer.json"]
    theirs = ["tokenizer.json", "target.tokenizer.json", "tokenizer_config.json"]
    assert sorted(p.name for p in folder.iterdir()) == sorted(names + ours + theirs)


def test_logits_of_the_folder_are_ours(shipped, folder, texts):
    source, mask = shipped.batch([shipped.encode(text) for text in texts])
    target = torch.randint(4, 300, (len(texts), 9))
    target[:, 0] = shipped.model.config.bos_id
    with torch.no_grad():
        ours = shipped.model(source, target, mask)
    found = logits_of(loaded(folder), source, target, mask)
    torch.testing.assert_close(found, ours, atol=1e-5, rtol=1e-5)


def test_generate_writes_what_greedy_writes(shipped, folder, texts):
    source, mask = shipped.batch([shipped.encode(text) for text in texts])
    out = loaded(folder).generate(
        input_ids=source, attention_mask=mask[:, 0, 0].long(), num_beams=1, do_sample=False
    )
    c = shipped.model.config
    assert set(out[:, 0].tolist()) == {c.bos_id}
    found = [[i for i in row[1:].tolist() if i != c.pad_id] for row in out]
    assert found == [list(h.ids) for h in greedy(shipped.model, source, mask)]


def test_byte_pairs_travel_beside_the_model(tmp_path):
    tokenizer = BPETokenizer.train(["the cat sleeps", "the cats sleep"], 263)
    model = drawn(
        source_vocab_size=tokenizer.vocab_size,
        target_vocab_size=tokenizer.vocab_size,
        tie_source_target=True,
    )
    translator = Translator(model, tokenizer, tokenizer)
    to_transformers(translator, tmp_path / "bpe")
    back = load_marian(tmp_path / "bpe", device="cpu")
    assert same(back.model, model)
    assert back.encode("the ½ cat") == translator.encode("the ½ cat")


def test_sentence_pieces_are_read_by_their_own_tokenizer(tmp_path):
    """What came from OPUS-MT goes back as it was; only padding, which nobody writes, gets −∞."""
    from transformer_lab.formats.marian_checkpoint import make_marian_checkpoint

    pairs = [Pair(p.source, p.target) for p in islice(sentences(seed=0), 100)]
    first = make_marian_checkpoint(
        tmp_path / "opus", pairs, d_model=12, num_heads=3, d_ff=7, vocab_size=97, steps=3
    )
    translator = load_marian(first, device="cpu")
    to_transformers(translator, tmp_path / "again")
    before, after = loaded(first), loaded(tmp_path / "again")
    padding = translator.model.config.pad_id
    for name, weights in before.state_dict().items():
        found = after.state_dict()[name]
        if name == "final_logits_bias":
            assert found[0, padding] == -torch.inf
            weights[0, padding] = -torch.inf
        if "embed_positions" not in name:
            assert torch.equal(found, weights), name
    assert json.loads((tmp_path / "again" / "vocab.json").read_text()) == json.loads(
        (first / "vocab.json").read_text()
    )
    assert after.generation_config.bad_words_ids == [[padding]]
    assert same(load_marian(tmp_path / "again", device="cpu").model, translator.model)


@pytest.mark.parametrize("name", ["config.json", "pytorch_model.bin", "target_tokenizer.json"])
def test_nothing_is_overwritten(shipped, tmp_path, name):
    (tmp_path / name).write_text("theirs")
    with pytest.raises(ValueError, match=f"folder is .*; expected a folder without {name}"):
        to_transformers(shipped, tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == "theirs"


# ---------------------------------------------------------------- CTranslate2


def tokens_of(translator, texts):
    from transformer_lab.formats.to_ctranslate2 import token_strings

    words = token_strings(translator.source_tokenizer)
    return [[words[i] for i in translator.encode(text)] for text in texts]


def test_ctranslate2_writes_the_same_words(shipped, texts, tmp_path):
    ctranslate2 = pytest.importorskip("ctranslate2", exc_type=ImportError)
    from transformer_lab.formats.to_ctranslate2 import to_ctranslate2, token_strings

    to_ctranslate2(shipped, tmp_path / "ct2")
    engine = ctranslate2.Translator(str(tmp_path / "ct2"), device="cpu", intra_threads=1)
    found = engine.translate_batch(tokens_of(shipped, texts), beam_size=1)
    words = token_strings(shipped.target_tokenizer)
    hypotheses = greedy(shipped.model, *shipped.batch([shipped.encode(text) for text in texts]))
    expected = [[words[i] for i in h.ids if i != shipped.model.config.eos_id] for h in hypotheses]
    assert [one.hypotheses[0] for one in found] == expected
    with pytest.raises(ValueError, match="expected a folder that does not exist yet"):
        to_ctranslate2(shipped, tmp_path / "ct2")


@pytest.mark.thorough(
    caught_by=[
        "tests/formats/test_exporting.py::test_ctranslate2_translates_as_we_do_or_its_difference_is_small"
    ]
)
def test_ctranslate2s_own_converter_reads_what_came_from_opus_mt(tmp_path):
    """It takes the start of the decoder to be a vector of zeros, so here it is one."""
    ctranslate2 = pytest.importorskip("ctranslate2", exc_type=ImportError)
    from ctranslate2.converters import TransformersConverter

    from transformer_lab.formats.marian_checkpoint import make_marian_checkpoint

    short = (p for p in sentences(seed=0) if len(p.source.split()) < 6)
    pairs = [Pair(p.source, p.target) for p in islice(short, 300)]
    translator = load_marian(make_marian_checkpoint(tmp_path / "opus", pairs), device="cpu")
    model = translator.model
    with torch.no_grad():
        model.source_embedding.weight[model.config.pad_id] = 0
    to_transformers(translator, tmp_path / "marian")
    with quiet_transformers():
        TransformersConverter(str(tmp_path / "marian")).convert(str(tmp_path / "ct2"))
    engine = ctranslate2.Translator(str(tmp_path / "ct2"), device="cpu", intra_threads=1)
    texts = [pair.source for pair in pairs[:20]]
    found = engine.translate_batch(
        tokens_of(translator, texts), beam_size=1, max_decoding_length=11
    )
    ids = [
        list(greedy(model, *translator.batch([translator.encode(text)]), max_length=11)[0].ids)
        for text in texts
    ]
    pieces = translator.target_tokenizer.pieces
    expected = [[pieces[i] for i in row if i != model.config.eos_id] for row in ids]
    assert [one.hypotheses[0] for one in found] == expected
    assert len({tuple(row) for row in expected}) > 5


def test_each_id_has_a_string_of_its_own():
    from transformer_lab.formats.to_ctranslate2 import token_strings

    for tokenizer in (
        WordTokenizer(["the", "cat"]),
        BPETokenizer.train(["the cat sleeps", "½ a cat"], 263),
    ):
        assert len(set(token_strings(tokenizer))) == tokenizer.vocab_size


def test_a_length_of_which_theirs_would_fill_a_table_is_refused():
    long = drawn(**SHAPES["two vocabularies"], max_length=10**9)
    with pytest.raises(ValueError, match="max_length is 1000000000; expected at most 65,536"):
        build_transformers_model(long)
