"""The builder of notebooks keeps its word: the same bytes each time, or nothing."""

import configparser
import copy
import json
import re

import nbformat
import pytest

from tools import build_notebooks
from tools.build_notebooks import (
    ROOT,
    BuildError,
    build,
    every_notebook,
    is_named,
    normalise,
    page_name,
    read,
    setup_cell,
    written,
)
from tools.stored_scores import shows_old_scores
from transformer_lab.attention.scores import SCORES


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [output for cell in code(notebook) for output in cell.outputs]


def cell(source, **fields):
    return {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], **fields}


TEXT = {"cell_type": "markdown", "metadata": {}, "id": "text"}


def messy():
    """A notebook as editors and kernels leave it."""
    stream = {"output_type": "stream", "name": "stdout"}
    view = {build_notebooks.WIDGET: {"model_id": "abc"}}
    execution = {"iopub.execute_input": "2026-01-01T00:00:00Z"}
    outputs = [
        {**stream, "text": "one\n"},
        {**stream, "text": "two <f at 0x7f00deadbeef>, 12.5 it/s\n"},
        {**stream, "name": "stderr", "text": "  0%\r 50% 00:01<00:01\r100%\n"},
        {"output_type": "display_data", "metadata": {}, "data": {**view, "text/plain": "HBox()"}},
        {
            "output_type": "display_data",
            "metadata": {"image/png": {"alt": "words"}, "text/html": {}, "x": {}},
            "data": {**view, "text/plain": "words", "image/png": "AAAA"},
        },
        {
            "output_type": "execute_result",
            "execution_count": 17,
            "metadata": {},
            "data": {"text/plain": "<A at 0x7f00deadbeef>"},
        },
    ]
    cells = [
        cell("1\n", id="setup", execution_count=9, metadata={"trusted": True}),
        {"cell_type": "markdown", "source": "# Title  \nbroken line", "metadata": {"id": "x"}},
        cell("f()", execution_count=17, outputs=outputs, metadata={"execution": execution}),
        cell("g()", id="setup", execution_count=3, metadata={"tags": ["measures", "measures"]}),
        cell("", execution_count=None),
    ]
    metadata = {"widgets": {"state": {}}, "language_info": {"name": "python", "version": "3.1.4"}}
    return nbformat.from_dict(
        {"nbformat": 4, "nbformat_minor": 4, "metadata": metadata, "cells": cells}
    )


def test_normalising_leaves_nothing_of_when_and_where():
    tidy = normalise(messy(), "03_x")
    assert tidy.metadata == build_notebooks.METADATA
    assert tidy.nbformat_minor == 5
    assert [c.get("execution_count") for c in tidy.cells] == [1, None, 2, 3, None]
    assert [c.metadata for c in tidy.cells] == [
        {}, {}, {}, {"tags": ["measures", "nbval-ignore-output"]}, {}
    ]  # fmt: skip
    assert tidy.cells[1].source == "# Title  \nbroken line", "two spaces break a line in markdown"
    out, err, picture, result = tidy.cells[2].outputs
    assert out.text == "one\ntwo <f at 0x...>, ... per second\n"
    assert err.text == "100%\n"
    assert picture.data == {"text/plain": "words", "image/png": "AAAA"}
    assert picture.metadata == {"image/png": {"alt": "words"}}
    assert result.data == {"text/plain": "<A at 0x...>"}
    assert result.execution_count == 2


def test_normalising_twice_changes_nothing_and_touches_no_argument():
    before = messy()
    kept = copy.deepcopy(before)
    once = normalise(before, "03_x")
    assert before == kept
    assert written(normalise(once, "03_x")) == written(once)


