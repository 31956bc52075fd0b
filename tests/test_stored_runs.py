"""Runs on corpora that are stored: resumed to the bit, killed while they are prepared, many forms."""

import gzip
import json
import os
import signal
import subprocess
import sys
import zipfile

import pytest

from tests.data.test_stored import is_whole
from tests.thorough import thorough_from
from transformer_lab.command import main as cli
from transformer_lab.data import corpus, stored
from transformer_lab.data.corpora import user_cache_folder
from transformer_lab.data.stored import StoredBatches, StoredPairs
from transformer_lab.runs.run import begin_run, resume_run

QUIET = {"device": "cpu", "show_progress": False}


@pytest.fixture(autouse=True)
def all_is_large(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(corpus, "LARGE", 1)
    monkeypatch.setattr(stored, "POOL", 17)


def test_a_run_stops_in_the_middle_of_an_epoch_and_goes_on_to_the_same_bits(tsv, tmp_path, endless):
    run = begin_run(tmp_path / "half", str(tsv), max_steps=2, **QUIET)
    assert isinstance(run.splits.train, StoredPairs)
    assert isinstance(run.trainer.batches, StoredBatches)
    assert len(list(run.trainer.batches.pools(0))) > 1
    run.train()
    assert run.trainer.progress.epoch == 0 < run.trainer.progress.index
    again = resume_run(tmp_path / "half", max_steps=5, **QUIET)
    again.train()
    whole = begin_run(tmp_path / "whole", str(tsv), max_steps=5, **QUIET)
    whole.train()
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("half", "whole")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("form", ["gz", "zip"])
@pytest.mark.parametrize("more", [0, 1])
def test_a_packed_file_counts_for_what_it_has_unpacked(tsv, tmp_path, monkeypatch, form, more):
    packed = tmp_path / f"numbers.{form}"
    if form == "gz":
        packed.write_bytes(gzip.compress(tsv.read_bytes()))
    else:
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.write(tsv, tsv.name)
    monkeypatch.setattr(corpus, "LARGE", tsv.stat().st_size + more)
    splits = corpus.find_corpus(str(packed)).splits()
    assert isinstance(splits.train, list if more else StoredPairs)


def test_a_run_is_not_resumed_on_a_file_that_has_changed(tsv, tmp_path):
    begin_run(tmp_path / "run", str(tsv), max_steps=1, **QUIET).train()
    tsv.write_bytes(tsv.read_bytes() + b"one more\tun de plus\n")
    with pytest.raises(ValueError, match="or it has changed"):
        resume_run(tmp_path / "run", **QUIET)


KILLED = """
import os, signal, sys
from transformer_lab.data import corpus, stored
from transformer_lab.runs.run import begin_run
corpus.LARGE, calls, real = 1, 0, stored.{at}
def dying(*arguments, **named):
    global calls
    calls += 1
    if calls == {call}:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **named)
stored.{at} = dying
if "{at}" == "seal_folder":
    from transformer_lab.data import large
    corpus.seal_folder = large.seal_folder = dying
begin_run(sys.argv[1], sys.argv[2], device="cpu", show_progress=False)
"""


@pytest.mark.parametrize(
    ("at", "call"),
    thorough_from(
        2,
        [
            ("write_array", 1),
            ("seal_folder", 1),
            ("seal_folder", 2),
            ("write_array", 2),
            ("seal_folder", 3),
        ],
    ),
    ids=["half of the pairs", "pairs alone", "pieces alone", "half of the ids", "ids alone"],
)
def test_after_a_kill_while_it_was_prepared_the_next_start_has_the_same(
    tsv, tmp_path, monkeypatch, at, call
):
    command = [sys.executable, "-c", KILLED.format(at=at, call=call), str(tmp_path / "a"), str(tsv)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    (folder,) = (user_cache_folder() / "corpora").iterdir()
    torn = [f for f in (folder, *folder.glob("*-*")) if not is_whole(f)]
    assert len(torn) == 1
    run = begin_run(tmp_path / "a", str(tsv), max_steps=1, **QUIET)
    assert is_whole(torn[0])
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))
    fresh = begin_run(tmp_path / "b", str(tsv), max_steps=1, **QUIET)
    assert list(run.splits.train) == list(fresh.splits.train)
    assert list(run.trainer.batches.examples) == list(fresh.trainer.batches.examples)


def test_the_command_line_trains_on_named_columns_of_a_packed_file(tsv, tmp_path, endless, capsys):
    rows = (line.split("\t") for line in tsv.read_text().splitlines())
    lines = "".join(
        json.dumps({"translation": dict(zip("ab", row[:2], strict=True))}) + "\n" for row in rows
    )
    packed = tmp_path / "pairs.jsonl.gz"
    packed.write_bytes(gzip.compress(lines.encode()))
    asked = ["--corpus", str(packed), "--source", "b", "--target", "a"]
    out = ["--out", str(tmp_path / "run"), "--json", "--device", "cpu"]
    assert cli.main(["train", *asked, "--max-steps", "1", *out]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["steps"] == 1
    about = json.loads((tmp_path / "run" / "config.json").read_text())["about"]
    assert about["corpus"] == f"{packed}@b,a"
    assert cli.main(["train", "--resume", "--max-steps", "2", *out]) == 0
    assert cli.main(["evaluate", "--model", str(tmp_path / "run"), "--limit", "1"]) == 0


def test_a_corpus_that_was_changed_in_the_cache_is_not_trained_on(tsv, tmp_path, capsys):
    """Of the same size, and at the same time: nothing but the content tells."""
    begin_run(tmp_path / "first", str(tsv), max_steps=1, **QUIET).train()
    (folder,) = (user_cache_folder() / "corpora").iterdir()
    pairs, status = folder / "pairs.tsv", (folder / "pairs.tsv").stat()
    true = pairs.read_bytes()
    pairs.write_bytes(true.replace(b"one", b"POX"))
    os.utime(pairs, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert pairs.read_bytes() != true
    capsys.readouterr()
    run = begin_run(tmp_path / "again", str(tsv), max_steps=1, **QUIET)
    said = f"{pairs} has changed since it was stored. The folder is being prepared again."
    assert said in capsys.readouterr().err.splitlines()
    assert pairs.read_bytes() == true
    assert run.about.data == corpus.fingerprint(list(run.splits.train))
    run.train()
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("first", "again")]
    assert weights[0] == weights[1]
