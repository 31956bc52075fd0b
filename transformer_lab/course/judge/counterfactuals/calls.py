"""Mistakes in a call: the wrong function, axis, level or divisor, or steps in the wrong order."""

import ast
from collections.abc import Iterator, Sequence

from transformer_lab.course.judge.counterfactuals.wording import (
    NOUNS,
    Variant,
    get_function_name,
    make_call,
    read_number,
)

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
"""Each function or method, mapped to those that are often used in its place by mistake."""


STEPS = ("sqrt", "abs", "log", "exp", "round", "square", "floor", "ceil", "sorted", "set", "unique")
"""Functions that learners often forget to call."""


LEVELS = (0.005, 0.01, 0.02, 0.025, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.975, 0.99)


def list_call_variants(node: ast.Call, known: dict[str, str]) -> Iterator[Variant]:
    """Yield variants of a call, each with one plausible mistake.

    `known` maps the reference's argument names to the learner's.
    """
    name = get_function_name(node)
    noun = NOUNS.get(name)
    if isinstance(node.func, ast.Name) and name in ("max", "min") and len(node.args) == 2:
        yield from _list_choice_variants(node, name)
    else:
        for other in EXCHANGED.get(name, ()):
            yield f"{NOUNS[other]} is used instead of {noun}", _copy_call(node, other)
    owner = _find_object(node)
    inside = owner or (node.args[0] if node.args else None)
    if name in STEPS and inside is not None:
        yield f"one step is missing: {noun or f'`{name}`'}", inside
    if name == "abs" and inside is not None:
        yield (
            "a square is used instead of the absolute value",
            ast.BinOp(inside, ast.Pow(), ast.Constant(2)),
        )
    if name == "sqrt" and isinstance(inside, ast.BinOp):
        left, right = (ast.Call(node.func, [x], []) for x in (inside.left, inside.right))
        said = "the square root is taken of each part, not of the whole expression"
        yield said, ast.BinOp(left, inside.op, right)
        said = "only a part is under the square root, not the whole expression"
        yield said, ast.BinOp(left, inside.op, inside.right)
        yield said, ast.BinOp(inside.left, inside.op, right)
    if name == "sum" and inside is not None:
        yield "the number of entries is used instead of their sum", make_call("len", inside)
    if name == "len":
        yield from _list_length_variants(node, known)
    if name in ("var", "std"):
        yield from _list_spread_variants(node, name)
    if name in ("quantile", "percentile"):
        yield from _list_quantile_variants(node, name)
    for n, keyword in enumerate(node.keywords):
        rest = [*node.keywords[:n], *node.keywords[n + 1 :]]
        if keyword.arg in ("axis", "dim"):
            said = f"{noun or f'`{name}`'} is taken over everything at once, not along one axis"
            yield said, ast.Call(node.func, node.args, rest)
            for axis in (0, 1, -1, -2):
                keywords = [*rest, ast.keyword(keyword.arg, ast.Constant(axis))]
                said = f"{noun or f'`{name}`'} is taken along the wrong axis"
                yield said, ast.Call(node.func, node.args, keywords)
    if isinstance(owner, ast.Call) and len(owner.args) == 1:
        yield from _list_early_steps(node, owner)


def _copy_call(node: ast.Call, name: str) -> ast.Call:
    """Return a copy of the call that calls a different function or method."""
    func = node.func
    other = ast.Attribute(func.value, name, ast.Load()) if isinstance(func, ast.Attribute) else None
    return ast.Call(other or ast.Name(name, ast.Load()), node.args, node.keywords)


