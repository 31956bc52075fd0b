"""The model in the page is the model of the package: the same words, weights and probabilities."""

import base64
import json
import unicodedata
from functools import partial
from typing import get_args

import numpy as np
import pytest
import torch
from safetensors.torch import save

from tests.browser.faults import plant_fault
from tests.lab.test_changes import SEVERAL, TIRED
from tests.thorough import thorough_from
from transformer_lab.attention.record import KINDS, AttentionRecord, Head
from transformer_lab.config import Positions, TransformerConfig
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import FAMOUS, world
from transformer_lab.decoding.sampling import keep_top_p
from transformer_lab.hooks import Hook, Point
from transformer_lab.lab import lab
from transformer_lab.lab.changes import Changes
from transformer_lab.lab.changes import Point as Redirected
from transformer_lab.lab.model_data import POSITIONS
from transformer_lab.model import Transformer
from transformer_lab.translator import PRETRAINED, Translator

OPEN = """async ({ Engine }, { name, packed, plain, ...texts }) => {
    const weights = Uint8Array.from(atob(packed), (sign) => sign.charCodeAt(0)).buffer;
    const { WebAssembly } = globalThis;
    if (plain) globalThis.WebAssembly = undefined; // as in a browser without it
    try {
        const engine = ((globalThis.engines ??= {})[name] = new Engine({ ...texts, weights }));
        return engine.model.output.multiply != null;
    } finally {
        globalThis.WebAssembly = WebAssembly;
    }
}"""
TRANSLATE = """(_, { name, text, options }) => {
    const found = globalThis.engines[name].translate(text, options);
    const rows = (maps) => maps.map((heads) => heads.map((head) => head.map((row) => [...row])));
    return {
        ...found,
        probabilities: found.probabilities.map((step) => [...step]),
        maps: Object.fromEntries(Object.entries(found.maps).map(([kind, maps]) => [kind, rows(maps)])),
        heads: null,
        residual: null,
    };
}"""
POINTS = """(_, { name, text, kind, layer }) => {
    const { heads, residual } = globalThis.engines[name].translate(text);
    const rows = (vectors) => vectors.map((vector) => [...vector]);
    const points = heads[kind][layer].map((head) =>
        Object.fromEntries(Object.entries(head).map(([point, vectors]) => [point, rows(vectors)])));
    const stream = (residual[kind]?.[layer] ?? []).map((x) => [...x.values]);
    return { points, stream };
}"""
TEXTS = """(_, { texts, options }) =>
    texts.map((text) => globalThis.engines.model.translate(text, options).translation)"""


def open_engine(ask, folder, name="model", plain=False, called=None):
    """Load a translator's files into the page, under this name; `name` may be a snapshot's.

    With `plain`, the browser has no WebAssembly while the engine is made.
    """
    texts = {
        part: json.loads((folder / f"{file}.json").read_text(encoding="utf-8"))
        for part, file in (
            ("config", "config"),
            ("source", "source_tokenizer"),
            ("target", "target_tokenizer"),
        )
    }
    packed = base64.b64encode((folder / f"{name}.safetensors").read_bytes()).decode()
    given = {**texts, "name": called or name, "packed": packed, "plain": plain}
    assert ask("engine/engine.js", OPEN, given) is not plain


def translated(ask, text, name="model", **options):
    given = {"name": name, "text": text, "options": options}
    return ask("engine/engine.js", TRANSLATE, given)


def assert_same(found, record, tolerance=1e-4):
    """The engine's record of a sentence against Python's."""
    assert found["tokens"]["source"] == list(record.source_tokens)
    assert found["tokens"]["read"] == list(record.target_tokens)
    assert found["tokens"]["written"] == list(record.written_tokens)
    for kind in KINDS:
        for layer, weights in enumerate(getattr(record, kind)):
            for head, expected in enumerate(weights):
                rows = found["maps"][kind][layer][head]
                if kind == "decoder":
                    assert [len(row) for row in rows] == [len(expected)] * len(expected)
                np.testing.assert_allclose(rows, expected, atol=tolerance)
    for step, best in zip(found["probabilities"], record.next_tokens, strict=True):
        assert sorted(step, reverse=True)[: len(best)] == pytest.approx(
            [p for _, p in best], abs=tolerance
        )


@pytest.fixture(scope="module")
def shipped(ask):
    open_engine(ask, PRETRAINED)
    return Translator.load(device="cpu")


@pytest.fixture(scope="module")
def sources():
    return [pair.source for pair in world(train=0).test]


