"""Training in the page: gradients as by differences and in PyTorch, and a model that can write."""

import base64

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from tests.browser.faults import plant_fault
from tests.thorough import thorough_from
from transformer_lab.config import TransformerConfig
from transformer_lab.model import Transformer
from transformer_lab.training.loss import label_smoothed_loss
from transformer_lab.training.schedule import inverse_sqrt_rate, linear_rate

LEARNER = """
    const { Loops } = await import("./learning/loops.js");
    const { openOperations } = await import("./learning/kernel.js");
    const { makeRandom } = await import("./engine/untrained.js");
    const make = ({ config, training = {}, kind = "kernel", seed = 0 }) => {
        const operations = kind === "kernel" ? openOperations() : new Loops(globalThis[kind]);
        if (kind === "kernel" && operations instanceof Loops) throw new Error("no kernel");
        return new Learner(config, { peak: 0.003, warmup: 100, ...training }, operations, seed);
    };
    const pack = (buffer) => {
        const signs = Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte));
        return btoa(signs.join(""));
    };
    const unpack = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0)).buffer;
"""
SIZES = {
    "d_model": 12,
    "d_ff": 20,
    "num_heads": 3,
    "num_encoder_layers": 1,
    "num_decoder_layers": 1,
    "positions": "sinusoidal",
    "norm": "post",
    "source_vocab_size": 13,
    "target_vocab_size": 11,
    "max_length": 23,
    "tie_source_target": False,
}
SWITCHES = {
    "as in the paper": {},
    "two layers": {"num_encoder_layers": 2, "num_decoder_layers": 3},
    "pre-norm": {"norm": "pre", "num_decoder_layers": 2},
    "no norm": {"norm": "none"},
    "no residual": {"residual": False},
    "no causal mask": {"causal_mask": False},
    "no root": {"root": False},
    "learned positions": {"positions": "learned"},
    "no positions": {"positions": "none"},
    "one wide head": {"num_heads": 1},
}
PAIRS = [
    {"source": [4, 9, 12, 7, 2], "target": [5, 10, 2]},
    {"source": [6, 2], "target": [8, 4, 4, 9, 3, 10, 2]},
    {"source": [11, 5, 5, 8, 3, 4, 2], "target": [7, 2]},
]


def learn_by(ask):
    """Run JavaScript with `Learner`, `make`, `pack`, `unpack` and what is `given`."""
    return lambda body, **given: ask(
        "learning/learner.js", f"async ({{ Learner }}, given) => {{ {LEARNER} {body} }}", given
    )


@pytest.fixture
def learn(ask):
    return learn_by(ask)


def build_torch_model(**changes):
    """The same model in PyTorch, with noise in the parameters that start as 0 or 1."""
    config = {**SIZES, **changes}
    torch.manual_seed(3)
    model = Transformer(TransformerConfig(**config, dropout=0.0))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    return model


def pack(model):
    """The content of a file of the model's weights."""
    return base64.b64encode(save(dict(model.named_parameters()))).decode()


def unpack(model, packed):
    """The model with the weights of such a file."""
    missing, unexpected = model.load_state_dict(load(base64.b64decode(packed)), strict=False)
    assert (missing, unexpected) == (["output.weight"], [])  # which is the target's embedding
    return model.eval()


def pad(rows):
    width = max(len(row) for row in rows)
    return torch.tensor([row + [0] * (width - len(row)) for row in rows])


def torch_loss(model, pairs, smoothing):
    source = pad([pair["source"] for pair in pairs])
    given = pad([[1, *pair["target"][:-1]] for pair in pairs])
    wanted = pad([pair["target"] for pair in pairs])
    return label_smoothed_loss(model(source, given), wanted, smoothing)


