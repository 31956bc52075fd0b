"""The page docs/findings.md, built from the files of docs/findings.

    python -m tools.findings

The same Markdown is read on GitHub and on the website, where findings.js adds a filter by lesson and
verdict. Every finding has an anchor that stays: finding-N, after the number of its file.
"""

import re
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from tools.build_notebooks import ROOT, every_notebook, lessons, page_name, read
from tools.findings.chart import FOLDER as CHARTS
from tools.findings.chart import choose_measurements, draw_chart
from tools.findings.finding import ENOUGH_RUNS, VERDICTS, Finding, Measurement, read_findings
from transformer_lab.course.keys import find_key, lesson_key
from transformer_lab.studies.common.store import study_command

PAGE = ROOT / "docs" / "findings.md"
SURPRISES = (79, 155, 70, 154, 15, 77, 51, 34, 98, 11)
"""The findings that open the page, the most surprising first."""

INTRODUCTION = """# {number} things people say about the Transformer, tested

You've heard that attention shows you what a model thinks, that residual connections keep the gradient
alive, that big beams translate worse. Some of it is true, some of it depends, and some of it nobody
seems to have checked. So we checked. This page lists every claim that the course has put to the test,
with what came out and how sure you can be, and each one links to the cell where you can watch it happen.

{counts}

The course is about one paper, *Attention Is All You Need* (Vaswani et al., 2017), and about the
translator that it describes. Everything here was measured in the small models of this course. What
comes out exactly, such as a count of multiplications, you can expect anywhere. The rest says what
happened here.

## How a verdict is made

Nobody writes a verdict: a rule computes it, and it is the same rule for all. Each test says what the
claim predicts, for example *at least 0.9* or *above chance*. Then we look at the 95% interval of what
was measured, over seeds, models or sentences. If the whole interval fits the prediction, the test speaks
for the claim. If none of it does, it speaks against. If the interval reaches across the line, the test
is open.

{rule}

The *n* of a finding says how many seeds, models, sentences or draws the interval is over; if there are
several tests, it's the smallest. Ten or more give an interval. With fewer we ask that every single run
agrees, and the finding is marked **few runs**, because five coins can land on heads by luck. The
translator that comes with the course, the **shipped** one, was trained with seed 7. We chose that seed
because one of its heads finds nouns. So this model is a good guide and a bad witness, and where runs are
counted, it isn't one of them.

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
    """What the claim predicts, in words."""
    low, high = (describe_number(bound) for bound in (test.at_least, test.at_most))
    if low == high:
        return f"exactly {low}" if test.at_least == test.at_most else f"about {low}"
    if test.at_most == float("inf"):
        return f"at least {low}"
    return f"at most {high}" if test.at_least == -float("inf") else f"from {low} to {high}"


OUTCOMES = {
    "for": "so this speaks *for* it",
    "against": "so this speaks *against* it",
    "open": "so this stays *open*",
}


def start_sentence(text: str) -> str:
    """Begin with a capital, unless the first word is a name such as chrF or d_model."""
    first = text.split(" ")[0]
    return (
        text if first in ("chrF", "nn.Transformer") or "_" in first else text[:1].upper() + text[1:]
    )


def describe_source(source: str) -> str:
    """Who says the claim, for a reader who has seen no other page."""
    if source == "asked here":
        return "Nobody whom we could quote says it in these words. We asked the question ourselves."
    if source == "explanations":
        return "You can read it in explanations of the Transformer."
    if source.startswith("the paper"):
        source = source.replace("the paper", "the paper, *Attention Is All You Need*", 1)
    return f"It's from {source}."


def describe_test(test: Measurement) -> str:
    """One line of a finding's list: what was measured, in how many runs, and what the claim predicts."""
    low, high = test.interval
    measured = describe_number(test.estimate)
    if test.hits is not None:
        measured = f"{test.hits} of {test.num_runs}"
    if high > low:
        what = "the runs go from" if test.has_few_runs and test.values else "95% interval from"
        measured += f" ({what} {describe_number(low)} to {describe_number(high)})"
    runs = "" if test.exact or test.hits is not None else f", n = {test.num_runs:,}"
    seen = ""
    if test.outcome == "open" and high > low:
        smallest = describe_number((high - low) / 2)
        seen = f" We wouldn't have seen a difference smaller than {smallest}."
    return (
        f"- {start_sentence(test.what)}: **{measured}**{runs}. The claim predicts "
        f"{describe_bounds(test)}, {OUTCOMES[test.outcome]}.{seen}"
    )


