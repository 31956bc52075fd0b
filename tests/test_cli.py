"""The commands as a user types them: what they print, what they save, and how they fail."""

import csv
import json
import math
import os
import random
import re
import resource
import signal
import string
import subprocess
import sys
import time
import unicodedata
from datetime import date
from pathlib import Path

import pytest

from tests.test_translator import make_translator
from tests.thorough import thorough_from
from transformer_lab.command.main import main, replace_nan
from transformer_lab.course import diary as progress
from transformer_lab.course.diary import FILE, SWITCH
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.own_task import draw_pairs, numbers_in_english, write_pairs
from transformer_lab.runs.run import About
from transformer_lab.translator import Translator

pytestmark = pytest.mark.slow

TRAIN_KEYS = {
    "steps",
    "seconds",
    "validation_loss",
    "exact_match",
    "bleu",
    "bleu_signature",
    "chrf",
}


def run(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main([str(a) for a in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def last_json(out: str):
    return json.loads(out.splitlines()[-1])


def train(capsys, tsv, out, *more):
    common = ("--corpus", tsv, "--preset", "tiny", "--device", "cpu", "--json")
    return run(capsys, "train", "--out", out, *common, *more)


def is_one_line(err: str) -> bool:
    bar = re.compile(r"\d+/\d+ \[")  # the progress bar writes to the same place
    lines = [line for line in err.splitlines() if line and not bar.search(line)]
    return len(lines) == 1 and lines[0].startswith("error: ") and "Traceback" not in err


def test_train_evaluate_and_translate_a_file_of_ones_own(capsys, tsv, tmp_path):
    out = tmp_path / "run"
    code, text, _ = train(capsys, tsv, out, "--max-steps", "3")
    assert code == 0
    result = last_json(text)
    assert result.keys() >= TRAIN_KEYS
    assert result["steps"] == 3
    assert "BLEU" in text
    names = {p.name for p in out.iterdir()}
    assert names == {
        "config.json",
        "model.safetensors",
        "model_card.md",
        "source_tokenizer.json",
        "target_tokenizer.json",
        "training_state.safetensors",
    }
    code, text, _ = run(capsys, "evaluate", "--model", out, "--limit", 7, "--json")
    assert code == 0
    evaluation = last_json(text)
    assert evaluation.keys() >= TRAIN_KEYS
    assert (evaluation["sentences"], evaluation["steps"]) == (7, 3)
    assert evaluation["validation_loss"] == pytest.approx(result["validation_loss"], rel=1e-3)
    # Words that the corpus never had: pieces spell them.
    code, text, err = run(capsys, "translate", "--model", out, "--json", "eleven zebras 🙂")
    assert (code, err) == (0, "")
    (translation,) = last_json(text)
    assert translation["source"] == "eleven zebras 🙂"
    assert translation.keys() >= {"source", "translation", "score"}


def test_a_run_is_not_overwritten_and_can_be_resumed(capsys, tsv, tmp_path):
    out = tmp_path / "run"
    assert train(capsys, tsv, out, "--max-steps", "2")[0] == 0
    before = (out / "model.safetensors").read_bytes()
    code, _, err = train(capsys, tsv, out, "--max-steps", "2")
    assert code == 1
    assert is_one_line(err)
    assert "is not empty. Continue the run with --resume" in err
    assert (out / "model.safetensors").read_bytes() == before


@pytest.mark.thorough(
    caught_by=[
        "tests/training/test_trainer.py::test_a_resumed_run_ends_with_the_same_bits",
        "test_a_run_is_not_overwritten_and_can_be_resumed",
    ]
)
def test_a_resumed_run_ends_with_the_same_bits(capsys, tsv, tmp_path, endless):
    out, whole = tmp_path / "run", tmp_path / "whole"
    small = ("--preset", "small")
    # The minutes are those of one call: the second call has its own, and does not stop at once.
    assert train(capsys, tsv, out, *small, "--max-steps", "2", "--max-minutes", "1e-9")[0] == 0
    resume = ("train", "--resume", "--out", out, "--device", "cpu", "--json")
    code, text, _ = run(capsys, *resume, "--max-steps", "5")
    assert (code, last_json(text)["steps"], last_json(text)["stop"]) == (0, 5, "max_steps")
    train(capsys, tsv, whole, *small, "--max-steps", "5")
    same = (out / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()
    assert same, "a resumed run ends with the same bits"
    # What the last call asked for is what the next one goes on with.
    code, text, _ = run(capsys, *resume)
    assert (code, last_json(text)["steps"]) == (0, 5)


def test_a_run_that_had_finished_says_so(capsys, tsv, tmp_path):
    out = tmp_path / "run"
    train(capsys, tsv, out, "--max-steps", "2")
    code, text, _ = run(capsys, "train", "--resume", "--out", out)
    assert code == 0
    assert (
        "This run had already finished, after 2 steps, so there was nothing left to train\n" in text
    )
    assert "and saved in" not in text


def test_the_bar_is_drawn_rarely_where_each_drawing_stays(capsys, tsv, tmp_path):
    import ipykernel  # noqa: F401 - that it's there doesn't make this a notebook

    code, text, err = train(capsys, tsv, tmp_path / "run", "--max-steps", "60")
    assert code == 0
    # At the start and at the end, and every ten seconds in between.
    assert 1 <= err.count("\r") <= 3 + last_json(text)["seconds"] / 10


def test_a_corpus_whose_name_is_no_text_is_named(capsys, tmp_path):
    name = os.fsdecode(b"p\xff.tsv")
    (tmp_path / name).write_text("one\tun\n" * 40)
    code, _, err = run(capsys, "train", "--corpus", tmp_path / name, "--out", tmp_path / "run")
    assert (code, is_one_line(err)) == (1, True)
    assert r"p\udcff.tsv'; expected a name that can be encoded in UTF-8" in err


@pytest.mark.thorough(
    caught_by=["tests/test_runs.py::test_a_moved_file_is_the_same_corpus_and_another_file_is_not"]
)
def test_a_run_finds_its_file_from_another_folder(capsys, tsv, tmp_path, monkeypatch, endless):
    """Trained with a path as one types it; scored and resumed from elsewhere."""
    out, elsewhere = tmp_path / "run", tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tsv.parent)
    assert train(capsys, tsv.name, out, "--preset", "small", "--max-steps", "1")[0] == 0
    monkeypatch.chdir(elsewhere)
    code, _, err = run(capsys, "evaluate", "--model", out, "--limit", 2)
    assert (code, err) == (0, "")
    assert run(capsys, "train", "--resume", "--out", out, "--max-steps", 2)[0] == 0
    # The same file by another name is the same corpus.
    again = ("--corpus", "../numbers.tsv", "--max-steps", 3)
    assert run(capsys, "train", "--resume", "--out", out, *again)[0] == 0


def test_a_run_that_never_came_to_a_state_is_begun_again(capsys, tsv, tmp_path):
    out = tmp_path / "run"
    train(capsys, tsv, out, "--max-steps", "1")
    for name in ("model.safetensors", "training_state.safetensors"):
        (out / name).unlink()
    assert train(capsys, tsv, out, "--max-steps", "2")[0] == 0
    (out / "model.safetensors").unlink()
    (out / "training_state.safetensors").unlink()
    (out / "thesis.txt").write_text("mine")
    code, _, err = train(capsys, tsv, out, "--max-steps", "2")
    assert (code, is_one_line(err)) == (1, True)
    assert "is not empty" in err
    assert (out / "thesis.txt").read_text() == "mine"


def test_a_folder_that_train_did_not_begin_is_not_resumed(capsys, tmp_path):
    model = tmp_path / "model"
    translator = make_translator()
    translator.about = {}
    translator.save(model)
    code, _, err = run(capsys, "train", "--resume", "--out", model)
    assert (code, is_one_line(err)) == (1, True)
    assert "is not the folder of a run" in err
    code, _, err = run(capsys, "evaluate", "--model", model)
    assert (code, is_one_line(err)) == (1, True)
    assert "does not say which corpus it was trained on" in err


def wordy(rng):
    """240 words, which the filter lets pass, of more pieces than a model can read."""
    return " ".join("".join(rng.choices(string.ascii_lowercase, k=17)) for _ in range(240))


@pytest.mark.thorough(
    caught_by=[
        "test_train_evaluate_and_translate_a_file_of_ones_own",
        "test_a_small_file_is_filtered_and_what_is_left_out_is_counted",
    ]
)
def test_a_very_long_line_is_left_out_of_training_and_counts_as_wrong_in_the_test(
    capsys, tsv, tmp_path
):
    rng = random.Random(0)
    with tsv.open("a") as file:
        file.writelines(f"{wordy(rng)}\t{wordy(rng)}\n" for _ in range(100))
    code, text, err = train(capsys, tsv, tmp_path / "run", "--max-steps", "1")
    assert code == 0
    assert re.search(r"\d+ pairs with more than 512 tokens are left out", err)
    assert re.search(r"\d+ sentences cannot be read by the translator, so they count as wrong", err)
    assert last_json(text)["exact_match"] < 1


def test_resuming_on_something_else_is_refused(capsys, tsv, tmp_path):
    out = tmp_path / "run"
    train(capsys, tsv, out, "--max-steps", "1")
    code, _, err = run(capsys, "train", "--resume", "--out", out, "--seed", 9)
    assert (code, is_one_line(err)) == (1, True)
    assert "seed is 9; expected 0" in err
    code, _, err = run(capsys, "train", "--resume", "--out", out, "--max-steps", 3)
    assert (code, is_one_line(err)) == (1, True)
    assert (
        "max_steps is 3; expected 1, because the learning rate falls to 0 over that many steps"
        in err
    )
    tsv.write_text(tsv.read_text().replace("nine", "ten"))
    code, _, err = run(capsys, "train", "--resume", "--out", out)
    assert (code, is_one_line(err)) == (1, True)
    assert "has changed" in err
    # Scored all the same, and said.
    code, _, err = run(capsys, "evaluate", "--model", out, "--limit", 2)
    assert code == 0
    assert "so the model may have seen test sentences" in err


def test_bad_lines_are_named_or_counted(capsys, model, tsv, tmp_path):
    lines = tsv.read_text().splitlines()
    lines[6] = "no tab here"
    tsv.write_text("\n".join(lines))
    code, _, err = train(capsys, tsv, tmp_path / "a", "--max-steps", "1")
    assert (code, is_one_line(err)) == (1, True)
    assert "numbers.tsv, line 7" in err
    code, _, err = train(capsys, tsv, tmp_path / "b", "--max-steps", "1", "--skip-bad")
    assert code == 0
    assert "numbers.tsv: 400 pairs; left out: 1 bad" in err
    # What the run was told is still known when it is scored.
    code, _, err = run(capsys, "evaluate", "--model", tmp_path / "b", "--limit", 2)
    assert code == 0
    assert "numbers.tsv: 400 pairs; left out: 1 bad" in err
    other = tsv.with_name("other.tsv")
    other.write_text("\n".join(lines[:9]))
    score = ("evaluate", "--model", model, "--corpus", other)
    code, _, err = run(capsys, *score)
    assert (code, is_one_line(err), "other.tsv, line 7" in err) == (1, True, True)
    code, _, err = run(capsys, *score, "--skip-bad")
    assert (code, "bad line: " in err, "other.tsv, line 7" in err) == (0, True, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--corpus", "nowhere.tsv"], "corpus is 'nowhere.tsv'; expected 'world', 'debian:"),
        (["--corpus", "debian:"], "corpus is 'debian:'; expected"),
        (["--max-steps", "0"], "max_steps is 0; expected an integer of at least 1"),
        (["--max-minutes", "-1"], "max_minutes is -1.0; expected a finite number above 0"),
        (["--device", "abacus"], "device is 'abacus'; expected 'auto' or a device that this"),
    ],
)
def test_arguments_that_do_not_fit_are_named(capsys, tmp_path, arguments, message):
    code, _, err = run(capsys, "train", "--out", tmp_path / "run", *arguments)
    assert (code, is_one_line(err)) == (1, True)
    assert message in err


def test_a_run_keeps_what_it_began_with(capsys, tmp_path):
    code, _, err = run(capsys, "train", "--out", tmp_path, "--resume", "--skip-bad")
    assert (code, is_one_line(err)) == (1, True)
    assert "--skip-bad cannot be used with --resume" in err
    code, _, err = run(capsys, "train", "--out", tmp_path, "--resume", "--vocab-size", 300)
    assert (code, is_one_line(err)) == (1, True)
    assert "--vocab-size cannot be used with --resume" in err


def test_a_task_of_ones_own_is_trained_translated_and_opened_in_both_pages(capsys, tmp_path):
    file = write_pairs(tmp_path / "numbers.tsv", draw_pairs(numbers_in_english, 200))
    own = ("--preset", "tiny", "--max-steps", 2, "--vocab-size", 260, "--device", "cpu")
    out = tmp_path / "run"
    assert run(capsys, "train", "--corpus", file, "--out", out, *own)[0] == 0
    assert run(capsys, "translate", "483", "--model", out, "--beam", 1)[0] == 0
    for options in ((), ("--record",)):
        path = tmp_path / f"page{len(options)}.html"
        assert run(capsys, "lab", "483", *options, "--model", out, "--out", path)[0] == 0
        assert "483" in path.read_text(encoding="utf-8")
    # The page tests a mute on the run's own test sentences, while they are known to be unseen.
    unseen = find_corpus(str(file)).splits().test
    examples = re.search(r'"examples": (\[\[.*?\]\])', (tmp_path / "page0.html").read_text("utf-8"))
    assert [pair[:2] for pair in json.loads(examples[1])] == [[p.source, p.target] for p in unseen]
    # Without a sentence, the page begins with one that the run has kept.
    path = tmp_path / "page3.html"
    assert run(capsys, "lab", "--model", out, "--out", path)[0] == 0
    example = About.of(Translator.load(out, device="cpu")).example
    assert example in [pair.source for pair in find_corpus(str(file)).splits().validation]
    assert f'"sentences": ["{example}"]' in path.read_text(encoding="utf-8")
    write_pairs(file, draw_pairs(numbers_in_english, 199), overwrite=True)
    again = ("lab", "483", "--model", out, "--out", tmp_path / "page2.html")
    code, _, err = run(capsys, *again)
    assert (code, is_one_line(f"error: {err}")) == (0, True)
    assert "no test sentences from" in err
    assert "the corpus has changed since" in err


def test_a_copy_of_the_training_file_is_known_and_another_file_is_scored_whole(
    capsys, tsv, tmp_path
):
    out, lines = tmp_path / "run", tsv.read_text().splitlines()
    assert train(capsys, tsv, out, "--max-steps", "1")[0] == 0
    copy, other, few = (tmp_path / f"{name}.tsv" for name in ("copy", "other", "few"))
    copy.write_text("\n".join(lines))
    other.write_text("\n".join(lines[:-1]))
    few.write_text(lines[0])  # too few pairs for a split
    found = {}
    swapped = tmp_path / "swapped.tsv"
    swapped.write_text("\n".join("\t".join(line.split("\t")[::-1]) for line in lines[:5]))
    for file in (tsv, copy, other, few, swapped):
        code, text, err = run(capsys, "evaluate", "--model", out, "--corpus", file, "--json")
        assert code == 0
        found[file] = last_json(text) | {"err": err}
    unseen = len(find_corpus(str(tsv)).splits().test)
    assert [found[file]["sentences"] for file in (tsv, copy)] == [unseen, unseen]
    assert found[copy]["bleu"] == found[tsv]["bleu"]
    assert "copy.tsv' contains the pairs that the model was trained on" in found[copy]["err"]
    assert found[other]["sentences"] == len(lines) - 1
    # Of another file, what the model has seen is counted.
    trained = {pair.source for pair in find_corpus(str(tsv)).splits().train}
    sources = [line.split("\t")[0] for line in lines[:-1]]
    seen = sum(source in trained for source in sources)
    assert 0 < seen < len(sources)
    assert found[other]["seen_in_training"] == seen
    assert f"{seen} of the {len(sources)} sentences were in" in found[other]["err"]
    assert found[few]["sentences"] == 1
    assert found[few]["seen_in_training"] == (sources[0] in trained)
    assert (found[swapped]["seen_in_training"], found[swapped]["err"]) == (0, "")
    assert [found[file]["seen_in_training"] for file in (tsv, copy)] == [0, 0]
    # Nobody can tell once the file has gone or changed.
    tsv.write_text("\n".join(lines[1:]))
    code, text, err = run(capsys, "evaluate", "--model", out, "--corpus", other, "--json")
    assert (code, last_json(text)["seen_in_training"], err) == (0, None, "")


def test_swapped_languages_are_told(capsys, tmp_path):
    lines = [f"{i} {word}" for i in range(40) for word in ("one", "two")]
    for folder, side in (("a", ""), ("b", "x ")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.en").write_text("\n".join(side + line for line in lines))
        (tmp_path / folder / "t.de").write_text("\n".join(f"{side}zu {line}" for line in lines))
    file, other, out = tmp_path / "a" / "t", tmp_path / "b" / "t", tmp_path / "run"
    sides = ("--source", "en", "--target", "de")
    assert train(capsys, file, out, *sides, "--max-steps", "1")[0] == 0
    score = ("evaluate", "--model", out, "--limit", 2, "--corpus", other)
    assert "translates" not in run(capsys, *score, *sides)[2]
    code, _, err = run(capsys, *score, "--source", "de", "--target", "en")
    assert code == 0
    assert "The model translates English to German, but the corpus is German to English" in err
    assert "Did you swap --source and --target?" in err


def test_a_saved_model_says_that_its_corpus_is_not_here(capsys, tsv, tmp_path):
    out, saved = tmp_path / "run", tmp_path / "saved"
    assert train(capsys, tsv, out, "--max-steps", "1")[0] == 0
    Translator.load(out, device="cpu").save(saved)
    assert str(tsv.parent) not in (saved / "config.json").read_text()
    code, _, err = run(capsys, "evaluate", "--model", saved)
    assert (code, is_one_line(err)) == (1, True)
    assert f"was trained on '{tsv.name}', which was not found. Name a corpus with --corpus" in err
    code, text, err = run(capsys, "evaluate", "--model", saved, "--corpus", tsv, "--json")
    assert code == 0
    assert "contains the pairs that the model was trained on" in err
    assert last_json(text)["sentences"] == len(find_corpus(str(tsv)).splits().test)


def test_a_page_can_leave_the_test_pairs_out(capsys, tsv, tmp_path):
    out = tmp_path / "run"
    assert train(capsys, tsv, out, "--max-steps", "1")[0] == 0
    pages = []
    for options in ((), ("--no-examples",)):
        path = tmp_path / f"{len(options)}.html"
        code, text, _ = run(capsys, "lab", "--model", out, "--out", path, *options)
        assert code == 0
        assert ("test pairs from the model's corpus" in text) == (not options)
        pages.append(path.read_text(encoding="utf-8"))
    assert '"examples": [[' in pages[0]
    assert '"examples": []' in pages[1]


def test_a_file_given_as_a_sentence_is_told(capsys, tsv):
    _, _, err = run(capsys, "translate", tsv)
    assert (
        "is the name of a file. To translate its lines: "
        f"python -m transformer_lab translate < {tsv}" in err
    )


def test_a_folder_that_cannot_be_written_is_named(capsys, tsv, tmp_path):
    (tmp_path / "file").write_text("in the way")
    code, _, err = train(capsys, tsv, tmp_path / "file" / "run", "--max-steps", "1")
    assert (code, is_one_line(err)) == (1, True)
    assert "file" in err


def command(*arguments, **options) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-m", "transformer_lab", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        **options,
    )


def test_a_full_disk_is_one_line_and_leaves_no_half_file(tsv, tmp_path):
    out = tmp_path / "run"

    def little_room():
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    process = command(
        *("train", "--corpus", tsv, "--preset", "tiny", "--max-steps", 1, "--out", out),
        preexec_fn=little_room,
    )
    _, err = process.communicate()
    assert process.returncode == 1
    assert b"Traceback" not in err
    assert err.decode().splitlines()[-1].startswith("error: ")
    assert b"too large" in err
    assert not list(out.glob("*.safetensors"))
    assert not list(out.glob(".*"))


def test_ctrl_c_saves_and_says_how_to_go_on(tsv, tmp_path):
    out = tmp_path / "run"
    process = command("train", "--corpus", tsv, "--preset", "tiny", "--out", out)
    while not (out / "config.json").exists() and process.poll() is None:
        time.sleep(0.05)
    seen = b""
    while b"step/s" not in seen and process.poll() is None:
        seen += os.read(process.stderr.fileno(), 1000)
    process.send_signal(signal.SIGINT)
    text, err = process.communicate()
    assert process.returncode == 0, err
    assert b"interrupted after" in text
    assert b"train --resume --out" in text
    assert (out / "training_state.safetensors").exists()


@pytest.fixture
def model(tmp_path) -> Path:
    folder = tmp_path / "model"
    make_translator().save(folder)
    return folder


def test_translate_reads_lines_and_prints_lines(model):
    process = command("translate", "--model", model, "--beam", 1)
    out, err = process.communicate(b"the cat runs\nthe zebra sees a dog\r\n")
    assert process.returncode == 0
    assert len(out.decode().splitlines()) == 2
    assert err.decode() == "The model does not know zebra, and reads <unk> instead.\n"


@pytest.mark.parametrize(
    ("given", "message"),
    thorough_from(
        1,
        [
            (b"\xff\xfe\n", "expected text that can be encoded in UTF-8"),
            (b"the\0cat\n", "source contains a NUL byte"),
            (b"the " * 10_000, "source has 10000 tokens; expected at most 30"),
            ("🙂".encode(), "the model knows none of its words"),
            ("שלום".encode(), "the model knows none of its words"),
        ],
    ),
)
def test_translate_refuses_bad_input_in_one_line(model, given, message):
    process = command("translate", "--model", model)
    out, err = process.communicate(given)
    assert process.returncode == 1
    assert out == b"\n"
    assert is_one_line(err.decode())
    assert "Line 1 was left empty: source" in err.decode()
    assert message in err.decode()


def test_nothing_to_translate_is_one_line(model):
    out, err = command("translate", "--model", model).communicate(b"")
    assert (out, is_one_line(err.decode())) == (b"", True)
    assert b"standard input is empty; expected one sentence per line" in err


def test_each_line_has_its_line_whatever_stands_in_it(model):
    given = b"the cat\n\nthe dog\n\xff\xfe\r\n \nthe dog\r\n"
    process = command("translate", "--model", model, "--beam", 1)
    out, err = process.communicate(given)
    assert process.returncode == 0
    lines = out.decode().split("\n")
    assert [bool(line) for line in lines] == [True, False, True, False, False, True, False]
    assert lines[2] == lines[5]
    said = r"Line 4 was left empty: source is '\udcff\udcfe'; expected text that can be encoded in UTF-8"
    assert err.decode().startswith(said)
    out, _ = command("translate", "--model", model, "--json").communicate(given)
    told = last_json(out.decode())
    assert [one["score"] is None for one in told] == [not line for line in lines[:-1]]
    assert told[1]["reason"] == "source is ''; expected at least one word"
    assert command("translate", "--model", model).communicate(b"\n\n") == (b"\n\n", b"")


def test_a_line_is_answered_before_the_next_one_is_written(model):
    with command("translate", "--model", model, "--beam", 1) as process:
        for _ in range(3):
            process.stdin.write(b"the cat\n")
            process.stdin.flush()
            assert process.stdout.readline().strip()
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


@pytest.mark.skipif(os.name != "posix", reason="a shell that closes streams")
@pytest.mark.parametrize(
    ("closed", "code", "said"),
    thorough_from(
        2, [("<&-", 1, b"error: standard input is closed"), (">&-", 0, b""), ("2>&-", 0, b"")]
    ),
)
def test_a_closed_stream_is_no_traceback(model, tmp_path, closed, code, said):
    line = f'"{sys.executable}" -m transformer_lab translate --beam 1 --model "{model}" {closed}'
    done = subprocess.run(["sh", "-c", line], input=b"the cat\n", capture_output=True, check=False)
    assert (done.returncode, done.stderr[: len(said)]) == (code, said)
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("translate", "caf\udce9"),
            "source is 'caf\\udce9'; expected text that can be encoded in UTF-8",
        ),
        (
            ("lab", "--record", "caf\udce9"),
            "source is 'caf\\udce9'; expected text that can be encoded in UTF-8",
        ),
        (("translate", "--device", "meta", "the cat"), "device is 'meta'; expected a device that"),
        (("evaluate", "--corpus", ""), "corpus is ''; expected 'world'"),
    ],
)
def test_a_strange_argument_is_one_line(capsys, model, arguments, message):
    code, _, err = run(capsys, *arguments, "--model", model)
    assert (code, is_one_line(err)) == (1, True)
    assert message in err