@pytest.mark.parametrize("smoothing", thorough_from(1, [0.1, 0.0]))
@pytest.mark.parametrize("name", thorough_from(4, SWITCHES))
def test_gradients_are_the_slopes_of_the_loss(learn, name, smoothing):
    """In 64-bit floats, by small steps to either side: 7 numbers of every tensor."""
    found = learn(
        """
        const learner = make({ ...given, kind: "Float64Array" });
        const { parameters, memory } = learner.model;
        const random = makeRandom(5);
        const { start, count, gradients: first } = parameters;
        for (let at = start; at < start + count; at++) memory.values[at] += 0.2 * (random() - 0.5);
        learner.computeGradients(given.pairs);
        const gradients = memory.values.slice(first, first + count);
        const loss = () => learner.computeGradients(given.pairs);
        const checked = [];
        for (const name of Object.keys(parameters.shapes)) {
            const places = [];
            parameters.eachNumber(name, (at) => places.push(at));
            for (let i = 0; i < 7; i++) {
                const at = places[Math.floor(random() * places.length)];
                const kept = memory.values[at];
                memory.values[at] = kept + 1e-5;
                const above = loss();
                memory.values[at] = kept - 1e-5;
                const slope = (above - loss()) / 2e-5;
                memory.values[at] = kept;
                checked.push([name, slope, gradients[at - start]]);
            }
        }
        return checked;""",
        config={**SIZES, **SWITCHES[name]},
        training={"smoothing": smoothing},
        pairs=PAIRS,
    )
    assert len(found) > 100
    assert sum(slope != 0 for _, slope, _ in found) > len(found) // 2
    for tensor, slope, gradient in found:
        assert gradient == pytest.approx(slope, abs=2e-7), tensor


def has_pytorch(changes):
    return set(changes) <= set(SIZES) and changes.get("norm") != "none"


IN_PYTORCH = [name for name, changes in SWITCHES.items() if has_pytorch(changes)]


@pytest.mark.parametrize("name", IN_PYTORCH)
def test_loss_and_gradients_are_pytorchs(learn, name):
    model = build_torch_model(**SWITCHES[name])
    loss = torch_loss(model, PAIRS, 0.1)
    loss.backward()
    found = learn(
        """
        const { readSafetensors, writeSafetensors } = await import("./engine/safetensors.js");
        const learner = make(given);
        const { parameters } = learner.model;
        parameters.write(readSafetensors(unpack(given.weights)));
        const loss = learner.computeGradients(given.pairs);
        const gradients = writeSafetensors(parameters.read(parameters.gradients));
        return { loss, gradients: pack(gradients) };""",
        config={**SIZES, **SWITCHES[name]},
        training={"smoothing": 0.1},
        pairs=PAIRS,
        weights=pack(model),
    )
    assert found["loss"] == pytest.approx(loss.item(), abs=1e-6)
    own = dict(model.named_parameters())
    gradients = load(base64.b64decode(found["gradients"]))
    assert set(gradients) == set(own)
    for tensor, gradient in gradients.items():
        np.testing.assert_allclose(gradient, own[tensor].grad, atol=1e-6, err_msg=tensor)


@pytest.mark.parametrize("decay", [0.0, 0.3])
def test_twenty_steps_of_adam_are_pytorchs(learn, decay):
    model = build_torch_model()
    weights = pack(model)
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": decay}, {"params": vectors, "weight_decay": 0.0}]
    adam = torch.optim.AdamW(groups, betas=(0.9, 0.98), eps=1e-9)
    losses = []
    for step in range(1, 21):
        for group in adam.param_groups:
            group["lr"] = inverse_sqrt_rate(step, 3e-3, 7)
        loss = torch_loss(model, PAIRS, 0.1)
        adam.zero_grad()
        loss.backward()
        adam.step()
        losses.append(loss.item())
    found = learn(
        """
        const { readSafetensors, writeSafetensors } = await import("./engine/safetensors.js");
        const learner = make(given);
        learner.model.parameters.write(readSafetensors(unpack(given.weights)));
        const losses = Array.from({ length: 20 }, () => learner.step(given.pairs));
        return { losses, weights: pack(writeSafetensors(learner.model.parameters.read())) };""",
        config=SIZES,
        training={"smoothing": 0.1, "peak": 3e-3, "warmup": 7, "decay": decay},
        pairs=PAIRS,
        weights=weights,
    )
    np.testing.assert_allclose(found["losses"], losses, rtol=1e-4)
    trained = unpack(build_torch_model(), found["weights"])
    for (tensor, found_), (_, own) in zip(
        trained.named_parameters(), model.named_parameters(), strict=True
    ):
        if tensor.endswith("w_k.bias"):
            continue  # no score depends on it: its gradient is rounding alone, which Adam makes large
        np.testing.assert_allclose(
            found_.detach(), own.detach(), rtol=1e-3, atol=2e-4, err_msg=tensor
        )


