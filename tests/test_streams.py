"""Standard streams are UTF-8 in any console, and what comes from outside moves no terminal."""

import codecs
import json
import os
import subprocess
import sys
from io import BufferedReader, BytesIO, TextIOWrapper

import pytest

from tests.conftest import make_model
from tests.data.test_splits import numbered
from tests.test_translator import make_translator
from tests.thorough import thorough_from
from transformer_lab.command import main as cli
from transformer_lab.command.streams import prepare_streams, read_lines
from transformer_lab.course import diary as progress
from transformer_lab.course.diary import LessonRecord, QuestionRecord, Record
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.text import escape_for_terminal
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.runs import evaluation
from transformer_lab.translator import Translator

CODE_PAGES = ("cp1252", "ascii:strict", "utf-16")
HOSTILE = {
    "clears the screen": ("\x1b[2J\x1b[H", r"\x1b[2J\x1b[H"),
    "renames the window": ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
    "one sign for escape and [": ("\x9b31m", r"\x9b31m"),
    "overwrites the line": ("100 %\r0", r"100 %\r0"),
    "another line": ("Why?\n    04  Pay here", r"Why?\n    04  Pay here"),
    "another paragraph": ("a\u2029b\u2028c", r"a\u2029b\u2028c"),
    "from right to left": ("\u202etxt.exe", r"\u202etxt.exe"),
    "nothing to see": ("a\u200bb\ufeff", r"a\u200bb\ufeff"),
    "half a character": ("\ud800", r"\ud800"),
    "a sign of nul": ("a\0b", r"a\x00b"),
    "erases": ("right\b\b\x7f", r"right\x08\x08\x7f"),
}


@pytest.mark.parametrize(("text", "seen"), HOSTILE.values(), ids=HOSTILE)
def test_what_a_terminal_would_obey_is_escaped(text, seen):
    assert escape_for_terminal(text) == seen
    assert escape_for_terminal(seen) == seen


@pytest.mark.parametrize("text", ["Où est l’été ?", "½ of “√d”", "今日は", "e\u0301", "🙂", "\\n"])
def test_what_can_be_read_stays(text):
    assert escape_for_terminal(text) == text


@pytest.mark.parametrize("code_page", CODE_PAGES)
def test_what_is_printed_is_utf8_in_any_code_page(monkeypatch, code_page):
    encoding, _, errors = code_page.partition(":")
    raw = {name: BytesIO() for name in ("stdout", "stderr")}
    for name, buffer in raw.items():
        stream = TextIOWrapper(buffer, encoding=encoding, errors=errors or None, newline="\n")
        monkeypatch.setattr(sys, name, stream)
    prepare_streams()
    for name in raw:
        print("→ où \ud800", file=getattr(sys, name), flush=True)
    assert [buffer.getvalue() for buffer in raw.values()] == ["→ où \\ud800\n".encode()] * 2


@pytest.mark.parametrize("mark", [b"", codecs.BOM_UTF8])
def test_lines_come_without_the_mark_in_front(monkeypatch, mark):
    stdin = TextIOWrapper(
        BufferedReader(BytesIO(mark + "où\r\n\ufeffà\n".encode())), encoding="cp1252"
    )
    monkeypatch.setattr(sys, "stdin", stdin)
    assert list(read_lines()) == [["où", "\ufeffà"]]
    monkeypatch.setattr(
        sys, "stdin", TextIOWrapper(BufferedReader(BytesIO(mark)), encoding="cp1252")
    )
    assert list(read_lines()) == []


def in_code_page(*arguments, code_page="cp1252", **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "transformer_lab", *map(str, arguments)],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": code_page, "OMP_NUM_THREADS": "1"},
        check=False,
        **options,
    )


@pytest.mark.slow
@pytest.mark.parametrize("code_page", thorough_from(1, ["ascii:strict", "cp1252"]))
def test_doctor_ends_in_any_code_page(code_page):
    done = in_code_page("doctor", code_page=code_page)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert len(lines) > 10
    assert any("→" in line for line in lines)


@pytest.mark.thorough(caught_by=["test_a_translation_goes_through_a_pipe_with_its_accents"])
@pytest.mark.slow
def test_train_ends_and_names_its_folder_in_any_code_page(tsv, tmp_path):
    out = tmp_path / "été→今日"
    asked = ("--preset", "tiny", "--device", "cpu", "--max-steps", 1, "--json", "--out", out)
    done = in_code_page("train", "--corpus", tsv, *asked)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode().splitlines()[-1])["out"] == str(out)
    assert (out / "model_card.md").exists()


@pytest.mark.slow
def test_a_translation_goes_through_a_pipe_with_its_accents(tmp_path):
    """Through a model that reads the words that it writes: all of them have an accent."""
    words = WordTokenizer(["été", "où", "ça"])
    sizes = {"source_vocab_size": words.vocab_size, "target_vocab_size": words.vocab_size}
    Translator(make_model(2, **sizes).float(), words, words).save(tmp_path / "model")
    asked = ("translate", "--model", tmp_path / "model", "--beam", 1)
    first = in_code_page(*asked, input="où ça été\n".encode())
    again = in_code_page(*asked, input=first.stdout)
    assert (first.returncode, again.returncode) == (0, 0)
    assert first.stdout.split()
    assert set(first.stdout.decode().split()) <= {"été", "où", "ça"}
    assert (first.stderr, again.stderr) == (b"", b"")  # every word came through, and was known


@pytest.mark.parametrize(("text", "seen"), HOSTILE.values(), ids=HOSTILE)
def test_no_question_of_the_progress_file_moves_the_terminal(text, seen):
    day = progress.today()
    record: Record = {
        text: LessonRecord(questions={text: QuestionRecord(day, True, 0, day)}, questions_of=1)
    }
    report = progress.format_report(record, day)
    assert report.isprintable() or set(filter(lambda s: not s.isprintable(), report)) == {"\n"}
    assert f"    {seen}  {seen}" in report.splitlines()


@pytest.mark.parametrize(("text", "seen"), HOSTILE.values(), ids=HOSTILE)
def test_no_error_and_no_unknown_word_moves_the_terminal(capsys, text, seen):
    cli.print_error(f"no such file: {text}")
    cli.warn_unknown([text])
    error, unknown = capsys.readouterr().err.splitlines()
    assert error.isprintable()
    assert unknown == f"The model does not know {seen}, and reads <unk> instead."


def test_the_loss_of_a_perfect_model_is_nothing_and_not_minus_nothing(monkeypatch, capsys):
    monkeypatch.setattr(evaluation, "log_probabilities", lambda model, group: [0.0] * len(group))
    translator, pairs = make_translator(), numbered(5)
    assert str(evaluation.validation_loss(translator, pairs)) == "0.0"
    monkeypatch.setattr(cli, "validation_loss", lambda translator, pairs: -1e-9)
    splits = Splits(pairs, pairs, [Pair("the cat", "le chat")])
    cli.print_scores(translator, splits, beam_size=1)
    assert capsys.readouterr().out.startswith("validation loss 0.000. Of 1 test sentences")