def test_no_corpus_is_not_the_world(capsys, tmp_path):
    code, _, err = run(capsys, "train", "--corpus", "", "--out", tmp_path / "run")
    assert (code, is_one_line(err)) == (1, True)
    assert (
        "corpus is ''; expected 'world', 'debian:LANGUAGE', 'hf:NAME', 'stream:NAME', or a file"
        in err
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--source", "en"], "must be given together, with two different columns"),
        (
            ["--corpus", "x", "--source", "en", "--target", "en"],
            "must be given together, with two different columns",
        ),
        (
            ["--corpus", "x", "--source", "en, US", "--target", "fr"],
            "--source is 'en, US'; expected a name without a comma, / or @",
        ),
        (
            ["--resume", "--source", "en", "--target", "fr"],
            "need --corpus too, because they choose its columns",
        ),
        (
            ["--corpus", "world", "--source", "en", "--target", "fr"],
            "cannot be used with --corpus world, because the columns of world are fixed",
        ),
        (
            ["--corpus", "x", "--source", "", "--target", "fr"],
            "must be given together, with two different columns",
        ),
    ],
)
def test_names_of_sides_that_do_not_fit_are_one_line(capsys, tmp_path, arguments, message):
    code, _, err = run(capsys, "train", *arguments, "--out", tmp_path / "run")
    assert (code, is_one_line(err)) == (1, True)
    assert message in err


