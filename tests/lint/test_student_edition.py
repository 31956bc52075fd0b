"""The student edition: no solution in it, each check still there, and no folder overwritten."""

import ast
import json
import re
from pathlib import Path

import nbformat
import pytest

from tools import student_edition
from tools.build_notebooks import (
    CODE,
    every_notebook,
    evidence,
    lessons,
    normalise,
    page_name,
    read,
    written,
)
from tools.nbgrader_source import exercises, moved_links
from tools.student_edition import CLAIM, DEFINITION, MANIFEST, EditionError, write_edition
from transformer_lab.course.keys import KEY, lesson_key

PATHS = lessons()
WITHOUT_NUMBER = [path for path in every_notebook() if path not in [*PATHS, *evidence()]]
"""The capstones and the page of stubs, which have no solutions."""

SHOWN = {
    "01": ["return exponentials / exponentials.sum(axis=-1, keepdims=True)"],
    "07": ["from transformer_lab.model.masks import causal_mask, padding_mask"],
    "09b": [
        "mask = padding_mask(source, model.config.pad_id)",
        "memory = model.encode(source, mask)",
        "return model.output(model.decode(read, memory, mask))",
    ],
    "17": ["batch, query, d_model = x.shape", "d_k = d_model // num_heads"],
}
"""Lines of solutions that the page itself shows.

In the naive softmax, in an import, in the sick patients, and in the friend's attention.
"""


@pytest.fixture(scope="module")
def edition():
    return student_edition.student_edition()


@pytest.fixture(scope="module")
def whole():
    """With all definitions left in."""
    return student_edition.student_edition(definitions=True)


@pytest.fixture(scope="module")
def bare():
    """Without any output."""
    return student_edition.student_edition(outputs=False)


@pytest.fixture(scope="module")
def grading():
    return student_edition.grading_edition()


@pytest.fixture(params=PATHS, ids=lambda path: path.stem)
def path(request):
    return request.param


def learners(edition, path):
    return nbformat.v4.reads_json(edition[f"notebooks/{path.name}"])


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def lines(source):
    """The lines of a cell that say something."""
    found = [line.strip() for line in source.splitlines()]
    return [line for line in found if len(line) >= 12 and not line.startswith("#")]


def test_no_line_of_a_solution_is_left(edition, path):
    notebook = learners(edition, path)
    assert "SOLUTION" not in edition[f"notebooks/{path.name}"]
    assert not [cell for cell in notebook.cells if "solution" in cell.metadata.get("tags", ())]
    assert not [cell for cell in notebook.cells if "solution, folded" in cell.source]
    there = {line for cell in code(notebook) for line in lines(cell.source)}
    found = []
    for stub, check, solution in exercises(read(path)):
        asked = {*lines(stub.source), *lines(check.source)}
        found += [line for line in lines(solution.source) if line in there - asked]
    assert found == SHOWN.get(lesson_key(path), [])


def test_each_stub_and_each_check_is_there(edition, path):
    cells = {cell.id: cell for cell in learners(edition, path).cells}
    for stub, check, _ in exercises(read(path)):
        assert cells[stub.id].source == stub.source
        assert cells[check.id].source == check.source
        (output,) = cells[check.id].outputs
        assert output.text.startswith("Not written yet")


def test_all_else_stays_with_its_outputs(edition, path):
    """Every other cell is as in the course, but for definitions that became imports."""
    before = {cell.id: cell for cell in read(path).cells}
    notebook = learners(edition, path)
    for cell in notebook.cells:
        was = before.pop(cell.id)
        if cell.source != was.source:
            assert "answers" in was.metadata.tags
            assert CLAIM.match(was.source)
        if cell.cell_type == "code":
            assert [strip(output) for output in cell.outputs] == [strip(o) for o in was.outputs]
    left_out = [cell for cell in before.values() if "folded" not in cell.source]
    assert all("### BEGIN SOLUTION" in cell.source for cell in left_out)
    assert len(left_out) == len(list(exercises(read(path))))


def strip(output):
    return {key: value for key, value in output.items() if key != "execution_count"}


def test_the_teachers_slides_are_not_in_it(edition, path):
    assert not [cell for cell in learners(edition, path).cells if "slides" in cell.metadata]
    assert '"slide"' not in edition[f"notebooks/{path.name}"]


def test_it_is_a_notebook_as_the_builder_writes_it(edition, path):
    text = edition[f"notebooks/{path.name}"]
    assert written(normalise(learners(edition, path), path.stem)) == text


