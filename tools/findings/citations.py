"""Write a finding's verdict, computed from its file, after each link to it in a notebook.

The builder does this for every lesson, so that no sentence says more about a claim than its runs do.
"""

import re
from functools import cache

from tools.findings.finding import Finding, Verdict, read_findings

CITED = re.compile(
    r"\[finding (\d+)\]\(((?:\.\./)+)docs/findings\.md#finding-\d+\)(?: \(\*[^)]*\))?"
)
"""A link to a finding from a lesson or from the evidence, perhaps followed by its verdict."""
SAID: dict[Verdict, str] = {
    "holds": "the usual claim holds",
    "holds here": "the usual claim holds here",
    "depends on": "the usual claim holds in some cases",
    "not seen": "too close to call",
    "does not hold": "against the usual claim",
    "nothing to test": "a definition, or what a paper reports",
}
"""The words for each verdict. They name the claim, because a true sentence may refute it."""


def write_verdicts(text: str) -> str:
    """Return a text in which each cited finding has its link, its verdict and its number of runs.

    Raises:
        ValueError: If there's no such finding.
    """
    return CITED.sub(lambda link: cite(number_findings(), int(link.group(1)), link.group(2)), text)


@cache
def number_findings() -> dict[int, Finding]:
    """Return all findings by their numbers."""
    return {finding.number: finding for finding in read_findings()}


def cite(findings: dict[int, Finding], number: int, root: str = "../") -> str:
    """Return the link to a finding, with its verdict and its number of runs in brackets."""
    if number not in findings:
        raise ValueError(f"finding {number} is cited; expected a number from 1 to {max(findings)}")
    found = findings[number]
    few = ", few runs" if any(test.has_few_runs for test in found.measurements) else ""
    runs = f", n = {found.num_runs:,}{few}" if found.num_runs else ""
    verdict = SAID[found.verdict]
    return f"[finding {number}]({root}docs/findings.md#finding-{number}) (*{verdict}*{runs})"
