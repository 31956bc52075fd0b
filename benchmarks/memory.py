"""Peak memory of one decoder, measured in a process of its own."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import torch

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak_megabytes(name: str, length: int) -> float:
    """What decoding to this length adds at most to the memory of a fresh process."""
    command = [sys.executable, "-m", "benchmarks.memory", name, str(length)]
    command.append(str(torch.get_num_threads()))
    done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603
    return float(json.loads(done.stdout.splitlines()[-1]))


def forget_peak() -> None:
    """Let the kernel count the peak from now on; where it cannot, it includes the imports'."""
    if CLEAR.exists():
        CLEAR.write_text("5")


def kilobytes(field: str) -> int:
    """VmRSS or VmHWM, the memory now or at its peak; elsewhere than on Linux always the peak."""
    if STATUS.exists():
        for line in STATUS.read_text(encoding="utf-8").splitlines():
            if line.startswith(field):
                return int(line.split()[1])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def main() -> None:
    """Decode in this process and print the megabytes."""
    from benchmarks.decoding import decoder  # which imports this module

    name, length, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(threads)
    decode = decoder(name)
    decode(2)
    forget_peak()
    before = kilobytes("VmRSS")
    decode(length)
    print(json.dumps((kilobytes("VmHWM") - before) / 1024))


if __name__ == "__main__":
    main()
