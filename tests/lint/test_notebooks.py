"""Every committed notebook is as the builder writes it, and reads well."""

import itertools
import re
from html.parser import HTMLParser

import pytest

from tools import build_notebooks
from tools.build_notebooks import (
    CODE,
    ROOT,
    code_sums,
    every_notebook,
    evidence,
    lessons,
    normalise,
    page_name,
    read,
    setup_cell,
    written,
)
from transformer_lab.course.keys import lesson_key

PATHS = every_notebook()
TAGS = {
    "answers", "card", "drawing", "exercise", "hints", "measures", "nbval-ignore-output", "nbval-skip",
    "picture-only", "raises-exception", "slide", "solution",
}  # fmt: skip
MACHINE = re.compile(
    r"/home/|/root/|/tmp/|/Users/|[A-Z]:\\Users|site-packages|" + re.escape(str(ROOT))
)


@pytest.fixture(params=PATHS, ids=page_name)
def path(request):
    return request.param


@pytest.fixture
def notebook(path):
    return read(path)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def outputs(notebook):
    return [output for cell in code(notebook) for output in cell.outputs]


def prose(notebook):
    """The markdown, without what is fenced off as code."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return [re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL) for text in texts]


def test_the_course_has_notebooks():
    keys = [page_name(path).partition("_")[0] for path in PATHS]
    assert sorted(keys) == sorted(set(keys))
    assert PATHS[0].name == "00_start_here.ipynb"


def test_is_as_the_builder_writes_it(path):
    """Valid, with ids, without times, widgets or an editor's metadata: `make notebooks` mends it."""
    assert written(normalise(read(path), path.stem)) == path.read_text(encoding="utf-8")


def test_is_committed_executed_and_without_an_error(notebook):
    for cell in code(notebook):
        assert cell.execution_count, cell.source
        if "raises-exception" not in cell.metadata.get("tags", ()):
            assert not [o.evalue for o in cell.outputs if o.output_type == "error"]


def test_the_outputs_are_those_of_the_code(notebook):
    """Who has changed code and not built the notebook: `python -m tools.build_notebooks NN`."""
    assert notebook.metadata.get(CODE) == code_sums(notebook)


def test_no_line_of_code_runs_out_of_the_page(notebook):
    lines = [line for cell in code(notebook)[1:] for line in cell.source.splitlines()]
    assert [line for line in lines if len(line) > 100] == []


def test_ids_are_unique(notebook):
    ids = [cell.id for cell in notebook.cells]
    assert len(ids) == len(set(ids))


def test_holds_no_widget(notebook):
    assert "widgets" not in notebook.metadata
    assert not [o for o in outputs(notebook) if build_notebooks.WIDGET in o.get("data", {})]


def test_begins_with_todays_setup_cell(notebook):
    assert notebook.cells[0].source == setup_cell()


def test_then_imports_in_at_most_six_lines(notebook):
    lines = [line for line in code(notebook)[1].source.splitlines() if line.strip()]
    assert len(lines) <= 6
    assert all(re.match(r"(import|from) \w", line) for line in lines)


def test_tags_are_known(notebook):
    assert {tag for cell in notebook.cells for tag in cell.metadata.get("tags", ())} <= TAGS


class Tags(HTMLParser):
    """The tags of a piece of HTML: (name, attributes)."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_every_picture_has_its_words(notebook):
    for output in outputs(notebook):
        for mime in output.get("data", {}):
            if mime.startswith("image/"):
                assert output.metadata[mime]["alt"].strip()
        html = "".join(output.get("data", {}).get("text/html", ""))
        assert all(attrs.get("alt") for tag, attrs in Tags(html).found if tag == "img")
    for text in prose(notebook):
        assert all(attrs.get("alt") for tag, attrs in Tags(text).found if tag == "img")
        assert not re.search(r"!\[\s*\]\(", text)


def test_has_one_title_and_no_heading_skips_a_level(notebook):
    levels = [len(marks) for text in prose(notebook) for marks in re.findall(r"^(#+) ", text, re.M)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_a_heading_begins_its_line_and_a_sentence_ends_with_room_behind_it(notebook):
    """Two cells that were joined without an empty line between them show themselves here."""
    for text in prose(notebook):
        plain = re.sub(r"\]\([^)]*\)|<[^>]*>", "", text)
        assert not re.findall(r"[^\s#] ?#{2,4} .*", plain)
        assert not re.findall(r"[a-z]{3}[.?!][A-Z][a-z]+ .{0,30}", plain)


def test_links_lead_somewhere(path, notebook):
    for text in prose(notebook):
        links = re.findall(r"\]\(<?([^)\s>]+)", text)
        links += [attrs["href"] for tag, attrs in Tags(text).found if tag == "a"]
        for link in links:
            if not link.startswith(("https://", "#")):
                assert (path.parent / link.partition("#")[0]).exists(), link


def test_no_output_tells_of_the_machine(notebook):
    for output in outputs(notebook):
        texts = [output.get("text", "")]
        texts += [t for mime, t in output.get("data", {}).items() if mime.startswith("text/")]
        for text in texts:
            # In base64 any word may come up.
            assert not MACHINE.search(re.sub(r"base64,[\w+/=]+", "", "".join(text)))


# ---------------------------------------------------------------- lessons and their evidence


@pytest.mark.parametrize("path", evidence(), ids=page_name)
def test_a_lesson_and_its_evidence_lead_to_each_other(path):
    (lesson,) = (one for one in lessons() if one.name == path.name)
    assert f"](evidence/{path.name}" in "\n".join(prose(read(lesson)))
    assert f"](../{path.name}" in "\n".join(prose(read(path)))


@pytest.mark.parametrize("path", evidence(), ids=page_name)
def test_evidence_is_no_lesson(path):
    assert lesson_key(path) == ""
    assert path not in lessons()
    notebook = read(path)
    tags = {tag for cell in notebook.cells for tag in cell.metadata.get("tags", ())}
    assert not tags & {"exercise", "hints", "solution", "answers", "card", "slide"}
    assert "transformer_lab.course" not in "".join(cell.source for cell in code(notebook)[1:])