def test_a_small_file_is_filtered_and_what_is_left_out_is_counted(capsys, tsv, tmp_path):
    first = tsv.read_text().splitlines()[0]
    long = "un " * 10 + "\t" + "x"
    tsv.write_text(tsv.read_text() + f"{first}\n{first}\n{long}\n")
    code, _, err = train(capsys, tsv, tmp_path / "run", "--max-steps", "1")
    assert code == 0
    said = (
        "403 pairs; left out: 2 repeated, 1 with more than 9 times as many words on one side as on "
        "the other"
    )
    assert f"numbers.tsv: {said}" in err
    assert f"| read | {said} |" in (tmp_path / "run" / "model_card.md").read_text()


def side_files(tsv, folder):
    """The same pairs as a table with a header, as CSV, as two files, as NFD and in Japanese."""
    rows = [line.split("\t") for line in tsv.read_text(encoding="utf-8").splitlines()]
    for place, end in enumerate(("en", "fr")):
        text = "".join(f"{row[place]}\n" for row in rows)
        (folder / f"corpus.{end}").write_text(text, encoding="utf-8")
    with (folder / "c.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("id", "en", "fr"), *((i, *row) for i, row in enumerate(rows))])
    table = "en\tfr\n" + tsv.read_text(encoding="utf-8")
    (folder / "h.tsv").write_text(table, encoding="utf-8")
    (folder / "nfd.tsv").write_text(unicodedata.normalize("NFD", table), encoding="utf-8")
    letters, kana = "acdefghinopqrstuxz ", "あかさたなはまやらいきしちにひみりう"
    kana = str.maketrans(dict(zip(letters, [*kana, ""], strict=True)))
    japanese = "".join(f"{row[0]}\t{row[1].translate(kana)}\n" for row in rows)
    (folder / "ja.tsv").write_text("en\tja\n" + japanese, encoding="utf-8")


UNDERSTOOD = [
    (
        "h.tsv",
        "fr",
        "en",
        "French → English",
        "source is column 2, 'fr'; target is column 1, 'en'",
        "13a",
    ),
    (
        "nfd.tsv",
        "en",
        "fr",
        "English → French",
        "source is column 1, 'en'; target is column 2",
        "13a",
    ),
    ("c.csv", "en", "fr", "English → French", "CSV; source is column 2, 'en'", "13a"),
    ("corpus", "en", "fr", "English → French", "source is corpus.en; target is corpus.fr", "13a"),
    ("ja.tsv", "en", "ja", "English → Japanese", "target is column 2, 'ja'", "char"),
]


@pytest.mark.parametrize(
    ("name", "source", "target", "languages", "form", "words"), thorough_from(2, UNDERSTOOD)
)
def test_train_says_what_it_understood_before_it_trains(
    capsys, tsv, tmp_path, name, source, target, languages, form, words
):
    side_files(tsv, tmp_path)
    named = ("--source", source, "--target", target, *(["--csv"] if name == "c.csv" else []))
    out = tmp_path / "run"
    code, text, _ = train(capsys, tmp_path / name, out, *named, "--max-steps", 1)
    assert code == 0
    screen, _, rest = text.partition("validation loss")
    assert screen.splitlines()[0] == languages
    pairs = find_corpus(About.of(Translator.load(out)).corpus).splits().train[:3]
    shown = [f"  {pair.source} → {pair.target}" for pair in pairs]
    assert screen.splitlines()[1:4] == shown
    assert form in screen
    assert "read: 400 pairs\n" in screen
    assert f"tokenization for BLEU: tok:{words}\n" in screen
    script = {"13a": "Latin", "char": "Japanese"}[words]
    assert f"script of the targets: {script}\n" in screen
    assert f"|tok:{words}|" in last_json(rest)["bleu_signature"]
    card = (out / "model_card.md").read_text(encoding="utf-8")
    assert f"# A translator, {languages.replace(' → ', ' to ')}" in card
    assert form in card
    assert str(tmp_path) not in card
    # The run is found again as it was begun, and scored; naming its file and columns says the same.
    for corpus in ((), ("--corpus", tmp_path / name, *named)):
        code, _, err = run(capsys, "evaluate", "--model", out, "--limit", 2, *corpus)
        assert (code, "has changed" in err) == (0, False)


def test_a_file_of_ones_own_is_scored_whole(capsys, model, tmp_path):
    """Lines that come twice, too: nothing of a test set is left out, and nothing of it is split off."""
    own = tmp_path / "own"
    own.mkdir()
    sentences = ["the cat runs", "the dog sees a cat", "a cat runs", "the cat runs", "the cats run"]
    (own / "test.en").write_text("".join(f"{text}\n" for text in sentences))
    (own / "test.fr").write_text("le chat court\n" * len(sentences))
    sides = ("--source", "en", "--target", "fr")
    given = ("evaluate", "--model", model, *sides, "--json", "--corpus")
    for corpus in (own / "test", own):  # two files, and a folder with nothing to train on
        code, text, err = run(capsys, *given, corpus)
        assert (code, err) == (0, "")
        scores = last_json(text)
        assert scores["sentences"] == len(sentences)
        assert scores["loss"] > 0
        assert "validation_loss" not in scores
        assert text.startswith("loss ")
    (own / "test.fr").write_text("le chat court\n\n" + "le chat court\n" * (len(sentences) - 2))
    for corpus in (own / "test", own):  # the run was not told to skip bad lines, so it stops at one
        code, _, err = run(capsys, *given, corpus)
        assert (code, is_one_line(err)) == (1, True)
        assert "test.fr, line 2: one side is empty" in err
    (own / "test.fr").write_text("le chat court\n" * len(sentences))
    for side in ("en", "fr"):
        (own / f"train.{side}").write_text("the cat\n")
    _, text, _ = run(capsys, *given, own, "--limit", 3)
    assert last_json(text)["sentences"] == 3


def test_a_file_is_evaluated_by_the_columns_that_are_named(capsys, model, tmp_path):
    """Columns the other way round, with a number before them: only names or numbers can tell."""
    sentences = ["the cat runs", "the dog sees a cat", "a cat runs", "the cat sees the dog"]
    rows = "".join(f"{i}\tle chat {i}\t{text}\n" for i, text in enumerate(sentences * 99))
    (tmp_path / "other.tsv").write_text(rows)
    sides = ("--corpus", tmp_path / "other.tsv", "--source", 3, "--target", 2)
    code, _, err = run(capsys, "evaluate", "--model", model, *sides, "--limit", 2)
    assert (code, err) == (0, "")
    code, _, err = run(capsys, "evaluate", "--model", model, *sides[2:])
    assert (code, is_one_line(err)) == (1, True)
    assert "need --corpus too, because they choose its columns" in err


@pytest.mark.parametrize("corpus", [(), ("--corpus", "debian:fr"), ("--corpus", "hf:x")])
def test_csv_is_of_files_and_folders(capsys, tmp_path, corpus):
    code, _, err = run(capsys, "train", *corpus, "--csv", "--out", tmp_path / "run")
    assert (code, is_one_line(err)) == (1, True)
    assert "--csv reads a file or folder, but --corpus is " in err


def test_an_invisible_line_is_told_escaped(model):
    process = command("translate", "--model", model, "--beam", 1)
    out, err = process.communicate("the cat\n\u200b\nthe \u200bcat\n".encode())
    assert [bool(line) for line in out.decode().split("\n")] == [True, False, True, False]
    assert r"Line 2 was left empty: source is '\u200b'; expected at least one word" in err.decode()
    assert r"The model does not know \u200b, and reads" in err.decode()


def test_json_has_null_and_a_reason_and_never_nan():
    told = replace_nan({"a": math.nan, "b": [{"c": math.inf, "d": 1.5}], "e": "NaN"})
    assert told == {
        "a": None,
        "a_reason": "there are no pairs to measure it on",
        "b": [{"c": None, "c_reason": "it is infinite", "d": 1.5}],
        "e": "NaN",
    }


def test_a_validation_loss_of_no_pairs_is_null(capsys, tsv, tmp_path):
    """All validation pairs are too long for the model."""
    rng = random.Random(0)
    tsv.write_text("".join(f"{wordy(rng)}\t{wordy(rng)}\n" for _ in range(40)))
    tsv.write_text(tsv.read_text() + "".join(f"one {c}\tun {c}\n" for c in "abcdefgh"))
    seed = next(s for s in range(99) if all(len(p.source) > 999 for p in held(tsv, s)))
    code, text, _ = train(capsys, tsv, tmp_path / "run", "--max-steps", 1, "--seed", seed)
    assert code == 0
    result = json.loads(text.splitlines()[-1], parse_constant=pytest.fail)
    assert result["validation_loss"] is None
    assert result["validation_loss_reason"] == "there are no pairs to measure it on"
    assert "validation loss unknown." in text


def held(tsv, seed):
    return find_corpus(str(tsv)).splits(seed).validation


@pytest.mark.parametrize("damage", ["truncated", "missing"])
def test_a_damaged_model_is_one_line(capsys, model, damage):
    path = model / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-50]) if damage == "truncated" else path.unlink()
    code, out, err = run(capsys, "translate", "--model", model, "the cat")
    assert (code, out, is_one_line(err)) == (1, "", True)
    assert "model.safetensors" in err


