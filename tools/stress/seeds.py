"""Run the lessons with other seeds, and as on another processor: do their asserts still hold?

`python -m tools.stress seeds` runs it. All lessons take about two hours with one thread:

    python -m tools.stress seeds                        lessons and evidence, five seeds, both processors
    python -m tools.stress seeds 05 09 --seeds 3        two lessons, three seeds
    python -m tools.stress seeds 05 --on avx2           as on a processor without AVX-512

No test compares what a cell tagged `nbval-ignore-output` prints. Its asserts are there instead, so they
have to hold for every seed. In run n, each seed that such a cell sets is increased by 1,000 n, so run 0
is the lesson as written. All other cells keep their seeds, because their output is compared.
Nothing that is stored is computed again.

If an assert fails, it is counted and the lesson goes on. For each comparison in an assert, the report
says how far apart its two sides were; a mean distance below three standard deviations is thin.
"""

import argparse
import ast
import json
import math
import operator
import os
import random
import statistics
import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

from tools.build_notebooks import (
    CELL_TIMEOUT,
    ROOT,
    find_named,
    page_name,
    plain,
    read,
)
from transformer_lab.course.diary import SWITCH

RESULTS = ROOT / "build" / "seeds"
SHIFT = 1_000
THIN = 3.0
PROCESSORS = {
    "native": {},
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    },
}
START = f"""\
import sys
sys.path.insert(0, {str(ROOT)!r})
from tools.stress.seeds import Watch
watch__ = Watch()"""
ORDER: dict[type[ast.cmpop], str] = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


class Watch:
    """An observer in the lesson's kernel that moves its seeds and records its asserts."""

    def __init__(self) -> None:
        self.by = 0
        self.cell = ""
        self.trains: set[str] = set()
        self.asserts: list[dict[str, Any]] = []
        self.distances: dict[str, float] = {}
        self.move_seeds()
        self.see_training()

    def begin(self, cell: str, by: int) -> None:
        """Count everything that follows as this cell's, and add `by` to its seeds."""
        self.cell, self.by = cell, by

    def move_seeds(self) -> None:
        """Add `by` to every seed that is set from now on."""
        import numpy as np
        import torch

        def moved(call: Callable[..., Any], place: int) -> Callable[..., Any]:
            def with_seed(*arguments: Any) -> Any:
                changed = list(arguments)
                if len(changed) > place and isinstance(changed[place], int):
                    changed[place] += self.by
                return call(*changed)

            return with_seed

        class Generator(torch.Generator):
            manual_seed = moved(torch.Generator.manual_seed, 1)

        torch.manual_seed = moved(torch.manual_seed, 0)
        torch.Generator = Generator  # type: ignore[misc]
        np.random.default_rng = moved(np.random.default_rng, 0)
        random.Random.seed = moved(random.Random.seed, 1)  # type: ignore[method-assign]

    def see_training(self) -> None:
        """Note which cells train: those in which an optimizer takes a step."""
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(lambda *_: self.trains.add(self.cell))

    def compare(self, label: str, names: Sequence[str], sides: Sequence[Any]) -> Any:
        """Return the value of `a < b <= c`, and record the smallest distance (below 0 if false)."""
        import numpy as np

        result: Any = True
        for name, left, right in zip(names, sides, sides[1:], strict=False):
            left_side, right_side = (
                np.asarray(s.detach() if hasattr(s, "detach") else s, dtype=float)
                for s in (left, right)
            )
            apart = left_side - right_side
            nearest = float(np.min(apart if name[0] == "g" else -apart))
            self.distances[label] = min(nearest, self.distances.get(label, nearest))
            result = result and getattr(operator, name)(left, right)
        return result

    def holds(self, label: str, truth: Any) -> None:
        """Record an assert, with the comparisons that were made for it."""
        truth = bool(truth)
        # Under a `not` or an `==`, the comparison may be meant to be false.
        apart = {text: abs(d) if truth else d for text, d in self.distances.items()}
        self.asserts.append(
            {"cell": self.cell, "assert": label, "holds": truth, "distances": apart}
        )
        self.distances = {}

    def report(self) -> None:
        """Print what was recorded as JSON, for the process that started the kernel."""
        print(json.dumps({"asserts": self.asserts, "trains": sorted(self.trains)}))


class Asserts(ast.NodeTransformer):
    """A visitor that turns `assert a < b` into a call that records the result and goes on."""

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        """Return a call of `Watch.holds` with the text of the assert."""
        label = ast.unparse(node.test)
        test = ast.unparse(Comparisons().visit(node.test))
        return ast.parse(f"watch__.holds({label!r}, {test})").body[0]


