"""The page docs/findings.md, built from the files of docs/findings.

    python -m tools.findings

The same Markdown is read on GitHub and on the website, where findings.js adds a filter by lesson and
verdict. Every finding has a permanent anchor, finding-N, with the number of its file.
"""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from tools.build_notebooks import ROOT, every_notebook, lessons, page_name, read
from tools.findings.chart import FOLDER as CHARTS
from tools.findings.chart import choose_measurements, draw_chart
from tools.findings.finding import (
    ENOUGH_RUNS,
    EXPLANATIONS,
    OUR_OWN,
    VERDICTS,
    Finding,
    Measurement,
    read_findings,
)
from transformer_lab.course.keys import find_key, lesson_key
from transformer_lab.studies.common.store import study_command

PAGE = ROOT / "docs" / "findings.md"
SURPRISES = (79, 155, 70, 154, 94, 77, 51, 34, 148, 146)
"""The findings that open the page, the most surprising first."""
SPEAKERS = ("said in a paper we name", "said in explanations", "asked by us")
"""Who says a claim, as the columns of the table count it."""

INTRODUCTION = """# {said} things people say about the Transformer, and {own} questions of our own, tested

You've heard that attention shows you what a model thinks, that residual connections keep the gradient
alive, that big beams translate worse. Some of it is true, some of it depends, and some of it nobody
seems to have checked. So we checked. This page lists every claim that the course has put to the test,
with what came out and how sure you can be, and each one links to the cell where you can watch it
happen. If you've come for a certain claim, [go straight to the list](#all-of-them).

{counts}

Who says these things? The first column counts claims from the paper itself or from another that we
name. The second counts what *explanations* say, by which we mean blog posts and courses: it's commonly
said there, in these words or similar ones, but we can't name a single source. The third column counts
questions of our own. We put them as claims so that they can fail, though perhaps nobody says them.

The course is about one paper, *Attention Is All You Need* (Vaswani et al., 2017), and about the
translator that it describes. Nearly everything here was measured in the small models of this course,
and lesson 18 asks again in a translator that people use. What comes out exactly, such as a count of
multiplications, you can expect anywhere. The rest says what happened here.

## How a verdict is made

A rule computes each verdict, and it's the same rule for all. What it's computed from is our choice,
though: somebody picked the tests, and wrote down for each what the claim predicts, for example *at
least 0.9* or *above chance*. So if you doubt a verdict, look at these bounds first. Then the rule takes
the range of what was measured. If the whole range fits the prediction, the test supports the claim. If
none of it does, the test contradicts it. If the range reaches across the line, the test is open. A
claim that says *always* or *never* can't be shown by counting, only refuted, so 0 of 200 leaves it
open.

{rule}

Where does the range come from? Open the tests of a finding, and each line tells you.

- **95% interval**, over ten or more seeds, models, sentences or draws.
- **The runs go from … to …**, or a count such as *0 of 8*. There were fewer than ten runs, so the range
  is that of the runs themselves, and every single one has to agree. That's a mild test: by luck alone
  three runs all contradict a claim once in eight times, and five once in 32.
- **95% interval, pooled.** There were three or five seeds, which say too little about their own noise.
  So we take all changes of that study to be equally noisy, and estimate the noise from all of them
  together. That's why many of these intervals are equally wide, and they don't ask that every run
  agrees.
- **95% interval** over three or five seeds alone is Student's t, or wider where we compared many
  things.
- **No interval.** It's a single number, such as the mean of many draws or a BLEU, or there was just one
  run. The rule compares the number as it is, and luck isn't counted.

If a test is open, its line says how far the interval reaches to either side. A true effect of that size
would still be missed about every other time.

The *n* of a finding says how many seeds, models, sentences or draws its range is over; if there are
several tests, it's the smallest. Where it counts sentences, words or heads, you're also told of how
many models: *one model* means that another one might do otherwise, however many sentences there are. A
finding with n below ten is marked **few runs**. The translator that comes with the course, the
**shipped** one, was trained with seed 7. We chose that seed because one of its heads finds nouns. So
this model is a good guide and a bad witness, and where runs are counted, it isn't one of them.

Many findings have a command that makes them again. On another processor you'll get other numbers,
because there the same seed trains another model.

## The ten that surprised us most
"""


def describe_number(value: float) -> str:
    """Write a number as a reader would: 0.0523, 12, 1,024, 7.24 billion, 2e-15."""
    for name, size in (("billion", 1e9), ("million", 1e6)):
        if size <= abs(value) < 1_000 * size:
            return f"{value / size:.4g} {name}"
    if 1e-3 <= abs(value) < 1:
        return f"{value:.3g}"
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return f"{value:,.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    return f"{value:.0e}"


