"""The bench in a browser: its size, the time to its first answer, and what each act costs."""

import tempfile
from functools import partial
from pathlib import Path
from statistics import median

from benchmarks.browser import MEGA, chromium, visit
from benchmarks.machine import in_a_line
from benchmarks.report import Target, table, target_table
from benchmarks.timing import Times
from transformer_lab.translator import Translator
from transformer_lab.viz.bench import bench
from transformer_lab.viz.bench_guide import NOUN_FINDER, famous_guide

SETTLED = "new Promise((done) => setTimeout(done, 2000))"
"""After a sentence every head is muted by turns, to colour it: that is not the act's own work."""
ACTS = {
    "edit: the other sentence is translated": "transformerLab.state.translate({other})",
    "mute of a head": "document.querySelector(\"[data-control='mute']\").click()",
    "patch of a row": "document.querySelector(\"[data-control='point']\").click()",
    "another row of the open head": "document.querySelector('th[data-row]').click()",
}


def measure(rounds: int) -> tuple[int, list[float], dict[str, Times]]:
    """Bytes of the page, seconds to its first answer, and seconds of work of each act."""
    guide = famous_guide()
    other = guide["sentences"][1]
    who = f"#head={NOUN_FINDER}&row=10&key=5"
    drawn: list[float] = []
    work: dict[str, list[float]] = {name: [] for name in ACTS}
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        page_of = bench(Translator.load(device="cpu"), **guide)
        path = page_of.to_html(Path(folder) / "bench.html")
        for turn in range(rounds + 1):
            with visit(browser, path, {}) as page:
                seconds = page.seconds_to_drawn
                seen = {}
                for name, act in ACTS.items():
                    page.ask(f"location.hash = '{who}'")
                    page.ask(SETTLED)
                    seen[name] = page.work(partial(page.ask, act.format(other=repr(other))))
            if turn:  # at first the browser is still starting
                drawn.append(seconds)
                for name, value in seen.items():
                    work[name].append(value)
        size = path.stat().st_size
    return size, drawn, {name: Times(values) for name, values in work.items()}


def section(rounds: int) -> str:
    """The bench with the shipped model and a sentence of twelve tokens."""
    size, drawn, work = measure(max(rounds, 5))
    rows = [["page", f"{size / MEGA:.2f} MB"], ["first answer", f"{1000 * median(drawn):,.0f} ms"]]
    rows += [
        [name, f"{1000 * times.median:,.1f} ({1000 * times.best:,.1f}) ms"]
        for name, times in work.items()
    ]
    words = f"""\
The shipped translator (802,681 parameters, half precision) in one page, a sentence of 12 tokens, \
Chromium without a GPU. {in_a_line(max(rounds, 5))} First answer: from the beginning of the \
navigation to the frame after the first translation is drawn. The others: main-thread work of one \
act, as for the explorer; median and, in brackets, the fastest. BertViz and CircuitsVis have none \
of these acts: they show a record, and run no model.
"""
    promised = [
        Target(f"{name}, in ms of main-thread work", 1000 * work[name].median, 50, True)
        for name in list(ACTS)[:3]
    ]
    promised.insert(0, Target("page, in MB", size / MEGA, 2.2, True))
    return "\n".join([words, table(["", ""], rows), target_table(promised, "limit")])
