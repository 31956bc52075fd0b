"""Mutants that exploit a regularity of the cases: right only as long as something never varies.

The cases of an exercise may have something in common that its text doesn't promise: the best offset is
always the first, there's just one group of parameters, all ids are below 128. An answer that relies on
this is wrong. So if the check calls one of these mutants right, a case is missing.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch

from tools.mutate.edits import Edit, edited, put, set_fields

SMALL_IDS = 128
"""Ids below this fit into a signed byte, and Python keeps one object for each."""


def list_regularities(source: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return the solution changed in each such way: the changed code, and what it takes for granted.

    Args:
        source: The solution's code.
        arguments: The arguments of the check's first case, by name.
    """
    tree = ast.parse(source)
    found: dict[str, str] = {}
    for place, node in enumerate(ast.walk(tree)):
        for change, edit in [*_changes(node), *_fixed_arguments(node, arguments)]:
            found.setdefault(edited(tree, edit, place), change)
    found.pop(ast.unparse(tree), None)
    return found


def _changes(node: ast.AST) -> Iterator[tuple[str, Edit]]:
    """Yield what each change of a node takes for granted, and its edit."""
    is_read = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)
    if is_read and isinstance(node.slice, ast.Name | ast.Call | ast.BinOp):
        yield "it is always the first", set_fields(slice=ast.Constant(0))
        yield "it is always the last", set_fields(slice=ast.Constant(-1))
    if isinstance(node, ast.For | ast.comprehension):
        items = ast.Call(ast.Name("list", ast.Load()), [node.iter], [])
        some = {"only the first counts": ast.Slice(upper=ast.Constant(1))}
        some["the first never counts"] = ast.Slice(lower=ast.Constant(1))
        some["the last never counts"] = ast.Slice(upper=ast.Constant(-1))
        for change, part in some.items():
            yield change, set_fields(iter=ast.Subscript(items, part, ast.Load()))
    if isinstance(node, ast.If | ast.IfExp):
        yield "a condition always holds", set_fields(test=ast.Constant(True))
        yield "a condition never holds", set_fields(test=ast.Constant(False))
    if isinstance(node, ast.comprehension) and node.ifs:
        yield "a condition always holds", set_fields(ifs=[])
    if isinstance(node, ast.BoolOp):
        for part in node.values:
            yield "a condition decides alone", put(part)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        kinds = {ast.Eq: ast.Is, ast.NotEq: ast.IsNot}
        is_literal = isinstance(node.comparators[0], ast.Constant)  # Python warns of `is 2`
        if (kind := kinds.get(type(node.ops[0]))) is not None and not is_literal:
            yield "equal values are one object", set_fields(ops=[kind()])
    if isinstance(node, ast.Return) and node.value is not None:
        squeezed = ast.Call(ast.Attribute(node.value, "squeeze", ast.Load()), [], [])
        yield "no axis has length 1", set_fields(value=squeezed)


def _fixed_arguments(node: ast.AST, arguments: Mapping[str, Any]) -> Iterator[tuple[str, Edit]]:
    """Yield edits that fix a number or a word as in the first case, or keep ids small."""
    if not isinstance(node, ast.FunctionDef):
        return
    for one in node.args.args:
        value = arguments.get(one.arg)
        if isinstance(value, bool | int | float | str):
            line, change = f"{one.arg} = {value!r}", f"{one.arg} is always the same"
        elif _holds_ids(value):
            line, change = f"{one.arg} = {one.arg} % {SMALL_IDS}", "ids are small"
        else:
            continue
        yield change, set_fields(body=[*ast.parse(line).body, *node.body])


def _holds_ids(value: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() and value.dtype != torch.bool
    return isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.integer)