def describe_bounds(test: Measurement) -> str:
    """Return in words what the claim predicts."""
    low, high = (describe_number(bound) for bound in (test.at_least, test.at_most))
    if low == high:
        return f"exactly {low}" if test.at_least == test.at_most else f"about {low}"
    if test.at_most == float("inf"):
        return f"at least {low}"
    return f"at most {high}" if test.at_least == -float("inf") else f"from {low} to {high}"


OUTCOMES = {
    "for": "so this supports it",
    "against": "so this contradicts it",
    "open": "so this stays open",
}


def start_sentence(text: str) -> str:
    """Begin with a capital, unless the first word is a name such as chrF or d_model."""
    first = text.split(" ")[0]
    return (
        text if first in ("chrF", "nn.Transformer") or "_" in first else text[:1].upper() + text[1:]
    )


def describe_source(source: str) -> str:
    """Return who makes the claim, for a reader who has seen no other page."""
    if source == OUR_OWN:
        return "We found nobody to quote for it: the question is our own."
    if source == EXPLANATIONS:
        return "Blog posts and courses often say so, but we can't name a single source."
    if source.startswith("the paper"):
        source = source.replace("the paper", "the paper, *Attention Is All You Need*", 1)
    return f"It's from {source}."


def describe_models(count: int) -> str:
    """Return the number of models as it follows the number of sentences, nothing for 0."""
    if not count:
        return ""
    return ", one model" if count == 1 else f", {count} models"


def describe_range(test: Measurement) -> str:
    """Return in words the range that the rule looks at, or that there is none."""
    low, high = test.interval
    ends = f"{describe_number(low)} to {describe_number(high)}"
    if test.has_few_runs and test.values:
        return f"the runs go from {ends}" if high > low else "all runs the same"
    if high > low:
        return f"95% interval{', pooled,' if test.pooled else ''} from {ends}"
    return "" if test.exact or test.hits is not None or test.values else "no interval"


def describe_test(test: Measurement) -> str:
    """Return a line for a test: what was measured, in how many runs, and what the claim predicts."""
    measured = describe_number(test.estimate)
    runs = describe_models(test.models)
    if test.hits is not None:
        measured = f"{test.hits} of {test.num_runs}"
    elif test.num_runs == 1 and not test.exact:
        runs = ", one run" + runs
    elif not test.exact:
        runs = f", n = {test.num_runs:,}" + runs
    if said := describe_range(test):
        measured += f" ({said})"
    low, high = test.interval
    reach = ""
    if test.outcome == "open" and high > low and not (test.has_few_runs and test.values):
        reach = f" The interval reaches about {describe_number((high - low) / 2)} to either side."
    return (
        f"- {start_sentence(test.what)}: **{measured}**{runs}. The claim predicts "
        f"{describe_bounds(test)}, {OUTCOMES[test.outcome]}.{reach}"
    )


def headings(path: Path) -> list[str]:
    """Return the headings of a notebook."""
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    return re.findall(r"^#+ (.*)$", "\n".join(texts), re.MULTILINE)


def describe_place(lesson: str, heading: str) -> str:
    """Return a link to a heading of a lesson or, if the lesson lacks it, of its evidence."""
    pages = [path for path in every_notebook() if find_key(path) == lesson]
    found = [path for path in pages if heading in headings(path)]
    if not found:
        raise ValueError(f"neither lesson {lesson} nor its evidence has the heading {heading!r}")
    path = found[0]
    anchor = quote(heading.replace("`", "").replace(" ", "-"), safe="!$&'()*+,;=:@/~-._")
    anchor = anchor.replace("(", "%28").replace(")", "%29")
    return f"[{lesson}, {heading}](../notebooks/{page_name(path)}.ipynb#{anchor})"


def describe_runs(finding: Finding) -> str:
    """Return how many runs are behind a finding; fewer than ten are marked."""
    if finding.num_runs is None:
        return "exact" if finding.measurements else ""
    models = describe_models(finding.num_models)
    if finding.num_runs < ENOUGH_RUNS:
        return f"**few runs: n = {finding.num_runs}{models}**"
    return f"n = {finding.num_runs:,}{models}"


def link_to(finding: Finding, text: str) -> str:
    """Return a link to a finding's anchor as HTML, because Sphinx does not see anchors in raw HTML."""
    return f'<a href="#finding-{finding.number}">{text}</a>'


