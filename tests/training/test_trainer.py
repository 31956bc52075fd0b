"""The loop: it learns, repeats itself to the bit, resumes, stops, and says why it cannot."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.thorough import thorough_from
from transformer_lab.config import TrainingConfig, TransformerConfig
from transformer_lab.data.batching import Example
from transformer_lab.model import Transformer
from transformer_lab.storage.tensors import CheckpointError, load_tensors, save_tensors, weights_of
from transformer_lab.training.step import build_adam, training_step
from transformer_lab.training.trainer import LossIsNaNError, Trainer

pytestmark = pytest.mark.slow

WORDS = 17


def examples(count: int, seed: int) -> list[Example]:
    """Sentences to be written backwards."""
    generator = torch.Generator().manual_seed(seed)
    found = []
    for _ in range(count):
        length = int(torch.randint(2, 7, (), generator=generator))
        words = torch.randint(4, WORDS, (length,), generator=generator).tolist()
        found.append(Example([*words, 2], [1, *words[::-1], 2]))
    return found


def make_trainer(state_path=None, *, changes=None, dropout=0.1, **options) -> Trainer:
    torch.manual_seed(7)
    config = TransformerConfig(
        source_vocab_size=WORDS,
        target_vocab_size=WORDS,
        d_model=24,
        d_ff=53,
        num_heads=3,
        num_encoder_layers=1,
        num_decoder_layers=2,
        dropout=dropout,
    )
    training = {
        "max_steps": 12,
        "batch_tokens": 301,
        "warmup_steps": 5,
        "validate_every": 5,
        "device": "cpu",
        "precision": "fp32",
        **(changes or {}),
    }
    return Trainer(
        Transformer(config),
        examples(400, seed=1),
        examples(31, seed=2),
        TrainingConfig(**training),
        state_path=state_path,
        show_progress=False,
        **options,
    )


def same_weights(one: Trainer, other: Trainer) -> bool:
    a, b = weights_of(one.model), weights_of(other.model)
    return all(torch.equal(a[name], b[name]) for name in a)


def test_without_decay_each_step_is_that_of_plain_adam():
    decayed, plain = (torch.nn.LayerNorm(7), torch.nn.LayerNorm(7))
    for model, make in ((decayed, build_adam), (plain, plain_adam)):
        optimizer = make(model, TrainingConfig(device="cpu"))
        for i in range(3):
            noise = torch.randn(5, 7, generator=torch.Generator().manual_seed(i))
            training_step(lambda x, of=model: of(x).square().sum(), optimizer, noise, 0.1)
    assert torch.equal(decayed.weight, plain.weight)
    assert torch.equal(decayed.bias, plain.bias)


def plain_adam(model: torch.nn.Module, config: TrainingConfig) -> torch.optim.Adam:
    """PyTorch's, as the paper has it."""
    return torch.optim.Adam(
        model.parameters(), betas=(config.beta1, config.beta2), eps=config.epsilon, fused=True
    )


def test_decay_shrinks_matrices_and_leaves_vectors():
    model = torch.nn.Linear(5, 3)
    matrix, vector = model.weight.detach().clone(), model.bias.detach().clone()
    optimizer = build_adam(model, TrainingConfig(weight_decay=0.25, device="cpu"))
    still = lambda x: 0 * model(x).sum()  # noqa: E731 - a gradient of zeros, so Adam does not move
    training_step(still, optimizer, torch.ones(2, 5), rate=0.5)
    torch.testing.assert_close(model.weight.detach(), (1 - 0.25 * 0.5) * matrix)
    assert torch.equal(model.bias, vector)


def test_it_learns():
    trainer = make_trainer(changes={"max_steps": 150, "warmup_steps": 30, "peak_rate": 5e-3})
    before = trainer.validation_loss()
    assert trainer.train() == "max_steps"
    assert trainer.validation_loss() < before / 2
    assert [h["step"] for h in trainer.progress.history][-1] == 150


def test_a_run_repeats_to_the_bit_and_another_seed_does_not():
    one, again, other = (make_trainer(changes={"seed": s}) for s in (3, 3, 4))
    for trainer in (one, again, other):
        trainer.train()
    assert same_weights(one, again)
    assert not same_weights(one, other)


def test_training_leaves_the_callers_random_numbers_alone():
    trainer = make_trainer()
    before = torch.get_rng_state()
    trainer.train()
    assert torch.equal(torch.get_rng_state(), before)


def test_a_run_that_was_stopped_before_its_first_step_begins_when_resumed(tmp_path):
    whole = make_trainer()
    whole.train()
    stopped = make_trainer(tmp_path / "state.safetensors")
    stopped.stop_reason = lambda interrupted: "interrupted"
    assert stopped.train() == "interrupted"
    resumed = make_trainer(tmp_path / "state.safetensors")
    resumed.resume()
    assert resumed.progress.step == 0
    resumed.train()
    assert same_weights(whole, resumed)


