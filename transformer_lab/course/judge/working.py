"""Work out a case step by step, for an answer whose mistake is unknown.

Seeing a wrong number next to the right one teaches learners little. The worked steps of the case
show them where their own steps begin to differ.
"""

from collections.abc import Callable, Iterable
from typing import Any

from transformer_lab.course.judge.attempt import Attempt, find_first_difference
from transformer_lab.course.judge.formatting import format_number
from transformer_lab.course.judge.returned_arrays import as_array

Step = tuple[str, Any]
"""One step of the working: its description and its value."""
Working = Callable[..., Iterable[Step]]
"""A function that works out a case and yields the steps, including the results.

It is called with the arguments of the case and with `at`, the index of the first wrong number. For
a single number, `at` is ().
"""
INTRODUCTION = (
    "This is not one of the mistakes that the check knows. Here is the case worked out, so you can "
    "compare your steps:"
)
COLUMNS, ROWS, MAX_STEPS = 8, 4, 6


def work_out(attempt: Attempt) -> str:
    """Return an introduction and the steps of the first failing case, each on a new line.

    Return "" if the exercise has no working, or if no result is wrong.
    """
    case, place = attempt.first_wrong(), attempt.wrong_result()
    if attempt.working is None or place is None:
        return ""
    got, want = attempt.given[case].results[place], attempt.expected[case].results[place]
    is_comparable = got.shape == want.shape
    at = find_first_difference(got, want, attempt.tolerance) if is_comparable else (0,) * want.ndim
    steps = [*attempt.working(*attempt.cases[case], at=at)]
    assert len(steps) <= MAX_STEPS, f"a case is worked out in {len(steps)} steps, not {MAX_STEPS}"
    return "".join(
        f"\n{line}"
        for line in [INTRODUCTION, *(f"  {what}: {format_step(value)}" for what, value in steps)]
    )


def format_step(value: Any) -> str:
    """Return the value of a step on one line, shortened if it is long."""
    if isinstance(value, str):
        return value
    array = as_array(value)
    if array.ndim == 0:
        return format_number(array[()])
    if array.ndim == 1:
        shown = " ".join(map(format_number, array[:COLUMNS]))
        return shown + " …" * (len(array) > COLUMNS) if len(array) else "none"
    rows = [f"[{format_step(row)}]" for row in array[:ROWS]]
    return " ".join(rows) + " …" * (len(array) > ROWS)


def name_row(name: str, at: tuple[int, ...]) -> str:
    """Name the row that an index lies in: "row 1 of x", "row 1 of x[0, 2]" or just "x"."""
    if len(at) < 2:
        return name
    batch = f"[{', '.join(map(str, at[:-2]))}]" if len(at) > 2 else ""
    return f"row {at[-2]} of {name}{batch}"
