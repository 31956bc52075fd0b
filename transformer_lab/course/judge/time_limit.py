"""`time_limit` stops an answer that does not finish, and `describe_endless` names the loop.

`outcome.run_case` runs every answer within the limit.
"""

import ast
import builtins
import ctypes
import linecache
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeGuard

from transformer_lab.course.judge.errors import describe_line, iterate_learner_frames

SECONDS = 10.0
"""The time limit for an answer on one case, in seconds; correct answers need less than one."""
REPEAT_AFTER = 1.0
"""The time, in seconds, until an answer is stopped again if a bare `except` caught the error."""
Loop = ast.While | ast.For


class EndlessError(BaseException):
    """Raised in an answer that takes too long; `except Exception` in the answer cannot catch it."""


@contextmanager
def time_limit(seconds: float | None = None) -> Iterator[None]:
    """Raise `EndlessError` in the block if it takes longer than `seconds` (by default, `SECONDS`).

    A separate thread raises the error, because signals do not work on Windows or in some notebook
    kernels. Python delivers it between two instructions, so a single library call finishes first,
    however long it takes. Only the CPU time of this process counts, because on a busy machine
    even a correct answer may have to wait for a long time.
    """
    running, lock, done = threading.get_ident(), threading.Lock(), threading.Event()
    start = time.process_time()
    most = SECONDS if seconds is None else seconds

    def watch() -> None:
        wait = most
        while not done.wait(wait):
            wait = REPEAT_AFTER
            with lock:  # so that nothing is raised once the block is left
                if not done.is_set() and time.process_time() - start >= most:
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(
                        ctypes.c_ulong(running), ctypes.py_object(EndlessError)
                    )

    threading.Thread(target=watch, name="time limit of a check", daemon=True).start()
    try:
        yield
    finally:
        try:
            with lock:
                done.set()
        finally:
            done.set()  # even if the exception came a moment ago, and is raised in the lines above


def describe_endless(error: EndlessError) -> str:
    """Return a message that says where an answer was stopped and what to look for there."""
    said = f"your answer does not finish: it was stopped after {SECONDS:g} seconds"
    frames = list(iterate_learner_frames(error))
    for frame, line in reversed(frames):
        if loop := find_loop(frame, line):
            return f"{said}, in this loop{describe_line(frame, loop.lineno)}\n  {advise(loop)}"
    return f"{said}{describe_line(*frames[-1])}" if frames else said


def find_loop(frame: FrameType, line: int) -> Loop | None:
    """Return the innermost `while` loop around a frame's line, or else the innermost `for` loop.

    A `for` inside a `while` ends when its sequence is used up, so the `while` is the suspect.
    """
    text = "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    first = frame.f_code.co_firstlineno
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, Loop) and first <= node.lineno <= line <= (node.end_lineno or 0)
    ]
    around.sort(key=lambda loop: (isinstance(loop, ast.While), loop.lineno))
    return around[-1] if around else None


def advise(loop: Loop) -> str:
    """Return a hint about what to look for in a loop that does not end."""
    if isinstance(loop, ast.For):
        return "Does the loop add items to the list that it runs over?"
    calls = (node for node in ast.walk(loop.test) if isinstance(node, ast.Call))
    names = names_in(loop.test) - set(map(called_name, calls))
    if not names:
        return "Does every path through the loop reach a break or a return?"
    listed = " and ".join(sorted(names))
    if names.isdisjoint(changed_names(loop)):
        return f"Nothing in the loop changes {listed}, so the condition never changes."
    return f"Is there a path through the loop that leaves {listed} unchanged?"


def called_name(call: ast.Call) -> str:
    """Return the name of the function that is called, or "" if it is a method."""
    return call.func.id if isinstance(call.func, ast.Name) else ""


def names_in(node: ast.AST) -> set[str]:
    """Return the variables named in an expression."""
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


def is_item_assignment(node: ast.AST) -> TypeGuard[ast.Subscript]:
    """Return whether a node is an item that is assigned to or deleted, as in `counts[i] = 1`."""
    return isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load)


def changed_names(loop: ast.While) -> set[str]:
    """Return the names that the body of a loop may change: by assignment, a method or a call."""
    found: set[str] = set()
    for node in (inner for statement in loop.body for inner in ast.walk(statement)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) or is_item_assignment(node):
            found |= names_in(node.value)  # an attribute may be a method, as in `items.pop()`
        elif isinstance(node, ast.Call) and called_name(node) not in ("", *dir(builtins)):
            found |= {argument.id for argument in node.args if isinstance(argument, ast.Name)}
    return found