class Comparisons(ast.NodeTransformer):
    """A visitor that turns `a < b` into a call that records how far apart a and b are."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """Return a call of `Watch.compare`, unless it asks for equality or membership."""
        label = ast.unparse(node)
        self.generic_visit(node)
        if not all(type(op) in ORDER for op in node.ops):
            return node
        names = [ORDER[type(op)] for op in node.ops]
        sides = ", ".join(ast.unparse(side) for side in (node.left, *node.comparators))
        return ast.parse(f"watch__.compare({label!r}, {names!r}, [{sides}])", mode="eval").body


def watch_cell(cell: NotebookNode, run: int) -> str:
    """Return the cell's source as run `run` executes it."""
    try:
        source = ast.unparse(Asserts().visit(ast.parse(cell.source)))
    except SyntaxError:  # a magic
        source = cell.source
    by = SHIFT * run if "nbval-ignore-output" in cell.metadata.get("tags", ()) else 0
    return f"watch__.begin({cell.id!r}, {by})\n{source}"


def run_lesson(path: Path, run: int, processor: str) -> dict[str, Any]:
    """Run a lesson once; return its asserts, the cells that train, what they print, and the errors."""
    notebook = read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        cell.source = watch_cell(cell, run)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(START, id="watch"))
    notebook.cells.append(nbformat.v4.new_code_cell("watch__.report()", id="report"))
    client = NotebookClient(
        notebook,
        timeout=CELL_TIMEOUT,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],
    )
    client.execute(
        env={**os.environ, "OMP_NUM_THREADS": "1", SWITCH: "off", **PROCESSORS[processor]}
    )
    found: dict[str, Any] = json.loads(notebook.cells[-1].outputs[0].text)
    found["errors"] = {
        cell.id: plain(f"{output.ename}: {output.evalue}")
        for cell in code
        for output in cell.outputs
        if output.output_type == "error"
    }
    found["printed"] = {
        cell.id: plain("".join(o.text for o in cell.outputs if o.get("name") == "stdout"))
        for cell in code
        if cell.id in found["trains"]
    }
    return found


def margins(runs: Sequence[dict[str, Any]]) -> Iterator[tuple[str, str, float, float]]:
    """Yield for each comparison its cell, its text, the smallest distance, and mean / deviation."""
    distances: dict[tuple[str, str], list[float]] = defaultdict(list)
    for run in runs:
        nearest: dict[tuple[str, str], float] = {}
        for each in run["asserts"]:
            for text, distance in each["distances"].items():
                key = (each["cell"], text)
                nearest[key] = min(distance, nearest.get(key, distance))
        for key, distance in nearest.items():
            distances[key].append(distance)
    for (cell, text), values in distances.items():
        deviation = statistics.stdev(values) if len(values) > 1 else 0.0
        yield cell, text, min(values), statistics.mean(values) / (deviation or math.nan)


def failures(runs: Sequence[dict[str, Any]]) -> Counter[tuple[str, str]]:
    """Count for each (cell, assert or error) the runs in which it failed."""
    found: Counter[tuple[str, str]] = Counter()
    for run in runs:
        wrong = {(each["cell"], each["assert"]) for each in run["asserts"] if not each["holds"]}
        found.update(wrong | set(run["errors"].items()))
    return found


def summary(name: str, runs: Sequence[dict[str, Any]]) -> int:
    """Print what failed, and margins that are thin or in cells that train; count failures."""
    trains = set().union(*(run["trains"] for run in runs))
    failed = failures(runs)
    for (cell, text), times in failed.items():
        print(f"{name} {cell:9} FAILED {times} of {len(runs)}: {textwrap.shorten(text, 200)}")
    for cell, text, nearest, margin in margins(runs):
        if margin < THIN or (cell in trains and margin > 0):
            word = "thin  " if margin < THIN else "holds "
            kind = "trains" if cell in trains else "draws "
            figures = f"nearest {nearest:9.3g}, mean/sd {margin:7.1f}"
            print(f"{name} {cell:9} {word} {kind} {figures}: {textwrap.shorten(text, 100)}")
    return sum(failed.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chosen lessons; return 1 if an assert failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.stress seeds", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("names", nargs="*", help="beginnings of file names (default: all)")
    parser.add_argument("--seeds", type=int, default=5, help="number of runs for each lesson")
    parser.add_argument("--on", nargs="+", choices=PROCESSORS, default=list(PROCESSORS))
    options = parser.parse_args(arguments)
    bad = 0
    for path in find_named(options.names):
        runs = []
        for processor in options.on:
            for run in range(options.seeds):
                found = run_lesson(path, run, processor)
                stored = RESULTS / f"{page_name(path)}.{processor}.{run}.json"
                stored.parent.mkdir(parents=True, exist_ok=True)
                stored.write_text(json.dumps(found))
                runs.append(found)
        bad += summary(page_name(path), runs)
        sys.stdout.flush()
    print(f"{bad} failed" if bad else "all hold")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
