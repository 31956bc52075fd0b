"""Each notebook leaves JupyterLab whole: as a script, as Markdown, as HTML and as slides."""

import ast
import re

import pytest
from nbconvert import get_exporter

from tools.build_notebooks import every_notebook, page_name, read
from transformer_lab.course.keys import lesson_key

PATHS = every_notebook()
ENDINGS = {"html": ".html", "slides": ".slides.html", "markdown": ".md"}
SLOW = {"html", "slides"}
"""What takes seconds. `make test` tries it on a notebook with a record, and on one with a drawing to
step through; `make test-all` on every one."""
ALL = pytest.mark.thorough(caught_by=["test_as_a_page_it_has_each_heading_picture_and_widget"])
PAGES = [
    pytest.param(
        kind,
        path,
        id=f"{page_name(path)}-{kind}",
        marks=[ALL] * (kind in SLOW and lesson_key(path) not in ("00", "06")),
    )
    for kind in ENDINGS
    for path in PATHS
]
COMMAND = re.compile(r"^\s*[%!]", re.M)
"""A line for IPython, which a script has as a call."""


@pytest.fixture(params=PATHS, ids=page_name)
def path(request):
    return request.param


def exported(path, kind):
    """What `jupyter nbconvert --to KIND` writes, and the ending of its file."""
    text, resources = get_exporter(kind)().from_notebook_node(read(path))
    return text, resources["output_extension"]


def test_as_a_script_it_is_python_with_the_code_of_each_cell(path):
    text, ending = exported(path, "script")
    assert ending == ".py"
    written = ast.unparse(ast.parse(text))
    code = [cell.source for cell in read(path).cells if cell.cell_type == "code"]
    assert [
        one
        for one in code
        if not COMMAND.search(one) and ast.unparse(ast.parse(one)) not in written
    ] == []


@pytest.mark.parametrize(("kind", "path"), PAGES, indirect=["path"])
def test_as_a_page_it_has_each_heading_picture_and_widget(path, kind):
    text, ending = exported(path, kind)
    assert ending == ENDINGS[kind]
    cells = read(path).cells
    written = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    shown = "".join(
        output.get("data", {}).get("text/html", "")
        for cell in cells
        for output in cell.get("outputs", ())
    )
    heading = re.compile(r"^#+ " if kind == "markdown" else r"<h[1-6][ >]", re.M)
    assert len(heading.findall(text)) >= len(re.findall(r"^#+ ", written, re.M)) > 1
    assert text.count("<img") >= shown.count("<img")
    widget = re.compile(r'<div data-\w+="\w+">')
    assert widget.findall(text) == widget.findall(shown)
    if kind == "html":
        assert 'class="kn"' in text, "code has its colours"
