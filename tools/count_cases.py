"""Write into the stored notebooks how many cases each check has: `python -m tools.count_cases`.

If a check gets another case, it prints a number that differs from the stored page. Nothing else on the
page changes, so only these lines are edited; a second call changes nothing.
"""

import json
import re
from pathlib import Path

from tools.mutate.solutions import NOTEBOOKS
from transformer_lab.course.lessons import lesson, lesson_numbers


def main() -> None:
    """Edit the line `Right: … (N cases).` under each solution for which N has changed."""
    for number in lesson_numbers():
        (path,) = NOTEBOOKS.glob(f"{number}_*.ipynb")
        text = path.read_text("utf-8")
        changed = with_counts(number, text)
        if changed != text:
            Path(path).write_text(changed, "utf-8")
            print(path.name)


def with_counts(number: str, text: str) -> str:
    """Return a notebook's text with the number of cases that each of its checks has now."""
    for check in vars(lesson(number).check).values():
        said = json.dumps(f"Right: {check.verified} (", ensure_ascii=False)[1:-1]
        line = re.compile(re.escape(said) + r"\d+ cases\)\.")
        now = f"{said}{len(check.all_cases)} cases)."
        text = line.sub(now.replace("\\", r"\\"), text)
    return text


if __name__ == "__main__":
    main()