def test_doctor_says_what_is_there_and_what_is_missing(capsys, monkeypatch):
    code, out, _ = run(capsys, "doctor", "--json")
    assert code == 0
    found = last_json(out)
    assert found.keys() >= {"python", "torch", "device", "precision", "chromium", "apt"}
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHROMIUM", raising=False)
    _, out, _ = run(capsys, "doctor")
    assert "missing   → apt-get install chromium, or set CHROMIUM" in out


def test_a_closed_pipe_is_no_error(model):
    with command("translate", "--model", model, "--beam", 1) as process:
        process.stdout.close()
        process.stdin.write(b"the cat\n" * 3)
        process.stdin.close()
        err = process.stderr.read()
    assert process.returncode == 1
    assert err == b""


def test_lab_stores_a_record_and_never_over_a_page_unasked(capsys, model, tmp_path):
    out = tmp_path / "page.html"
    code, text, err = run(capsys, "lab", "--record", "the cat runs", "--model", model, "--out", out)
    assert (code, err) == (0, "")
    assert "MB) is ready: open it in any browser, even offline" in text
    page = out.read_text(encoding="utf-8")
    assert "<title>Lab: the cat runs &lt;eos&gt;</title>" in page
    code, text, err = run(capsys, "lab", "--record", "the dog", "--model", model, "--out", out)
    assert (code, text, is_one_line(err)) == (1, "", True)
    assert "page.html already exists. Add --overwrite to replace it, or choose another --out" in err
    assert out.read_text(encoding="utf-8") == page
    again = ("lab", "--record", "the dog", "--model", model, "--out", out, "--overwrite", "--json")
    code, text, _ = run(capsys, *again)
    assert code == 0
    assert last_json(text)["out"] == str(out)
    assert last_json(text)["translation"]
    assert out.read_text(encoding="utf-8") != page
    code, _, err = run(capsys, "lab", "--record", "the dog", "the cat", *again[3:])
    assert (code, is_one_line(err)) == (1, True)
    assert "--record needs exactly one sentence, but got 2" in err
    code, _, err = run(capsys, "lab", "the dog", *again[3:], "--device", "cpu")
    assert (code, is_one_line(err)) == (1, True)
    assert "--device can only be used with --record" in err


