"""Edits of a syntax tree: each changes the node at one place, counted in the order of `ast.walk`."""

import ast
import copy
from collections.abc import Callable
from typing import Any

Edit = Callable[[ast.AST, int], None]


def node_at(tree: ast.AST, place: int) -> ast.AST:
    """Return the node at a place."""
    for n, node in enumerate(ast.walk(tree)):
        if n == place:
            return node
    raise IndexError(place)


def put(new: ast.AST) -> Edit:
    """Return an edit that replaces a node by a copy of another."""

    def edit(tree: ast.AST, place: int) -> None:
        old = node_at(tree, place)
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


def set_fields(**fields: Any) -> Edit:
    """Return an edit that changes fields of a node."""

    def edit(tree: ast.AST, place: int) -> None:
        for name, value in fields.items():
            setattr(node_at(tree, place), name, copy.deepcopy(value))

    return edit


def edited(tree: ast.AST, edit: Edit, place: int) -> str:
    """Return the code of a tree with one edit made; the tree itself stays as it is."""
    other = copy.deepcopy(tree)
    edit(other, place)
    return ast.unparse(ast.fix_missing_locations(other))
