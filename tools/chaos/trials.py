"""What all trials share: where they run, what must come out, and what they found."""

import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tools.chaos import disturbed
from tools.chaos.process import Command


@dataclass
class Report:
    """What one kind of trial found: one line of the table, and what failed."""

    name: str
    trials: int = 0
    held: int = 0
    moments: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def count(self, moment: str) -> None:
        """One more that fell into this moment."""
        self.moments[moment] = self.moments.get(moment, 0) + 1

    def add(self, wrong: Sequence[str], which: str) -> None:
        """One more trial, and what was wrong with it."""
        self.trials += 1
        self.held += not wrong
        self.failures += [f"{self.name} {which}: {text}" for text in wrong]


class Place:
    """A folder for trials: the corpus, and a `whole` run, which nobody has disturbed."""

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
        """The path of a folder that is not there yet."""
        self.names += 1
        return self.folder / f"run{self.names:03}"

    def start(
        self, arguments: Sequence[str], out: Path, prepare: Callable[[], object] = lambda: None
    ) -> Command:
        """A command that is under way; what it says is kept apart from other commands'."""
        self.names += 1
        return Command(arguments, self.folder / f"{out.name}.{self.names:03}.log", prepare)

    def done(self, arguments: Sequence[str], out: Path, **options: Callable) -> Command:
        """A command that has ended."""
        command = self.start(arguments, out, **options)
        command.wait()
        return command

    def moment(self) -> float:
        """Seconds after the beginning of a run at which something happens."""
        return self.random.uniform(0.0, self.seconds)

    def wrong_use(self, out: Path) -> list[str]:
        """What is wrong with using a run that was disturbed: it translates, or says one line."""
        used = self.done(disturbed.translate(out), out)
        if used.code == 0 or (used.code == 1 and len(used.errors) == 1):
            return []
        return [f"translate ended with {used.code}: {used.said}"]

    def wrong_end(self, out: Path) -> list[str]:
        """Go on to the end; what is wrong with what comes out."""
        command = self.done(disturbed.go_on(self.corpus, out), out)
        if command.code:
            return [f"going on ended with {command.code}: {command.said}"]
        return self.wrong_folder(out) + self.wrong_use(out)

    def wrong_folder(self, out: Path, expected: str | None = None) -> list[str]:
        """What is wrong with the folder of a run that has ended, if other weights are not expected."""
        wrong = []
        if disturbed.sum_of_weights(out) != (expected or self.expected):
            wrong.append("other final weights")
        if {path.name for path in out.iterdir()} != disturbed.WHOLE:
            wrong.append(f"left in the folder: {sorted(path.name for path in out.iterdir())}")
        return wrong
