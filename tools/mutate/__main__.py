"""Run all mutants, print what becomes of them, and write the table of docs/checks.md."""

import argparse
import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.mutate.equivalents import reason
from tools.mutate.mutants import Mutant, mutants
from tools.mutate.solutions import Solution, solutions
from tools.mutate.verdicts import kind_of_help, verdict_on
from transformer_lab.files import write_atomically

DOCUMENT = Path(__file__).parents[2] / "docs" / "checks.md"
KINDS = ("named", "general", "bare", "equal", "right")
BEGIN = "<!-- written by `python -m tools.mutate --write` -->\n"
Row = tuple[Solution, Counter[str], list[Mutant]]


def rows(numbers: Sequence[str]) -> Iterator[Row]:
    """For each exercise: how many mutants are told how much, and those that are called right."""
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
    """The lines of a mutant that its solution does not have."""
    before = ast.unparse(ast.parse(mutant.solution.source)).splitlines()
    lines = (line.strip() for line in mutant.source.splitlines() if line not in before)
    return " / ".join(lines) or "a line less"


def table(every: Sequence[Row]) -> str:
    """The table as Markdown: one line for each exercise, and their sum."""
    head = "| exercise | mutants | refused | named | a true sentence | a number | equal | right |"
    lines = [head, "|---" * 8 + "|"]
    total: Counter[str] = Counter()
    for solution, found, _ in every:
        lines.append(line_of(f"{solution.number} `{solution.check}`", found))
        total += found
    return "\n".join([*lines, line_of("**all**", total)]) + "\n"


def line_of(name: str, found: Counter[str]) -> str:
    """One line of the table."""
    refused = sum(found[kind] for kind in ("named", "general", "bare"))
    numbers = [found.total(), refused, *(found[kind] for kind in KINDS)]
    return f"| {name} | {' | '.join(f'{n:,}' for n in numbers)} |"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutate")
    parser.add_argument("lessons", nargs="*", help="06 10: of these lessons alone")
    parser.add_argument("--write", action="store_true", help="all, and docs/checks.md from them")
    chosen = parser.parse_args()
    warnings.simplefilter("ignore")  # what mutants do is seldom what a library advises
    every = []
    for row in rows([] if chosen.write else chosen.lessons):
        report(row)
        every.append(row)
    print(table(every))
    if chosen.write:
        text = DOCUMENT.read_text("utf-8").split(BEGIN)[0]
        write_atomically(DOCUMENT, (text + BEGIN + table(every)).encode())


if __name__ == "__main__":
    main()
