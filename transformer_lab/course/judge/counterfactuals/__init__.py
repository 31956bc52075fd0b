"""Counterfactual references: variants of the reference, each with one common mistake and a hint.

A single number or word reveals little about how it was computed. So a check with such results also
runs its reference with a sum instead of a mean, a different base for a logarithm, n − 1 instead of
n, a missing bracket and so on. If one of these variants gives the same result as the answer in
every case, the learner made that mistake or an equivalent one.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from transformer_lab.course.judge.counterfactuals.calls import list_call_variants
from transformer_lab.course.judge.counterfactuals.expressions import (
    list_argument_variants,
    list_comparison_variants,
    list_constant_variants,
    list_index_variants,
    list_operator_variants,
    list_power_variants,
)
from transformer_lab.course.judge.counterfactuals.wording import Variant
from transformer_lab.course.judge.edited_reference import compile_like


def list_counterfactuals(
    reference: Callable[..., Any], names: Sequence[str], case: Sequence[Any]
) -> Iterator[tuple[Callable[..., Any], str]]:
    """Yield counterfactual references, each with a sentence that names its mistake.

    Yield nothing if the reference's source is not a single function.

    Args:
        reference: The correct answer.
        names: The names of its arguments, as the learner knows them.
        case: The arguments of one case.
    """
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(reference)))
    except (OSError, TypeError, SyntaxError):
        return
    if len(tree.body) != 1 or not isinstance(tree.body[0], ast.FunctionDef):
        return
    function = tree.body[0]
    arguments = [a.arg for a in (*function.args.args, *function.args.kwonlyargs)]
    known = dict(zip(arguments, names, strict=False))
    numbers = {a for a, x in zip(arguments, case, strict=False) if isinstance(x, int | float)}
    seen = {ast.unparse(tree)}
    for line in function.body:
        for node in list(ast.walk(line)):
            for sentence, other in _list_variants(node, known, numbers):
                _Replacement(node, other).visit(tree)
                source = ast.unparse(ast.fix_missing_locations(tree))
                _Replacement(other, node).visit(tree)
                if source not in seen:
                    seen.add(source)
                    yield compile_like(reference, source), sentence


class _Replacement(ast.NodeTransformer):
    """A transformer that replaces one node of a syntax tree with another."""

    def __init__(self, old: ast.AST, new: ast.AST):
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _list_variants(node: ast.AST, known: dict[str, str], numbers: set[str]) -> Iterator[Variant]:
    """Yield variants of one node, each with one plausible mistake.

    `known` maps the reference's argument names to the learner's, and `numbers` holds the names of
    the arguments that are single numbers.
    """
    match node:
        case ast.Call():
            yield from list_call_variants(node, known)
        case ast.BinOp(op=ast.Pow()):
            yield from list_power_variants(node, known)
        case ast.BinOp():
            yield from list_operator_variants(node, known)
        case ast.UnaryOp(op=ast.USub()) if not isinstance(node.operand, ast.Constant):
            yield "a minus sign is missing", node.operand
        case ast.Compare(ops=[_], comparators=[_]):
            yield from list_comparison_variants(node)
        case ast.IfExp():
            yield (
                "the two branches of a condition are swapped",
                ast.IfExp(node.test, node.orelse, node.body),
            )
            yield "a condition is missing: one case is treated like the other", node.body
            yield "a condition is missing: one case is treated like the other", node.orelse
        case ast.Subscript(ctx=ast.Load()):
            yield from list_index_variants(node)
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            yield from list_constant_variants(number)
        case ast.Name(ctx=ast.Load()) if node.id in numbers:
            yield from list_argument_variants(node, {n: known[n] for n in known if n in numbers})
