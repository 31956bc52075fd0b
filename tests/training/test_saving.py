"""A state in parts: it counts as a whole or not at all, and what does not fit is named."""

from dataclasses import replace

import pytest
import torch

from transformer_lab.config import TrainingConfig
from transformer_lab.storage.tensors import CheckpointError, load_tensors, save_tensors
from transformer_lab.training import saving
from transformer_lab.training.saving import load_state, save_state
from transformer_lab.training.state import ADAM, Progress, State

SHAPES = {"a": (3, 5), "b": (7,)}


def state_at(step):
    generator = torch.Generator().manual_seed(step)

    def drawn():
        return {name: torch.randn(shape, generator=generator) for name, shape in SHAPES.items()}

    adam = {key: {n: t.abs() for n, t in drawn().items()} for key in ADAM}
    adam["step"] = {name: torch.tensor(float(step)) for name in SHAPES}
    progress = vars(Progress(step=step))
    return State(progress, drawn(), drawn(), adam, None, {"cpu": torch.get_rng_state()})


def same(one, other):
    a, b = one.to_tensors(), other.to_tensors()
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training_state.safetensors"


@pytest.mark.parametrize("divided", [False, True])
def test_what_is_saved_is_read(path, divided):
    save_state(path, state_at(5), divided)
    assert same(load_state(path, SHAPES), state_at(5))
    assert len(list(path.parent.iterdir())) == 1 + divided


@pytest.mark.parametrize("after", [False, True])
def test_the_next_state_clears_the_parts_of_the_one_before_away_and_nothing_else(path, after):
    foreign = path.with_name("training_state_notes.safetensors")
    foreign.write_text("mine")
    save_state(path, state_at(5), True)
    save_state(path, state_at(11), after)
    assert same(load_state(path, SHAPES), state_at(11))
    parts = {"training_state_11_1_of_1.safetensors"} if after else set()
    assert {p.name for p in path.parent.iterdir()} == {path.name, foreign.name} | parts


def test_parts_without_the_file_that_names_them_count_for_nothing(path, monkeypatch):
    """A process that is killed between the two leaves the state before, and its parts."""
    save_state(path, state_at(5), True)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(saving, "check_shards_exist", killed)
    with pytest.raises(KeyboardInterrupt):
        save_state(path, state_at(11), True)
    monkeypatch.undo()
    assert same(load_state(path, SHAPES), state_at(5))
    save_state(path, state_at(13), True)
    assert len(list(path.parent.iterdir())) == 2


def test_two_parts_are_joined(path):
    """As two processes write them: each the names that are its own."""
    whole = state_at(5)
    parts = {}
    for number, name in enumerate(SHAPES, start=1):
        part = path.with_name(f"training_state_5_{number}_of_2.safetensors")
        adam = {f"adam/{key}/{name}": whole.adam[key][name] for key in ADAM}
        save_tensors(part, adam, {})
        parts[part.name] = saving.hash_file(part)
    meta = {"progress": whole.progress, "parts": parts}
    save_tensors(path, replace(whole, adam={}).to_tensors(), meta)
    assert same(load_state(path, SHAPES), whole)

    del meta["parts"][part.name]
    save_tensors(path, replace(whole, adam={}).to_tensors(), meta)
    with pytest.raises(CheckpointError, match="b is missing; expected"):
        load_state(path, SHAPES)


def test_a_part_that_is_missing_or_changed_is_named(path):
    save_state(path, state_at(5), True)
    part = path.with_name("training_state_5_1_of_1.safetensors")
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(content)
    with pytest.raises(CheckpointError, match="5_1_of_1.safetensors is damaged"):
        load_state(path, SHAPES)
    part.unlink()
    with pytest.raises(CheckpointError, match="5_1_of_1.safetensors does not exist"):
        load_state(path, SHAPES)


@pytest.mark.parametrize("parts", [["x"], {"../a_5_1_of_1.safetensors": "0"}, {"x": "0"}, 3])
def test_what_names_no_part_is_not_opened(path, parts):
    whole = state_at(5)
    save_tensors(path, whole.to_tensors(), {"progress": whole.progress, "parts": parts})
    with pytest.raises(CheckpointError, match="is not the state of a training run"):
        load_state(path, SHAPES)


def test_machines_without_a_common_folder_are_told(path, monkeypatch):
    monkeypatch.setattr(
        saving.distributed, "all_gather", lambda mine: [mine, ("training_state_5_2_of_2.x", "0")]
    )
    with pytest.raises(
        ValueError,
        match=r"training_state_5_2_of_2\.x.*, which another process should have written, is missing",
    ):
        save_state(path, state_at(5), True)
    assert not path.exists()


def test_before_the_first_step_adam_has_nothing_to_divide(path):
    begun = replace(state_at(0), adam={})
    save_state(path, begun, True)
    assert same(load_state(path, SHAPES), begun)
    assert load_tensors(path.with_name("training_state_0_1_of_1.safetensors"))[0] == {}


def test_whether_to_divide_is_true_or_false():
    with pytest.raises(ValueError, match="shard_optimizer is 2; expected True or False"):
        TrainingConfig(shard_optimizer=2)
