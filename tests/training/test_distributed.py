"""Several processes take the steps that one would take; a dead one ends the job."""

import json
import os
import re
import socket
import subprocess
import sys
from dataclasses import asdict, replace

import pytest
import torch

from tests.training import steps_together
from tests.training.steps_together import Training, train
from transformer_lab.data.batching import Batch
from transformer_lab.data.world.grammar import world
from transformer_lab.storage.tensors import load_tensors
from transformer_lab.training.distributed import local_batch
from transformer_lab.training.loss import label_smoothed_loss

pytestmark = pytest.mark.slow

LAUNCH = [sys.executable, "-m", "torch.distributed.run"]
TWO = [*LAUNCH, "--standalone", "--nproc-per-node", "2"]
TOGETHER = {
    "whole": Training("whole"),
    "disagree": Training("disagree", "disagree", steps=61),
    "other pairs": Training("other", "other pairs"),
    "no corpus": Training("none", "no corpus"),
    "whole with dropout": Training("dropout", dropout=0.3),
    "begun": Training("parts", steps=4, dropout=0.3),
    "resumed": Training("parts", "resume", dropout=0.3),
    "divided": Training("divided", divided=True),
    "divided with dropout": Training("divided_dropout", steps=23, dropout=0.3, divided=True),
    "divided, begun": Training("divided_parts", steps=4, dropout=0.3, divided=True),
    "divided, resumed": Training("divided_parts", "resume", steps=23, dropout=0.3, divided=True),
}
"""What two processes do, one after the other in one group: to start them costs more than to train."""


def launched(command):
    """What a command prints and says, and its exit code."""
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def two_do(trainings, folder):
    """Have two processes do the training runs in this folder."""
    asked = folder / "trainings.json"
    inside = [replace(one, folder=str(folder / one.folder)) for one in trainings]
    asked.write_text(json.dumps([asdict(one) for one in inside]), encoding="utf-8")
    return launched([*TWO, steps_together.__file__, str(asked)])


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """What each training of two processes gave, by its name, and their folder."""
    folder = tmp_path_factory.mktemp("together")
    done = two_do(TOGETHER.values(), folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()  # only the first process prints
    return dict(zip(TOGETHER, map(json.loads, lines), strict=True)), folder


def test_two_processes_give_the_losses_of_one(tmp_path, together):
    wanted = train(Training(str(tmp_path)))
    gave, folder = together
    stop, losses, norms, history, _ = gave["whole"]
    assert stop == wanted[0] == "max_steps"
    assert len(losses) == 13
    assert losses == pytest.approx(wanted[1], rel=1e-5)
    assert norms == pytest.approx(wanted[2], rel=1e-4)
    assert [row["step"] for row in history] == [5, 10, 13]
    assert [row["validation_loss"] for row in history] == pytest.approx(
        [row["validation_loss"] for row in wanted[3]], rel=1e-5
    )
    assert (folder / "whole" / "training_state.safetensors").exists()


def test_all_stop_where_the_first_does(together):
    stop, *_, step = together[0]["disagree"]
    assert (stop, step) == ("interrupted", 0)


def test_a_process_with_other_pairs_is_named_in_all(together):
    (said,) = together[0]["other pairs"]
    assert said == "pairs is ['of 0', 'of 1']; expected the same in all processes"


def test_the_first_learns_why_another_one_failed(together):
    (said,) = together[0]["no corpus"]
    assert said == "another process has failed: there is no corpus"


def test_a_run_of_two_processes_goes_on_where_it_stopped(together):
    """Bit for bit: the dropout of the second process, which saves nothing, is drawn again too."""
    gave, _ = together
    *_, step = parts = gave["resumed"]
    assert step == 13
    assert parts[1] == gave["whole with dropout"][1][4:]


def test_adams_state_in_two_parts_is_that_of_a_whole_one(together):
    """The same steps, to the bit; one process joins the parts, and writes one file."""
    gave, folder = together
    assert gave["divided"][1:3] == gave["whole"][1:3]
    state = folder / "divided" / "training_state.safetensors"
    names = [f"training_state_13_{number}_of_2.safetensors" for number in (1, 2)]
    assert [path.name for path in sorted(state.parent.iterdir())] == [state.name, *names]
    first, second = (load_tensors(state.with_name(name))[0] for name in names)
    assert not first.keys() & second.keys()
    sizes = [sum(tensor.numel() for tensor in part.values()) for part in (first, second)]
    assert max(sizes) < 0.6 * sum(sizes)

    train(Training(str(state.parent), "resume", divided=True))
    assert [path.name for path in state.parent.iterdir()] == [state.name]
    whole = folder / "whole" / state.name
    tensors, expected = (load_tensors(path)[0] for path in (state, whole))
    adam = {name for name in expected if name.startswith("adam/")}
    assert adam == first.keys() | second.keys()
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)


def test_a_run_with_adams_state_in_parts_goes_on_where_it_stopped(together):
    gave, _ = together
    assert gave["divided, resumed"][1] == gave["divided with dropout"][1][4:]


def test_an_error_of_the_first_is_said_once_and_ends_all(tmp_path):
    nope = ["--corpus", str(tmp_path / "nope.tsv"), "--device", "cpu"]
    done = launched([*TWO, "-m", "transformer_lab", "train", *nope])
    assert done.returncode != 0
    assert done.stderr.count("error: corpus is") == 1
    assert "barrier" not in done.stderr