@pytest.mark.parametrize(("beam", "every"), thorough_from(1, [(4, 23), (1, 11), (1, 1), (4, 1)]))
def test_every_test_sentence_is_translated_as_python_does(ask, shipped, sources, beam, every):
    sources = sources[::every]
    expected = [t.translation for t in shipped.translate(sources, beam_size=beam)]
    options = {"texts": sources, "options": {"beam": beam}}
    assert ask("engine/engine.js", TEXTS, options) == expected


@pytest.mark.parametrize("count", thorough_from(1, [5, 23]))
def test_each_head_and_each_probability_is_pythons(ask, shipped, sources, count):
    for source in sources[:count]:
        assert_same(translated(ask, source), shipped.attend(source))


def test_without_webassembly_plain_loops_give_the_same(ask, shipped, sources):
    open_engine(ask, PRETRAINED, plain=True, called="loops")
    for source in sources[:3]:
        assert_same(translated(ask, source, "loops"), shipped.attend(source))


LINEAR = """async ({ linear, Vectors }, { rows, inner, columns, x, weight, bias }) => {
    const { useKernel } = await import("./engine/product.js");
    const matrix = (n, width, values) => new Vectors(n, width, Float32Array.from(values));
    const layer = { weight: matrix(columns, inner, weight), bias: Float32Array.from(bias) };
    const other = { weight: matrix(1, 1, [2]), bias: Float32Array.of(3) };
    const loops = linear(matrix(rows, inner, x), layer);
    useKernel([other, layer]);
    const kernel = linear(matrix(rows, inner, x), layer);
    return [layer.multiply != null, [...kernel.values], [...loops.values]];
}"""


@pytest.mark.parametrize(
    ("rows", "inner", "columns"),
    [(0, 3, 5), (1, 1, 1), (1, 13, 17), (2, 7, 16), (3, 5, 31), (400, 97, 53)],
)
def test_the_kernel_multiplies_as_numpy_does(ask, rows, inner, columns):
    generator = np.random.default_rng(rows)
    x, weight, bias = (generator.normal(size=s) for s in ((rows, inner), (columns, inner), columns))
    given = {"x": x.flatten(), "weight": weight.flatten(), "bias": bias}
    lists = {name: values.tolist() for name, values in given.items()}
    sizes = {"rows": rows, "inner": inner, "columns": columns}
    used, kernel, loops = ask("engine/vectors.js", LINEAR, {**sizes, **lists})
    assert used
    expected = (x @ weight.T + bias).flatten()
    np.testing.assert_allclose(kernel, expected, atol=1e-4)
    np.testing.assert_allclose(loops, expected, atol=1e-4)


@pytest.mark.parametrize("count", thorough_from(1, [3, 11]))
def test_the_score_is_that_of_the_translator(ask, shipped, sources, count):
    for source in sources[:count]:
        for beam in (1, 4):
            (expected,) = shipped.translate(source, beam_size=beam)
            found = translated(ask, source, beam=beam)
            assert found["logProbability"] == pytest.approx(expected.score, abs=1e-3)


def test_a_guess_changes_no_translation(ask, shipped, sources):
    """Right, wrong from some word on, empty, too long, or without its end: only the time differs."""
    open_engine(ask, PRETRAINED)
    compare = """(_, { text, guesses, mute }) => {
        const engine = engines.model;
        const { written, ...alone } = engine.translate(text, { mute });
        const flat = ({ probabilities, heads }) =>
            [...probabilities, ...heads.cross[1][2].weights].flatMap((row) => [...row]);
        const own = flat(alone);
        return guesses.map((take) => {
            const guess = eval(take)(written);
            const found = engine.translate(text, { mute, guess });
            const far = flat(found).map((value, i) => Math.abs(value - own[i]));
            return [String(found.written) === String(written), Math.max(...far)];
        });
    }"""
    guesses = [
        "(ids) => ids",
        "(ids) => ids.map((id, step) => (step === 3 ? 7 : id))",
        "(ids) => [11, ...ids]",
        "(ids) => ids.slice(0, 5)",
        "(ids) => ids.slice(0, -1)",
        "(ids) => Array(200).fill(13)",
        "(ids) => []",
    ]
    muted = {"kind": "encoder", "layer": 1, "head": 2}
    for text in sources[:3]:
        for mute in ([], [muted]):
            given = {"text": text, "guesses": guesses, "mute": mute}
            for same, far in ask("engine/engine.js", compare, given):
                assert same
                assert far < 1e-4