@pytest.mark.parametrize("text", ["", "the\0cat", "🙂", "the " * 10_000])
def test_lab_refuses_a_bad_sentence_in_one_line_and_writes_nothing(capsys, model, tmp_path, text):
    out = tmp_path / "page.html"
    code, said, err = run(capsys, "lab", "--record", text, "--model", model, "--out", out)
    assert (code, said, is_one_line(err)) == (1, "", True)
    assert not out.exists()


def test_lab_names_a_folder_that_is_not_there(capsys, model, tmp_path):
    out = tmp_path / "nowhere" / "page.html"
    code, _, err = run(capsys, "lab", "--record", "the cat", "--model", model, "--out", out)
    assert (code, is_one_line(err)) == (1, True)
    assert "nowhere" in err


def test_lab_writes_a_page_and_never_over_one_unasked(capsys, model, tmp_path):
    out = tmp_path / "lab.html"
    wanted = ("lab", "the cat runs", "the dog", "--model", model, "--out", out)
    code, text, err = run(capsys, *wanted, "--start", "head=e1.1")
    assert (code, err.count("\n")) == (0, 1)
    assert "no test sentences from made by hand: corpus is" in err
    assert f"{out} (" in text
    page = out.read_text(encoding="utf-8")
    assert '"sentences": ["the cat runs", "the dog"]' in page
    code, text, err = run(capsys, *wanted)
    assert (code, text, is_one_line(err)) == (1, "", True)
    assert "lab.html already exists. Add --overwrite to replace it, or choose another --out" in err
    assert out.read_text(encoding="utf-8") == page
    code, text, _ = run(capsys, *wanted, "--overwrite", "--json")
    assert code == 0
    assert last_json(text) == {"out": str(out), "bytes": out.stat().st_size}
    code, _, err = run(capsys, "lab", "--model", model, "--out", tmp_path / "none.html")
    assert (code, is_one_line(err)) == (1, True)
    assert "this model has no example sentence; add a sentence to translate" in err
    assert out.read_text(encoding="utf-8") != page
    code, _, err = run(capsys, *wanted, "--overwrite", "--languages", "Dog", "Chien")
    assert (code, err.count("\n")) == (0, 1)
    assert '"languages": ["Dog", "Chien"]' in out.read_text(encoding="utf-8")