@pytest.mark.parametrize("stop_at", [1, 5, 9])
def test_a_resumed_run_ends_with_the_same_bits(tmp_path, stop_at):
    whole = make_trainer()
    whole.train()
    first = make_trainer(tmp_path / "state.safetensors", changes={"max_steps": stop_at})
    first.train()
    second = make_trainer(tmp_path / "state.safetensors")
    second.resume()
    second.train()
    assert same_weights(whole, second)
    history = [(h["step"], h["validation_loss"]) for h in second.progress.history]
    expected = [(h["step"], h["validation_loss"]) for h in whole.progress.history]
    assert history[-1] == expected[-1]
    assert second.progress.tokens == whole.progress.tokens


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.training.test_trainer import make_trainer
def die(report):
    if report.step == 10:
        os.kill(os.getpid(), signal.SIGKILL)
make_trainer(Path({state!r}), changes={changes!r}, on_step=die).train()
"""


@pytest.mark.parametrize("decay", thorough_from(1, ["inverse_sqrt", "linear"]))
def test_a_killed_run_resumes_to_the_same_bits(tmp_path, decay):
    state = tmp_path / "state.safetensors"
    root = str(Path(__file__).parents[2])
    changes = {"save_every": 4, "decay": decay}
    script = KILLED.format(root=root, state=str(state), changes=changes)
    threads = {**os.environ, "OMP_NUM_THREADS": str(torch.get_num_threads())}
    done = subprocess.run([sys.executable, "-c", script], env=threads, check=False)
    assert done.returncode == -signal.SIGKILL
    resumed = make_trainer(state, changes=changes)
    resumed.resume()
    assert resumed.progress.step == 8
    resumed.train()
    whole = make_trainer(changes=changes)
    whole.train()
    assert same_weights(whole, resumed)


def test_ctrl_c_finishes_the_step_saves_and_says_so(tmp_path):
    state = tmp_path / "state.safetensors"

    def interrupt(report):
        if report.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    handler = signal.getsignal(signal.SIGINT)
    trainer = make_trainer(state, on_step=interrupt)
    assert trainer.train() == "interrupted"
    assert trainer.progress.step == 3
    assert signal.getsignal(signal.SIGINT) is handler
    resumed = make_trainer(state)
    resumed.resume()
    resumed.train()
    whole = make_trainer()
    whole.train()
    assert same_weights(whole, resumed)


def test_signals_to_end_may_come_in_a_row(tmp_path):
    """A terminal that is closed sends one, and whoever started the run another; none is lost work."""

    def end(report):
        if report.step == 3:
            for name in ("SIGHUP", "SIGTERM", "SIGHUP", "SIGTERM"):
                os.kill(os.getpid(), getattr(signal, name))

    trainer = make_trainer(tmp_path / "state.safetensors", on_step=end)
    assert trainer.train() == "interrupted"
    assert load_tensors(tmp_path / "state.safetensors")[1]["progress"]["step"] == 3


def test_a_second_ctrl_c_does_not_wait_for_the_end_of_the_step(tmp_path):
    def insist(report):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)

    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(KeyboardInterrupt):
        make_trainer(tmp_path / "state.safetensors", on_step=insist).train()
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == handlers


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_to_end_is_as_ctrl_c(tmp_path, name):
    number = getattr(signal, name)
    before = signal.getsignal(number)

    def end(report):
        if report.step == 3:
            os.kill(os.getpid(), number)

    trainer = make_trainer(tmp_path / "state.safetensors", on_step=end)
    assert trainer.train() == "interrupted"
    assert signal.getsignal(number) is before
    assert load_tensors(tmp_path / "state.safetensors")[1]["progress"]["step"] == 3


def test_a_signal_that_is_ignored_stays_so():
    """A run under `nohup` outlives its terminal."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        trainer = make_trainer(on_step=lambda _: os.kill(os.getpid(), signal.SIGHUP))
        assert trainer.train() == "max_steps"
    finally:
        signal.signal(signal.SIGHUP, before)


def test_training_on_after_ctrl_c_in_one_session_is_as_never_stopped():
    def interrupt(report):
        if report.step == 3:
            os.kill(os.getpid(), signal.SIGINT)

    trainer = make_trainer(on_step=interrupt)
    assert trainer.train() == "interrupted"
    averaged = {n: t.clone() for n, t in weights_of(trainer.model).items()}
    assert trainer.train() == "max_steps"
    whole = make_trainer()
    whole.train()
    assert same_weights(whole, trainer)
    assert not all(torch.equal(t, averaged[n]) for n, t in weights_of(trainer.model).items())