@pytest.mark.parametrize(("warmup", "steps"), [(7, None), (7, 31), (1, 5)])
def test_the_rate_is_the_packages(learn, warmup, steps):
    found = learn(
        """
        const { computeRate } = await import("./learning/adam.js");
        const rates = (ramp) => Array.from({ length: 31 }, (_, i) =>
            computeRate(i + 1, { peak: 0.01, warmup: given.warmup, steps: given.steps, ramp }));
        return [rates(true), rates(false)];""",
        warmup=warmup,
        steps=steps,
    )
    for step, (rate, without) in enumerate(zip(*found, strict=True), start=1):
        if steps is None:
            expected = inverse_sqrt_rate(step, 0.01, warmup)
        else:
            expected = linear_rate(step, 0.01, warmup, steps)
        assert rate == pytest.approx(expected, abs=1e-12)
        assert without == pytest.approx(0.01 if step <= warmup else expected, abs=1e-12)


OPERATIONS = {
    "transpose": "[at(0), 8, at(1), 16, 5, 8]",
    "softmax": "[at(0), 12, 5, 3, 2, 0.7]",
    "softmaxBackward": "[at(2), at(1), 12, 7, 0.6]",
    "layerNorm": "[at(0), at(1), at(2), at(3), at(4), at(5), 7, 12]",
    "layerNormBackward": "[at(0), at(1), at(2), at(3), at(4), at(5), at(6), 7, 12]",
    "relu": "[at(0), 84]",
    "reluBackward": "[at(0), at(1), 84]",
    "add": "[at(0), at(1), 84]",
    "addRows": "[at(0), at(1), 7, 12]",
    "scale": "[at(0), 84, 1.3, -0.4]",
    "adam": "[at(0), at(1), at(2), at(3), 84, 0.01, 1.7, 0.9, 0.98, 1e-9]",
    "multiply": "[at(0), 12, 1, at(1), 20, at(3), 20, at(2), 20, 7, 12, 20]",
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_kernel_computes_what_the_loops_say(learn, name):
    """Every operation on the same numbers; those around its results stay as they were."""
    before, loops, kernel = learn(
        f"""
        const at = (i) => 8 + 300 * i;
        const run = (operations) => {{
            operations.reserve(2200);
            const random = makeRandom(7);
            const least = given.name === "adam" ? 0 : -1; // its second moments are squares
            for (let i = 0; i < 2200; i++) operations.values[i] = 2 * random() + least;
            const before = [...operations.values.slice(0, 2200)];
            operations[given.name](...{OPERATIONS[name]});
            return [before, [...operations.values.slice(0, 2200)]];
        }};
        const [before, loops] = run(new Loops());
        return [before, loops, run(openOperations())[1]];""",
        name=name,
    )
    assert before != loops
    np.testing.assert_allclose(kernel, loops, rtol=2e-6, atol=3e-7)
    same = np.equal(before, loops)
    np.testing.assert_array_equal(np.array(kernel)[same], np.array(before)[same])


def test_an_exponential_is_exact_to_the_last_digits(learn):
    """Down to where 32 bits end, with a zero below; seen through a softmax of pairs (0, x)."""
    x = np.concatenate([[0.0, -1e-6, -86.9, -88.0, -200.0, -np.inf], -np.geomspace(1e-4, 80, 500)])
    x = x.astype(np.float32)
    found = learn(
        """
        const operations = openOperations();
        operations.reserve(5000);
        given.x.forEach((x, i) => operations.values.set([0, x ?? -Infinity, 7, 7], 4 * i));
        operations.softmax(0, 4, given.x.length, 2, 0, 1);
        return given.x.map((_, i) => [...operations.values.slice(4 * i, 4 * i + 4)]);""",
        x=[None if np.isinf(value) else float(value) for value in x],
    )
    expected = np.exp(x.astype(np.float64)) / (1 + np.exp(x.astype(np.float64)))
    expected[x < -87] = 0
    np.testing.assert_allclose(np.array(found)[:, 1], expected, rtol=5e-7)
    assert not np.array(found)[:, 2:].any()


def check_slopes(name):
    return lambda learn: test_gradients_are_the_slopes_of_the_loss(learn, name, 0.1)


def check_steps(learn):
    test_twenty_steps_of_adam_are_pytorchs(learn, 0.3)


FAULTS = {
    "Adam without its correction": ("adam.js", "rate / (1 - beta1 ** this.steps)", "rate", check_steps),
    "a decay of the biases": ("adam.js", "scale(start, matrices,", "scale(start, count,", check_steps),
    "a warm-up that begins at 0": (
        "adam.js", "(peak * step)", "(peak * (step - 1))",
        lambda learn: test_the_rate_is_the_packages(learn, 7, None),
    ),
    "a word that sees the next one": (
        "attention.js", "causal ? 1 : seen", "causal ? 2 : seen",
        lambda learn: test_loss_and_gradients_are_pytorchs(learn, "as in the paper"),
    ),
    "softmax backward without the row's sum": (
        "loops.js", "(values[g + k] - total)", "values[g + k]", check_slopes("as in the paper"),
    ),
    "scores that forget their root": (
        "attention.js", "columns, rows, scale);", "columns, rows, 1);", check_slopes("as in the paper"),
    ),
    "layer norm backward without the mean": (
        "loops.js", "(g - mean - along", "(g - along", check_slopes("pre-norm"),
    ),
    "no gradient past the sub-layer": (
        "layers.js", "residual ? memory.add(whole, dx) : dx", "dx", check_slopes("no norm"),
    ),
    "the sum's gradient, not the mean's": (
        "loss.js", "columns, 1 / rows,", "columns, 1,", check_slopes("as in the paper"),
    ),
    "smoothing that is spread too thick": (
        "loss.js", "-smoothing / size / rows", "-smoothing / rows", check_slopes("as in the paper"),
    ),
    "an embedding's gradient without √d_model": (
        "transformer.js", "+= value * Math.sqrt(width)", "+= value", check_slopes("learned positions"),
    ),
    "an encoder that hears of one layer alone": (
        "transformer.js", "dEncoded ? this.memory.add(dEncoded, other) : other", "other",
        check_slopes("two layers"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", thorough_from(3, FAULTS))
def test_a_planted_error_is_caught(ask, name):
    file, right, wrong, check = FAULTS[name]
    with (
        plant_fault(ask, f"learning/{file}", right, wrong) as planted,
        pytest.raises(AssertionError),
    ):
        check(learn_by(planted))


REVERSE = """
    const random = makeRandom(11);
    const makePair = () => {
        const letters = Array.from({ length: 5 }, () => 4 + Math.floor(7 * random()));
        return { source: [...letters, 2], target: [...letters.reverse(), 2] };
    };
    const draw = (count) => Array.from({ length: count }, makePair);
"""
REVERSING = {**SIZES, "d_model": 32, "d_ff": 64, "num_heads": 4, "target_vocab_size": 13}


def test_it_learns_to_reverse_and_the_lab_and_python_write_the_same(learn):
    """Unseen examples, as it writes them; with the engine's cache and in PyTorch it writes the same."""
    found = learn(
        f"""
        {REVERSE}
        const {{ Transformer }} = await import("./engine/transformer.js");
        const {{ greedy }} = await import("./engine/decoding.js");
        const {{ NO_HOOKS }} = await import("./engine/hooks.js");
        const {{ writeSafetensors }} = await import("./engine/safetensors.js");
        const learner = make(given);
        for (let step = 0; step < 700; step++) learner.step(draw(16));
        const unseen = draw(64);
        const tensors = learner.model.parameters.read();
        const model = new Transformer(learner.config, tensors);
        const sources = unseen.map(({{ source }}) => source);
        return {{
            unseen,
            written: learner.write(sources, 9),
            right: learner.countRight(unseen) / 64,
            engine: sources.map((source) => greedy(model, model.encode(source), NO_HOOKS)),
            weights: pack(writeSafetensors(tensors)),
        }};""",
        config=REVERSING,
    )
    written = found["written"]
    right = [ids == pair["target"] for ids, pair in zip(written, found["unseen"], strict=True)]
    assert np.mean(right) > 0.9
    assert found["right"] == pytest.approx(np.mean(right), abs=0.05)
    assert found["engine"] == written
    model = unpack(Transformer(TransformerConfig(**REVERSING, dropout=0.0)), found["weights"])
    given = torch.tensor([[1, *ids[:-1]] for ids in written if len(ids) == 6])
    sources = torch.tensor(
        [p["source"] for p, ids in zip(found["unseen"], written, strict=True) if len(ids) == 6]
    )
    with torch.no_grad():
        assert model(sources, given).argmax(dim=-1).tolist() == [
            ids for ids in written if len(ids) == 6
        ]


def test_without_a_causal_mask_it_knows_the_answer_and_cannot_write(learn):
    """The wrong mask that wins (lesson 06): right when it's told the answer, lost when it isn't."""
    found = learn(
        f"""
        {REVERSE}
        const learner = make(given);
        for (let step = 0; step < 200; step++) learner.step(draw(16));
        const unseen = draw(64);
        const written = learner.write(unseen.map(({{ source }}) => source), 9);
        const right = written.filter((ids, i) => String(ids) === String(unseen[i].target)).length;
        return [learner.countRight(unseen) / 64, right / 64];""",
        config={**REVERSING, "causal_mask": False},
    )
    told, alone = found
    assert told > 0.9
    assert alone < 0.1


def test_a_word_is_drawn_out_with_the_rate_of_dropout(learn):
    shares, off, same = learn(
        """
        const learner = make(given);
        const { model } = learner;
        const [dropout] = model.dropouts;
        const x = model.memory.matrix(101, 12);
        model.memory.values.fill(1, x.at, x.at + 1212);
        model.setTraining(true);
        const y = [...model.memory.read(dropout.forward(x))];
        const back = [...model.memory.read(dropout.backward(x))];
        const shares = [y.filter((v) => v === 0).length / 1212, Math.max(...y)];
        model.setTraining(false);
        return [shares, dropout.forward(x) === x, String(y) === String(back)];""",
        config={**SIZES, "dropout": 0.2},
    )
    assert shares[0] == pytest.approx(0.2, abs=0.04)
    assert shares[1] == pytest.approx(1.25)
    assert off
    assert same


def test_the_same_seed_gives_the_same_losses(learn):
    """And another seed others."""
    body = f"""
        {REVERSE}
        const learner = make(given);
        return Array.from({{ length: 30 }}, () => learner.step(draw(7)));"""
    first = learn(body, config=REVERSING, seed=4)
    assert learn(body, config=REVERSING, seed=4) == first
    assert learn(body, config=REVERSING, seed=5) != first
    loops = learn(body, config=REVERSING, seed=4, kind="Float32Array")
    np.testing.assert_allclose(loops, first, rtol=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [("delete tensors['output.bias']", "output.bias is missing; expected the shape (11)"),
     ("tensors['output.bias'] = new Float32Array(7)", "output.bias is (7); expected the shape (11)")],
)  # fmt: skip
def test_a_tensor_that_does_not_fit_is_named(learn, change, message):
    found = learn(
        f"""
        const {{ parameters }} = make(given).model;
        const tensors = parameters.read();
        {change};
        try {{ parameters.write(tensors); }} catch (error) {{ return error.message; }}""",
        config=SIZES,
    )
    assert found == message


@pytest.mark.parametrize(
    ("config", "training", "message"),
    [
        (
            {"d_model": 20},
            {},
            "d_model is 20; expected a multiple of 12, so that each of the num_heads = 3 heads gets "
            "a multiple of 4 numbers",
        ),
        ({"d_ff": 30}, {}, "d_ff is 30; expected a multiple of 4"),
        ({"norm": "first"}, {}, 'norm is "first"; expected "post" or "pre" or "none"'),
        ({"tie_target_output": False}, {}, "tie_target_output is false; expected true"),
        ({}, {"warmup": 0}, "warmup is 0; expected an integer of at least 1"),
        ({}, {"smoothing": 1}, "smoothing is 1; expected a number of at least 0 and less than 1"),
        ({}, {"peak": None}, "peak is null; expected a number above 0"),
    ],
)  # fmt: skip
def test_what_cannot_be_trained_is_named(learn, config, training, message):
    found = learn(
        "try { make(given); } catch (error) { return error.message; }",
        config={**SIZES, **config},
        training=training,
    )
    assert found == message
