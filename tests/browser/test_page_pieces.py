"""A translator of byte pairs in the page: the same pieces, texts and translations as in Python."""

import json
import sys
import unicodedata

import numpy as np
import pytest
import torch
from playwright.sync_api import expect

from tests.browser.test_page_engine import assert_same, open_engine, translated
from transformer_lab.config import TrainingConfig, TransformerConfig
from transformer_lab.data.batching import encode_pairs
from transformer_lab.data.tokenizer import BPETokenizer
from transformer_lab.data.world.grammar import world
from transformer_lab.lab.open_lab import lab
from transformer_lab.model import Transformer
from transformer_lab.training.trainer import Trainer
from transformer_lab.translator import Translator

HARD = [
    "",
    " ",
    "  two  spaces   and\ta tab\nand a line ",
    "UNSEEN Words, CamelCase and xylophones-zyzzyva",
    "don't, I'LL, he'd, it's we're they've I'm 's",
    "l\u2019été qu'il n'a « naïf » … œuvre – coûté",
    unicodedata.normalize("NFD", "l'été où Zoë a mangé un gâteau"),
    "🙂 family 👨‍👩‍👧‍👦 flag 🇫🇷 tone 👍🏽",
    "שלום עולם و مرحبا \u202eabc\u202c",
    "中文 日本語 한국어 \u1112\u1161\u11ab ไทย हिन्दी",
    "1234 ½ Ⅷ ٣ 12.5 3,000 x²",
    "<pad> <bos> </eos> <unk> <eos>",
    "\ufeffmark \u00ad soft \u200b none \x01\x7f\x85\x9f",
    "a" * 300,
    "Ā Ġ ġ Ń ¡ ÿ",
]
SPACES = [sign for sign in map(chr, range(1, sys.maxunicode)) if sign.isspace()]
TEXTS_AND_IDS = """({ makeTokenizer }, { state, texts, ids }) => {
    const tokenizer = makeTokenizer(state);
    return [texts.map((text) => tokenizer.encode(text)),
        texts.map((text) => tokenizer.decode(tokenizer.encode(text))),
        texts.map((text) => tokenizer.unknown(text)),
        ids.map((some) => tokenizer.decode(some)), ids.map((some) => tokenizer.tokens(some))];
}"""


@pytest.fixture(scope="module")
def splits():
    return world(train=3_000)


@pytest.fixture(scope="module")
def tokenizer(splits):
    texts = [text for pair in splits.train for text in (pair.source, pair.target)]
    return BPETokenizer.train([*texts, "a <pad> <pad>", "été 🙂 🙂"], 500)


def strange_texts(count: int) -> list[str]:
    """Letters, marks, signs and spaces of everywhere in any order."""
    generator = np.random.default_rng(0)
    pools = [range(32, 127), range(0xA0, 0x250), range(0x300, 0x370), range(0x370, 0x2000)]
    pools += [range(0x2000, 0x2C00), range(0x1F300, 0x1F6FF), [ord(space) for space in SPACES]]
    # Letters that one side's Unicode may not know yet are no question of ours.
    known = [
        [c for c in pool if unicodedata.category(chr(c)) not in ("Cn", "Cs")] for pool in pools
    ]

    def sign() -> str:
        return chr(generator.choice(known[generator.integers(len(known))]))

    return ["".join(sign() for _ in range(generator.integers(1, 30))) for _ in range(count)]


def test_pieces_are_made_and_joined_as_in_python(ask, tokenizer, splits):
    seen = [text for pair in splits.test[:100] for text in (pair.source, pair.target)]
    capitals = [text.title() for text in seen[:40]] + [text.upper() for text in seen[:40]]
    texts = [*HARD, *seen, *capitals, *strange_texts(300), *(f"a{s}{s}b {s}" for s in SPACES)]
    generator = np.random.default_rng(1)
    ids = [generator.integers(0, tokenizer.vocab_size, 17).tolist() for _ in range(200)]
    given = {"state": json.loads(tokenizer.to_json()), "texts": texts, "ids": ids}
    found = ask("engine/tokenizer.js", TEXTS_AND_IDS, given)
    encoded = [tokenizer.encode(text) for text in texts]
    assert found[0] == encoded
    assert found[1] == [tokenizer.decode(some) for some in encoded]
    assert found[2] == [[] for _ in texts]
    assert found[3] == [tokenizer.decode(some) for some in ids]
    assert found[4] == [tokenizer.tokens(some) for some in ids]


