"""A run as Python begins and resumes it: the folder, the bits, and what the run says about itself."""

import json
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.test_translator import make_translator
from tests.thorough import thorough_from
from transformer_lab.config import TrainingConfig
from transformer_lab.data.corpus import find_corpus, fingerprint
from transformer_lab.data.own_task import (
    draw_pairs,
    numbers_in_english,
    pig_latin,
    write_pairs,
)
from transformer_lab.runs.run import About, begin_run, resume_run
from transformer_lab.storage.tensors import CheckpointError
from transformer_lab.translator import PRETRAINED, Translator

QUIET = {"device": "cpu", "show_progress": False}


@pytest.mark.thorough(
    caught_by=[
        "tests/test_stored_runs.py::test_a_run_stops_in_the_middle_of_an_epoch_and_goes_on_to_the_same_bits",
    ]
)
def test_a_run_is_begun_and_resumed_without_a_command_line(tsv, tmp_path, endless):
    seen = []
    run = begin_run(tmp_path / "half", str(tsv), max_steps=2, on_step=seen.append, **QUIET)
    assert run.about.steps is None
    assert run.train() == "max_steps"
    assert [report.step for report in seen] == [1, 2]
    assert (run.about.steps, run.about.stop) == (2, "max_steps")

    again = resume_run(tmp_path / "half", max_steps=5, on_step=seen.append, **QUIET)
    assert again.about.training.max_steps == 5
    assert again.train() == "max_steps"
    assert [report.step for report in seen] == [1, 2, 3, 4, 5]

    whole = begin_run(tmp_path / "whole", str(tsv), max_steps=5, **QUIET)
    whole.train()
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("half", "whole")]
    assert weights[0] == weights[1]
    translator = Translator.load(tmp_path / "half", device="cpu")
    assert translator.translate("one two", max_length=5)[0].source == "one two"


def test_what_a_run_says_of_itself_is_written_under_the_same_names(tsv, tmp_path):
    """Older runs, and the shipped model, are read by these."""
    run = begin_run(tmp_path / "run", str(tsv), preset="tiny", seed=3, max_minutes=1e-9, **QUIET)
    path = tmp_path / "run" / "config.json"
    before = json.loads(path.read_text())["about"]
    assert list(before) == [
        *("corpus", "seed", "preset", "skip_bad", "training", "data", "example")
    ]
    assert before["example"] in [pair.source for pair in find_corpus(str(tsv)).splits(3).validation]
    assert (before["corpus"], before["seed"], before["preset"]) == (str(tsv), 3, "tiny")
    assert before["skip_bad"] is False
    assert before["training"]["max_minutes"] is None  # asked for anew each time
    assert run.trainer.config.max_minutes == 1e-9
    run.train()
    after = json.loads(path.read_text())["about"]
    tokens = run.trainer.progress.tokens
    assert after == {**before, "steps": 1, "tokens": tokens, "stop": "max_minutes"}


@pytest.mark.thorough(
    caught_by=[
        "tests/studies/test_recipe_seeds.py::test_the_shipped_model_is_the_stored_run_of_its_seed",
    ]
)
def test_the_shipped_model_says_what_it_was_made_of():
    about = About.of(Translator.load_untrained(PRETRAINED))
    assert (about.corpus, about.seed, about.preset, about.skip_bad) == ("world", 0, "tiny", False)
    assert isinstance(about.training, TrainingConfig)
    assert about.data == fingerprint(find_corpus("world").splits(about.seed).train)
    assert about.steps == about.training.max_steps
    assert about.to_dict()["training"] == about.training.to_dict()


def test_a_translator_from_elsewhere_says_nothing_and_is_no_run(tmp_path):
    translator = make_translator()
    translator.about = {"checkpoint": "somebody/something"}
    assert About.of(translator) == About()
    translator.save(tmp_path)
    with pytest.raises(
        ValueError, match="is not the folder of a run: its config.json has no 'corpus'"
    ):
        resume_run(tmp_path)