def test_ids_are_kept_and_missing_or_double_ones_follow_from_name_and_place():
    ids = [c.id for c in normalise(messy(), "03_x").cells]
    assert ids[0] == "setup"
    assert len(set(ids)) == len(ids)
    assert ids == [c.id for c in normalise(messy(), "03_x").cells]
    assert ids[1:] != [c.id for c in normalise(messy(), "04_y").cells][1:]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of notebooks for the builder; call it to put one in."""
    monkeypatch.setattr(build_notebooks, "NOTEBOOKS", tmp_path)

    def put(name, *cells):
        notebook = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": list(cells)}
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return path

    return put


PICTURE = """\
import ipywidgets, numpy as np
from transformer_lab.figures import attention_heatmap, show
from transformer_lab.lab import show_live
draw = lambda row: (attention_heatmap(np.eye(3), ("a", "b", "c"), ("x", "y", "z"), row=row), "a diagonal")
show(draw(0)[0], alt="a diagonal")
show_live(draw, ipywidgets.IntSlider(value=1, max=2))
ipywidgets.IntSlider()"""


def test_running_twice_gives_the_same_bytes_and_keeps_the_pictures(folder):
    path = folder("01_x.ipynb", cell(PICTURE), cell("print(object())"))
    first = build(path)
    path.write_text(first, encoding="utf-8")
    assert build(path, rerun=True) == first
    setup, pictures, printed = code(read(path))
    assert setup.source == setup_cell()
    assert [set(o.data) for o in pictures.outputs] == [{"text/html", "text/plain"}] * 2
    assert printed.outputs[0].text == "<object object at 0x...>\n"


def test_a_failing_cell_is_named_and_nothing_is_written(folder, capsys):
    good = folder("01_good.ipynb", cell("print(1)"))
    bad = folder("02_bad.ipynb", cell("x = 1"), cell("x / 0", id="divide"), cell("print(2)"))
    before = good.read_bytes(), bad.read_bytes()
    assert build_notebooks.main([]) == 1
    assert (good.read_bytes(), bad.read_bytes()) == before
    error = capsys.readouterr().err
    assert "02_bad.ipynb, code cell 3 (id divide)" in error
    assert "ZeroDivisionError" in error
    assert "\x1b" not in error
    with pytest.raises(BuildError, match="divide"):
        build(bad)


def test_measured_outputs_are_kept_until_asked(folder):
    stored = [{"output_type": "stream", "name": "stdout", "text": "12 seconds\n"}]
    path = folder(
        "01_x.ipynb",
        cell("print('13 seconds')", outputs=stored, metadata={"tags": ["measures"]}),
        cell("print('new')", metadata={"tags": ["measures"]}),
    )
    build_notebooks.main(["01"])
    assert [o.text for o in outputs(read(path))] == ["12 seconds\n", "new\n"]
    build_notebooks.main(["01", "--measure"])
    assert [o.text for o in outputs(read(path))] == ["13 seconds\n", "new\n"]


def test_a_changed_sentence_runs_nothing(folder, monkeypatch):
    path = folder("01_x.ipynb", cell("print(1)"), {**TEXT, "source": "one"})
    path.write_text(build(path), encoding="utf-8")
    monkeypatch.setattr(build_notebooks, "execute", None)
    notebook = read(path)
    notebook.cells[-1].source = "two"
    notebook.cells[1].outputs[0].text = "as it was stored\n"
    path.write_text(written(notebook), encoding="utf-8")
    assert build(path) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(("rerun", "kept"), [(False, "7\n"), (True, "1\n")])
def test_outputs_above_the_first_changed_cell_stay_and_those_below_are_new(folder, rerun, kept):
    cells = [cell("print(1)"), cell("x = 2"), cell("print(3 * x)")]
    path = folder("01_x.ipynb", *cells)
    path.write_text(build(path), encoding="utf-8")
    notebook = read(path)
    first, middle, last = code(notebook)[1:]
    first.outputs[0].text = "7\n"  # as another processor wrote it
    last.outputs[0].text = "8\n"
    middle.source = "x = 5"
    path.write_text(written(notebook), encoding="utf-8")
    path.write_text(build(path, rerun=rerun), encoding="utf-8")
    assert [o.text for o in outputs(read(path))] == [kept, "15\n"]
    assert read(path).metadata[build_notebooks.CODE] == build_notebooks.code_sums(read(path))


def test_nbval_takes_no_letters_of_a_picture_for_an_address():
    rules = configparser.RawConfigParser()
    rules.read(build_notebooks.SANITIZE, encoding="utf-8")
    text = '<img src="data:image/webp;base64,ab0xdeadbeef/+cd="> <f at 0x7f00deadbeef>'
    for name in rules.sections():  # as nbval applies them, one after the other
        text = re.sub(rules[name]["regex"], rules[name]["replace"], text)
    assert text == '<img src="data:image/webp"> <f at 0x...>'


RECORD = """\
from tests.records import make_record
from transformer_lab.lab import lab
lab(make_record())"""


def test_a_record_with_scores_of_another_day_is_new_and_all_else_stays(folder, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    path = folder("01_x.ipynb", cell("print(1)"), cell(RECORD), cell("print(3)"))
    path.write_text(build(path), encoding="utf-8")
    assert build(path) == path.read_text(encoding="utf-8"), "today's scores run nothing"
    notebook = read(path)
    first, record, last = code(notebook)[1:]
    assert not shows_old_scores(record)
    first.outputs[0].text, last.outputs[0].text = "7\n", "8\n"
    page = record.outputs[0].data
    label = SCORES[0].label
    assert label in page["text/html"]
    page["text/html"] = page["text/html"].replace(f'"label": "{label}"', '"label": "old"')
    assert shows_old_scores(record)
    path.write_text(written(notebook), encoding="utf-8")
    path.write_text(build(path), encoding="utf-8")
    first, record, last = code(read(path))[1:]
    assert (first.outputs[0].text, last.outputs[0].text) == ("7\n", "8\n")
    assert not shows_old_scores(record)


def test_a_cell_that_is_new_or_gone_runs_what_is_below(folder):
    path = folder("01_x.ipynb", cell("print(1)"), cell("print(2)"), cell("print(3)"))
    path.write_text(build(path), encoding="utf-8")
    notebook = read(path)
    for place, each in enumerate(code(notebook)[1:]):
        each.outputs[0].text = f"stored {place}\n"
    del notebook.cells[2]
    path.write_text(written(notebook), encoding="utf-8")
    path.write_text(build(path), encoding="utf-8")
    assert [o.text for o in outputs(read(path))] == ["stored 0\n", "3\n"]


@pytest.mark.parametrize(
    ("name", "built"),
    [
        ("01", ["01_x", "evidence/01_x"]),
        ("evidence/01", ["evidence/01_x"]),
        ("notebooks/evidence/01_x.ipynb", ["evidence/01_x"]),
        ("02_y.ipynb", ["02_y"]),
        ("evidence", ["evidence/01_x"]),
    ],
)
def test_a_name_is_a_lessons_and_its_evidences_or_the_evidences_alone(folder, name, built):
    for one in ("01_x.ipynb", "02_y.ipynb", "evidence/01_x.ipynb"):
        folder(one)
    assert [page_name(path) for path in every_notebook() if is_named(path, name)] == built


def test_an_unknown_name_is_an_error(folder, capsys):
    folder("01_x.ipynb", cell("1"))
    with pytest.raises(SystemExit):
        build_notebooks.main(["07"])
    assert "no notebook's name begins with '07'" in capsys.readouterr().err
