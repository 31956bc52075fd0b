"""Every lesson keeps the course's rhythm, and what it teaches is what the package runs."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from tools.build_notebooks import ROOT, every_notebook, lessons, read
from transformer_lab.course.keys import find_key, lesson_key
from transformer_lab.course.lessons import lesson as package_of
from transformer_lab.course.lessons import lesson_numbers
from transformer_lab.course.quiz.cards import decks
from transformer_lab.course.quiz.review import further_reading, glossary

PATHS = every_notebook()
LESSONS = lessons()[1:]
CLAIM = re.compile(r"#\| package: (transformer_lab(?:\.\w+)+)\n")

TAUGHT = [
    (lesson_key(path.parent), name)
    for path in sorted((ROOT / "tests" / "course").glob("lesson_*/taught.txt"))
    for name in path.read_text(encoding="utf-8").split()
]
"""(lesson, definition of the package that it shows), as `taught.txt` beside its wrong answers says."""


def code(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", ())


def printed(cell):
    return "".join(o.text for o in cell.outputs if o.output_type == "stream")


def claims(path):
    """(name, source) of each cell that shows a definition of the package."""
    found = [(CLAIM.match(cell.source), cell.source) for cell in code(path)]
    return [(match.group(1), source) for match, source in found if match]


CLAIMS = [(find_key(path), name, source) for path in PATHS for name, source in claims(path)]


# ---------------------------------------------------------------- claimed cells


def bare(source):
    """A definition as a syntax tree without docstrings, annotations and comments."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            if ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
            if isinstance(node, ast.FunctionDef):
                node.returns = None
            node.body = [n for n in node.body if not (isinstance(n, ast.AnnAssign) and not n.value)]
        elif isinstance(node, ast.arg):
            node.annotation = None
    return ast.dump(WithoutAnnotations().visit(tree))


class WithoutAnnotations(ast.NodeTransformer):
    """An assignment with an annotation becomes one without."""

    def visit_AnnAssign(self, node):
        return ast.Assign([node.target], node.value) if node.value else node


def in_package(name):
    """The source of a definition of the package."""
    module, _, attribute = name.rpartition(".")
    path = Path(importlib.import_module(module).__file__)
    text = path.read_text(encoding="utf-8")
    nodes = [n for n in ast.parse(text).body if getattr(n, "name", None) == attribute]
    return ast.get_source_segment(text, nodes[0])


@pytest.mark.parametrize(("lesson", "name", "source"), CLAIMS, ids=[claim[1] for claim in CLAIMS])
def test_a_claimed_cell_is_the_packages_definition(lesson, name, source):
    assert bare(source) == bare(in_package(name))
    assert len(source.splitlines()) <= 41


def test_each_taught_name_is_claimed_once_and_where_it_is_said():
    assert sorted((lesson, name) for lesson, name, _ in CLAIMS) == sorted(TAUGHT)
    assert len({name for _, name in TAUGHT}) == len(TAUGHT)


@pytest.mark.parametrize(
    ("mine", "same"),
    [
        ('def f(x: int) -> int:\n    "Words."\n    return x + 1  # why', True),
        ("def f(x):\n    return 1 + x", False),
        ("def g(x):\n    return x + 1", False),
        ("def f(x, y=0):\n    return x + 1", False),
    ],
)
def test_only_words_and_annotations_may_differ(mine, same):
    assert (bare(mine) == bare("def f(x):\n    return x + 1")) == same


def test_a_variable_may_have_an_annotation():
    assert bare("y: int = 1") == bare("y = 1") != bare("y = 2")


# ---------------------------------------------------------------- the rhythm of a lesson


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def lesson(request):
    return request.param


