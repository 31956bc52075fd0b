"""A range in a lesson's sentence stands in a finding, or says how few runs it's over, or is over none."""

import re

import pytest

from tools.build_notebooks import evidence, lessons, page_name, read
from tools.findings.citations import write_verdicts
from tools.findings.finding import ENOUGH_RUNS, FOLDER, read_findings
from transformer_lab.course.keys import find_key

NUMBER = r"[−+-]?\d[\d,]*(?:\.\d+)?"
RANGE = re.compile(rf"({NUMBER}) ?%? to ({NUMBER})( ?%)?")
"""Two numbers, of which one has a decimal or a percent sign: others are settings or sizes."""
HOW_FEW = re.compile(
    r"\b(?:both|two|three|four|five|six|seven|eight|nine|each of the \w+)(?: \w+){0,2} "
    r"(?:seeds|runs|trainings|models|starts|draws)\b|\b\w+ of (?:the )?(?:four|five)\b"
)
NO_RUNS = {
    ("09", "2.8 to 3.7"): "what a paper reports",
    ("12", "0.91 to 0.96"): "three kinds of sentence in one model",
    ("12", "0.20 to 0.84"): "an interval over sentences",
    ("16", "0.020 to 0.036"): "an interval over sentences",
    ("16", "−0.001 to +0.034"): "an interval over sentences",
    ("16", "6.0 to 9.7"): "an interval over sentences",
    ("16", "0.8 to 0.9"): "the sizes of two models",
    ("18", "5% to 23%"): "an interval over words",
    ("18", "0.2 to 0.35"): "heads of one model",
}


def list_ranges():
    """Each range in the prose of a lesson and its evidence: lesson, cell, range and its sentences."""
    for path in [*lessons(), *evidence()]:
        for cell in read(path).cells:
            if cell.cell_type == "markdown" and "hints" not in cell.metadata.get("tags", ()):
                for paragraph in cell.source.split("\n\n"):
                    for found in RANGE.finditer(paragraph):
                        if found.group(3) or "." in found.group(1) + found.group(2):
                            yield find_key(path), cell.id, found.group(), paragraph


def plain(number):
    return number.replace("−", "-").replace(",", "").lstrip("+")


def numbers_of(finding):
    text = next(FOLDER.glob(f"{finding.number:03}_*.toml")).read_text(encoding="utf-8")
    return {plain(number) for number in re.findall(NUMBER, text)}


FINDINGS = {finding.number: (finding, numbers_of(finding)) for finding in read_findings()}


@pytest.mark.parametrize(
    ("lesson", "cell", "words", "paragraph"),
    [pytest.param(*row, id="-".join(row[:3])) for row in list_ranges()],
)
def test_a_range_rests_on_a_finding_or_says_what_it_is_over(lesson, cell, words, paragraph):
    if (lesson, words) in NO_RUNS or HOW_FEW.search(paragraph):
        return
    ends = {plain(end) for end in RANGE.fullmatch(words).group(1, 2)}
    behind = [
        finding
        for finding, numbers in FINDINGS.values()
        if ends <= numbers and (lesson == "17" or lesson in finding.lessons)
    ]
    assert behind, f"no finding of lesson {lesson} has {words}; what is it over?"
    runs = max(test.num_runs for finding in behind for test in finding.measurements)
    assert runs >= ENOUGH_RUNS, f"{words} is over {runs} runs; the sentence should say so"


def test_every_reason_is_needed():
    found = {(lesson, words) for lesson, _, words, _ in list_ranges()}
    assert NO_RUNS.keys() <= found


@pytest.mark.parametrize("path", [*lessons(), *evidence()], ids=page_name)
def test_the_verdicts_that_a_lesson_cites_are_those_of_today(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            assert cell.source == write_verdicts(cell.source)
