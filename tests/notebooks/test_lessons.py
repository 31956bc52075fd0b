"""Every lesson keeps the course's rhythm, and what it teaches is what the package runs."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from tools.build_notebooks import read

ROOT = Path(__file__).parents[2]
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LESSONS = sorted((ROOT / "notebooks").glob("[0-9][0-9]_*.ipynb"))[1:]
CLAIM = re.compile(r"#\| package: (transformer_lab(?:\.\w+)+)\n")

TAUGHT = {
    "transformer_lab.numpy_reference.softmax": "01",
    "transformer_lab.numpy_reference.scaled_dot_product_attention": "01",
    "transformer_lab.numpy_reference.softmax_backward": "01",
    "transformer_lab.numpy_reference.scaled_dot_product_attention_backward": "01",
    "transformer_lab.numpy_reference.linear_backward": "01",
    "transformer_lab.numpy_reference.split_heads": "03",
    "transformer_lab.numpy_reference.merge_heads": "03",
    "transformer_lab.numpy_reference.multi_head_attention": "03",
    "transformer_lab.model.attention.MultiHeadAttention": "03",
    "transformer_lab.numpy_reference.sinusoidal_positions": "04",
    "transformer_lab.model.positions.LearnedPositions": "04",
    "transformer_lab.model.positions.RotaryPositions": "04",
    "transformer_lab.model.positions.AlibiPositions": "04",
    "transformer_lab.model.feed_forward.FeedForward": "05",
    "transformer_lab.numpy_reference.layer_norm": "05",
    "transformer_lab.model.add_norm.AddNorm": "05",
    "transformer_lab.model.encoder.EncoderLayer": "05",
    "transformer_lab.model.encoder.Encoder": "05",
    "transformer_lab.model.masks.padding_mask": "06",
    "transformer_lab.model.masks.causal_mask": "06",
    "transformer_lab.model.attention.attention_weights": "06",
    "transformer_lab.model.decoder.DecoderLayer": "06",
    "transformer_lab.model.decoder.Decoder": "06",
    "transformer_lab.model.transformer.Transformer": "07",
    "transformer_lab.model.transformer.initialise": "07",
    "transformer_lab.model.transformer.count_parameters": "07",
    "transformer_lab.data.batching.buckets": "08",
    "transformer_lab.training.loss.token_losses": "08",
    "transformer_lab.training.loss.label_smoothed_loss": "08",
    "transformer_lab.training.schedule.paper_rate": "08",
    "transformer_lab.training.step.training_step": "09",
    "transformer_lab.decoding.beam.length_penalty": "10",
    "transformer_lab.decoding.sampling.keep_top_k": "10",
    "transformer_lab.decoding.sampling.keep_top_p": "10",
    "transformer_lab.decoding.sampling.next_word": "10",
    "transformer_lab.decoding.speculative.accept": "10",
    "transformer_lab.decoding.speculative.speculative_greedy": "10",
    "transformer_lab.evaluation.alignment.previous_token": "11",
    "transformer_lab.evaluation.alignment.strongest_links": "11",
    "transformer_lab.evaluation.alignment.alignment_error_rate": "11",
    "transformer_lab.evaluation.alignment.mean_distance": "11",
    "transformer_lab.evaluation.rollout.attention_rollout": "12",
    "transformer_lab.experiments.probe.linear_probe": "12",
    "transformer_lab.experiments.pronoun_causes.point": "12",
    "transformer_lab.experiments.lengths.failures": "13",
    "transformer_lab.experiments.ablations.build": "14",
    "transformer_lab.model.later.variants.chunked_attention": "15",
    "transformer_lab.model.later.variants.local_mask": "15",
    "transformer_lab.model.later.variants.local_attention": "15",
    "transformer_lab.model.later.variants.linear_attention": "15",
    "transformer_lab.model.later.family.OneStack": "16",
    "transformer_lab.model.later.family.GPT": "16",
    "transformer_lab.model.later.family.BERT": "16",
    "transformer_lab.model.later.family.gpt_step": "16",
    "transformer_lab.model.later.grouped.GroupedQueryAttention": "16",
    "transformer_lab.model.later.state_space.scan": "16",
    "transformer_lab.model.later.state_space.parallel_scan": "16",
}
"""What the lessons teach, by its name in the package, and the lesson that shows its definition."""


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


CLAIMS = [(path.name[:2], name, source) for path in PATHS for name, source in claims(path)]


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
    return ast.dump(tree)


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
    assert sorted((name, lesson) for lesson, name, _ in CLAIMS) == sorted(TAUGHT.items())


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


# ---------------------------------------------------------------- the rhythm of a lesson


@pytest.fixture(params=LESSONS, ids=lambda path: path.stem)
def lesson(request):
    return request.param


def test_it_is_a_lessons_length_and_has_its_parts(lesson):
    assert 20 <= len(code(lesson)) <= 56
    text = "\n".join(cell.source for cell in read(lesson).cells)
    for part in ("**After this page you can**", "**You need**", "**Time**", "**Predict before you"):
        assert part in text
    for heading in ("Where this sits", "Quick checks", "Pitfalls", "Go further"):
        assert f"\n## {heading}\n" in text or f"## {heading}" in text
    assert "quiz.show()" in text
    assert "show_live(" in text


def test_it_imports_from_the_package_and_never_from_a_notebook(lesson):
    for cell in code(lesson):
        source = "\n".join(line for line in cell.source.splitlines() if not line.startswith("%"))
        for node in ast.walk(ast.parse(source.replace("    %pip", "    0 # %pip"))):
            if isinstance(node, ast.ImportFrom):
                assert importlib.util.find_spec(node.module.split(".")[0])
    assert "%run" not in "".join(cell.source for cell in code(lesson))


def test_each_exercise_is_a_stub_a_check_and_a_folded_solution(lesson):
    cells = code(lesson)
    checks = vars(importlib.import_module(f"transformer_lab.course.lesson_{lesson.name[:2]}").check)
    stubs = [n for n, cell in enumerate(cells) if "exercise" in tags(cell)]
    assert 3 <= len(stubs) <= 6
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
        assert printed(solution).startswith("Right: ")
    assert asked == list(checks)
    assert sum("solution" in tags(cell) for cell in cells) == len(stubs)
