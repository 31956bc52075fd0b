"""Counterfactual references: the reference with one standard mistake, and a sentence that names it.

An answer that is one number or one word leaves nothing to look at but that number. So each check of
such answers also runs its reference with a sum for a mean, another base of a logarithm, n − 1 for n,
a bracket left out and so on. If one of these gives what the answer gives in every case, the learner
made that mistake or one that comes to the same.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from transformer_lab.course.judge.edited_reference import compile_like

Variant = tuple[str, ast.expr]
"""A sentence for the learner, and the expression that makes the mistake."""

NOUNS = {
    "sum": "the sum",
    "mean": "the mean",
    "median": "the median",
    "max": "the largest",
    "amax": "the largest",
    "maximum": "the larger of the two",
    "min": "the smallest",
    "amin": "the smallest",
    "minimum": "the smaller of the two",
    "argmax": "the place of the largest",
    "argmin": "the place of the smallest",
    "prod": "the product",
    "var": "the variance",
    "std": "the standard deviation",
    "log": "the natural logarithm",
    "log2": "the logarithm to base 2",
    "log10": "the logarithm to base 10",
    "log1p": "the logarithm of 1 more",
    "exp": "e to the power",
    "exp2": "2 to the power",
    "sqrt": "the square root",
    "square": "the square",
    "abs": "the absolute value",
    "any": "whether any is true",
    "all": "whether all are true",
    "quantile": "the quantile",
    "percentile": "the percentile",
}
"""What functions and methods compute, in words."""
EXCHANGED = {
    "mean": ("sum", "median", "max", "min", "prod", "std"),
    "sum": ("mean", "max", "min", "prod"),
    "max": ("min", "sum", "mean", "median"),
    "amax": ("amin",),
    "min": ("max", "sum", "mean", "median"),
    "amin": ("amax",),
    "maximum": ("minimum",),
    "minimum": ("maximum",),
    "argmax": ("argmin",),
    "argmin": ("argmax",),
    "var": ("std",),
    "std": ("var",),
    "log": ("log2", "log10", "log1p"),
    "exp": ("exp2", "log"),
    "sqrt": ("square", "exp", "log"),
    "any": ("all",),
    "all": ("any",),
}
"""What is often taken in place of a function or method."""
STEPS = ("sqrt", "abs", "log", "exp", "round", "square", "floor", "ceil", "sorted", "set", "unique")
"""Functions that are often forgotten."""
POWERS = (-2, -1.5, -1, -0.5, 0.5, 1, 1.5, 2, 3)
LEVELS = (0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975, 0.99)
OPERATIONS = {
    ast.Add: "added",
    ast.Sub: "subtracted",
    ast.Mult: "multiplied",
    ast.Div: "divided",
    ast.FloorDiv: "divided",
}


def list_counterfactuals(
    reference: Callable[..., Any], names: Sequence[str], case: Sequence[Any]
) -> Iterator[tuple[Callable[..., Any], str]]:
    """Yield counterfactual references, each with the sentence that names its mistake.

    There are none if the source of the reference is not that of one function.

    Args:
        reference: The right answer.
        names: The names of its arguments as the learner knows them.
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
    """Puts one node where another is."""

    def __init__(self, old: ast.AST, new: ast.AST):
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def _list_variants(node: ast.AST, known: dict[str, str], numbers: set[str]) -> Iterator[Variant]:
    """Yield the mistakes that can be made at one node.

    `known` has the names of the arguments, and `numbers` those that are single numbers.
    """
    match node:
        case ast.Call():
            yield from _list_call_variants(node, known)
        case ast.BinOp(op=ast.Pow()):
            yield from _list_power_variants(node, known)
        case ast.BinOp():
            yield from _list_operator_variants(node, known)
        case ast.UnaryOp(op=ast.USub()) if not isinstance(node.operand, ast.Constant):
            yield "a minus sign is missing", node.operand
        case ast.Compare(ops=[_], comparators=[_]):
            yield from _list_comparison_variants(node)
        case ast.IfExp():
            yield (
                "the two branches of a condition have changed places",
                ast.IfExp(node.test, node.orelse, node.body),
            )
            yield "a condition is missing: one case is treated like the other", node.body
            yield "a condition is missing: one case is treated like the other", node.orelse
        case ast.Subscript(ctx=ast.Load()):
            yield from _list_index_variants(node)
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            yield from _list_constant_variants(node)
        case ast.Name(ctx=ast.Load()) if node.id in numbers:
            yield from _list_argument_variants(node, {n: known[n] for n in known if n in numbers})


