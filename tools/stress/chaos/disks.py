"""Disks that fill up: one line says so, what was saved stays, and with more room, training goes on."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tools.stress.chaos import disturbed
from tools.stress.chaos.trials import Place, Report

SHARES = (0.1, 0.4, 0.7, 0.9, 1.1, 1.3, 1.5, 1.8)
"""The room on each disk, as a share of a whole run's folder; a save needs room for two."""
NOTHING, SOMETHING, ENOUGH = "before the first save", "at a later save", "with room enough"


def trials(place: Place, count: int = len(SHARES)) -> Report:
    """Train on each disk; if it fills up, give it room and go on."""
    report = Report("full disks")
    whole = sum(path.stat().st_size for path in place.whole.iterdir())
    for share in SHARES[:count]:
        with disk(place.folder / "disk", round(share * whole)) as folder:
            out = folder / "run"
            begun = place.done(disturbed.begin(place.corpus, out), out)
            wrong = []
            if begun.code == 0:
                report.count(ENOUGH)
            else:
                report.count(NOTHING if disturbed.step_of(out) is None else SOMETHING)
                if begun.code != 1 or len(begun.errors) != 1 or "space" not in begun.errors[0]:
                    wrong.append(f"ended with {begun.code}: {begun.said}")
                wrong += place.wrong_use(out)
            enlarge(folder, 4 * whole)
            report.add(wrong + place.wrong_end(out), f"of {share:.0%} of the room")
    return report


@contextmanager
def disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a disk of `size` bytes in memory; raise a RuntimeError if you may not."""
    folder.mkdir(exist_ok=True)
    mount(folder, "-t", "tmpfs", "-o", f"size={size}", "tmpfs")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def enlarge(folder: Path, size: int) -> None:
    """Enlarge the disk to `size` bytes."""
    mount(folder, "-o", f"remount,size={size}")


def mount(folder: Path, *how: str) -> None:
    """Call the system's mount; raise a RuntimeError if it refuses."""
    done = subprocess.run(["mount", *how, str(folder)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(
            f"mounting a small disk needs the right to mount one: {done.stderr.strip()}"
        )
