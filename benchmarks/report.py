"""RESULTS.md, with one part for each section of the benchmark; a section that is not run again stays."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from transformer_lab.storage.files import write_atomically

RESULTS = Path(__file__).parent / "RESULTS.md"
TITLE = """# Side by side with the peers

Written by `make bench`, not by hand. Candidates take turns in one process,
round by round. Rates are in thousands of tokens per second, from the median round and, in
brackets, the fastest. A ratio compares two candidates round by round; it is the median over the
rounds.
"""


@dataclass(frozen=True)
class Target:
    """A target for a ratio or a limit, and what was measured.

    `reason` says why the target was missed.
    """

    what: str
    measured: float
    wanted: float
    at_most: bool = False
    reason: str = ""

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.measured <= self.wanted if self.at_most else self.measured >= self.wanted


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def target_table(targets: Sequence[Target], what: str = "ratio") -> str:
    """Return a table of targets and measurements."""
    rows = []
    for target in targets:
        verdict = "met" if target.met else f"**not met**. {target.reason}".strip()
        sign = "≤" if target.at_most else "≥"
        rows.append((target.what, f"{sign} {target.wanted:g}", f"{target.measured:.2f}", verdict))
    return table([what, "target", "measured", ""], rows)


def write_sections(sections: dict[str, str], path: Path = RESULTS, title: str = TITLE) -> None:
    """Replace the sections of the file that have these headings, and keep the others."""
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    found = re.findall(r"^## (.+)\n((?:(?!## ).*\n?)*)", old, re.MULTILINE)
    whole = {heading: body.strip() for heading, body in found} | sections
    parts = [title, *(f"## {heading}\n\n{body.strip()}\n" for heading, body in whole.items())]
    write_atomically(path, "\n".join(parts).encode())