def _describe(node: ast.AST, known: dict[str, str]) -> str | None:
    """Return a short expression of arguments and numbers as the learner would write it, or None."""
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]
    if not all(name in known or name == "len" for name in names):
        return None
    text = _rename(ast.unparse(node), known)
    return f"`{text}`" if len(text) <= 24 else None


def _rename(text: str, known: dict[str, str]) -> str:
    tree = ast.parse(text, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            node.id = known.get(node.id, node.id)
    return ast.unparse(tree)


def _name_term(node: ast.AST, known: dict[str, str]) -> str:
    """Return " (the one with `a` and `b`)" for the arguments in a term, or "" if there are none."""
    names = [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and n.id in known]
    if not names:
        return ""
    which = " and ".join(f"`{known[name]}`" for name in dict.fromkeys(names))
    return f" (the one with {which})"


def _function_name(node: ast.Call) -> str:
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _copy_call(node: ast.Call, name: str) -> ast.Call:
    """Return the call with another function or method in the place of its own."""
    func = node.func
    other = ast.Attribute(func.value, name, ast.Load()) if isinstance(func, ast.Attribute) else None
    return ast.Call(other or ast.Name(name, ast.Load()), node.args, node.keywords)


def _is_method(node: ast.Call) -> bool:
    """Return whether a call is one such as x.mean(), and not one such as np.mean(x)."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="np" | "math" | "torch" | "F")):
            return False
        case ast.Attribute():
            return True
    return False


def _call(name: str, *values: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(values), [])


def _list_call_variants(node: ast.Call, known: dict[str, str]) -> Iterator[Variant]:
    name = _function_name(node)
    noun = NOUNS.get(name)
    if isinstance(node.func, ast.Name) and name in ("max", "min") and len(node.args) == 2:
        yield from _list_choice_variants(node, name)
    else:
        for other in EXCHANGED.get(name, ()):
            yield f"{NOUNS[other]} is taken where {noun} is asked", _copy_call(node, other)
    inside = node.func.value if _is_method(node) else node.args[0] if node.args else None
    if name in STEPS and inside is not None:
        yield f"one step is missing: {noun or f'`{name}`'}", inside
    if name == "abs" and inside is not None:
        yield (
            "a square is taken where the absolute value is asked",
            ast.BinOp(inside, ast.Pow(), ast.Constant(2)),
        )
    if name == "sqrt" and isinstance(inside, ast.BinOp):
        left, right = (ast.Call(node.func, [x], []) for x in (inside.left, inside.right))
        said = "the roots are taken one by one; the root of the whole is asked"
        yield said, ast.BinOp(left, inside.op, right)
        said = "only a part stands under the root; the root of the whole is asked"
        yield said, ast.BinOp(left, inside.op, inside.right)
        yield said, ast.BinOp(inside.left, inside.op, right)
    if name == "sum" and inside is not None:
        yield "the number of entries is taken where their sum is asked", _call("len", inside)
    if name == "len":
        yield from _list_length_variants(node, known)
    if name in ("var", "std"):
        yield from _list_spread_variants(node, name)
    if name in ("quantile", "percentile"):
        yield from _list_quantile_variants(node, name)
    for n, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:n], *node.keywords[n + 1 :]]
        if keyword.arg in ("axis", "dim"):
            said = (
                f"{noun or f'`{name}`'} is taken over everything at once; along one axis is asked"
            )
            yield said, ast.Call(node.func, node.args, rest)
            for axis in (0, 1, -1, -2):
                other = [*rest, ast.keyword(keyword.arg, ast.Constant(axis))]
                said = f"{noun or f'`{name}`'} is taken along another axis than the one asked"
                yield said, ast.Call(node.func, node.args, other)
    if _is_method(node) and isinstance(inside, ast.Call) and len(inside.args) == 1:
        yield from _list_early_steps(node, inside)
    if name in STEPS and isinstance(inside, ast.UnaryOp | ast.Call):
        yield from _list_late_steps(node, inside, known)


def _list_early_steps(node: ast.Call, inside: ast.Call) -> Iterator[Variant]:
    """Yield f(x.g()) for f(x).g(), such as the absolute value of the largest for the reverse."""
    first, last = _function_name(inside), _function_name(node)
    if _is_method(inside) or first not in STEPS or first not in NOUNS or last not in NOUNS:
        return
    method = ast.Attribute(inside.args[0], last, ast.Load())
    said = f"two steps are in the wrong order: first {NOUNS[first]}, then {NOUNS[last]}, is asked"
    step = ast.Call(method, node.args, node.keywords)
    yield said, ast.Call(inside.func, [step], [])


def _list_late_steps(node: ast.Call, inside: ast.expr, known: dict[str, str]) -> Iterator[Variant]:
    """Yield f(x).g() for f(x.g()), such as the mean of the roots for the root of the mean."""
    inner = inside.operand if isinstance(inside, ast.UnaryOp) else inside
    if not isinstance(inner, ast.Call) or not _is_method(inner) or _is_method(node):
        return
    value = inner.func.value
    if isinstance(inside, ast.UnaryOp):
        value = ast.UnaryOp(inside.op, value)
    first = ast.Call(ast.Attribute(value, _function_name(node), ast.Load()), [], [])
    if not isinstance(node.func, ast.Attribute) or node.func.value.id != "math":
        first = ast.Call(node.func, [value], [])  # what math has no function for an array
    noun, other = NOUNS.get(_function_name(inner)), NOUNS.get(_function_name(node))
    if noun and other:
        method = ast.Attribute(first, inner.func.attr, ast.Load())
        said = f"two steps are in the wrong order: first {noun}, then {other}, is asked"
        yield said, ast.Call(method, inner.args, inner.keywords)


def _list_choice_variants(node: ast.Call, name: str) -> Iterator[Variant]:
    """Yield the mistakes at max(a, b) and min(a, b)."""
    asked = "the larger" if name == "max" else "the smaller"
    other = "the smaller" if name == "max" else "the larger"
    a, b = node.args
    yield (
        f"{other} of two is taken where {asked} is asked",
        _copy_call(node, "min" if name == "max" else "max"),
    )
    if all(not isinstance(x, ast.Constant) for x in (a, b)):
        yield f"the two are added where {asked} of them is asked", ast.BinOp(a, ast.Add(), b)
        yield f"the two are multiplied where {asked} of them is asked", ast.BinOp(a, ast.Mult(), b)
        for one in (a, b):
            yield f"only one of the two is used, always; {asked} of them is asked", one
        return
    number, rest = (a, b) if isinstance(a, ast.Constant) else (b, a)
    limit = "smallest" if name == "max" else "largest"
    yield f"the bound is missing: {number.value} is the {limit} value that may come back", rest
    yield "the absolute value is taken where a bound is asked", _call("abs", rest)


def _list_length_variants(node: ast.Call, known: dict[str, str]) -> Iterator[Variant]:
    (value,) = node.args
    for shift, words in ((-1, "one less than"), (1, "one more than")):
        shifted = ast.BinOp(node, ast.Add() if shift > 0 else ast.Sub(), ast.Constant(1))
        yield f"{words} their number is taken where their number is asked", shifted
    if not isinstance(value, ast.Name) or value.id not in known:
        return
    for other in known:
        if other != value.id:
            said = f"the length of `{known[other]}` is taken where that of `{known[value.id]}` is asked"
            yield said, _call("len", ast.Name(other, ast.Load()))
    shape = ast.Attribute(value, "shape", ast.Load())
    said = f"the number of columns of `{known[value.id]}` is taken where that of its rows is asked"
    yield said, ast.Subscript(shape, ast.Constant(1), ast.Load())


def _list_spread_variants(node: ast.Call, name: str) -> Iterator[Variant]:
    """Yield other divisors of a variance, and another measure of spread."""
    found = {k.arg: k for k in node.keywords}
    key = next((k for k in ("ddof", "correction") if k in found), "ddof")
    rest = [k for k in node.keywords if k.arg != key]
    asked = found[key].value.value if key in found else 0
    words = {0: "n", 1: "n − 1", 2: "n − 2"}
    for ddof in words:
        if ddof != asked:
            said = f"{NOUNS[name]} divides by {words[ddof]} here; by {words[asked]} is asked"
            keywords = [*rest, ast.keyword(key, ast.Constant(ddof))]
            yield said, ast.Call(node.func, node.args, keywords)


def _list_quantile_variants(node: ast.Call, name: str) -> Iterator[Variant]:
    many = 1 if name == "quantile" else 100
    said = "np.quantile counts from 0 to 1, and np.percentile from 0 to 100"
    yield said, _copy_call(node, "percentile" if many == 1 else "quantile")
    for method in ("nearest", "lower", "higher", "weibull", "hazen", "inverted_cdf"):
        keywords = [*node.keywords, ast.keyword("method", ast.Constant(method))]
        said = f"between two values {NOUNS[name]} should lie on the straight line; here it does not"
        yield said, ast.Call(node.func, node.args, keywords)
    place = 0 if _is_method(node) else 1
    level = node.args[place] if len(node.args) > place else None
    levels = level.elts if isinstance(level, ast.Tuple) else [level] if level else []
    if not all(isinstance(x, ast.Constant) for x in levels):
        return
    asked = [x.value for x in levels]
    others = [[many * q] * len(asked) for q in LEVELS if len(asked) == 1]
    others += [[many * q, many * (1 - q)] for q in LEVELS if len(asked) == 2 and q < 0.5]
    others += [[many - q for q in asked]] if len(asked) == 1 else []
    others += [[q / 100 for q in asked], [q * 100 for q in asked]]
    for other in others:
        verb = "are" if len(asked) > 1 else "is"
        said = f"another level is taken: {_join(other)}, where {_join(asked)} {verb} asked"
        constants: list[ast.expr] = [ast.Constant(round(q, 9)) for q in other]
        new = constants[0] if len(other) == 1 else ast.Tuple(constants, ast.Load())
        args = [*node.args[:place], new, *node.args[place + 1 :]]
        yield said, ast.Call(node.func, args, node.keywords)


def _join(numbers: Sequence[float]) -> str:
    return " and ".join(f"{number:.6g}" for number in numbers)


def _list_power_variants(node: ast.BinOp, known: dict[str, str]) -> Iterator[Variant]:
    base = _describe(node.left, known) or "something"
    power = node.right
    if _is_number(power):
        asked = ast.literal_eval(power)
        for other in (*POWERS, -asked):
            if other != asked:
                how = (
                    "is not raised to a power"
                    if other == 1
                    else f"is raised to the power of {other}"
                )
                new = ast.BinOp(node.left, ast.Pow(), ast.Constant(other))
                yield f"{base} {how}; a power of {asked} is asked", new
    else:
        yield f"{base} is not raised to a power: that step is missing", node.left
        negative = ast.UnaryOp(ast.USub(), power)
        yield "the power has the wrong sign", ast.BinOp(node.left, ast.Pow(), negative)
        said = "it is multiplied where a power is asked: a star is missing"
        yield said, ast.BinOp(node.left, ast.Mult(), power)
        said = "the base and the power have changed places"
        yield said, ast.BinOp(power, ast.Pow(), node.left)
    if isinstance(node.left, ast.BinOp) and not isinstance(node.left.op, ast.Pow):
        inner = node.left
        last = ast.BinOp(inner.right, ast.Pow(), power)
        said = "only a part is raised to the power: a bracket is missing"
        yield said, ast.BinOp(inner.left, inner.op, last)
        first = ast.BinOp(inner.left, ast.Pow(), power)
        yield said, ast.BinOp(first, inner.op, inner.right)
        yield from _list_unbracketed(inner, lambda x: ast.BinOp(x, ast.Pow(), power))


def _list_unbracketed(node: ast.BinOp, put: Callable[[ast.expr], ast.expr]) -> Iterator[Variant]:
    """Yield what a + b / c is where (a + b) / c is asked, put into what stands around it."""
    said = "a bracket is missing: multiplication and division come before plus and minus"
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


def _is_number(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _list_operator_variants(node: ast.BinOp, known: dict[str, str]) -> Iterator[Variant]:
    """Yield the mistakes at +, −, ·, / and //."""
    left, op, right = node.left, node.op, node.right
    asked = OPERATIONS.get(type(op))
    if asked is None:
        return
    yield from _list_unbracketed(node, lambda x: x)
    if isinstance(op, ast.Add | ast.Sub):
        for term, rest in ((right, left), (left, right)):
            is_first = isinstance(op, ast.Sub) and term is left
            kept = ast.UnaryOp(ast.USub(), rest) if is_first else rest
            yield f"one term is missing{_name_term(term, known)}", kept
    else:
        name = _describe(right, known)
        what = f"by {name}" if name else "by one factor"
        missing = "the multiplication" if isinstance(op, ast.Mult) else "the division"
        yield f"{missing} {what} is missing", left
        if isinstance(op, ast.Mult):
            name = _describe(left, known)
            yield f"the multiplication by {name or 'one factor'} is missing", right
        for factor in (left, right):
            name = _describe(factor, known)
            if name and not _is_number(factor) and "**" not in name:
                said = f"{name} is multiplied with once too often"
                yield said, ast.BinOp(node, ast.Mult(), factor)
        if isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow):
            said = "it is multiplied where a power is asked: a star is missing"
            yield said, ast.BinOp(ast.BinOp(left, op, right.left), ast.Mult(), right.right)
    if isinstance(op, ast.FloorDiv):
        yield "it should be rounded down, and is not", ast.BinOp(left, ast.Div(), right)
    if isinstance(op, ast.Div):
        yield "it is rounded down, and should not be", ast.BinOp(left, ast.FloorDiv(), right)
    for kind, words in OPERATIONS.items():
        # To multiply by 2 in place of dividing by 2 is but a factor of 4, which has other causes.
        is_factor = _is_number(right) and kind in (ast.Mult, ast.Div)
        if not isinstance(op, kind) and kind is not ast.FloorDiv and not is_factor:
            said = f"two things are {words} where they should be {asked}"
            yield said, ast.BinOp(left, kind(), right)
    if isinstance(op, ast.Sub | ast.Div | ast.FloorDiv):
        said = "a difference or a quotient is the wrong way round"
        yield said, ast.BinOp(right, op, left)
    if isinstance(op, ast.FloorDiv):
        up = ast.BinOp(ast.UnaryOp(ast.USub(), left), op, right)
        yield "it is rounded up where rounding down is asked", ast.UnaryOp(ast.USub(), up)
        said = "it is rounded to the nearest whole number where rounding down is asked"
        yield said, _call("round", ast.BinOp(left, ast.Div(), right))
        said = "the rest of the division is taken where the quotient is asked"
        yield said, ast.BinOp(left, ast.Mod(), right)