def test_a_guess_that_is_wrong_in_a_word_is_read_twice_and_nothing_is_written_word_by_word(ask):
    """The second time the decoder reads what it said itself at each word of the guess."""
    open_engine(ask, PRETRAINED)
    count = """(_, [tired, wide]) => {
        const { engines: { model: engine } } = globalThis;
        const { written } = engine.translate(tired);
        const { model } = engine;
        const read = [];
        const decode = model.decode.bind(model);
        model.decode = (ids, ...rest) => (read.push(ids.length), decode(ids, ...rest));
        const other = engine.translate(wide, { guess: written });
        delete model.decode;
        return [read, written.length, written.filter((id, step) => id !== other.written[step]).length];
    }"""
    read, length, changed = ask("engine/engine.js", count, [pair.source for pair in FAMOUS])
    assert changed == 2  # the pronoun and the adjective
    assert read == [length, length]


@pytest.mark.parametrize("count", thorough_from(1, [2, 7]))
@pytest.mark.parametrize("kind", thorough_from(1, KINDS[::-1]))
def test_a_muted_head_and_a_patched_row_act_as_in_python(ask, shipped, sources, kind, count):
    generator = np.random.default_rng(0)
    for source in sources[:count]:
        own = shipped.attend(source)
        head = Head(kind, 1, int(generator.integers(4)))
        named = {"kind": kind, "layer": 1, "head": head.head}
        assert_same(translated(ask, source, mute=[named]), shipped.attend(source, mute=[head]))
        rows = own.weights(head).copy()
        rows[2] = 0
        rows[2, generator.integers(3)] = 1
        found = translated(ask, source, patch=[{**named, "rows": rows.tolist()}])
        assert_same(found, shipped.attend(source, patch={head: rows}))


CHANGED = """async (_, { name, text, changes }) => {
    const { makeHookOptions } = await import("/lab/changes.js");
    return (TRANSLATE)(_, { name, text, options: makeHookOptions(changes) });
}""".replace("TRANSLATE", TRANSLATE)


def assert_both_change_alike(ask, shipped, text, changes) -> AttentionRecord:
    """The engine and a lab that asks Python agree on a changed model; return Python's record."""
    given = {"name": "model", "text": text, "changes": changes.to_page()}
    (record,), _ = lab(shipped, text, kernel=True).answer(text, Changes(), changes)
    assert_same(ask("engine/engine.js", CHANGED, given), record)
    return record


def test_several_changes_at_once_act_as_in_a_lab_that_asks_python(ask, shipped):
    """A muted head, and shares for rows of other layers: the rows around them react."""
    record = assert_both_change_alike(ask, shipped, TIRED, SEVERAL)
    assert record.written_tokens != shipped.attend(TIRED).written_tokens


def test_a_row_that_only_the_changed_translation_has_is_redirected_in_both(ask, shipped):
    text = "the dog did not eat the small red apple"
    muted, reader = Head("decoder", 0, 0), Head("cross", 1, 0)
    row = len(shipped.attend(text).written_tokens)
    points = (Redirected(reader, row, 1), Redirected(reader, 90, 1))  # the second is never reached
    record = assert_both_change_alike(ask, shipped, text, Changes((muted,), points))
    assert record.weights(reader)[row, 1] == 1


@pytest.mark.parametrize("kind", thorough_from(2, KINDS[::-1]))
@pytest.mark.parametrize("layer", thorough_from(1, [1, 0]))
def test_the_seven_points_of_the_hooks_are_pythons(ask, shipped, sources, kind, layer):
    points = [point for point in get_args(Point) if kind != "cross" or point != "residual"]
    for source in sources[:3]:
        seen = {}
        functions = {point: partial(seen.__setitem__, point) for point in points}
        shipped.attend(source, hooks={(kind, layer): Hook(**functions)})
        asked = {"name": "model", "text": source, "kind": kind, "layer": layer}
        found = ask("engine/engine.js", POINTS, asked)
        if kind != "cross":
            np.testing.assert_allclose(
                found["stream"][0], seen.pop("residual").flatten(), atol=1e-4
            )
        for head, theirs in enumerate(found["points"]):
            assert set(theirs) == set(seen)
            for point, expected in seen.items():
                np.testing.assert_allclose(theirs[point], expected[0, head], rtol=1e-3, atol=1e-4)


@pytest.mark.thorough(caught_by=["test_every_test_sentence_is_translated_as_python_does"])
@pytest.mark.parametrize("name", thorough_from(1, sorted(Translator.snapshots().values())))
def test_snapshots_of_the_training_are_read_as_well(ask, sources, name):
    open_engine(ask, PRETRAINED, name)
    snapshot = Translator.load(weights=name, device="cpu")
    for source in sources[:7]:
        assert_same(translated(ask, source, name), snapshot.attend(source))


