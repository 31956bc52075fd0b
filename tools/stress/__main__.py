"""Run one of the long trials: `python -m tools.stress NAME`, with further arguments for the trial.

The nightly workflow runs those that fit into an hour. Run one after changing what it tests.
Without a name, this prints the list. `python -m tools.stress NAME --help` prints the options.
"""

import runpy
import sys
from collections.abc import Sequence

TRIALS = {
    "chaos": ("12 minutes", "kill, starve and interrupt training at random moments"),
    "fuzz": ("30 minutes", "ask 50,000 random questions of every part"),
    "mutants": ("1 hour", "change the package in 400 small ways: do its tests notice?"),
    "sbom": ("1 minute", "list what is installed with its licences, for a release"),
    "seeds": ("2 hours", "run the lessons with other seeds, and as on another processor"),
    "soak": ("15 minutes", "translate and edit for a long time: does memory grow?"),
    "versions": ("hours", "run the tests with the oldest, the newest and other versions"),
}
"""How long each one takes on two cores, and what it does."""


def listing() -> str:
    """Return one line for each trial: its name, its time and what it does."""
    lines = [f"  {name:10}{time:12}{what}" for name, (time, what) in TRIALS.items()]
    return "\n".join(["python -m tools.stress NAME [ARGUMENTS], where NAME is one of", *lines])


def main(arguments: Sequence[str]) -> None:
    """Run the trial named first in the arguments; exit with 2 if there is no such trial."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(listing())
        return
    name, *rest = arguments
    if name not in TRIALS:
        print(f"There is no trial {name!r}.\n\n{listing()}", file=sys.stderr)
        sys.exit(2)
    sys.argv = [f"tools.stress {name}", *rest]
    runpy.run_module(f"tools.stress.{name}", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
