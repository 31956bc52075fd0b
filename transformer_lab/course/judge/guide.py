"""The difficulty, duration and three hints of an exercise, read from a lesson's `hints.toml`."""

import tomllib
from dataclasses import dataclass

from transformer_lab.config import check, check_choice

MINUTES = (5, 10, 15, 20, 30)


@dataclass(frozen=True)
class Guide:
    """The difficulty, duration and three hints of one exercise.

    Attributes:
        difficulty: A number from 1 (a line or two) to 3 (takes some thought).
        minutes: How many minutes the exercise takes someone who has just read the lesson.
        hints: Three hints: a nudge, the idea, and nearly the whole solution.
    """

    difficulty: int
    minutes: int
    hints: tuple[str, str, str]

    def __post_init__(self) -> None:
        check("difficulty", self.difficulty, "1, 2 or 3", self.difficulty in (1, 2, 3))
        check_choice("minutes", self.minutes, MINUTES)
        fits = len(self.hints) == 3 and all(hint.strip() for hint in self.hints)
        check("hints", self.hints, "three hints, none of them blank", fits)

    def describe(self, name: str) -> str:
        """Return the line of Markdown shown above the exercise called `name`."""
        return (
            f"*Difficulty {self.difficulty} of 3, about {self.minutes} minutes. Stuck? "
            f"Try `check.{name}.hint(1)`, then 2 and 3.*"
        )

    def fold(self) -> str:
        """Return the three hints as Markdown, each in a collapsible block."""
        return "\n\n".join(
            f"<details><summary>Hint {number}</summary>\n\n{hint}\n\n</details>"
            for number, hint in enumerate(self.hints, start=1)
        )


def read_guides(text: str, name: str) -> dict[str, Guide]:
    """Parse the text of a lesson's `hints.toml` into guides, keyed by the exercises' names.

    Raises:
        ValueError: If the text is not valid TOML or a guide is incomplete; the message begins with
            `name`.
    """
    try:
        tables = tomllib.loads(text)
        return {
            exercise: Guide(table["difficulty"], table["minutes"], tuple(table["hints"]))
            for exercise, table in tables.items()
        }
    except KeyError as error:
        expected = "expected 'difficulty', 'minutes' and 'hints'"
        raise ValueError(f"{name}: an exercise lacks {error}; {expected}") from None
    except (tomllib.TOMLDecodeError, TypeError, ValueError) as error:
        raise ValueError(f"{name}: {error}") from None
