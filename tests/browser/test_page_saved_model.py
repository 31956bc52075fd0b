"""What the page trains is one file that Python loads, and the other way round."""

import base64
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load

from tests.browser.test_page_learning import LEARNER
from transformer_lab.config import TransformerConfig
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.model import Transformer
from transformer_lab.storage.tensors import save_tensors, weights_of
from transformer_lab.translator import Translator

LETTERS = "abcdefgé"
SOURCE, TARGET = WordTokenizer([*LETTERS, "z"]), WordTokenizer(list(LETTERS))
SIZES = {
    "d_model": 24,
    "d_ff": 36,
    "num_heads": 2,
    "num_encoder_layers": 1,
    "num_decoder_layers": 2,
    "positions": "sinusoidal",
    "norm": "post",
    "source_vocab_size": SOURCE.vocab_size,
    "target_vocab_size": TARGET.vocab_size,
    "max_length": 19,
    "tie_source_target": False,
}
STATES = {"source": json.loads(SOURCE.to_json()), "target": json.loads(TARGET.to_json())}
SAVED = (
    LEARNER
    + """
    const { packModel, unpackModel } = await import("./learning/saved_model.js");
    const { writeSafetensors } = await import("./engine/safetensors.js");
    const { makeTokenizer } = await import("./engine/tokenizer.js");
"""
)


@pytest.fixture
def saved(ask):
    """Run JavaScript with what `LEARNER` has, `packModel`, `unpackModel` and what is `given`."""
    return lambda body, **given: ask(
        "learning/learner.js",
        f"async ({{ Learner }}, given) => {{ {SAVED} {body} }}",
        {"config": SIZES, "states": STATES, **given},
    )


def build_translator(**changes):
    """An untrained one in Python."""
    torch.manual_seed(5)
    model = Transformer(TransformerConfig(**{**SIZES, **changes}, dropout=0.0))
    return Translator(model, SOURCE, TARGET)


def pack(path):
    return base64.b64encode(path.read_bytes()).decode()


@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "positions": "learned"}])
def test_python_loads_what_the_page_has_trained(saved, tmp_path, changes):
    """It reverses letters a little; translations and logits are the page's."""
    config = {**SIZES, **changes}
    found = saved(
        """
        const source = makeTokenizer(given.states.source);
        const target = makeTokenizer(given.states.target);
        const random = makeRandom(3);
        const { letters } = given;
        const draw = () => {
            const word = Array.from({ length: 4 }, () => letters[Math.floor(random() * letters.length)]);
            const [asked, answer] = [word.join(" "), [...word].reverse().join(" ")];
            return { source: [...source.encode(asked), 2], target: [...target.encode(answer), 2], asked };
        };
        const learner = make(given);
        for (let step = 0; step < 80; step++) learner.step(Array.from({ length: 16 }, draw));
        const unseen = Array.from({ length: 20 }, draw);
        const { model } = learner;
        const logits = model.memory.borrow(() => {
            const { at, rows, columns } = learner.readTargets(unseen);
            const size = learner.config.target_vocab_size;
            const from = Array.from({ length: rows }, (_, i) => at + i * columns);
            return from.map((start) => [...model.memory.values.slice(start, start + size)]);
        });
        const written = learner.write(unseen.map((pair) => pair.source), 9);
        return {
            file: pack(packModel(learner, given.states)),
            unseen,
            logits,
            texts: written.map((ids) => target.decode(ids.filter((id) => id !== 2))),
        };""",
        config=config,
        letters=LETTERS,
    )
    path = tmp_path / "reverse.safetensors"
    path.write_bytes(base64.b64decode(found["file"]))
    translator = Translator.load(path, device="cpu")
    assert translator.model.config == TransformerConfig(**config, dropout=0.0)
    assert translator.about == {"steps": 80}
    assert [t.to_json() for t in translator.tokenizers] == [SOURCE.to_json(), TARGET.to_json()]
    asked = [pair["asked"] for pair in found["unseen"]]
    told = [t.translation for t in translator.translate(asked, beam_size=1, max_length=9)]
    assert told == found["texts"]
    assert len(set(told)) > 5
    assert any("é" in text for text in told)
    sources = torch.tensor([pair["source"] for pair in found["unseen"]])
    given = torch.tensor([[1, *pair["target"][:-1]] for pair in found["unseen"]])
    with torch.no_grad():
        logits = translator.model(sources, given).flatten(0, 1)
    np.testing.assert_allclose(found["logits"], logits, atol=1e-4)