def test_playground_writes_a_page_and_never_over_one_unasked(capsys, tmp_path):
    out = tmp_path / "play.html"
    wanted = ("playground", "--task", "sort", "--start", "heads=1", "--out", out)
    code, text, err = run(capsys, *wanted)
    assert (code, err) == (0, "")
    assert re.fullmatch(
        rf"{re.escape(str(out))} \(\d+ kB\) is ready: open it in any browser, .*\n", text
    )
    page = out.read_text(encoding="utf-8")
    assert '"start": "#task=sort&heads=1"' in page
    code, text, err = run(capsys, *wanted)
    assert (code, text, is_one_line(err)) == (1, "", True)
    assert "play.html already exists. Add --overwrite to replace it, or choose another --out" in err
    assert out.read_text(encoding="utf-8") == page
    code, text, _ = run(capsys, "playground", "--out", out, "--overwrite", "--json")
    assert code == 0
    assert last_json(text) == {"out": str(out), "bytes": out.stat().st_size}
    assert '"start": "#task=reverse"' in out.read_text(encoding="utf-8")
    code, text, err = run(capsys, "playground", "--task", "fly", "--out", tmp_path / "fly.html")
    assert (code, text, is_one_line(err)) == (1, "", True)
    assert "task is 'fly'; expected 'copy', 'reverse'" in err
    assert not (tmp_path / "fly.html").exists()