def _list_comparison_variants(node: ast.Compare) -> Iterator[Variant]:
    (op,) = node.ops
    ties = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
    turned = {ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE}
    opposite = {ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In}
    for table, said in (
        (ties, "two numbers that are equal are counted on the wrong side of a comparison"),
        (turned, "a comparison is the wrong way round"),
        (opposite, "a comparison is the wrong way round"),
    ):
        if type(op) in table:
            yield said, ast.Compare(node.left, [table[type(op)]()], node.comparators)


def _list_index_variants(node: ast.Subscript) -> Iterator[Variant]:
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
                said = "the length of another axis is taken than the one asked"
                if not is_shape:
                    names = {
                        0: "the first",
                        1: "the second",
                        -1: "the last",
                        -2: "the last but one",
                    }
                    said = f"{names[other]} is taken where {names.get(asked, f'number {asked}')} is asked"
                yield said, ast.Subscript(value, ast.Constant(other), ast.Load())
        case ast.Slice(lower=low, upper=high):
            said = "nothing is left out, where only a part is asked"
            yield said, ast.Subscript(value, ast.Slice(), ast.Load())
            if low is not None and high is None and _is_number(low):
                end = ast.UnaryOp(ast.USub(), low)
                said = "the last are left out where the first should be"
                yield said, ast.Subscript(value, ast.Slice(None, end), ast.Load())
            if high is not None and low is None and isinstance(high, ast.UnaryOp):
                said = "the first are left out where the last should be"
                yield said, ast.Subscript(value, ast.Slice(high.operand), ast.Load())
        case ast.Compare():
            yield "nothing is left out, where only a part is asked", value


def _list_constant_variants(node: ast.Constant) -> Iterator[Variant]:
    asked = node.value
    for other in (asked + 1, asked - 1, 2 * asked, asked / 2, -asked, 0, 1, asked**0.5, 1.96):
        if not isinstance(other, complex) and other != asked:
            new = int(other) if other == int(other) else other
            yield f"this comes out if {new:.6g} stands where {asked} is asked", ast.Constant(new)


def _list_argument_variants(node: ast.Name, known: dict[str, str]) -> Iterator[Variant]:
    name = known[node.id]
    for other in known:
        if other != node.id:
            said = f"in one place `{known[other]}` stands where `{name}` is asked"
            yield said, ast.Name(other, ast.Load())
    squared = ast.BinOp(node, ast.Pow(), ast.Constant(2))
    yield f"in one place `{name}` is squared, and should not be", squared
    yield f"in one place `{name}` enters without its sign", _call("abs", node)
