"""Run all mutants, print what becomes of them, and write the table of docs/checks.md."""

import argparse
import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.report import table
from tools.mutate.equivalents import reason
from tools.mutate.mutants import Mutant, mutants
from tools.mutate.solutions import Solution, solutions
from tools.mutate.verdicts import kind_of_help, verdict_on
from tools.written import DOCUMENTS, put

HEAD = [
    *("exercise", "mutants", "refused", "named", "a true sentence", "worked out", "a number"),
    *("equal", "right"),
]
TOLD = ("named", "general", "worked", "bare")
KINDS = (*TOLD, "equal", "right")
Row = tuple[Solution, Counter[str], list[Mutant]]


def rows(numbers: Sequence[str]) -> Iterator[Row]:
    """Yield for each exercise the number of mutants by verdict, and those that are called right."""
    for solution in solutions(tuple(numbers)):
        found: Counter[str] = Counter()
        called_right = []
        for mutant in mutants(solution):
            kind = kind_of_help(verdict_on(mutant))
            if kind == "right":
                called_right.append(mutant)
                kind = "equal" if reason(mutant) else "right"
            found[kind] += 1
        yield solution, found, called_right


def report(row: Row) -> None:
    """Print what became of one exercise's mutants."""
    solution, found, called_right = row
    line = ", ".join(f"{found[kind]} {kind}" for kind in KINDS)
    print(f"{solution.number}.{solution.check}: {found.total()} mutants: {line}", flush=True)
    for mutant in called_right:
        why = reason(mutant) or "NOT KNOWN TO BE EQUAL"
        print(f"    {changed(mutant)}  ({why})", flush=True)


def changed(mutant: Mutant) -> str:
    """Return the lines of a mutant that its solution does not have."""
    before = ast.unparse(ast.parse(mutant.solution.source)).splitlines()
    lines = (line.strip() for line in mutant.source.splitlines() if line not in before)
    return " / ".join(lines) or "a line less"


def table_of(every: Sequence[Row]) -> str:
    """Return the table as Markdown: one line for each exercise, and their sum."""
    lines = [
        line_of(f"{solution.number} `{solution.check}`", found) for solution, found, _ in every
    ]
    total = sum((found for _, found, _ in every), Counter[str]())
    return table(HEAD, [*lines, line_of("**all**", total)])


def line_of(name: str, found: Counter[str]) -> list[str]:
    """Return one line of the table."""
    refused = sum(found[kind] for kind in TOLD)
    numbers = [found.total(), refused, *(found[kind] for kind in KINDS)]
    return [name, *(f"{n:,}" for n in numbers)]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutate")
    parser.add_argument("lessons", nargs="*", help="only these lessons, such as 06 10")
    parser.add_argument("--write", action="store_true", help="run all, and write docs/checks.md")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # mutants often do what libraries warn about
    every = []
    for row in rows([] if chosen.write else chosen.lessons):
        report(row)
        every.append(row)
    print(table_of(every))
    if chosen.write:
        put(DOCUMENTS / "checks.md", "the table of mutants", table_of(every))


if __name__ == "__main__":
    main()