def test_it_stops_when_the_time_is_up():
    trainer = make_trainer(changes={"max_steps": 10_000, "max_minutes": 1e-4})
    assert trainer.train() == "max_minutes"
    assert 1 <= trainer.progress.step < 10_000


def test_patience_stops_and_puts_the_best_weights_back():
    scores = iter([0.1, 0.7, 0.6, 0.5, 0.9])
    kept = []

    def measure(model):
        kept.append({n: t.clone() for n, t in weights_of(model).items()})
        return {"exact_match": next(scores)}

    changes = {"max_steps": 100, "validate_every": 2, "patience": 2}
    trainer = make_trainer(changes=changes, measure=measure, monitor="exact_match")
    assert trainer.train() == "patience"
    assert trainer.progress.step == 8
    best = kept[1]
    assert all(torch.equal(t, best[n]) for n, t in weights_of(trainer.model).items())


def test_a_loss_that_is_not_a_number_names_its_step_and_keeps_the_last_state(tmp_path):
    state = tmp_path / "state.safetensors"
    make_trainer(state, changes={"max_steps": 4}).train()
    before = state.read_bytes()
    trainer = make_trainer(state)
    trainer.resume()

    def poison(report):
        if report.step == 7:
            with torch.no_grad():
                trainer.model.output.bias[3] = float("nan")

    trainer.on_step = poison
    with pytest.raises(LossIsNaNError, match="became nan at step 8. Usual causes: too high a"):
        trainer.train()
    assert state.read_bytes() == before


def test_reports_come_each_step_with_rates_of_the_schedule():
    reports = []
    make_trainer(on_step=reports.append, changes={"peak_rate": None}).train()
    assert [r.step for r in reports] == list(range(1, 13))
    assert reports[4].rate == pytest.approx(24**-0.5 * 5**-0.5)
    assert [r.step for r in reports if r.validation] == [5, 10, 12]
    assert all(r.gradient_norm > 0 for r in reports)
    assert reports[-1].tokens > reports[0].tokens > 0


def test_the_model_ends_with_the_average_of_its_weights():
    seen = []

    def keep(report):
        seen.append({n: t.clone() for n, t in weights_of(trainer.model).items()})

    trainer = make_trainer(on_step=keep, changes={"max_steps": 9, "average_decay": 0.7})
    expected = {n: t.clone() for n, t in weights_of(trainer.model).items()}
    trainer.train()
    for step, weights in enumerate(seen, 1):
        decay = min(0.7, step / (step + 9))
        expected = {n: decay * expected[n] + (1 - decay) * weights[n] for n in expected}
    for name, tensor in weights_of(trainer.model).items():
        torch.testing.assert_close(tensor, expected[name])
    last = make_trainer(changes={"max_steps": 9, "average_decay": 0.0})
    last.train()
    assert all(torch.equal(t, seen[-1][n]) for n, t in weights_of(last.model).items())


def test_gradients_are_clipped():
    trainer = make_trainer(changes={"clip_norm": 1e-3, "max_steps": 1})
    trainer.train()
    norms = [p.grad.norm() for p in trainer.model.parameters()]
    assert torch.stack(norms).norm().item() == pytest.approx(1e-3, rel=1e-3)


def test_a_state_of_another_model_is_refused(tmp_path):
    state = tmp_path / "state.safetensors"
    make_trainer(state, changes={"max_steps": 1}).train()
    other = make_trainer(state)
    other.model = Transformer(TransformerConfig.tiny(WORDS, WORDS))
    with pytest.raises(
        CheckpointError, match="a different configuration: the shape of .* is .*; expected"
    ):
        other.resume()


def test_weights_alone_are_no_state_of_a_run(tmp_path):
    trainer = make_trainer(tmp_path / "state.safetensors")
    save_tensors(trainer.state_path, weights_of(trainer.model), {})
    with pytest.raises(CheckpointError, match="is not the state of a training run"):
        trainer.resume()


