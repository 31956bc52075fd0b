"""Several processes take the steps that one would take; a dead one ends the job."""

import json
import os
import re
import socket
import subprocess
import sys

import pytest
import torch

from transformer_lab.data.batching import Batch
from transformer_lab.data.world.grammar import world
from transformer_lab.training.checkpoint import load_tensors
from transformer_lab.training.distributed import share_of
from transformer_lab.training.loss import label_smoothed_loss

pytestmark = pytest.mark.slow

SCRIPT = """
import json, os, signal, sys
from transformer_lab.config import TrainingConfig, TransformerConfig
from transformer_lab.data.world.grammar import world
from transformer_lab.data.batching import encode_pairs
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.model import Transformer
from transformer_lab.training import distributed
from transformer_lab.training.trainer import Trainer
import torch
from pathlib import Path

torch.set_num_threads(1)
with distributed.joined("cpu"):
    pairs = world(train=101, validation=7, test=3, seed=0)
    tokenizers = [WordTokenizer.train([getattr(p, s) for p in pairs.train]) for s in ("source", "target")]
    torch.manual_seed(distributed.rank())  # a process that starts otherwise is brought into line
    config = TransformerConfig(
        source_vocab_size=tokenizers[0].vocab_size, target_vocab_size=tokenizers[1].vocab_size,
        d_model=14, d_ff=11, num_heads=2, num_encoder_layers=1, num_decoder_layers=1,
        dropout=float(sys.argv[4]), tie_source_target=False,
    )
    losses, norms, divided = [], [], "divided" in sys.argv
    def on_step(report):
        losses.append(report.loss.item())
        norms.append(report.gradient_norm.item())
    trainer = Trainer(
        Transformer(config),
        encode_pairs(pairs.train, *tokenizers),
        encode_pairs(pairs.validation, *tokenizers),
        TrainingConfig(max_steps=int(sys.argv[3]), batch_tokens=47, warmup_steps=3,
                       validate_every=5, device="cpu", precision="fp32",
                       # By their number 7 and 14 of the divided ones, by the time 20.
                       save_every=7 if divided else 5, save_minutes=1e-9 if divided else None,
                       shard_optimizer=divided),
        on_step=on_step, state_path=Path(sys.argv[1]) / "training_state.safetensors",
    )
    if sys.argv[2] == "die" and distributed.rank() == 1:
        trainer.follow = lambda: os.kill(os.getpid(), signal.SIGKILL)
    if sys.argv[2] == "disagree":  # the first wants to stop, the other never
        first = distributed.rank() == 0
        trainer.limit = lambda event: "interrupted" if first else None
    if sys.argv[2] == "resume":
        trainer.resume()
    stop = trainer.train()
    print(json.dumps([stop, losses, norms, trainer.progress.history, trainer.progress.step]))
"""


