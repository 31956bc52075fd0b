"""What the instructor's guide says about each slide: the only source of the speaker notes."""

import re
from dataclasses import dataclass

from tools.build_notebooks import ROOT

GUIDE = ROOT / "docs" / "instructors.md"
ROW = re.compile(r"^\| (\d+)–(\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)
NAMED = re.compile(r"(\d+) (.+)")
PLAN_C = re.compile(r"^## Plan C: .+?(?=^## )", re.MULTILINE | re.DOTALL)
PLAN_ROW = re.compile(r"^\| (\d+)–(\d+) \| (\d\d\w?: .+?) \| (.+) \|$", re.MULTILINE)
SPOKEN = re.compile(r"^\d\. (\*.+?\* \((.+?)\)\. .+)$", re.MULTILINE)
STUCK = re.compile(r"^\d\. (.+?)(?=\n\d\. |\n\n|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Row:
    """A row of a lesson's table: its start and end, its slides, and what to do."""

    start: int
    end: int
    slides: list[tuple[int, str]]
    """(number, title) of each slide, counted from 1."""
    words: str


def part(lesson: str, text: str) -> str:
    """Return the guide's part on a lesson.

    Raises:
        ValueError: If the guide has no such part, or two.
    """
    found = re.findall(rf"^### {lesson} .+?(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        raise ValueError(f"{GUIDE.name} has {len(found)} parts for lesson {lesson}; expected one")
    return str(found[0])


def rows(lesson: str, text: str) -> list[Row]:
    """Return the rows of a lesson's table."""
    return [
        Row(int(start), int(end), [named(one) for one in listed.split("<br>")], words)
        for start, end, listed, words in ROW.findall(part(lesson, text))
    ]


def named(entry: str) -> tuple[int, str]:
    """Return number and title from an entry such as "3 Scores are one matrix product"."""
    match = NAMED.fullmatch(entry.strip())
    if match is None:
        raise ValueError(f"{entry!r} in {GUIDE.name} names no slide; expected a number and a title")
    return int(match[1]), match[2]


def paragraph(lesson: str, name: str, text: str) -> str:
    """Return the paragraph of a lesson's part that opens with this name in bold, or nothing."""
    found = re.search(rf"\*\*{name}\*\*\.?:?(.+?)\n\n", part(lesson, text), re.DOTALL)
    return " ".join(found[0].split()) if found else ""


def stuck(lesson: str, text: str) -> list[str]:
    """Return where learners get stuck, and what to say there."""
    _, _, after = part(lesson, text).partition("**Stuck.**\n")
    return [
        " ".join(found.split()) for found in STUCK.findall(after.partition("\n\n**")[0] + "\n\n")
    ]


def plan_c(lesson: str, text: str) -> dict[int, str]:
    """Return what Plan C's own table says about a lesson's slides, by their numbers.

    Of the slides for its five minutes, this is what the guide says aloud about their lesson.
    """
    (plan,) = PLAN_C.findall(text)
    spoken = [said for said, named in SPOKEN.findall(plan) if lesson in named.split(", ")]
    found = {}
    for start, end, listed, words in PLAN_ROW.findall(plan):
        for entry in listed.split("<br>"):
            key, _, numbers = entry.partition(": ")
            if key == lesson:
                said = f"**Plan C, minutes {start} to {end}.** {' '.join(spoken) or words}"
                found |= dict.fromkeys(slide_numbers(numbers), said)
    return found


def slide_numbers(listed: str) -> list[int]:
    """Return the numbers in a list such as "1, 9 to 11"."""
    ranges = [[int(end) for end in part.split(" to ")] for part in listed.split(", ")]
    return [number for ends in ranges for number in range(ends[0], ends[-1] + 1)]


def notes(lesson: str, text: str) -> list[list[str]]:
    """Return the speaker notes of each slide, as paragraphs of Markdown.

    A slide's notes have its row. If the row, or the slide's title, names the place of a
    misunderstanding, this follows. Then comes what Plan C does with the slide, if it says so. The
    first slide has the goals. The last one has the homework, and the misunderstandings whose places
    no row names.
    """
    found: list[list[str]] = []
    left = stuck(lesson, text)
    for row in rows(lesson, text):
        said = [one for one in stuck(lesson, text) if meets(one, row)]
        left = [one for one in left if one not in said]
        for _ in row.slides:
            found.append([f"**Minutes {row.start} to {row.end}.** {row.words}", *said])
    for number, said_in_plan in plan_c(lesson, text).items():
        found[number - 1] += [said_in_plan]
    goals, home = paragraph(lesson, r"Goals\.", text), paragraph(lesson, "At home", text)
    found[0] += [goals]
    found[-1] += [line for line in (*left, home) if line]
    return found


def meets(misunderstanding: str, row: Row) -> bool:
    """Return whether a row, or one of its slides, names the place of a misunderstanding."""
    place = re.split(r"\*[ :,(]", misunderstanding.lstrip("*"))[0].strip('"*').lower()
    words = " ".join([row.words, *(title for _, title in row.slides)]).lower()
    if place.startswith("exercise "):
        return place[-1] in "".join(re.findall(r"exercises? (\d(?:(?:, | and | to )\d)*)", words))
    return place in words
