"""Change the solutions of the exercises a little, and see whether the checks refuse what comes out.

    python -m tools.mutate            # all mutants of all exercises, with a report
    python -m tools.mutate 06 10      # of these lessons

A mutant is a solution with one operator, axis, constant, sign, comparison, order or line changed. One
that the check calls right either changes nothing that the docstring allows to be seen, or shows a hole in
the check. Mutants that run without end are cut after so many steps.
"""

import ast
import contextlib
import copy
import functools
import itertools
import json
import linecache
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from transformer_lab.course.check import Check, Verdict
from transformer_lab.course.lessons import lesson, lesson_numbers

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
STEPS = 60_000
"""Lines that a mutant may run in one check; a solution runs a tenth of them."""

OPERATORS: dict[type, tuple[type, ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.FloorDiv),
    ast.FloorDiv: (ast.Mult, ast.Div),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.Mod: (ast.FloorDiv,),
}
COMPARISONS: dict[type, tuple[type, ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq, ast.Lt),
    ast.Lt: (ast.LtE, ast.Gt),
    ast.LtE: (ast.Lt, ast.GtE),
    ast.Gt: (ast.GtE, ast.Lt),
    ast.GtE: (ast.Gt, ast.LtE),
    ast.In: (ast.NotIn,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
CALLS = {
    "max": ("min", "sum", "mean"),
    "min": ("max",),
    "sum": ("mean", "max"),
    "mean": ("sum", "max"),
    "any": ("all",),
    "all": ("any",),
    "argmax": ("argmin",),
    "maximum": ("minimum",),
    "sin": ("cos",),
    "cos": ("sin",),
    "log": ("log2", "exp"),
    "exp": ("log", "exp2"),
    "sqrt": ("square",),
    "softmax": ("log_softmax",),
    "tril": ("triu",),
    "zeros": ("ones",),
    "ones": ("zeros",),
    "zeros_like": ("ones_like",),
    "var": ("std",),
    "std": ("var",),
    "amax": ("amin",),
    "repeat": ("tile",),
    "round": ("floor",),
    "quantile": ("percentile",),
    "cumsum": ("cumprod",),
    "abs": (),
    "sorted": ("list",),
}
METHODS_TO_SKIP = ("detach", "flatten", "reshape", "clone", "copy", "abs")


@dataclass(frozen=True)
class Solution:
    """The code between BEGIN SOLUTION and END SOLUTION, and what it needs of the page."""

    number: str
    check: str
    name: str
    source: str
    before: str


@dataclass(frozen=True)
class Mutant:
    """A solution with one change."""

    solution: Solution
    source: str
    change: str


def solutions(numbers: tuple[str, ...] = ()) -> Iterator[Solution]:
    """Every solution of the course, in the order of the pages."""
    for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.ipynb")):
        number = path.name[:2]
        if number not in (numbers or lesson_numbers()):
            continue
        cells = [
            c for c in json.loads(path.read_text("utf-8"))["cells"] if c["cell_type"] == "code"
        ]
        before: list[str] = []
        for cell in cells:
            text, tags = "".join(cell["source"]), cell["metadata"].get("tags", [])
            if "solution" in tags:
                body = text.split("### BEGIN SOLUTION\n")[1].split("### END SOLUTION")[0]
                name, check = _asked(text)
                yield Solution(number, check, name, body, "\n".join(before))
                before.append(body)
            elif not set(tags) & {"exercise", "drawing", "parameters"}:
                before.append(_definitions(text))


def _asked(text: str) -> tuple[str, str]:
    found = re.search(r"^check\.(\w+)\((\w+)\)", text, re.MULTILINE)
    assert found, text
    return found.group(2), found.group(1)


def _definitions(text: str) -> str:
    """The imports, functions and classes of a cell; the rest of it takes time."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("%", "!")))
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return ""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)
    return "\n".join(ast.unparse(node) for node in tree.body if isinstance(node, kinds))


# ---------------------------------------------------------------- mutants


def mutants(solution: Solution) -> list[Mutant]:
    """All single changes of a solution, without those that leave the same code."""
    tree = ast.parse(solution.source)
    check: Check = getattr(lesson(solution.number).check, solution.check)
    asks_gradients = any(o.gradients for o in check.known_outcomes(check.reference))
    found: dict[str, Mutant] = {}
    original = ast.unparse(tree)
    for place in range(sum(1 for _ in ast.walk(tree))):
        for change, edit in _changes(_node(tree, place)):
            if change == "gradient cut" and not asks_gradients:
                continue
            other = copy.deepcopy(tree)
            edit(other, place)
            ast.fix_missing_locations(other)
            source = ast.unparse(other)
            if source not in (original, *found):
                found[source] = Mutant(solution, source, change)
    return list(found.values())


def _node(tree: ast.AST, place: int) -> ast.AST:
    for n, node in enumerate(ast.walk(tree)):
        if n == place:
            return node
    raise IndexError(place)


def _put(new: ast.AST) -> Any:
    """An edit that puts a copy of another node in the place of one."""

    def edit(tree: ast.AST, place: int) -> None:
        old = _node(tree, place)
        for parent in ast.walk(tree):
            for field, value in ast.iter_fields(parent):
                if value is old:
                    setattr(parent, field, copy.deepcopy(new))
                    return
                if isinstance(value, list):
                    for n, one in enumerate(value):
                        if one is old:
                            value[n] = copy.deepcopy(new)
                            return

    return edit


def _set(**fields: Any) -> Any:
    """An edit that changes fields of a node."""

    def edit(tree: ast.AST, place: int) -> None:
        for name, value in fields.items():
            setattr(_node(tree, place), name, copy.deepcopy(value))

    return edit


def _changes(node: ast.AST) -> Iterator[tuple[str, Any]]:
    """What may be changed at a node: a few words, and the edit."""
    if isinstance(node, ast.BinOp):
        for kind in OPERATORS.get(type(node.op), ()):
            yield "operator", _set(op=kind())
        yield "right side dropped", _put(node.left)
        yield "left side dropped", _put(node.right)
        if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow):
            yield "sides exchanged", _set(left=node.right, right=node.left)
    if isinstance(node, ast.UnaryOp):
        yield "sign or not dropped", _put(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in COMPARISONS.get(type(node.ops[0]), ()):
            yield "comparison", _set(ops=[kind()])
    if isinstance(node, ast.BoolOp):
        yield "and or or", _set(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if isinstance(node.value, bool):
            yield "truth value", _set(value=not node.value)
        else:
            for value in (node.value + 1, node.value - 1, 2 * node.value):
                yield "constant", _set(value=value)
    is_read = isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load)
    if is_read and 2 <= len(node.elts) <= 5:
        yield "order", _set(elts=[*node.elts[1:], node.elts[0]])
        if len(node.elts) > 2:
            yield "order", _set(elts=[node.elts[1], node.elts[0], *node.elts[2:]])
    if isinstance(node, ast.Call):
        yield from _call_changes(node)
    if isinstance(node, ast.Slice):
        for field in ("lower", "upper", "step"):
            part = getattr(node, field)
            if part is not None and not (field == "lower" and ast.unparse(part) == "0"):
                yield "slice", _set(**{field: None})
    if isinstance(node, ast.IfExp):
        yield "branches", _set(body=node.orelse, orelse=node.body)
    if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If):
        docs = isinstance(node, ast.FunctionDef)
        for n, line in enumerate(node.body):
            if len(node.body) > 1 and not isinstance(line, ast.Return | ast.FunctionDef):
                yield "line dropped", _set(body=[*node.body[:n], *node.body[n + 1 :]])
            elif len(node.body) == 1 and not docs:
                yield "line dropped", _set(body=[ast.Pass()])
        if docs:
            names = [a.arg for a in node.args.args if a.arg != "self"]
            for a, b in itertools.pairwise(names):
                yield "arguments exchanged", _exchange(a, b)


def _call_changes(node: ast.Call) -> Iterator[tuple[str, Any]]:
    for n, keyword in enumerate(node.keywords):
        yield "keyword dropped", _set(keywords=[*node.keywords[:n], *node.keywords[n + 1 :]])
        if keyword.arg in ("axis", "dim"):
            for value in (0, 1, -2):
                new = ast.keyword(keyword.arg, ast.Constant(value))
                rest = [*node.keywords[:n], new, *node.keywords[n + 1 :]]
                yield "axis", _set(keywords=rest)
    swaps = isinstance(node.func, ast.Attribute) and node.func.attr in ("swapaxes", "transpose")
    if len(node.args) >= 2 and not swaps:  # to swap axes 1 and 2 is to swap 2 and 1
        yield "arguments exchanged", _set(args=[node.args[1], node.args[0], *node.args[2:]])
    if isinstance(node.func, ast.Attribute):
        for name in CALLS.get(node.func.attr, ()):
            yield "function", _set(func=ast.Attribute(node.func.value, name, ast.Load()))
        if node.func.attr in METHODS_TO_SKIP or not node.args or node.keywords:
            yield "call dropped", _put(node.func.value)
        yield "gradient cut", _put(ast.Call(ast.Attribute(node, "detach", ast.Load()), [], []))
    if isinstance(node.func, ast.Name):
        for name in CALLS.get(node.func.id, ()):
            yield "function", _set(func=ast.Name(name, ast.Load()))
        if len(node.args) == 1:
            yield "call dropped", _put(node.args[0])


def _exchange(a: str, b: str) -> Any:
    """An edit that reads one argument where the other stood."""

    def edit(tree: ast.AST, place: int) -> None:
        function = _node(tree, place)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in (a, b):
                node.id = b if node.id == a else a

    return edit


# ---------------------------------------------------------------- running them


class StepsError(Exception):
    """So many lines were run that it may be without end."""


def verdict_on(mutant: Mutant) -> Verdict:
    """What the check says; a mutant that does not even load, or never ends, is refused."""
    solution = mutant.solution
    check: Check = getattr(lesson(solution.number).check, solution.check)
    place: dict[str, Any] = {"__name__": "mutant"}
    left = STEPS

    def line(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != "<mutant>":
            return None
        left -= 1
        if left < 0:
            raise StepsError("too many steps")
        return line

    def counted(answer: Any) -> Any:
        """The same with its lines counted; Python counts no more once the counter has raised."""
        if isinstance(answer, type):
            sys.settrace(line)
            return answer

        @functools.wraps(answer)
        def traced(*arguments: Any, **named: Any) -> Any:
            if left < 0:
                raise StepsError("too many steps")
            before = sys.gettrace()
            sys.settrace(line)
            try:
                return answer(*arguments, **named)
            finally:
                sys.settrace(before)

        return traced

    kept = sys.gettrace()
    try:
        for node in ast.parse(solution.before).body:
            with contextlib.suppress(NameError):  # a definition that leans on what was left out
                exec(compile(ast.Module([node], []), "<page>", "exec"), place)  # noqa: S102
        remember(mutant.source)
        exec(compile(mutant.source, "<mutant>", "exec"), place)  # noqa: S102
        return check.verdict(counted(place[solution.name]))
    except (SyntaxError, TypeError, NameError) as error:
        return Verdict(False, f"Not yet: it stops with {type(error).__name__}")
    finally:
        sys.settrace(kept)


def remember(source: str) -> None:
    """Let an error show the line of a mutant, as it does that of a cell."""
    linecache.cache["<mutant>"] = (len(source), None, source.splitlines(keepends=True), "<mutant>")


def kind_of_help(verdict: Verdict) -> str:
    """How much a refused answer is told: "named", "general", or "bare" for a number or an error."""
    if verdict.right:
        return "right"
    if verdict.is_named:
        return "named"
    first = verdict.text.split("\n")[0]
    number_only = re.search(r"\] is \S+; expected|: all numbers differ$|differs?$", first)
    number_only = number_only and ": right)" not in first  # that says where to look
    is_said = "that is:" in verdict.text or "; expected" in first  # our own errors say it all
    unexplained = "it stops with" in first and not is_said
    return "bare" if number_only or unexplained else "general"


def report(numbers: tuple[str, ...]) -> None:
    """Print, for each exercise, what became of its mutants, and every one that was called right."""
    total: Counter[str] = Counter()
    for solution in solutions(numbers):
        found: Counter[str] = Counter()
        survivors = []
        for mutant in mutants(solution):
            kind = kind_of_help(verdict_on(mutant))
            found[kind] += 1
            if kind == "right":
                survivors.append(mutant)
        total += found
        line = ", ".join(f"{found[k]} {k}" for k in ("named", "general", "bare", "right"))
        print(
            f"{solution.number}.{solution.check}: {sum(found.values())} mutants: {line}", flush=True
        )
        for mutant in survivors:
            changed = _difference(ast.unparse(ast.parse(solution.source)), mutant.source)
            print(f"    right ({mutant.change}): {changed}")
    print(f"{sum(total.values())} mutants: {dict(total)}")


def _difference(old: str, new: str) -> str:
    before = old.splitlines()
    return (
        " / ".join(line.strip() for line in new.splitlines() if line not in before) or "a line less"
    )


if __name__ == "__main__":
    report(tuple(sys.argv[1:]))
