"""Mistakes in an operator, a comparison, an index, a number or an argument."""

import ast
from collections.abc import Callable, Iterator

from transformer_lab.course.judge.counterfactuals.wording import (
    Variant,
    describe,
    make_call,
    read_number,
)

POWERS = (-2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 3)


OPERATIONS = {
    ast.Add: "added",
    ast.Sub: "subtracted",
    ast.Mult: "multiplied",
    ast.Div: "divided",
    ast.FloorDiv: "divided",
}


def list_operator_variants(node: ast.BinOp, known: dict[str, str]) -> Iterator[Variant]:
    """Yield variants of an expression with +, −, ·, / or //, each with one plausible mistake."""
    left, op, right = node.left, node.op, node.right
    asked = OPERATIONS.get(type(op))
    if asked is None:
        return
    yield from _list_unbracketed(node, lambda x: x)
    if isinstance(op, ast.Add | ast.Sub):
        for term, rest in ((right, left), (left, right)):
            is_first = isinstance(op, ast.Sub) and term is left
            kept = ast.UnaryOp(ast.USub(), rest) if is_first else rest
            yield f"{_name_term(term, known)} is missing", kept
    else:
        name = describe(right, known)
        what = f"by {name}" if name else "by one factor"
        missing = "the multiplication" if isinstance(op, ast.Mult) else "the division"
        yield f"{missing} {what} is missing", left
        if isinstance(op, ast.Mult):
            name = describe(left, known)
            yield f"the multiplication by {name or 'one factor'} is missing", right
        for factor in (left, right):
            name = describe(factor, known)
            if name and read_number(factor) is None and "**" not in name:
                said = f"there is one multiplication by {name} too many"
                yield said, ast.BinOp(node, ast.Mult(), factor)
        if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow):
            said = "you multiply instead of raising to a power. Write ** instead of *"
            yield said, ast.BinOp(ast.BinOp(left, op, right.left), ast.Mult(), right.right)
    if isinstance(op, ast.FloorDiv):
        yield "a quotient is not rounded down, but should be", ast.BinOp(left, ast.Div(), right)
    if isinstance(op, ast.Div):
        said = "a quotient is rounded down, but should not be"
        yield said, ast.BinOp(left, ast.FloorDiv(), right)
    for kind, words in OPERATIONS.items():
        # Multiplying by 2 instead of dividing by 2 gives a factor of 4, which may have other
        # causes.
        is_factor = read_number(right) is not None and kind in (ast.Mult, ast.Div)
        if not isinstance(op, kind) and kind is not ast.FloorDiv and not is_factor:
            named = [name for x in (left, right) if (name := describe(x, known))]
            pair = " and ".join(named) if len(named) == 2 else "two numbers"
            said = f"{pair} are {words}, but should be {asked}"
            yield said, ast.BinOp(left, kind(), right)
    if isinstance(op, ast.Sub | ast.Div | ast.FloorDiv):
        said = "a difference or a quotient is the wrong way round"
        yield said, ast.BinOp(right, op, left)
    if isinstance(op, ast.FloorDiv):
        up = ast.BinOp(ast.UnaryOp(ast.USub(), left), op, right)
        yield "a quotient is rounded up instead of down", ast.UnaryOp(ast.USub(), up)
        said = "a quotient is rounded to the nearest integer instead of down"
        yield said, make_call("round", ast.BinOp(left, ast.Div(), right))
        said = "the remainder of a division is used instead of the quotient"
        yield said, ast.BinOp(left, ast.Mod(), right)


def _name_term(node: ast.AST, known: dict[str, str]) -> str:
    """Return a phrase such as "the term with `a` and `b`", or "a term" if it has no arguments."""
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in known]
    if not names:
        return "a term"
    which = " and ".join(f"`{known[name]}`" for name in dict.fromkeys(names))
    return f"the term with {which}"


def list_power_variants(node: ast.BinOp, known: dict[str, str]) -> Iterator[Variant]:
    """Yield variants of a power, each with one plausible mistake."""
    base = describe(node.left, known) or "a number"
    power = node.right
    asked = read_number(power)
    if asked is not None:
        for other in (*POWERS, -asked):
            if other != asked:
                how = (
                    "is not raised to a power"
                    if other == 1
                    else f"is raised to the power of {other}"
                )
                new = ast.BinOp(node.left, ast.Pow(), ast.Constant(other))
                yield f"{base} {how}, but should be raised to the power of {asked}", new
    else:
        yield f"{base} is not raised to a power: that step is missing", node.left
        negative = ast.UnaryOp(ast.USub(), power)
        yield "an exponent has the wrong sign", ast.BinOp(node.left, ast.Pow(), negative)
        said = "you multiply instead of raising to a power. Write ** instead of *"
        yield said, ast.BinOp(node.left, ast.Mult(), power)
        said = "the base and the exponent are swapped"
        yield said, ast.BinOp(power, ast.Pow(), node.left)
    if isinstance(node.left, ast.BinOp) and not isinstance(node.left.op, ast.Pow):
        inner = node.left
        last = ast.BinOp(inner.right, ast.Pow(), power)
        said = "only part of an expression is raised to a power: brackets are missing"
        yield said, ast.BinOp(inner.left, inner.op, last)
        first = ast.BinOp(inner.left, ast.Pow(), power)
        yield said, ast.BinOp(first, inner.op, inner.right)
        yield from _list_unbracketed(inner, lambda x: ast.BinOp(x, ast.Pow(), power))