KINDS_OF_MODEL = {
    "post-norm": {},
    "pre-norm": {"norm": "pre"},
    **{kind: {"positions": kind} for kind in POSITIONS},
    "shared keys": {"num_key_value_heads": 1},
    "gelu": {"activation": "gelu"},
    "silu": {"activation": "silu"},
    "wide heads": {"d_k": 6, "d_v": 5},
    "untied": {"tie_target_output": False},
}


def test_a_kind_of_positions_is_one_of_the_package():
    assert set(POSITIONS) <= set(get_args(Positions))


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize("name", thorough_from(1, KINDS_OF_MODEL))
def test_every_kind_of_model_is_read(ask, tmp_path, sources, name, plain):
    tokenizer = WordTokenizer.train(sources[:31])
    size = tokenizer.vocab_size
    sizes = {"d_model": 12, "d_ff": 31, "num_heads": 3, "tie_source_target": False}
    layers = {"num_encoder_layers": 2, "num_decoder_layers": 3, "dropout": 0.0}
    torch.manual_seed(1)
    config = {**sizes, **layers, **KINDS_OF_MODEL[name]}
    model = Transformer(TransformerConfig(source_vocab_size=size, target_vocab_size=size, **config))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    translator = Translator(model, tokenizer, tokenizer)
    translator.save(tmp_path)
    (tmp_path / "model.safetensors").rename(tmp_path / "other.safetensors")
    open_engine(ask, tmp_path, "other", plain)
    for source in sources[:3]:
        assert_same(translated(ask, source, "other"), translator.attend(source))


FAULTS = {
    "no bias": ("engine/product.js", "values.set(bias, place.bias);", ""),
    "no scale": ("engine/attention.js", "sum / root +", "sum +"),
    "no mask": ("engine/attention.js", "start + q + 1)", "start + q + 2)"),
    "positions that start at 1": (
        "engine/positions.js",
        "const angle = position *",
        "const angle = (position + 1) *",
    ),
    "the norm before the sum": (
        "engine/transformer.js",
        "layerNorm(addVectors(x, sublayer(x)), norm)",
        "addVectors(x, layerNorm(sublayer(x), norm))",
    ),
    "a cache that forgets its first word": (
        "engine/transformer.js",
        "const start = past[0].words?.keys.rows ?? 0",
        "const start = Math.max(0, (past[0].words?.keys.rows ?? 0) - 1)",
    ),
    "no end of a search": (
        "engine/decoding.js",
        "if (found.some(({ score }) => score >= hope)) break;",
        "if (found.length) break;",
    ),
}


def assert_all_same(ask, shipped, sources):
    """Greedy with all that it sees, and the text of a beam."""
    for source in sources:
        assert_same(translated(ask, source), shipped.attend(source))
        (expected,) = shipped.translate(source, beam_size=4)
        assert translated(ask, source, beam=4)["translation"] == expected.translation


@pytest.mark.parametrize("name", thorough_from(2, FAULTS))
def test_a_planted_error_is_caught(ask, shipped, sources, name):
    with plant_fault(ask, *FAULTS[name]) as planted:
        open_engine(planted, PRETRAINED)
        with pytest.raises(AssertionError):
            assert_all_same(planted, shipped, sources[:23])


def test_words_are_split_and_joined_as_in_python(ask, shipped):
    texts = [
        "The Animal didn't cross, because it was TIRED!!",
        "l\u2019été, qu'il n'a 12 arc-en-ciel d'or ?",
        "  \u00a0 naïve_x ’’ ...",
        "",
        "é",
    ]
    words = """({ Words }, { state, texts, ids }) => {
        const words = new Words(state);
        return [texts.map((text) => words.encode(text)), texts.map((text) => words.unknown(text)),
            ids.map((some) => words.decode(some))];
    }"""
    for tokenizer in (shipped.source_tokenizer, shipped.target_tokenizer):
        generator = np.random.default_rng(0)
        ids = [generator.integers(0, tokenizer.vocab_size, 17).tolist() for _ in range(29)]
        given = {"state": json.loads(tokenizer.to_json()), "texts": texts, "ids": ids}
        assert ask("engine/words.js", words, given) == [
            [tokenizer.encode(text) for text in texts],
            [tokenizer.unknown(text) for text in texts],
            [tokenizer.decode(some) for some in ids],
        ]


