"""All single changes of a solution, and those that exploit a regularity of the cases."""

import ast
import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass

from tools.mutate.edits import Edit, edited, node_at, put, set_fields
from tools.mutate.regularities import list_regularities
from tools.mutate.solutions import Solution
from transformer_lab.course.judge.check import Check
from transformer_lab.course.lessons import lesson


@dataclass(frozen=True)
class Mutant:
    """A solution with one change."""

    solution: Solution
    source: str
    change: str


LEAST = 40
"""The least number of mutants for each solution."""
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


def mutants(solution: Solution) -> list[Mutant]:
    """Return all single changes of a solution; if they are few, add combinations, up to `LEAST`.

    Those that exploit a regularity come last.
    """
    check: Check = getattr(lesson(solution.number).check, solution.check)
    asks_gradients = any(o.gradients for o in check.known_outcomes(check.reference))
    original = ast.unparse(ast.parse(solution.source))
    found = {original: ""} | changed_once(original, asks_gradients)
    drawn = random.Random(solution.name)
    for _ in range(20 * LEAST):
        if len(found) > LEAST:  # including the original
            break
        source, change = drawn.choice(list(found.items())[1:])
        again = [
            item for item in changed_once(source, asks_gradients).items() if item[0] not in found
        ]
        if again:
            other, last = drawn.choice(again)
            found[other] = f"{change}, {last}"
    found |= {mutant.source: mutant.change for mutant in regularity_mutants(solution)}
    found.pop(original)
    return [Mutant(solution, source, change) for source, change in found.items()]


def regularity_mutants(solution: Solution) -> list[Mutant]:
    """Return the changes of a solution that exploit a regularity of its check's cases."""
    check: Check = getattr(lesson(solution.number).check, solution.check)
    case = check.cases()[0]
    arguments = dict(zip(check.argument_names(case), case, strict=False))
    found = list_regularities(solution.source, arguments)
    return [Mutant(solution, source, change) for source, change in found.items()]


def changed_once(source: str, asks_gradients: bool) -> dict[str, str]:
    """Return every single change of some code: the changed code, and the change in words."""
    tree = ast.parse(source)
    found: dict[str, str] = {}
    for place, node in enumerate(ast.walk(tree)):
        for change, edit in _changes(node):
            if change == "gradient cut" and not asks_gradients:
                continue
            text = edited(tree, edit, place)
            if text not in (source, *found):
                found[text] = change
    return found


def _changes(node: ast.AST) -> Iterator[tuple[str, Edit]]:
    """Yield the changes of a node: each in a few words, and its edit."""
    if isinstance(node, ast.BinOp):
        for kind in OPERATORS.get(type(node.op), ()):
            yield "operator", set_fields(op=kind())
        yield "right side dropped", put(node.left)
        yield "left side dropped", put(node.right)
        if isinstance(node.op, ast.Sub | ast.Div | ast.MatMult | ast.Pow):
            yield "sides exchanged", set_fields(left=node.right, right=node.left)
    if isinstance(node, ast.UnaryOp):
        yield "sign or not dropped", put(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        for kind in COMPARISONS.get(type(node.ops[0]), ()):
            yield "comparison", set_fields(ops=[kind()])
    if isinstance(node, ast.BoolOp):
        yield "and or or", set_fields(op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        if isinstance(node.value, bool):
            yield "truth value", set_fields(value=not node.value)
        else:
            for value in (node.value + 1, node.value - 1, 2 * node.value):
                yield "constant", set_fields(value=value)
    is_read = isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Load)
    if is_read and 2 <= len(node.elts) <= 5:
        yield "order", set_fields(elts=[*node.elts[1:], node.elts[0]])
        if len(node.elts) > 2:
            yield "order", set_fields(elts=[node.elts[1], node.elts[0], *node.elts[2:]])
    if isinstance(node, ast.Call):
        yield from _call_changes(node)
    if isinstance(node, ast.Slice):
        for field in ("lower", "upper", "step"):
            part = getattr(node, field)
            if part is not None and not (field == "lower" and ast.unparse(part) == "0"):
                yield "slice", set_fields(**{field: None})
    if isinstance(node, ast.IfExp):
        yield "branches", set_fields(body=node.orelse, orelse=node.body)
    if isinstance(node, ast.FunctionDef | ast.For | ast.While | ast.If):
        docs = isinstance(node, ast.FunctionDef)
        for n, line in enumerate(node.body):
            if len(node.body) > 1 and not isinstance(line, ast.Return | ast.FunctionDef):
                yield "line dropped", set_fields(body=[*node.body[:n], *node.body[n + 1 :]])
            elif len(node.body) == 1 and not docs:
                yield "line dropped", set_fields(body=[ast.Pass()])
        if docs:
            names = [a.arg for a in node.args.args if a.arg != "self"]
            for a, b in itertools.pairwise(names):
                yield "arguments exchanged", _exchange(a, b)


def _call_changes(node: ast.Call) -> Iterator[tuple[str, Edit]]:
    for n, keyword in enumerate(node.keywords):
        yield "keyword dropped", set_fields(keywords=[*node.keywords[:n], *node.keywords[n + 1 :]])
        if keyword.arg in ("axis", "dim"):
            for value in (0, 1, -2):
                new = ast.keyword(keyword.arg, ast.Constant(value))
                rest = [*node.keywords[:n], new, *node.keywords[n + 1 :]]
                yield "axis", set_fields(keywords=rest)
    swaps = isinstance(node.func, ast.Attribute) and node.func.attr in ("swapaxes", "transpose")
    if len(node.args) >= 2 and not swaps:  # swapping axes 1 and 2 is the same as 2 and 1
        yield "arguments exchanged", set_fields(args=[node.args[1], node.args[0], *node.args[2:]])
    if isinstance(node.func, ast.Attribute):
        for name in CALLS.get(node.func.attr, ()):
            yield "function", set_fields(func=ast.Attribute(node.func.value, name, ast.Load()))
        if node.func.attr in METHODS_TO_SKIP or not node.args or node.keywords:
            yield "call dropped", put(node.func.value)
        yield "gradient cut", put(ast.Call(ast.Attribute(node, "detach", ast.Load()), [], []))
    if isinstance(node.func, ast.Name):
        for name in CALLS.get(node.func.id, ()):
            yield "function", set_fields(func=ast.Name(name, ast.Load()))
        if len(node.args) == 1:
            yield "call dropped", put(node.args[0])


def _exchange(a: str, b: str) -> Edit:
    """Return an edit that exchanges two argument names."""

    def edit(tree: ast.AST, place: int) -> None:
        function = node_at(tree, place)
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and node.id in (a, b):
                node.id = b if node.id == a else a

    return edit