def test_the_command_trains_in_two_processes_and_only_the_first_writes_and_prints(tmp_path):
    corpus = tmp_path / "pairs.tsv"
    pairs = world(train=101, validation=0, test=0, seed=0).train
    corpus.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")
    out = tmp_path / "out"
    asked = ["transformer_lab", "train", "--corpus", str(corpus), "--max-steps", "4", "--json"]
    done = launched([*TWO, "-m", *asked, "--device", "cpu", "--out", str(out)])
    assert done.returncode == 0, done.stderr
    printed = done.stdout.splitlines()
    assert json.loads(printed[-1])["steps"] == 4
    assert sum("saved in" in line for line in printed) == 1
    assert {path.name for path in out.iterdir()} == {
        "config.json",
        "model.safetensors",
        "model_card.md",
        "source_tokenizer.json",
        "target_tokenizer.json",
        "training_state.safetensors",
    }


@pytest.mark.thorough(caught_by=["test_an_error_of_the_first_is_said_once_and_ends_all"])
def test_a_killed_process_ends_the_job_with_an_error(tmp_path):
    done = two_do([Training("die", "die")], tmp_path)
    assert done.returncode != 0
    assert "SIGKILL" in done.stderr


@pytest.mark.parametrize("sentences", [1, 2, 5])
@pytest.mark.parametrize("processes", [1, 2, 3])
def test_the_mean_over_the_shares_is_the_mean_over_all_tokens(sentences, processes):
    generator = torch.Generator().manual_seed(sentences)
    target = torch.randint(3, 11, (sentences, 8), generator=generator)
    for row in range(sentences):
        target[row, 3 + row :] = 0
    target[:, 0] = 1
    source = torch.arange(sentences)[:, None]
    logits = torch.randn(sentences, 7, 11, generator=generator, dtype=torch.float64)
    whole = label_smoothed_loss(logits, target[:, 1:], 0.1)
    mean, seen = 0.0, []
    for rank in range(processes):
        mine, factor = local_batch(Batch(source, target), rank, processes)
        rows = mine.source[:, 0]
        mean += label_smoothed_loss(logits[rows], mine.target_output, 0.1) * factor / processes
        seen += rows[(mine.target_output != 0).any(dim=1)].tolist()
    assert mean == pytest.approx(whole)
    assert sorted(seen) == list(range(sentences))


def test_one_process_keeps_the_batch_as_it_is():
    batch = Batch(torch.tensor([[5, 2]]), torch.tensor([[1, 6, 2]]))
    assert local_batch(batch, 0, 1) == (batch, 1.0)


def two_machines(tmp_path, folders):
    """Two launchers, as on two machines, each with a cache and a dataset of its own; the run's folder
    is shared. Their exit codes, and what they print and say."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def start(node):
        where = ["--nnodes", "2", "--node-rank", str(node), "--nproc-per-node", "1"]
        where += ["--master-addr", "127.0.0.1", "--master-port", str(port)]
        out = ["--out", str(tmp_path / "out"), "--max-steps", "3", "--device", "cpu", "--json"]
        corpus = ["--corpus", str(folders[node]), "--source", "en", "--target", "fr"]
        return subprocess.Popen(
            [*LAUNCH, *where, "-m", "transformer_lab", "train", *corpus, *out],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "XDG_CACHE_HOME": str(tmp_path / str(node))},
        )

    both = [start(0), start(1)]
    printed, said = zip(*(process.communicate(timeout=240) for process in both), strict=True)
    return [process.returncode for process in both], printed, said


def dataset(folder, pairs):
    """The pairs as a dataset that was saved; its folder."""
    datasets = pytest.importorskip("datasets", exc_type=ImportError)
    sides = [{"en": pair.source, "fr": pair.target} for pair in pairs]
    datasets.Dataset.from_dict({"translation": sides}).save_to_disk(folder)
    return folder


@pytest.mark.thorough(
    caught_by=[
        "test_the_first_learns_why_another_one_failed",
        "test_the_command_trains_in_two_processes_and_only_the_first_writes_and_prints",
    ]
)
def test_two_machines_prepare_a_stored_corpus_each_and_train_as_one(tmp_path):
    folder = dataset(tmp_path / "set", world(train=101, validation=0, test=0, seed=0).train)
    codes, printed, said = two_machines(tmp_path, [folder, folder])
    assert codes == [0, 0], said
    assert json.loads(printed[0].splitlines()[-1])["steps"] == 3
    assert printed[1] == ""
    assert [text.count(": 101 pairs") for text in said] == [1, 0]  # the others would say the same
    stored = [list((tmp_path / n / "transformer_lab" / "corpora").iterdir()) for n in "01"]
    assert [len(folders) for folders in stored] == [1, 1]
    assert stored[0][0].name == stored[1][0].name


@pytest.mark.thorough(
    caught_by=[
        "test_the_first_learns_why_another_one_failed",
        "test_an_error_of_the_first_is_said_once_and_ends_all",
    ]
)
def test_a_machine_without_the_corpus_ends_the_others_too(tmp_path):
    folder = dataset(tmp_path / "set", world(train=101, validation=0, test=0, seed=0).train)
    codes, _, said = two_machines(tmp_path, [folder, tmp_path / "nope"])
    assert 0 not in codes
    assert "error: another process has failed: corpus is" in said[0]
    assert "error: corpus is" in said[1]


@pytest.mark.thorough(caught_by=["test_a_process_with_other_pairs_is_named_in_all"])
def test_machines_with_other_pairs_do_not_train_together(tmp_path):
    pairs = world(train=101, validation=0, test=0, seed=0).train
    other = [*pairs[:-1], pairs[0]]
    folders = [dataset(tmp_path / "a", pairs), dataset(tmp_path / "b", other)]
    codes, _, said = two_machines(tmp_path, folders)
    assert 0 not in codes
    message = (
        r"error: fingerprint of the training pairs is \['\w+', '\w+'\]; expected the same in all"
    )
    assert all(re.search(message, text) for text in said), said
