"""A finding: a claim about the Transformer, what was measured, and the verdict.

Somebody chooses the measurements and writes down the bound that the claim predicts for each. Then a rule
computes the verdict, which follows from how many of the measured ranges lie within their bounds.
"""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any, Literal

from transformer_lab.studies.common.intervals import t_interval, wilson_interval

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "findings"
ENOUGH_RUNS = 10
"""With fewer runs, a finding is marked and every run has to agree; with ten, there is an interval."""
OUR_OWN = "asked here"
"""The source of a question that the course asks itself."""
EXPLANATIONS = "explanations"
"""The source of what blog posts and courses commonly say, if no single one can be named."""

Outcome = Literal["for", "against", "open"]
Verdict = Literal[
    "holds", "holds here", "depends on", "not seen", "does not hold", "nothing to test"
]
VERDICTS: dict[Verdict, str] = {
    "holds": "Every test is exact, such as a count or a comparison with a formula, and agrees with "
    "the claim. You can expect it of any Transformer.",
    "holds here": "Every test agrees with the claim, and at least one of them looked at trained "
    "models or at random numbers. A larger model may behave differently.",
    "depends on": "Some tests agree with the claim, and others contradict it or stay open. The "
    "finding says what it depends on.",
    "not seen": "The tests couldn't tell. A difference may be there, and the interval says how large it "
    "could be.",
    "does not hold": "At least one test contradicts the claim, and none agrees with it.",
    "nothing to test": "The sentence is a definition or reports what a paper did. It's here so that you "
    "can find where the course explains it.",
}
"""What each verdict means, as the page explains it, in the order of the page."""