def headings(path: Path) -> list[str]:
    """The headings of a notebook."""
    texts = [cell.source for cell in read(path).cells if cell.cell_type == "markdown"]
    return re.findall(r"^#+ (.*)$", "\n".join(texts), re.MULTILINE)


def describe_place(lesson: str, heading: str) -> str:
    """A link to a heading of a lesson or, if the lesson hasn't got it, of its evidence."""
    pages = [path for path in every_notebook() if find_key(path) == lesson]
    found = [path for path in pages if heading in headings(path)]
    if not found:
        raise ValueError(f"neither lesson {lesson} nor its evidence has the heading {heading!r}")
    path = found[0]
    anchor = quote(heading.replace("`", "").replace(" ", "-"), safe="!$&'()*+,;=:@/~-._")
    anchor = anchor.replace("(", "%28").replace(")", "%29")
    return f"[{lesson}, {heading}](../notebooks/{page_name(path)}.ipynb#{anchor})"


def describe_runs(finding: Finding) -> str:
    """How many runs stand behind a finding; few look different from many."""
    if finding.num_runs is None:
        return "exact" if finding.measurements else ""
    if finding.num_runs < ENOUGH_RUNS:
        return f"**few runs: n = {finding.num_runs}**"
    return f"n = {finding.num_runs:,}"


def link_to(finding: Finding, text: str) -> str:
    """A link to a finding's anchor, as HTML: Sphinx doesn't know of anchors in raw HTML."""
    return f'<a href="#finding-{finding.number}">{text}</a>'


def describe_finding(finding: Finding) -> str:
    """One finding: claim, verdict and result, and in a fold how it was tested."""
    verdict = f"**{finding.verdict}**"
    if finding.depends_on:
        verdict += f": {finding.depends_on}"
    runs = describe_runs(finding)
    head = f"{verdict} · {runs}" if runs else verdict
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
            [f"You can run it again with `{study_command(finding.study)}`."]
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
    """One of the ten: claim, verdict, picture and why it's a surprise."""
    return (
        f"**{set_symbols(finding.claim)}** *{finding.verdict}*\n\n{finding.surprise} "
        f"{link_to(finding, f'Finding {finding.number}')}\n\n"
        f"![{describe_chart(finding)}](_static/findings/{finding.number:03}.svg)"
    )


def describe_chart(finding: Finding) -> str:
    """The alternative text of a finding's picture: all that it shows."""
    return "; ".join(
        f"{test.what}: {describe_number(test.estimate)}, {test.outcome}"
        for test in choose_measurements(finding)
    )


def find_title(lesson: Path) -> str:
    """A lesson's title as the README's table has it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (title,) = re.findall(rf"\[([^]|]+)\]\(notebooks/{lesson.name}\) \|", readme)
    return str(title)


def set_symbols(claim: str) -> str:
    """A claim in which d_model, d_k and W_Q have their indices below the line."""
    return re.sub(r"\b([dW])_(model|k|[QKVO])\b", r"<i>\1</i><sub>\2</sub>", claim)


def build_page(findings: list[Finding]) -> str:
    """The whole page."""
    counted = Counter(finding.verdict for finding in findings)
    counts = "| verdict | claims |\n| --- | --- |\n" + "\n".join(
        f"| {verdict} | {counted[verdict]} |" for verdict in VERDICTS
    )
    rule = "\n".join(f"- **{verdict}**. {meaning}" for verdict, meaning in VERDICTS.items())
    surprising = [
        finding for number in SURPRISES for finding in findings if finding.number == number
    ]
    parts = [
        INTRODUCTION.format(
            number=len(findings),
            counts=counts,
            rule=rule,
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