def describe_finding(finding: Finding) -> str:
    """Return one finding: its claim, verdict and result, and in a fold how it was tested."""
    verdict = f"**{finding.verdict}**"
    if finding.depends_on:
        verdict += f": {finding.depends_on}"
    own = "our own question" if finding.is_our_own else ""
    head = " · ".join(part for part in (verdict, describe_runs(finding), own) if part)
    places = " · ".join(describe_place(*place) for place in finding.where)
    folded = [
        f"**Who says so?** {describe_source(finding.source)}",
        f"**How did we test it?** {finding.how}",
        *(
            ["\n".join(describe_test(test) for test in finding.measurements)]
            if finding.measurements
            else []
        ),
        *(
            [
                f"You can run it again with `{study_command(finding.study)}`. On another processor the "
                "numbers may differ."
            ]
            if finding.study
            else []
        ),
        *([f"**Which model?** {finding.seed_7}"] if finding.seed_7 else []),
    ]
    return "\n\n".join(
        [
            f'<div class="finding" id="finding-{finding.number}" data-verdict="{finding.verdict}" '
            f'data-lessons="{" ".join(finding.lessons)}">',
            f"**{link_to(finding, str(finding.number))}.** {set_symbols(finding.claim)}",
            head,
            finding.result,
            "<details><summary>How we know</summary>",
            *folded,
            "</details>",
            places,
            "</div>",
        ]
    )


def describe_surprise(finding: Finding) -> str:
    """Return one of the ten surprises: its claim, verdict and picture, and why it is one."""
    runs, own = describe_runs(finding), "our own question" if finding.is_our_own else ""
    facts = " · ".join(part for part in (f"*{finding.verdict}*", runs, own) if part)
    return (
        f"**{set_symbols(finding.claim)}** {facts}\n\n{finding.surprise} "
        f"{link_to(finding, f'Finding {finding.number}')}\n\n"
        f"![{describe_chart(finding)}](_static/findings/{finding.number:03}.svg)"
    )


def describe_chart(finding: Finding) -> str:
    """Return the alternative text of a finding's picture: everything that it shows."""
    return "; ".join(
        f"{test.what}: {describe_number(test.estimate)}, {test.outcome}"
        for test in choose_measurements(finding)
    )


def count_verdicts(findings: list[Finding]) -> str:
    """Return the table that counts the claims with each verdict, by who makes them."""
    counted = Counter((finding.verdict, find_speaker(finding)) for finding in findings)
    rows = [[str(counted[verdict, who]) for who in SPEAKERS] for verdict in VERDICTS]
    totals = [str(sum(counted[verdict, who] for verdict in VERDICTS)) for who in SPEAKERS]
    table = [["verdict", *SPEAKERS], ["---"] * (1 + len(SPEAKERS))]
    table += [[verdict, *row] for verdict, row in zip(VERDICTS, rows, strict=True)]
    table.append(["**together**", *totals])
    return "\n".join(f"| {' | '.join(row)} |" for row in table)


def find_speaker(finding: Finding) -> str:
    """Return a finding's column in the table, which says who makes the claim."""
    if finding.is_our_own:
        return "asked by us"
    return "said in explanations" if finding.source == EXPLANATIONS else "said in a paper we name"


def find_title(lesson: Path) -> str:
    """Return a lesson's title as in the README's table."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (title,) = re.findall(rf"\[([^]|]+)\]\(notebooks/{lesson.name}\) \|", readme)
    return str(title)


def set_symbols(claim: str) -> str:
    """Return a claim with the indices of d_model, d_k and W_Q as subscripts."""
    return re.sub(r"\b([dW])_(model|k|[QKVO])\b", r"<i>\1</i><sub>\2</sub>", claim)


def build_page(findings: list[Finding]) -> str:
    """Return the whole page."""
    rule = "\n".join(f"- **{verdict}**. {meaning}" for verdict, meaning in VERDICTS.items())
    surprising = [
        finding for number in SURPRISES for finding in findings if finding.number == number
    ]
    own = sum(finding.is_our_own for finding in findings)
    parts = [
        INTRODUCTION.format(
            said=len(findings) - own, own=own, counts=count_verdicts(findings), rule=rule
        ).strip()
    ]
    parts += [describe_surprise(finding) for finding in surprising]
    parts.append('## All of them\n\n<div id="findings-filter"></div>')
    lesson = ""
    for finding in sorted(findings, key=lambda finding: (finding.lessons[0], finding.number)):
        if finding.lessons[0] != lesson:
            lesson = finding.lessons[0]
            (path,) = (path for path in lessons() if lesson_key(path) == lesson)
            parts.append(f"### {lesson}: {find_title(path)}")
        parts.append(describe_finding(finding))
    return "\n\n".join(parts) + "\n"


def write_page() -> None:
    """Write the page and the pictures of the surprises."""
    findings = read_findings()
    CHARTS.mkdir(parents=True, exist_ok=True)
    for finding in findings:
        if finding.number in SURPRISES:
            draw_chart(finding, CHARTS / f"{finding.number:03}.svg")
    PAGE.write_text(build_page(findings), encoding="utf-8")
