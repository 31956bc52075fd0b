"""SIGKILL at random moments, after which the run is resumed and ends."""

import signal
from pathlib import Path

from tools.stress.chaos import disturbed
from tools.stress.chaos.trials import Place, Report
from transformer_lab.storage.files import COMMITTED_FOLDER, STAGING_FOLDER
from transformer_lab.storage.folder import WEIGHTS

KILLS = 50
BEFORE, DURING, BETWEEN, AFTER = (
    "before the first save",
    "while it saved",
    "between saves",
    "after the last save",
)


def trials(place: Place, count: int = KILLS) -> Report:
    """Kill each run, resume it and kill it again, and then let it end."""
    report = Report("kills")
    while report.trials < count:
        out, killed = place.fresh(), []
        for arguments in (disturbed.begin, disturbed.go_on):
            after = place.moment()
            command = place.start(arguments(place.corpus, out), out)
            was_killed = command.send(signal.SIGKILL, after)
            command.wait()
            if was_killed:  # else it had already ended
                killed.append((f"after {after:.3f} s", moment_of(out), place.wrong_use(out)))
        end = place.wrong_end(out)
        for number, (which, moment, wrong) in enumerate(killed[: count - report.trials]):
            report.count(moment)
            report.add(wrong if number else wrong + end, which)
    return report


def moment_of(out: Path) -> str:
    """Return when the kill came, judging by what it left in the folder."""
    names = {path.name for path in out.iterdir()} if out.exists() else set()
    if any(name in (STAGING_FOLDER, COMMITTED_FOLDER) or name.endswith(".part") for name in names):
        return DURING
    if disturbed.step_of(out) is None:
        return BEFORE
    return AFTER if WEIGHTS in names else BETWEEN