@pytest.mark.parametrize("damage", ["truncated", "scribbled", "missing"])
def test_a_damaged_state_is_refused_by_name(tmp_path, damage):
    state = tmp_path / "state.safetensors"
    make_trainer(state, changes={"max_steps": 1}).train()
    content = state.read_bytes()
    if damage == "missing":
        state.unlink()
    else:
        state.write_bytes(content[: len(content) // 2] if damage == "truncated" else b"x" * 500)
    with pytest.raises(CheckpointError, match="state.safetensors"):
        make_trainer(state).resume()


def test_a_write_that_fails_leaves_the_old_state_and_no_litter(tmp_path, monkeypatch):
    state = tmp_path / "state.safetensors"
    make_trainer(state, changes={"max_steps": 1}).train()
    before = state.read_bytes()

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        make_trainer(state, changes={"max_steps": 2}).train()
    assert state.read_bytes() == before
    assert list(tmp_path.iterdir()) == [state]


def test_a_checkpoint_is_never_a_pickle(tmp_path):
    state = tmp_path / "state.safetensors"
    make_trainer(state, changes={"max_steps": 1}).train()
    tensors, meta = load_tensors(state)
    assert meta["progress"]["step"] == 1
    assert {name.split("/")[0] for name in tensors} == {"model", "average", "adam", "random"}
    # A safetensors file begins with the length of its JSON header.
    size = int.from_bytes(state.read_bytes()[:8], "little")
    assert state.read_bytes()[8:9] == b"{"
    assert size < 100_000


def change(path, act):
    """Write a state anew, with a sum that fits, as if its writer had been wrong."""
    tensors, meta = load_tensors(path)
    act(tensors, meta)
    save_tensors(path, tensors, meta)


BIAS = "output.bias"
STRANGE = {
    "a wrong key": (
        lambda t, m: t.update({"average/more": t.pop(f"average/{BIAS}")}),
        "it contains 'more'; expected",
    ),
    "a shape": (
        lambda t, m: t.update({f"average/{BIAS}": torch.zeros(1)}),
        r"output.bias is \(1,\); expected \(17,\)",
    ),
    "no number": (
        lambda t, m: t[f"adam/exp_avg/{BIAS}"].fill_(torch.nan),
        "output.bias contains NaN or infinity",
    ),
    "no moment": (lambda t, m: t.pop(f"adam/exp_avg_sq/{BIAS}"), "is missing; expected"),
    "another group": (lambda t, m: t.update({"more/x": torch.zeros(1)}), "is not the state of a"),
    "negative squares": (
        lambda t, m: t[f"adam/exp_avg_sq/{BIAS}"].fill_(-1.0),
        "is damaged: adam/exp_avg_sq/output.bias contains a number below 0",
    ),
    "steps before the first": (
        lambda t, m: t[f"adam/step/{BIAS}"].fill_(-7.0),
        "is damaged: adam/step/output.bias contains a number below 1",
    ),
    "half moments": (
        lambda t, m: t.update({f"adam/exp_avg/{BIAS}": t[f"adam/exp_avg/{BIAS}"].half()}),
        "output.bias holds float16; expected float32",
    ),
    "a double average": (
        lambda t, m: t.update({f"average/{BIAS}": t[f"average/{BIAS}"].double()}),
        "output.bias holds float64; expected float32",
    ),
    "half weights": (
        lambda t, m: t.update({f"model/{BIAS}": t[f"model/{BIAS}"].half()}),
        "output.bias holds float16; expected float32",
    ),
    "impossible random numbers": (
        lambda t, m: t["random/cpu"].zero_(),
        "random/cpu is not a state",
    ),
    "a history of words": (
        lambda t, m: m["progress"].update(history=[{"step": 1, "validation_loss": "low"}]),
        "is not the state of a training run",
    ),
    "time before the start": (lambda t, m: m["progress"].update(seconds=-5), "not the state of a"),
    "a best that is none": (
        lambda t, m: m["progress"].update(best=torch.nan),
        "is not the state of a",
    ),
    "no time": (lambda t, m: m["progress"].update(seconds=torch.nan), "is not the state of a"),
    "an epoch without end": (lambda t, m: m["progress"].update(epoch=10**30), "not the state"),
    "random numbers": (lambda t, m: t.update({"random/cpu": torch.zeros(3)}), "random/cpu is no"),
    "no step": (lambda t, m: m["progress"].pop("step"), "is not the state of a training run"),
    "a kind": (lambda t, m: m["progress"].update(step="7"), "is not the state of a training run"),
    "a number": (lambda t, m: m.update(progress=7), "is not the state of a training run"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_a_state_with_something_strange_is_refused_and_changes_nothing(tmp_path, what):
    state = tmp_path / "state.safetensors"
    make_trainer(state, changes={"max_steps": 1}).train()
    act, message = STRANGE[what]
    change(state, act)
    fresh, other = make_trainer(state), make_trainer()
    with pytest.raises(CheckpointError, match=message):
        fresh.resume()
    assert same_weights(fresh, other)
    assert fresh.progress.step == 0


def test_a_flipped_bit_in_a_state_is_found(tmp_path):
    state = tmp_path / "state.safetensors"
    make_trainer(state, changes={"max_steps": 1}).train()
    content = bytearray(state.read_bytes())
    content[-1000] ^= 4
    state.write_bytes(content)
    with pytest.raises(CheckpointError, match="is damaged: its content has changed since"):
        make_trainer(state).resume()