def test_a_moved_file_is_the_same_corpus_and_another_file_is_not(tsv, tmp_path, endless):
    begin_run(tmp_path / "run", str(tsv), max_steps=1, **QUIET).train()
    moved = tsv.rename(tmp_path / "moved.tsv")
    run = resume_run(tmp_path / "run", corpus=str(moved), max_steps=2, **QUIET)
    assert run.about.corpus == str(moved)
    run.release()
    lines = moved.read_text(encoding="utf-8").splitlines()
    tsv.write_text("\n".join(lines[1:]), encoding="utf-8")
    with pytest.raises(ValueError, match="is not the one used for .*, or it has changed"):
        resume_run(tmp_path / "run", corpus=str(tsv))


@pytest.mark.parametrize("task", [numbers_in_english, pig_latin])
def test_a_changed_corpus_of_numbers_may_only_be_split_in_another_way(tmp_path, task):
    file = write_pairs(tmp_path / "pairs.tsv", draw_pairs(task, 200))
    begin_run(tmp_path / "run", str(file), max_steps=1, vocab_size=260, **QUIET).train()
    write_pairs(file, draw_pairs(task, 200, seed=1), overwrite=True)
    with pytest.raises(ValueError, match="is not the one used for .*, or it has changed") as error:
        resume_run(tmp_path / "run")
    is_said = "splits such a corpus differently" in str(error.value)
    assert is_said == (task is numbers_in_english)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"corpus": "mars"}, "corpus is 'mars'; expected 'world', 'debian:LANGUAGE', 'hf:NAME'"),
        (
            {"preset": "huge"},
            "preset is 'huge'; expected 'tiny', 'small', 'base' or 'big'",
        ),
        ({"vocab_size": 300}, "vocab_size is 300, but it cannot be set for the corpus 'world'"),
        ({"max_steps": 0}, "max_steps is 0; expected an integer of at least 1"),
    ],
)
def test_what_cannot_be_begun_is_named_and_leaves_no_folder(tmp_path, arguments, message):
    with pytest.raises(ValueError, match=message):
        begin_run(tmp_path / "run", **arguments)
    assert not (tmp_path / "run").exists()


def test_a_vocabulary_of_the_letters_alone_has_no_longer_piece(tsv, tmp_path):
    run = begin_run(tmp_path / "run", str(tsv), preset="tiny", vocab_size=260, **QUIET)
    run.release()
    tokenizer = run.translator.source_tokenizer
    assert tokenizer.vocab_size == 260
    assert tokenizer.tokens(tokenizer.encode("one")) == [" ", "o", "n", "e"]


def test_a_folder_with_files_of_others_is_left_as_it_is(tsv, tmp_path):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "config.json").write_text('{"port": 8080}')
    with pytest.raises(
        ValueError,
        match="contains config.json, but no translator that can be loaded. Choose another folder",
    ):
        begin_run(theirs, str(tsv), **QUIET)
    assert [(p.name, p.read_text()) for p in theirs.iterdir()] == [
        ("config.json", '{"port": 8080}')
    ]


def test_two_runs_in_one_folder_are_one_run_and_a_refusal(tsv, tmp_path, endless):
    run = begin_run(tmp_path / "run", str(tsv), max_steps=1, **QUIET)
    for again in (begin_run, lambda folder, *_, **__: resume_run(folder)):
        with pytest.raises(ValueError, match="another process is using .*run. Wait"):
            again(tmp_path / "run", str(tsv), **QUIET)
    with pytest.raises(ValueError, match="another process is using .*run. Wait"):
        make_translator().save(tmp_path / "run", overwrite=True)
    run.train()
    later = resume_run(tmp_path / "run", max_steps=2, **QUIET)
    with pytest.raises(ValueError, match="another process is using .*run. Wait"):
        run.train()
    later.train()
    with pytest.raises(ValueError, match="another run has written to .* since this one stopped"):
        run.train()
    assert About.of(Translator.load_untrained(tmp_path / "run")).steps == 2