def test_an_imported_definition_is_the_one_that_was_shown(path):
    """The names that a page gets are the same with the definitions and without them."""
    notebook = read(path)
    for cell in code(notebook):
        if claim := CLAIM.match(cell.source):
            (node,) = ast.parse(cell.source).body
            (line,) = ast.parse(student_edition.imported(claim.group(1)[:-1], claim.group(2))).body
            assert [alias.name for alias in line.names] == [node.name]
            assert f"{line.module}." == claim.group(1)


def test_a_definition_that_answers_an_exercise_is_folded_under_a_line_that_says_so(path):
    asked, before = set(), None
    for cell in read(path).cells:
        answers = "answers" in cell.metadata.get("tags", ())
        claim = CLAIM.match(cell.source)
        assert answers == (before is not None and before.source == DEFINITION)
        if answers:
            assert claim
            assert cell.metadata.jupyter.source_hidden
        elif "exercise" in cell.metadata.get("tags", ()):
            asked.add(re.search(r"(?:def|class) (\w+)", cell.source).group(1))
        # An exercise that has the definition's own name asks for it.
        assert answers or not claim or claim.group(2) not in asked
        before = cell


def test_definitions_can_stay(edition, whole, path):
    shown = [cell.source for cell in code(learners(whole, path)) if CLAIM.match(cell.source)]
    assert shown == [cell.source for cell in code(read(path)) if CLAIM.match(cell.source)]


def test_outputs_can_be_left_out(bare, path):
    notebook = learners(bare, path)
    assert not any(cell.outputs or cell.execution_count for cell in code(notebook))


@pytest.mark.parametrize("path", WITHOUT_NUMBER, ids=page_name)
def test_a_page_without_a_number_is_in_it_as_it_is_and_holds_no_line_of_any_solution(edition, path):
    as_it_is = read(path)
    del as_it_is.metadata[CODE]
    assert edition[f"notebooks/{path.name}"] == written(as_it_is)
    there, known = {line for cell in code(read(path)) for line in lines(cell.source)}, set()
    for one in PATHS:
        for stub, check, solution in exercises(read(one)):
            known |= {*lines(solution.source)} - {*lines(stub.source), *lines(check.source)}
    assert not known & there


@pytest.mark.parametrize("path", evidence(), ids=page_name)
def test_the_evidence_is_in_it_as_it_is_and_not_among_the_lessons(edition, path):
    as_it_is = read(path)
    del as_it_is.metadata[CODE]
    assert edition[f"notebooks/{page_name(path)}.ipynb"] == written(as_it_is)
    assert page_name(path) not in edition["README.md"]


@pytest.mark.parametrize("name", ["edition", "grading"])
def test_links_lead_somewhere(name, request):
    files = request.getfixturevalue(name)
    for file, text in files.items():
        if file.endswith(".md"):
            texts = [text]
        elif file.endswith(".ipynb"):
            cells = nbformat.v4.reads_json(text).cells
            texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
        else:
            continue
        for link in re.findall(r"\]\(<?([^)\s>]+)", "\n".join(texts)):
            if not link.startswith(("https://", "#")):
                target = (Path("/") / file).parent / link.partition("#")[0]
                assert str(target.resolve()).lstrip("/") in files, (file, link)


def test_links_of_an_assignment_lead_to_the_next_folder_or_to_the_repository():
    text = (
        "[02](02_why_sqrt_dk.ipynb#Break-it), [all](../docs/findings.md), "
        "[stubs](from_memory.ipynb), [sure?](evidence/02_why_sqrt_dk.ipynb), [x](https://x.org)"
    )
    assert moved_links(text, {"02_why_sqrt_dk"}, "https://g.org/r") == (
        "[02](../02_why_sqrt_dk/02_why_sqrt_dk.ipynb#Break-it), "
        "[all](https://g.org/r/blob/main/docs/findings.md), "
        "[stubs](https://g.org/r/blob/main/notebooks/from_memory.ipynb), "
        "[sure?](https://g.org/r/blob/main/notebooks/evidence/02_why_sqrt_dk.ipynb), [x](https://x.org)"
    )


def test_the_list_of_lessons_has_the_minutes_of_the_readme(edition):
    readme = (student_edition.ROOT / "README.md").read_text(encoding="utf-8")
    course = re.findall(rf"^\| ({KEY}) \|.* (\d+) \|$", readme, re.MULTILINE)
    told = re.findall(
        rf"\(notebooks/({KEY})_\w+\.ipynb\), (\d+) minutes", edition["README.md"], re.M
    )
    assert len(told) == len(PATHS)
    assert told == course


def test_what_is_for_instructors_or_for_the_website_is_not_in_it(edition):
    docs = {name for name in edition if name.startswith("docs/")}
    pages = {"docs/findings.md", "docs/own_task.md"}
    assert {name for name in docs if "_static/findings/" not in name} == pages
    pictures = re.findall(r"\]\((_static/[^)]+)\)", edition["docs/findings.md"])
    assert docs == {*pages, *(f"docs/{picture}" for picture in pictures)}
    assert "{" not in edition["README.md"]