def test_it_is_a_lessons_length_and_has_its_parts(lesson):
    asked = sum("exercise" in tags(cell) for cell in code(lesson))
    # An exercise beyond the sixth brings its stub, check and solution, and a cell that uses it.
    most = 56 + 4 * max(0, asked - 6)
    assert 20 <= sum("drawing" not in tags(cell) for cell in code(lesson)) <= most
    text = "\n".join(cell.source for cell in read(lesson).cells)
    for part in ("**After this page you can**", "**You need**", "**Time**", "**Predict before you"):
        assert part in text
    for heading in ("Where this sits", "Quick checks", "Pitfalls", "Go further"):
        assert f"\n## {heading}\n" in text or f"## {heading}" in text
    assert "quiz.show()" in text
    assert "show_live(" in text


def sittings(path):
    """In how many sittings the page says that it can be done: a sitting has six exercises at most."""
    (time,) = re.findall(r"\*\*Time\*\*: (.*)", "\n".join(c.source for c in read(path).cells))
    found = [
        n
        for word, n in (("two sittings", 2), ("three sittings", 3), ("four sittings", 4))
        if word in time
    ]
    return max(found, default=1)


def test_each_page_has_a_folder_of_checks_and_each_folder_a_page():
    assert [lesson_key(path) for path in LESSONS] == list(lesson_numbers())


def test_the_quiz_on_the_page_is_that_of_its_quiz_md(lesson):
    """If not, `python -m tools.build_notebooks` with the lesson's number puts today's questions there."""
    (shown,) = (cell for cell in code(lesson) if cell.source.strip().endswith("quiz.show()"))
    stored = [output.data["text/html"] for output in shown.outputs]
    assert stored == [package_of(lesson_key(lesson)).quiz.page()]


def test_the_review_shows_the_cards_terms_and_readings_of_today():
    """If not, `python -m tools.build_notebooks --rerun 17` does."""
    (review,) = (path for path in LESSONS if "show_deck" in path.read_text(encoding="utf-8"))
    expected = {
        f'show_deck("{name}")': "\n\n".join(card.fold() for card in cards)
        for name, cards in decks().items()
    }
    number = sum(map(len, decks().values()))
    assert f"with five exercises and {number} cards" in read(review).cells[1].source
    expected["Markdown(glossary())"] = glossary()
    expected["Markdown(further_reading())"] = further_reading()
    for call, text in expected.items():
        (cell,) = (cell for cell in code(review) if call in cell.source)
        data = next(output.data for output in cell.outputs if output.output_type == "display_data")
        assert data["text/markdown"] == text


def test_it_imports_from_the_package_and_never_from_a_notebook(lesson):
    for cell in code(lesson):
        source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))
        for node in ast.walk(ast.parse(source.replace("    %pip", "    0 # %pip"))):
            if isinstance(node, ast.ImportFrom):
                assert importlib.util.find_spec(node.module.split(".")[0])
    assert "%run" not in "".join(cell.source for cell in code(lesson))


def test_each_exercise_is_a_stub_a_check_and_a_folded_solution(lesson):
    cells = code(lesson)
    checks = vars(package_of(lesson_key(lesson)).check)
    stubs = [n for n, cell in enumerate(cells) if "exercise" in tags(cell)]
    assert 2 <= len(stubs) <= 6 * sittings(lesson)
    asked = []
    for n in stubs:
        stub, check, solution = cells[n : n + 3]
        (node,) = ast.parse(stub.source).body
        assert ast.get_docstring(node)
        assert "raise NotImplementedError" in stub.source
        name = re.fullmatch(r"check\.(\w+)\((\w+)\)", check.source)
        assert name, check.source
        assert name.group(2) == node.name
        asked.append(name.group(1))
        assert printed(check).startswith("Not written yet")
        assert "solution" in tags(solution)
        assert solution.metadata.jupyter.source_hidden
        assert solution.source.startswith("### BEGIN SOLUTION\n")
        assert solution.source.endswith(f"### END SOLUTION\n\n{check.source}")
        # A check that was given another case since prints another number than the stored page.
        asks = checks[name.group(1)]
        right = f"Right: {asks.verified} ({len(asks.all_cases)} cases)."
        assert printed(solution).strip() == right
    assert asked == list(checks)
    assert sum("solution" in tags(cell) for cell in cells) == len(stubs)