def test_a_run_that_fails_to_begin_lets_go_and_leaves_no_folder(tsv, tmp_path):
    tsv.write_text("no tab here\n")
    with pytest.raises(ValueError, match="only one column; expected"):
        begin_run(tmp_path / "run", str(tsv), **QUIET)
    assert not (tmp_path / "run").exists()


KILLED = """
import os, signal, sys
import torch
from transformer_lab.runs.run import begin_run
torch.set_num_threads(1)  # as conftest.py has it here: sums of two threads have other last bits
changes = {"device": "cpu", "show_progress": False, "max_steps": 9}
run = begin_run(sys.argv[1], sys.argv[2], preset="tiny", **changes)
if sys.argv[3] == "first":
    os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # the state is written, not moved
if sys.argv[3] == "last":
    run.translator.save_in_locked = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
run.train()
"""


@pytest.mark.slow
@pytest.mark.parametrize("moment", thorough_from(1, ["last", "first"]))
def test_a_run_that_was_killed_is_begun_again_or_gone_on_with(tsv, tmp_path, moment):
    folder = tmp_path / "run"
    command = [sys.executable, "-c", KILLED, str(folder), str(tsv), moment]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    left = {p.name for p in folder.iterdir()}
    assert ".transformer_lab.lock" in left
    if moment == "first":
        assert [name for name in left if name.endswith(".part")]
        (folder / ".training_state.safetensors.x").touch()
        run = begin_run(folder, str(tsv), preset="tiny", max_steps=9, **QUIET)
    else:
        run = resume_run(folder, **QUIET)
    run.train()
    assert not [p for p in folder.iterdir() if p.name.endswith((".part", ".lock"))]
    whole = begin_run(tmp_path / "whole", str(tsv), preset="tiny", max_steps=9, **QUIET)
    whole.train()
    weights = [(f / "model.safetensors").read_bytes() for f in (folder, tmp_path / "whole")]
    assert weights[0] == weights[1]


def test_parts_of_a_state_that_was_never_whole_are_cleared_away(tsv, tmp_path):
    """As of several processes that were killed in their first save."""
    folder = tmp_path / "run"
    begin_run(folder, str(tsv), max_steps=1, **QUIET).release()
    part = folder / "training_state_3_1_of_2.safetensors"
    part.touch()
    begin_run(folder, str(tsv), max_steps=1, **QUIET).train()
    assert not part.exists()
    part.touch()
    with pytest.raises(ValueError, match="is not empty. Continue"):
        begin_run(folder, str(tsv), max_steps=1, **QUIET)
    assert part.exists()


@pytest.mark.thorough(
    caught_by=[
        "tests/test_stored_runs.py::test_a_run_stops_in_the_middle_of_an_epoch_and_goes_on_to_the_same_bits"
    ]
)
def test_a_state_is_saved_by_the_clock_too(tsv, tmp_path):
    saved = []
    run = begin_run(tmp_path / "run", str(tsv), max_steps=4, **QUIET)
    run.trainer.config = replace(run.trainer.config, save_every=None, save_minutes=1e-9)
    save = run.trainer.save
    run.trainer.save = lambda: (saved.append(run.trainer.progress.step), save())
    run.train()
    assert saved == [1, 2, 3, 4, 4]
    assert TrainingConfig().save_minutes == 5


def test_a_resume_leaves_the_sums_of_the_weights_as_they_were(tsv, tmp_path, endless):
    folder = tmp_path / "run"
    begin_run(folder, str(tsv), max_steps=1, **QUIET).train()
    resume_run(folder, max_steps=2, **QUIET).release()
    assert Translator.load(folder, device="cpu").about["steps"] == 1
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + b"abcd")
    with pytest.raises(CheckpointError, match="model.safetensors is damaged"):
        Translator.load(folder)