# ---------------------------------------------------------------- nbgrader's source


def test_a_page_without_a_number_is_no_assignment(grading):
    assert not [name for name in grading for path in WITHOUT_NUMBER if path.stem in name]


def test_each_exercise_counts_one_point_once(grading, path):
    triples = list(exercises(read(path)))
    text = grading.get(f"source/{path.stem}/{path.name}")
    assert bool(text) == bool(triples)
    if not text:
        return
    notebook = nbformat.v4.reads_json(text)
    nbformat.validate(notebook)
    facts = {c.id: c.metadata.nbgrader for c in notebook.cells if "nbgrader" in c.metadata}
    assert len({fact.grade_id for fact in facts.values()}) == 2 * len(triples) == len(facts)
    for stub, check, _ in triples:
        assert facts[stub.id].solution
        assert not facts[stub.id].grade
        assert facts[check.id].points == 1
        assert facts[check.id].locked


@pytest.mark.parametrize("lesson", ["01", "08"])
def test_a_hidden_test_fails_unless_the_check_is_content(grading, lesson):
    """Run answer and test cell alone: as the source has them, with the stub, with a known mistake."""
    (path,) = (path for path in PATHS if lesson_key(path) == lesson)
    notebook = nbformat.v4.reads_json(grading[f"source/{path.stem}/{path.name}"])
    cells = {cell.id: cell.source for cell in notebook.cells}
    names = {}
    exec(cells[code(notebook)[1].id], names)
    for stub, check, _ in exercises(read(path)):
        exec(cells[stub.id], names)
        exec(cells[check.id], names)
        exec(stub.source, names)
        with pytest.raises(AssertionError, match="the check above"):
            exec(cells[check.id], names)
        name, answer = re.fullmatch(r"check\.(\w+)\((\w+)\)", check.source).groups()
        names[answer] = getattr(names["check"], name).mistakes[0].answer
        with pytest.raises(AssertionError, match="the check above"):
            exec(cells[check.id], names)
        exec(cells[stub.id], names)


# ---------------------------------------------------------------- the folder


def content(folder):
    return {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_twice_gives_the_same_bytes(tmp_path, edition):
    write_edition(tmp_path / "student", edition)
    first = content(tmp_path)
    write_edition(tmp_path / "student", student_edition.student_edition())
    assert content(tmp_path) == first


def test_a_folder_of_somebody_else_is_left_alone(tmp_path, capsys):
    mine = tmp_path / "notes.txt"
    mine.write_text("mine")
    assert student_edition.main(["--out", str(tmp_path)]) == 1
    assert "was not written by this" in capsys.readouterr().err
    assert content(tmp_path) == {mine: b"mine"}


def test_a_file_that_was_edited_is_kept_and_nothing_else_changed(tmp_path):
    write_edition(tmp_path, {"a.md": "old", "b.md": "old"})
    (tmp_path / "b.md").write_text("edited")
    before = content(tmp_path)
    with pytest.raises(EditionError, match=r"b\.md was edited"):
        write_edition(tmp_path, {"a.md": "new", "b.md": "new"})
    assert content(tmp_path) == before


def test_a_file_in_the_way_is_kept(tmp_path):
    write_edition(tmp_path, {"a.md": "old"})
    (tmp_path / "b.md").write_text("mine")
    with pytest.raises(EditionError, match=r"b\.md was edited"):
        write_edition(tmp_path, {"a.md": "old", "b.md": "new"})
    assert (tmp_path / "b.md").read_text() == "mine"


def test_what_is_no_longer_written_goes_and_what_others_put_there_stays(tmp_path):
    write_edition(tmp_path, {"a.md": "old", "sub/b.md": "old"})
    (tmp_path / "mine.txt").write_text("mine")
    write_edition(tmp_path, {"a.md": "new"})
    names = {path.name for path in content(tmp_path)}
    assert names == {"a.md", "mine.txt", MANIFEST}
    assert (tmp_path / "a.md").read_text() == "new"


def test_a_run_that_was_interrupted_can_be_repeated(tmp_path):
    write_edition(tmp_path, {"a.md": "old", "b.md": "old"})
    (tmp_path / "a.md").write_text("new")  # written, and then the power went
    write_edition(tmp_path, {"a.md": "new", "b.md": "new"})
    assert (tmp_path / "b.md").read_text() == "new"
    assert list(json.loads((tmp_path / MANIFEST).read_text())) == ["a.md", "b.md"]