def test_another_kind_of_tokenizer_is_named(ask):
    catch = """({ makeTokenizer }) => {
        try { makeTokenizer({ kind: "sentencepiece" }); } catch (e) { return e.message; }
    }"""
    assert "is of kind sentencepiece; expected word or bpe" in ask("engine/tokenizer.js", catch)


@pytest.fixture(scope="module")
def translator(splits, tokenizer):
    """A model that has learnt a little, so that its sentences end and differ."""
    size = tokenizer.vocab_size
    sizes = {"d_model": 64, "d_ff": 96, "num_heads": 4, "dropout": 0.0}
    layers = {"num_encoder_layers": 1, "num_decoder_layers": 2}
    config = TransformerConfig(
        source_vocab_size=size, target_vocab_size=size, tie_source_target=True, **sizes, **layers
    )
    model = Transformer(config)
    examples = encode_pairs(splits.train, tokenizer, tokenizer)
    training = TrainingConfig(
        max_steps=150, batch_tokens=640, peak_rate=5e-3, warmup_steps=30, device="cpu"
    )
    Trainer(model, examples, examples[:20], training, show_progress=False).train()
    return Translator(model, tokenizer, tokenizer)


@pytest.mark.thorough(
    caught_by=[
        "test_pieces_are_made_and_joined_as_in_python",
        "tests/browser/test_page_engine.py::test_every_test_sentence_is_translated_as_python_does",
    ]
)
def test_a_translator_of_pieces_writes_in_the_page_what_it_writes_in_python(
    ask, translator, splits, tmp_path
):
    translator.save(tmp_path)
    open_engine(ask, tmp_path)
    sources = [pair.source for pair in splits.test[:20]] + ["The Zyzzyva sleeps 🙂", "été"]
    wanted = {beam: translator.translate(sources, beam_size=beam) for beam in (1, 4)}
    assert len({found.translation for found in wanted[1]}) > 10
    for i, source in enumerate(sources):
        for beam, expected in wanted.items():
            found = translated(ask, source, beam=beam)
            assert found["translation"] == expected[i].translation
    for source in sources[:5]:
        assert_same(translated(ask, source), translator.attend(source))


@pytest.mark.thorough(
    caught_by=[
        "test_pieces_are_made_and_joined_as_in_python",
        "tests/browser/test_page_lab.py::test_muting_says_before_and_after_as_python_does",
    ]
)
def test_the_lab_works_with_pieces(visit_page, translator, splits, tmp_path):
    source = splits.test[0].source
    path = lab(translator, [source, "the cat sleeps"]).to_html(tmp_path / "lab.html")
    page = visit_page(path).page
    expect(page.locator(".read")).to_contain_text("pieces of words")
    asked = page.get_by_role("textbox")
    asked.fill("The Zyzzyva sleeps 🙂")
    asked.press("Enter")
    expect(page.locator(".read")).to_contain_text("␣s le ep s")
    expect(page.locator(".read")).to_contain_text("�")  # a part of the smiling face
    # No text is unknown: nothing is struck, and no neighbour offered.
    expect(page.locator(".read s, .unknown")).to_have_count(0)
    translator.save(tmp_path / "half", dtype=torch.float16)  # as the page has it
    half = Translator.load(tmp_path / "half", device="cpu")
    record = half.attend("The Zyzzyva sleeps 🙂")
    expect(page.locator(".column.query button")).to_have_count(len(record.written_tokens))
    page.get_by_label("Open a head").select_option("e1.1")
    page.locator("[data-control='mute']").click()
    expect(page.locator(".changes")).to_contain_text("e1.1")
    expect(page.locator(".next ul")).to_contain_text("→")