def _find_object(node: ast.Call) -> ast.expr | None:
    """Return x for a call such as x.mean(); None for one such as np.mean(x)."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="np" | "math" | "torch" | "F")):
            return None
        case ast.Attribute(value=value):
            return value
    return None


def _list_early_steps(node: ast.Call, inside: ast.Call) -> Iterator[Variant]:
    """Yield f(x.g()) for f(x).g(): for example, abs(x.max()) for abs(x).max()."""
    first, last = get_function_name(inside), get_function_name(node)
    if _find_object(inside) or first not in STEPS or first not in NOUNS or last not in NOUNS:
        return
    method = ast.Attribute(inside.args[0], last, ast.Load())
    said = f"two steps are in the wrong order: {NOUNS[first]} should come before {NOUNS[last]}"
    step = ast.Call(method, node.args, node.keywords)
    yield said, ast.Call(inside.func, [step], [])


def _list_choice_variants(node: ast.Call, name: str) -> Iterator[Variant]:
    """Yield variants of max(a, b) or min(a, b), each with one plausible mistake."""
    asked = "the larger" if name == "max" else "the smaller"
    other = "the smaller" if name == "max" else "the larger"
    a, b = node.args
    yield (
        f"{other} of two numbers is used instead of {asked}",
        _copy_call(node, "min" if name == "max" else "max"),
    )
    if all(not isinstance(x, ast.Constant) for x in (a, b)):
        yield f"two numbers are added, but {asked} one is needed", ast.BinOp(a, ast.Add(), b)
        yield f"two numbers are multiplied, but {asked} one is needed", ast.BinOp(a, ast.Mult(), b)
        for one in (a, b):
            yield f"one of two numbers is always used, even when it is not {asked} one", one
        return
    number, rest = (read_number(a), b) if isinstance(a, ast.Constant) else (read_number(b), a)
    limit = "smallest" if name == "max" else "largest"
    yield f"a bound is missing: {number} is the {limit} value allowed", rest
    yield "the absolute value is used instead of a bound", make_call("abs", rest)


def _list_length_variants(node: ast.Call, known: dict[str, str]) -> Iterator[Variant]:
    (value,) = node.args
    for shift, words in ((-1, "n − 1"), (1, "n + 1")):
        shifted = ast.BinOp(node, ast.Add() if shift > 0 else ast.Sub(), ast.Constant(1))
        yield f"{words} is used where n, the number of entries, is needed", shifted
    if not isinstance(value, ast.Name) or value.id not in known:
        return
    for other in known:
        if other != value.id:
            said = f"the length of `{known[other]}` is used instead of that of `{known[value.id]}`"
            yield said, make_call("len", ast.Name(other, ast.Load()))
    shape = ast.Attribute(value, "shape", ast.Load())
    said = f"the number of columns of `{known[value.id]}` is used instead of its number of rows"
    yield said, ast.Subscript(shape, ast.Constant(1), ast.Load())


def _list_spread_variants(node: ast.Call, name: str) -> Iterator[Variant]:
    """Yield variants of a variance or standard deviation, each with a wrong divisor."""
    found = {k.arg: k for k in node.keywords}
    key = next((k for k in ("ddof", "correction") if k in found), "ddof")
    rest = [k for k in node.keywords if k.arg != key]
    asked = read_number(found[key].value) if key in found else 0
    words: dict[float, str] = {0: "n", 1: "n − 1", 2: "n − 2"}
    if asked not in words:
        return
    for ddof in words:
        if ddof != asked:
            said = (
                f"{NOUNS[name]} divides by {words[ddof]} here, but should divide by {words[asked]}"
            )
            keywords = [*rest, ast.keyword(key, ast.Constant(ddof))]
            yield said, ast.Call(node.func, node.args, keywords)


def _list_quantile_variants(node: ast.Call, name: str) -> Iterator[Variant]:
    many = 1 if name == "quantile" else 100
    said = (
        "the level has the wrong scale: np.quantile takes 0 to 1, and np.percentile takes 0 to 100"
    )
    yield said, _copy_call(node, "percentile" if many == 1 else "quantile")
    for method in ("nearest", "lower", "higher", "weibull", "hazen", "inverted_cdf"):
        keywords = [*node.keywords, ast.keyword("method", ast.Constant(method))]
        said = f"between two values, {NOUNS[name]} should be interpolated linearly, but is not"
        yield said, ast.Call(node.func, node.args, keywords)
    place = 0 if _find_object(node) else 1
    level = node.args[place] if len(node.args) > place else None
    levels = level.elts if isinstance(level, ast.Tuple) else [level] if level else []
    asked = [q for x in levels if (q := read_number(x)) is not None]
    if len(asked) != len(levels) or not asked:
        return
    others = [[many * q] * len(asked) for q in LEVELS if len(asked) == 1]
    others += [[many * q, many * (1 - q)] for q in LEVELS if len(asked) == 2 and q < 0.5]
    others += [[many - q for q in asked]] if len(asked) == 1 else []
    others += [[q / 100 for q in asked], [q * 100 for q in asked]]
    for other in others:
        said = f"the wrong level is used: {_join(other)} instead of {_join(asked)}"
        constants: list[ast.expr] = [ast.Constant(round(q, 9)) for q in other]
        new = constants[0] if len(other) == 1 else ast.Tuple(constants, ast.Load())
        args = [*node.args[:place], new, *node.args[place + 1 :]]
        yield said, ast.Call(node.func, args, node.keywords)


def _join(numbers: Sequence[float]) -> str:
    return " and ".join(f"{number:.6g}" for number in numbers)