def _list_unbracketed(node: ast.BinOp, put: Callable[[ast.expr], ast.expr]) -> Iterator[Variant]:
    """Yield variants with missing brackets, such as a + b / c for (a + b) / c.

    `put` inserts a variant into the expression around it.
    """
    said = "brackets are missing: multiplication and division come before plus and minus"
    match node:
        case ast.BinOp(
            left=ast.BinOp(left=a, op=ast.Add() | ast.Sub() as plus, right=b),
            op=ast.Mult() | ast.Div() | ast.FloorDiv(),
            right=c,
        ):
            yield said, put(ast.BinOp(a, plus, ast.BinOp(b, node.op, c)))
            yield said, put(ast.BinOp(ast.BinOp(a, node.op, c), plus, b))
        case ast.BinOp(
            left=a,
            op=ast.Mult() | ast.Div() | ast.FloorDiv(),
            right=ast.BinOp(left=b, op=ast.Add() | ast.Sub() as plus, right=c),
        ):
            yield said, put(ast.BinOp(ast.BinOp(a, node.op, b), plus, c))


def list_comparison_variants(node: ast.Compare) -> Iterator[Variant]:
    """Yield variants of a comparison that treat ties differently or are reversed."""
    (op,) = node.ops
    ties = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
    turned = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
    opposite = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}
    for table, said in (
        (ties, "a comparison is wrong for equal numbers, as with < instead of <="),
        (turned, "a comparison is the wrong way round"),
        (opposite, "a comparison is inverted, as with == instead of !="),
    ):
        if type(op) in table:
            yield said, ast.Compare(node.left, [table[type(op)]()], node.comparators)


def list_index_variants(node: ast.Subscript) -> Iterator[Variant]:
    """Yield variants of an index, a slice or a selection, each with one plausible mistake."""
    value, index = node.value, node.slice
    is_shape = isinstance(value, ast.Attribute) and value.attr == "shape"
    match index:
        case (
            ast.Constant(value=int() as at)
            | ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as at))
        ):
            asked = at if isinstance(index, ast.Constant) else -at
            for other in (0, 1, -1, -2):
                if other == asked:
                    continue
                said = "the length of the wrong axis is used"
                if not is_shape:
                    names = {
                        0: "the first entry",
                        1: "the second entry",
                        -1: "the last entry",
                        -2: "the second-to-last entry",
                    }
                    said = f"{names[other]} is used instead of {names.get(asked, f'entry {asked}')}"
                yield said, ast.Subscript(value, ast.Constant(other), ast.Load())
        case ast.Slice(lower=low, upper=high):
            said = "all entries are used, but only some are needed"
            yield said, ast.Subscript(value, ast.Slice(), ast.Load())
            if low is not None and high is None and read_number(low) is not None:
                end = ast.UnaryOp(ast.USub(), low)
                said = "the last entries are left out instead of the first ones"
                yield said, ast.Subscript(value, ast.Slice(None, end), ast.Load())
            if high is not None and low is None and isinstance(high, ast.UnaryOp):
                said = "the first entries are left out instead of the last ones"
                yield said, ast.Subscript(value, ast.Slice(high.operand), ast.Load())
        case ast.Compare():
            yield "all entries are used, but only some are needed", value


def list_constant_variants(asked: float) -> Iterator[Variant]:
    """Yield plausible wrong numbers in place of the right one."""
    root = asked**0.5 if asked > 0 else 0
    for other in (asked + 1, asked - 1, 2 * asked, asked / 2, -asked, 0, 1, root, 1.96):
        if other != asked:
            new = int(other) if other == int(other) else other
            yield f"{new:.6g} seems to be used where {asked} is needed", ast.Constant(new)


def list_argument_variants(node: ast.Name, known: dict[str, str]) -> Iterator[Variant]:
    """Yield wrong substitutes for an argument: others, or its own square or absolute value."""
    name = known[node.id]
    for other in known:
        if other != node.id:
            said = f"in one place, `{known[other]}` is used instead of `{name}`"
            yield said, ast.Name(other, ast.Load())
    squared = ast.BinOp(node, ast.Pow(), ast.Constant(2))
    yield f"in one place, `{name}` is squared, but should not be", squared
    yield f"in one place, `{name}` is used without its sign", make_call("abs", node)
