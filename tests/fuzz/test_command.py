"""The command line: whatever is typed, an answer, or one line that says what is wrong."""

import contextlib
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.cases import cases, texts
from tests.test_translator import make_translator
from transformer_lab.command.main import main

word = texts.filter(lambda text: "\0" not in text)
value = word | st.sampled_from(["-1", "0", "1", "nan", "1e400", "9" * 30, "cpu", "meta", "", "-"])
options = ("--beam", "--device", "--model", "--limit", "--corpus", "--start", "--seed", "--other")
flags = st.sampled_from(["--json", "--overwrite", "--resume", "--skip-bad"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small model, and room for what is written."""
    folder = tmp_path_factory.mktemp("command")
    make_translator().save(folder / "model")
    return folder


def run(arguments) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as end:  # argparse
            code = end.code
    return code, out.getvalue(), err.getvalue()


@cases(0.046)
@given(st.data())
def test_what_is_typed_is_answered_or_refused_in_one_line(folder, data):
    command = data.draw(st.sampled_from(["translate", "lab", "evaluate", "doctor", "fly"]))
    given_ = data.draw(st.lists(st.tuples(st.sampled_from(options), value), max_size=2))
    typed = [
        command,
        *(part for pair in given_ for part in pair),
        *data.draw(st.lists(flags, max_size=1)),
    ]
    if command in ("translate", "lab"):
        typed += ["--", data.draw(word | st.sampled_from(["the cat sleeps", "a dog", ""]))]
    if "--model" not in typed and command not in ("doctor", "fly"):
        typed[1:1] = ["--model", str(folder / "model")]
    if command == "lab":
        typed[1:1] = ["--record", "--out", str(folder / "page.html"), "--overwrite"]
    code, out, err = run(typed)
    assert code in (0, 1, 2)
    assert "Traceback" not in err
    if code == 1:
        said = [line for line in err.splitlines() if not line.startswith("The model does not know")]
        assert len(said) == 1
        assert said[0].startswith("error: ")
    elif code == 2:  # argparse says how it is used, and what is wrong
        assert re.search(r"^usage: .*error: ", err, re.DOTALL)
    elif "--json" in typed:
        json.loads(out.splitlines()[-1])
