"""What all trials of `chaos` share: where they run, what must result, and what they found."""

import random
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.stress.chaos import disturbed
from tools.stress.chaos.process import Command


@dataclass
class Report:
    """The results of one kind of trial, which make one line of the table, and what failed."""

    name: str
    trials: int = 0
    held: int = 0
    moments: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def count(self, moment: str) -> None:
        """Count one more trial for this moment."""
        self.moments[moment] = self.moments.get(moment, 0) + 1

    def add(self, wrong: Sequence[str], which: str) -> None:
        """Count one more trial, with what was wrong."""
        self.trials += 1
        self.held += not wrong
        self.failures += [f"{self.name} {which}: {text}" for text in wrong]


class Place:
    """A folder for trials, with a corpus and an undisturbed run, `whole`."""

    def __init__(self, folder: Path, seed: int):
        self.folder = folder
        self.random = random.Random(seed)
        self.corpus = folder / "pairs.tsv"
        disturbed.write_corpus(self.corpus)
        self.names = 0
        whole = [self.fresh() for _ in range(3)]
        commands = [self.done(disturbed.begin(self.corpus, out), out) for out in whole]
        if any(command.code for command in commands):
            raise RuntimeError("\n".join(commands[0].said))
        (self.expected,) = {disturbed.sum_of_weights(out) for out in whole}
        self.whole = whole[0]
        self.seconds = statistics.median(command.seconds for command in commands)

    def fresh(self) -> Path:
        """Return the path of a folder that does not exist yet."""
        self.names += 1
        return self.folder / f"run{self.names:03}"

    def start(self, arguments: Sequence[str], out: Path) -> Command:
        """Start a command, with a log file of its own."""
        self.names += 1
        return Command(arguments, self.folder / f"{out.name}.{self.names:03}.log")

    def done(self, arguments: Sequence[str], out: Path) -> Command:
        """Run a command to its end."""
        command = self.start(arguments, out)
        command.wait()
        return command

    def moment(self) -> float:
        """Return a random time in seconds within the length of a run."""
        return self.random.uniform(0.0, self.seconds)

    def wrong_use(self, out: Path) -> list[str]:
        """Return what is wrong if a disturbed run neither translates nor prints just one line."""
        used = self.done(disturbed.translate(out), out)
        if used.code == 0 or (used.code == 1 and len(used.errors) == 1):
            return []
        return [f"translate ended with {used.code}: {used.said}"]

    def wrong_end(self, out: Path) -> list[str]:
        """Resume the run to its end; return what is wrong with the result."""
        command = self.done(disturbed.go_on(self.corpus, out), out)
        if command.code:
            return [f"resuming ended with {command.code}: {command.said}"]
        return self.wrong_folder(out) + self.wrong_use(out)

    def wrong_folder(self, out: Path, expected: str | None = None) -> list[str]:
        """Return what is wrong in the folder of a finished run, such as unexpected weights."""
        wrong = []
        if disturbed.sum_of_weights(out) != (expected or self.expected):
            wrong.append("the final weights differ")
        if {path.name for path in out.iterdir()} != disturbed.WHOLE:
            wrong.append(f"left in the folder: {sorted(path.name for path in out.iterdir())}")
        return wrong