@dataclass(frozen=True)
class Measurement:
    """One measurement and the bound that the claim predicts for it.

    The measurement is one of three: a `value` (with `low` and `high` if it has an interval), the
    `values` of single runs, or `hits`, the number of `runs` in which something happened. If a value
    is a share of the runs, `out_of` is what all of them would be: 1 or 100.
    """

    what: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    values: tuple[float, ...] = ()
    hits: int | None = None
    runs: int | None = None
    at_least: float = -math.inf
    at_most: float = math.inf
    exact: bool = False
    out_of: float = 0.0
    pooled: bool = False
    """Whether the interval's error is estimated from the whole study, because these runs are too few."""
    models: int = 0
    """How many models the runs come from, if the runs are sentences, words or heads of chosen models."""

    def __post_init__(self) -> None:
        given = [self.value is not None, bool(self.values), self.hits is not None]
        if sum(given) != 1:
            raise ValueError(f"{self.what!r}: expected one of value, values and hits")
        if self.at_least == -math.inf and self.at_most == math.inf:
            raise ValueError(
                f"{self.what!r}: expected at_least or at_most, whichever the claim predicts"
            )
        if not self.exact and not self.num_runs:
            raise ValueError(f"{self.what!r}: expected the number of runs, or exact = true")
        if (self.low is None) != (self.high is None) or (
            self.low is not None and self.value is None
        ):
            raise ValueError(f"{self.what!r}: expected both low and high with a value, or neither")
        if self.pooled and self.low is None:
            raise ValueError(f"{self.what!r}: expected low and high, because their error is pooled")
        if self.out_of and (self.value is None or self.low is not None):
            raise ValueError(
                f"{self.what!r}: expected a value without low and high, because out_of is given"
            )

    @property
    def num_runs(self) -> int:
        """The number of independent runs, models or draws behind the measurement, 0 if it is exact."""
        return self.runs or len(self.values)

    @property
    def has_few_runs(self) -> bool:
        """Whether there are too few runs for an interval."""
        return not self.exact and self.num_runs < ENOUGH_RUNS

    @property
    def estimate(self) -> float:
        """The measured value, the mean of the runs, or the share of the runs in which it happened."""
        if self.value is not None:
            return self.value
        if self.hits is not None:
            return self.hits / self.num_runs
        return fmean(self.values)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95% interval over the runs or, with fewer than ten, the lowest and the highest run.

        A single number without an interval is both the lowest and the highest.
        """
        if self.low is not None and self.high is not None:
            return self.low, self.high
        if self.out_of:
            low, high = wilson_interval(
                round(self.estimate / self.out_of * self.num_runs), self.num_runs
            )
            return low * self.out_of, high * self.out_of
        if self.hits is not None:
            if self.has_few_runs and self.hits in (0, self.num_runs):
                return self.estimate, self.estimate
            return wilson_interval(self.hits, self.num_runs)
        if self.values and self.has_few_runs:
            return min(self.values), max(self.values)
        if self.values:
            return t_interval(self.values)
        return self.estimate, self.estimate

    @property
    def outcome(self) -> Outcome:
        """Whether the interval is within the bounds ("for"), outside ("against") or neither ("open")."""
        low, high = self.interval
        if low >= self.at_least and high <= self.at_most:
            return "for"
        return "against" if high < self.at_least or low > self.at_most else "open"


@dataclass(frozen=True)
class Finding:
    """A claim, its source, how it was tested and what came out; `where` names lessons and headings."""

    number: int
    claim: str
    source: str
    how: str
    result: str
    where: tuple[tuple[str, str], ...]
    measurements: tuple[Measurement, ...] = ()
    study: str = ""
    """The stored study whose runs it rests on, unless it rests on a lesson's own cell."""
    depends_on: str = ""
    surprise: str = ""
    """Why it is surprising, for the ten findings that open the page."""
    seed_7: str = ""
    """If only the shipped model was tested: that its seed was chosen, and what that means here."""

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows from the outcomes of the tests."""
        outcomes = {test.outcome for test in self.measurements}
        if not outcomes:
            return "nothing to test"
        if outcomes == {"for"}:
            return "holds" if all(test.exact for test in self.measurements) else "holds here"
        if "for" in outcomes:
            return "depends on"
        return "does not hold" if "against" in outcomes else "not seen"

    @property
    def is_our_own(self) -> bool:
        """Whether it is a question of our own, because nobody whom we could quote makes the claim."""
        return self.source == OUR_OWN

    @property
    def num_runs(self) -> int | None:
        """The smallest number of runs behind one of its tests, or None if all of them are exact."""
        return min((test.num_runs for test in self.measurements if not test.exact), default=None)

    @property
    def num_models(self) -> int:
        """How many models the runs of the test with the fewest come from, or 0 if that is not stated."""
        tests = [test for test in self.measurements if not test.exact]
        return min(tests, key=lambda test: test.num_runs).models if tests else 0

    @property
    def lessons(self) -> list[str]:
        """The key of each lesson that it appears in."""
        return list(dict.fromkeys(lesson for lesson, _ in self.where))


def read_finding(path: Path) -> Finding:
    """Read one file, whose name begins with the finding's number.

    Raises:
        ValueError: If a field is missing or unknown, or if `depends_on` contradicts the verdict.
    """
    fields: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        measurements = tuple(
            Measurement(**{**test, "values": tuple(test.get("values", ()))})
            for test in fields.pop("measurements", [])
        )
        where = tuple((lesson, heading) for lesson, heading in fields.pop("where"))
        finding = Finding(
            number=int(path.name[:3]), where=where, measurements=measurements, **fields
        )
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{path.name}: {error}") from None
    if bool(finding.depends_on) != (finding.verdict == "depends on"):
        outcomes = [f"{test.what}: {test.outcome}" for test in finding.measurements]
        raise ValueError(
            f"{path.name}: the verdict is {finding.verdict!r} ({'; '.join(outcomes)}), and depends_on "
            f"is {finding.depends_on!r}; expected it exactly when the verdict is 'depends on'"
        )
    return finding


def read_findings(folder: Path = FOLDER) -> list[Finding]:
    """Read all findings, in the order of their numbers."""
    return [read_finding(path) for path in sorted(folder.glob("*.toml"))]
