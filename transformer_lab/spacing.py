"""When a question comes back: 1 day after its first answer, then 3 days after that, then 7.

It moves on when it has come back and is answered right; a wrong answer, at any time, begins again at
one day. Days are dates: who answers, and where, makes no difference.
"""

from dataclasses import dataclass, replace
from datetime import date, timedelta

GAPS = (1, 3, 7)
"""Days until a question comes back: the first time, the second, the last."""


@dataclass(frozen=True)
class Standing:
    """How a question stands with a learner.

    Attributes:
        first: The day of the first answer.
        right: Whether that one was right.
        steps: How often it has come back and was answered right, since the last wrong answer.
        due: The day on which it comes back; None if it has come back often enough.
    """

    first: date
    right: bool
    steps: int
    due: date | None

    def is_due(self, day: date) -> bool:
        """Whether it is to be asked on this day."""
        return self.due is not None and self.due <= day


def answered(before: Standing | None, right: bool, day: date) -> Standing:
    """How a question stands after an answer on this day; `before` is None at its first answer.

    A right answer before it is due changes nothing: what was read an hour ago is no sign of memory.
    """
    if before is None:
        return Standing(day, right, 0, day + timedelta(GAPS[0]))
    if not right:
        return replace(before, steps=0, due=day + timedelta(GAPS[0]))
    if not before.is_due(day):
        return before
    steps = before.steps + 1
    due = day + timedelta(GAPS[steps]) if steps < len(GAPS) else None
    return replace(before, steps=steps, due=due)
