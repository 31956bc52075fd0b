"""What a check says about a mutant, and how much that helps.

Mutants that run forever are stopped after `STEPS` lines.
"""

import ast
import contextlib
import functools
import linecache
import re
import sys
from types import FrameType
from typing import Any

from tools.mutate.mutants import Mutant
from transformer_lab.course.judge.check import NO_EXPLANATION, Check, Verdict
from transformer_lab.course.judge.working import INTRODUCTION
from transformer_lab.course.lessons import lesson

STEPS = 60_000
"""The most lines that a mutant may run in one check; a solution runs a tenth of that."""


class StepsError(Exception):
    """An error raised after so many lines that the code may run forever."""


def verdict_on(mutant: Mutant) -> Verdict:
    """Return what the check says; a mutant that does not even load, or never ends, is refused."""
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
        """Return an answer whose lines are counted; Python stops counting once the counter raises."""
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
            with contextlib.suppress(NameError):  # a definition that needs what was left out
                exec(compile(ast.Module([node], []), "<page>", "exec"), place)  # noqa: S102
        remember(mutant.source)
        exec(compile(mutant.source, "<mutant>", "exec"), place)  # noqa: S102
        return check.verdict(counted(place[solution.name]))
    except (SyntaxError, TypeError, NameError) as error:
        return Verdict(False, f"Not yet: your answer raises {type(error).__name__}")
    finally:
        sys.settrace(kept)


def remember(source: str) -> None:
    """Let errors show lines of a mutant, as they do for a cell."""
    linecache.cache["<mutant>"] = (len(source), None, source.splitlines(keepends=True), "<mutant>")


def kind_of_help(verdict: Verdict) -> str:
    """Return how much a verdict tells about a refused answer.

    Returns:
        "named" for a known mistake, "general" for a true sentence, "worked" for the case worked out, and
        "bare" for only a number or an error.
    """
    if verdict.right:
        return "right"
    if verdict.is_named:
        return "named"
    if INTRODUCTION in verdict.text:
        return "worked"
    if NO_EXPLANATION in verdict.text:
        return "bare"
    first, second = [*verdict.text.split("\n"), ""][:2]
    is_number = re.search(r"(?:is|are) \S+, but should be", first) and " right)" not in first
    # A finding follows on the second line, unless there is none, or it only counts the wrong numbers.
    nothing_more = re.search(
        r"^$|^\(seen with|^Your answer is right in|numbers? (?:is|are) wrong\.$", second
    )
    is_said = "Why:" in verdict.text or ", but should " in first  # our own errors say everything
    unexplained = "your answer raises" in first and not is_said
    return "bare" if (is_number and nothing_more) or unexplained else "general"