def test_progress_is_told_and_forgotten(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SWITCH)
    assert run(capsys, "progress") == (0, progress.NOWHERE + "\n", "")
    assert run(capsys, "progress", "--forget") == (0, "There was nothing to delete.\n", "")
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "01_lesson.ipynb").touch()
    code, text, _ = run(capsys, "progress", "--json")
    assert (code, text.splitlines()[0]) == (0, progress.NOTHING)
    assert last_json(text) == {"file": None, "lessons": {}, "due": []}
    long_ago = date(2020, 1, 1)
    progress.record_exercise(progress.Place("03", "split", 5), long_ago)
    progress.record_answer(progress.Place("03", "Why √d?", 7), False, long_ago)
    capsys.readouterr()
    code, text, _ = run(capsys, "progress", "--json")
    assert code == 0
    file = tmp_path / "notebooks" / FILE
    assert "    03   1 of 5      1 of 7, 0 right on the first try\n" in text
    assert "To review today: 1 question.\n    03  Why √d?\n" in text
    forget = "python -m transformer_lab progress --forget"
    assert (
        f"\nAll of this is stored in {file} and never sent anywhere. To delete it: {forget}\n"
        in text
    )
    told = last_json(text)
    assert told["due"] == [{"lesson": "03", "question": "Why √d?"}]
    assert told["file"] == str(file)
    assert told["lessons"] == json.loads(file.read_text(encoding="utf-8"))["lessons"]
    code, text, _ = run(capsys, "progress", "--forget", "--json")
    assert text.startswith(f"{file} was deleted.\n")
    assert last_json(text) == {"file": str(file), "deleted": True}
    assert not file.exists()


def test_progress_in_a_damaged_file_is_an_error_in_one_line(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SWITCH)
    (tmp_path / "01_lesson.ipynb").touch()
    (tmp_path / FILE).write_text("{}")
    for more in ((), ("--forget",), ("--json",)):
        code, out, err = run(capsys, "progress", *more)
        assert (code, out) == (1, "")
        assert is_one_line(err)
        assert "is damaged, or is not a record of this course" in err
    assert (tmp_path / FILE).read_text() == "{}"