def test_accents_that_are_signs_of_their_own_are_the_same_words(ask, shipped):
    tokenizer = shipped.target_tokenizer
    accented = [w for w in json.loads(tokenizer.to_json())["words"] if not w.isascii()]
    assert len(accented) > 20
    texts = [unicodedata.normalize("NFD", word) for word in accented]
    given = {"state": json.loads(tokenizer.to_json()), "texts": texts}
    words = "({ Words }, { state, texts }) => texts.map((text) => new Words(state).encode(text))"
    assert ask("engine/words.js", words, given) == [tokenizer.encode(word) for word in accented]


def test_half_precision_is_read_to_the_bit(ask):
    bits = np.arange(1 << 16, dtype=np.uint16)
    expected = bits.view(np.float16).astype(np.float64)
    found = ask(
        "engine/safetensors.js",
        "({ decodeHalf }, bits) => bits.map(decodeHalf).map((x) => Number.isFinite(x) ? x : `${x}`)",
        bits.tolist(),
    )
    read = np.array(
        [
            float(value.replace("Infinity", "inf")) if isinstance(value, str) else value
            for value in found
        ]
    )
    np.testing.assert_array_equal(read, expected)


@pytest.mark.parametrize(
    ("text", "message"),
    [("", "the sentence is empty"), (" ... ", "the sentence"), ("a " * 600, "has 600 words")],
)
def test_a_sentence_that_cannot_be_read_is_named(ask, shipped, text, message):
    catch = """(_, text) => {
        try { globalThis.engines.model.translate(text); } catch (e) { return e.message; }
    }"""
    assert message in ask("engine/engine.js", catch, text)


def test_a_damaged_file_is_named(ask):
    catch = """({ readSafetensors }, bytes) => {
        try { readSafetensors(Uint8Array.from(bytes).buffer); } catch (e) { return e.message; }
    }"""
    whole = list(save({"a": torch.ones(3, 5)}))
    assert "no header" in ask("engine/safetensors.js", catch, whole[:5])
    assert "header is cut" in ask("engine/safetensors.js", catch, whole[:20])
    assert "the file is cut" in ask("engine/safetensors.js", catch, whole[:-2])


@pytest.mark.parametrize(
    ("temperature", "top_p"), [(1, 1), (0.5, 1), (2, 0.8), (1, 0.3), (1, 0.01)]
)
def test_a_word_is_drawn_by_the_probabilities_that_python_draws_it_by(ask, temperature, top_p):
    logits = torch.randn(31, generator=torch.Generator().manual_seed(7)) * 3
    expected = keep_top_p((logits - logits.max()) / temperature, float(top_p)).softmax(dim=-1)
    compute = """({ computeDraw }, { logits, temperature, topP }) =>
        [...computeDraw(Float32Array.from(logits), temperature, topP)]"""
    given = {"logits": logits.tolist(), "temperature": temperature, "topP": top_p}
    found = ask("engine/decoding.js", compute, given)
    np.testing.assert_allclose(found, expected.numpy(), atol=1e-6)


def test_translations_are_drawn_as_often_as_their_words_are_probable(ask, shipped):
    text = "the animal didn't cross the street because it was too tired"
    open_engine(ask, PRETRAINED)
    draw = """async (_, { text, temperature, topP, count }) => {
        const { makeRandom } = await import("/engine/untrained.js");
        const mute = [{ kind: "encoder", layer: 1, head: 2 }];
        const options = { random: makeRandom(11), temperature, topP, mute };
        return Array.from({ length: count }, () => engines.model.sample(text, options));
    }"""

    def drawn(count, temperature=1, top_p=1):
        given = {"text": text, "temperature": temperature, "topP": top_p, "count": count}
        return ask("engine/engine.js", draw, given)

    # Without the head that finds the noun, "il" has about a third: so many draws have it.
    record = shipped.attend(text, mute=[Head("encoder", 1, 2)])
    step = record.written_tokens.index("elle")
    share = dict(record.next_tokens[step])["il"]
    found = drawn(300)
    count = sum(" qu'il " in translation for translation in found)
    margin = 4 * np.sqrt(share * (1 - share) / len(found))
    assert count / len(found) == pytest.approx(share, abs=margin)
    assert found[:7] == drawn(7)  # equal seeds draw equal words
    # The surest model, and the smallest nucleus, write what greedy decoding writes.
    greedy = translated(ask, text, mute=[{"kind": "encoder", "layer": 1, "head": 2}])["translation"]
    assert set(drawn(5, temperature=0.01)) == set(drawn(5, top_p=0.01)) == {greedy}