def run(folder, processes, mode, steps=13, dropout=0.0, divided=False, out=None):
    folder.mkdir(exist_ok=True)
    script = folder / "script.py"
    script.write_text(SCRIPT)
    out = folder / f"out{out or processes}"
    out.mkdir(exist_ok=True)
    start = [sys.executable]
    if processes > 1:
        start += ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    return subprocess.run(
        [*start, str(script), str(out), mode, str(steps), str(dropout), *["divided"] * divided],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A run of two processes from its beginning to its end, and its folder."""
    folder = tmp_path_factory.mktemp("two")
    return run(folder, 2, "train"), folder / "out2"


def test_two_processes_give_the_losses_of_one(tmp_path, two):
    one = run(tmp_path, 1, "train")
    two, out = two
    assert one.returncode == two.returncode == 0, two.stderr
    (line,) = two.stdout.splitlines()  # only the first process prints
    stop, losses, norms, history, _ = json.loads(line)
    wanted = json.loads(one.stdout)
    assert stop == wanted[0] == "max_steps"
    assert len(losses) == 13
    assert losses == pytest.approx(wanted[1], rel=1e-5)
    assert norms == pytest.approx(wanted[2], rel=1e-4)
    assert [row["step"] for row in history] == [5, 10, 13]
    assert [row["validation_loss"] for row in history] == pytest.approx(
        [row["validation_loss"] for row in wanted[3]], rel=1e-5
    )
    assert (out / "training_state.safetensors").exists()


def test_all_stop_where_the_first_does(tmp_path):
    done = run(tmp_path, 2, "disagree", steps=61)
    assert done.returncode == 0, done.stderr
    stop, *_, step = json.loads(done.stdout)
    assert (stop, step) == ("interrupted", 0)


def test_a_run_of_two_processes_goes_on_where_it_stopped(tmp_path):
    """Bit for bit: the dropout of the second process, which saves nothing, is drawn again too."""
    whole = json.loads(run(tmp_path / "whole", 2, "train", dropout=0.3).stdout)
    run(tmp_path / "parts", 2, "train", steps=4, dropout=0.3)
    *_, step = parts = json.loads(run(tmp_path / "parts", 2, "resume", dropout=0.3).stdout)
    assert step == 13
    assert parts[1] == whole[1][4:]


def test_adams_state_in_two_parts_is_that_of_a_whole_one(tmp_path, two):
    """The same steps, to the bit; one process joins the parts, and writes one file."""
    whole, whole_out = two
    done = run(tmp_path, 2, "train", divided=True)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)[1:3] == json.loads(whole.stdout)[1:3]
    state = tmp_path / "out2" / "training_state.safetensors"
    names = [f"training_state_13_{number}_of_2.safetensors" for number in (1, 2)]
    assert [path.name for path in sorted(state.parent.iterdir())] == [state.name, *names]
    first, second = (load_tensors(state.with_name(name))[0] for name in names)
    assert not first.keys() & second.keys()
    sizes = [sum(tensor.numel() for tensor in part.values()) for part in (first, second)]
    assert max(sizes) < 0.6 * sum(sizes)

    joined = run(tmp_path, 1, "resume", divided=True, out=2)
    assert joined.returncode == 0, joined.stderr
    assert [path.name for path in state.parent.iterdir()] == [state.name]
    tensors, expected = (load_tensors(p / state.name)[0] for p in (state.parent, whole_out))
    adam = {name for name in expected if name.startswith("adam/")}
    assert adam == first.keys() | second.keys()
    assert all(torch.equal(tensors[name], expected[name]) for name in expected)


def test_a_run_with_adams_state_in_parts_goes_on_where_it_stopped(tmp_path):
    whole = run(tmp_path / "whole", 2, "train", steps=23, dropout=0.3, divided=True)
    assert whole.returncode == 0, whole.stderr
    run(tmp_path / "parts", 2, "train", steps=4, dropout=0.3, divided=True)
    parts = run(tmp_path / "parts", 2, "resume", steps=23, dropout=0.3, divided=True)
    assert parts.returncode == 0, parts.stderr
    assert json.loads(parts.stdout)[1] == json.loads(whole.stdout)[1][4:]


def test_an_error_of_the_first_is_said_once_and_ends_all(tmp_path):
    start = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    train = ["transformer_lab", "train", "--corpus", str(tmp_path / "nope.tsv"), "--device", "cpu"]
    done = subprocess.run(
        [sys.executable, "-m", *start, "-m", *train],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode != 0
    assert done.stderr.count("error: corpus is") == 1
    assert "barrier" not in done.stderr


def test_the_command_trains_in_two_processes_and_only_the_first_writes_and_prints(tmp_path):
    corpus = tmp_path / "pairs.tsv"
    pairs = world(train=101, validation=0, test=0, seed=0).train
    corpus.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")
    out = tmp_path / "out"
    start = ["torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    train = ["transformer_lab", "train", "--corpus", str(corpus), "--max-steps", "4", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", *start, "-m", *train, "--device", "cpu", "--out", str(out)],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
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


def test_a_killed_process_ends_the_job_with_an_error(tmp_path):
    done = run(tmp_path, 2, "die")
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
        mine, factor = share_of(Batch(source, target), rank, processes)
        rows = mine.source[:, 0]
        mean += label_smoothed_loss(logits[rows], mine.target_output, 0.1) * factor / processes
        seen += rows[(mine.target_output != 0).any(dim=1)].tolist()
    assert mean == pytest.approx(whole)
    assert sorted(seen) == list(range(sentences))


def test_one_process_keeps_the_batch_as_it_is():
    batch = Batch(torch.tensor([[5, 2]]), torch.tensor([[1, 6, 2]]))
    assert share_of(batch, 0, 1) == (batch, 1.0)


def two_machines(tmp_path, folders):
    """Two launchers, as on two machines, each with a cache and a dataset of its own; the run's folder
    is shared. Their exit codes, and what they print and say."""
    launch = [sys.executable, "-m", "torch.distributed.run"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def start(node):
        where = ["--nnodes", "2", "--node-rank", str(node), "--nproc-per-node", "1"]
        where += ["--master-addr", "127.0.0.1", "--master-port", str(port)]
        out = ["--out", str(tmp_path / "out"), "--max-steps", "3", "--device", "cpu", "--json"]
        corpus = ["--corpus", str(folders[node]), "--source", "en", "--target", "fr"]
        return subprocess.Popen(
            [*launch, *where, "-m", "transformer_lab", "train", *corpus, *out],
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


def test_a_machine_without_the_corpus_ends_the_others_too(tmp_path):
    folder = dataset(tmp_path / "set", world(train=101, validation=0, test=0, seed=0).train)
    codes, _, said = two_machines(tmp_path, [folder, tmp_path / "nope"])
    assert 0 not in codes
    assert "error: another process has failed: corpus is" in said[0]
    assert "error: corpus is" in said[1]


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
