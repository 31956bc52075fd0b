"""Wording and expression helpers shared by the counterfactual references."""

import ast

Variant = tuple[str, ast.expr]
"""A sentence for the learner, and the expression that contains the mistake."""


NOUNS = {
    "sum": "the sum",
    "mean": "the mean",
    "median": "the median",
    "max": "the maximum",
    "amax": "the maximum",
    "maximum": "the larger of the two",
    "min": "the minimum",
    "amin": "the minimum",
    "minimum": "the smaller of the two",
    "argmax": "the position of the largest number",
    "argmin": "the position of the smallest number",
    "prod": "the product",
    "var": "the variance",
    "std": "the standard deviation",
    "log": "the natural logarithm",
    "log2": "the logarithm to base 2",
    "log10": "the logarithm to base 10",
    "log1p": "the logarithm of 1 + x",
    "exp": "the exponential",
    "exp2": "2 to the power of x",
    "sqrt": "the square root",
    "square": "the square",
    "abs": "the absolute value",
    "any": "`any`",
    "all": "`all`",
    "quantile": "the quantile",
    "percentile": "the percentile",
}
"""The result of each function or method, in words."""


def describe(node: ast.AST, known: dict[str, str]) -> str | None:
    """Return an expression with the learner's names, or None if it is long or uses other names."""
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


def get_function_name(node: ast.Call) -> str:
    """Return the name of the called function or method, or "" if it has none."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def make_call(name: str, *values: ast.expr) -> ast.Call:
    """Return a call to a built-in function."""
    return ast.Call(ast.Name(name, ast.Load()), list(values), [])


def read_number(node: ast.AST) -> float | None:
    """Return the number that an expression spells out, such as -0.5, or None for anything else."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = read_number(node.operand)
        return None if number is None else -number
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return None if isinstance(node.value, bool) else node.value
    return None