@pytest.mark.parametrize("changes", [{}, {"norm": "pre", "positions": "learned"}])
def test_the_page_reads_what_python_has_saved_to_the_bit(saved, tmp_path, changes):
    translator, path = build_translator(**changes), tmp_path / "given.safetensors"
    translator.save(path)
    found = saved(
        """
        const { config, tensors, source, target } = unpackModel(unpack(given.file));
        const learner = make({ config });
        learner.model.parameters.write(tensors);
        const weights = pack(writeSafetensors(learner.model.parameters.read()));
        const file = pack(packModel(learner, { source, target }));
        return { config, source, target, weights, file };""",
        file=pack(path),
    )
    own = translator.model.config.to_dict()
    assert {name: found["config"][name] for name in own} == own
    assert {side: found[side] for side in STATES} == STATES
    weights = weights_of(translator.model)
    read = load(base64.b64decode(found["weights"]))
    assert read.keys() == weights.keys()
    for name, tensor in weights.items():
        assert torch.equal(read[name], tensor), name
    back = tmp_path / "back.safetensors"
    back.write_bytes(base64.b64decode(found["file"]))
    again = Translator.load(back, device="cpu")
    assert again.model.config == translator.model.config
    for name, tensor in weights_of(again.model).items():
        assert torch.equal(tensor, weights[name]), name


PARTS = "; expected all of the paper's parts, because the model in Python has them"


@pytest.mark.parametrize(
    ("config", "change", "message"),
    [
        ({"residual": False}, "", f"this model was trained without residual connections{PARTS}"),
        ({"causal_mask": False, "root": False}, "",
         f"this model was trained without a causal mask and the division by √d_k{PARTS}"),
        ({"norm": "none"}, "", f"this model was trained without layer norm{PARTS}"),
        ({}, "const { at } = parameters.named.get('output.bias'); memory.values[at + 1] = NaN",
         "output.bias contains NaN or infinity; expected finite numbers"),
        ({"source_vocab_size": 14}, "",
         "source_vocab_size is 14; expected 13, as many as the tokenizer has tokens"),
    ],
)  # fmt: skip
def test_what_python_could_not_read_is_not_packed(saved, config, change, message):
    found = saved(
        f"""
        const learner = make(given);
        const {{ parameters, memory }} = learner.model;
        {change};
        try {{ packModel(learner, given.states); }} catch (error) {{ return error.message; }}""",
        config={**SIZES, **config},
    )
    assert found == message


def change_description(path, **changes):
    """Write the file's description anew; what is None is left out."""
    translator = Translator.load(path, device="cpu")
    description = {"format": "transformer_lab 1", **translator.describe()}
    description |= {f"{side}_tokenizer": state for side, state in STATES.items()} | changes
    whole = {name: value for name, value in description.items() if value is not None}
    save_tensors(path, weights_of(translator.model), whole)


MODEL = TransformerConfig(**SIZES, attention_dropout=0.25).to_dict()
SAID = "; expected a translator that was saved as one file"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "other 9"}, 'the file\'s format is "other 9"; expected "transformer_lab 1"'),
        ({"model": None}, f"the file has no model{SAID}"),
        ({"target_tokenizer": None}, f"the file has no target_tokenizer{SAID}"),
        ({"model": MODEL}, "attention_dropout is 0.25; expected 0"),
        ({"model": {**MODEL, "positions": "rotary"}},
         'positions is "rotary"; expected "sinusoidal" or "learned" or "none"'),
        ({"source_tokenizer": STATES["target"]},
         "source_vocab_size is 13; expected 12, as many as the tokenizer has tokens"),
    ],
)  # fmt: skip
def test_a_file_that_the_page_cannot_train_says_why(saved, tmp_path, changes, message):
    path = tmp_path / "given.safetensors"
    build_translator().save(path)
    change_description(path, **changes)
    found = saved(
        "try { unpackModel(unpack(given.file)); } catch (error) { return error.message; }",
        file=pack(path),
    )
    assert found == message


@pytest.mark.parametrize(
    ("make_file", "message"),
    [
        ("new ArrayBuffer(5)", "not a safetensors file: it has no header"),
        ("unpack(btoa('\\x02\\0\\0\\0\\0\\0\\0\\0{]'))", "its header isn't JSON"),
        ("writeSafetensors({})", f"the file holds no description of a model{SAID}"),
    ],
)  # fmt: skip
def test_a_file_of_another_kind_says_so(saved, make_file, message):
    found = saved(f"try {{ unpackModel({make_file}); }} catch (error) {{ return error.message; }}")
    assert message in found
