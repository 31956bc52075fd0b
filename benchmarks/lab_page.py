"""The lab in a browser: its size, the time to its first answer, and what each act costs."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np
from circuitsvis.attention import attention_heads
from playwright.sync_api import Locator

from benchmarks.browser import MEGA, open_page
from benchmarks.machine import describe_run
from benchmarks.report import Target, table, target_table
from benchmarks.timing import Times
from tools.browser import launch_chromium
from transformer_lab.lab.guide import NOUN_FINDER, famous_guide
from transformer_lab.lab.open_lab import lab
from transformer_lab.translator import Translator

FRAME = '<!doctype html>\n<meta charset="utf-8">\n<title>CircuitsVis</title>\n<body>\n{}\n</body>\n'
SETTLED = "new Promise((done) => setTimeout(done, 500))"
"""Waits until what an act postpones is written, such as the address, before the next one begins."""
SCORED = """(async () => {
    document.querySelector('.more').open = true;
    const list = document.querySelector('.all-heads select');
    list.value = 'aer';
    if (!list.value) throw new Error('the list has no colour “aer”');
    list.dispatchEvent(new Event('change'));
    while (!document.querySelector('.dot.beside')) await new Promise((done) => setTimeout(done, 50));
})()"""
LOOPS = """(() => {
    const forget = (layer) => {
        delete layer.multiply;
        const parts = Object.values(layer);
        parts.filter((part) => part?.constructor === Object).forEach(forget);
    };
    forget(transformerLab.engine.model.parameters);
    if (transformerLab.engine.model.output.multiply) throw new Error('the kernel is still there');
})()"""
"""Take the kernel away from the engine's layers, so that they multiply in plain loops."""
SWEEP = """const options = [...document.querySelectorAll("[data-control='heads'] option")];
const codes = options.map(({ value }) => value);
if (codes.length !== 24) throw new Error(`there are ${codes.length} heads; expected 24`);
codes.forEach((code) => {
    const kinds = { e: 'encoder', d: 'decoder', c: 'cross' };
    const mute = [{ kind: kinds[code[0]], layer: code[1] - 1, head: code[3] - 1 }];
    transformerLab.engine.translate(OTHER, { mute });
})"""
TRANSLATION = "a translation, with a look at every head"
ENGINE = {
    TRANSLATION: ("transformerLab.engine.translate(OTHER)", 10),
    "24 heads muted one after the other": (SWEEP, 250),
    "a hundred translations": (
        "for (let i = 0; i < 100; i++) transformerLab.engine.translate(OTHER)",
        1000,
    ),
}
"""What the engine does alone, without a picture, and the most milliseconds that it may take."""
ACTS = {
    "edit: the other sentence is translated": "transformerLab.state.translate(OTHER)",
    "mute of a head": "document.querySelector(\"[data-control='mute']\").click()",
    "patch of a row": "document.querySelector(\"[data-control='point']\").click()",
    "another row of the open head": "document.querySelector(\"[data-control='query 3']\").click()",
    "another head": "transformerLab.state.openHead({ kind: 'encoder', layer: 0, head: 1 })",
    "scores of all heads over 100 sentences, and of an untrained model's, in slices": SCORED,
}


@contextmanager
def lab_file() -> Iterator[Path]:
    """Write the lab with the shipped model into a file that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        page = lab(Translator.load(device="cpu"), **famous_guide())
        yield page.to_html(Path(folder) / "lab.html")


def measure_engine(rounds: int) -> dict[str, tuple[Times, Times]]:
    """Time the engine alone for each of `ENGINE`, with its kernel and with plain loops."""
    other = repr(famous_guide()["sentences"][1])
    found: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in ENGINE}
    with lab_file() as path, launch_chromium() as browser:
        for turn in range(rounds + 1):
            with open_page(browser, path, {}) as page:
                page.ask(SETTLED)
                for way in range(2):
                    if way:
                        page.ask(LOOPS)
                    for name, (act, _) in ENGINE.items():
                        work = partial(page.ask, f"(() => {{ {act.replace('OTHER', other)}; }})()")
                        work()  # warms up: the browser compiles what it runs often
                        seconds = page.work(work)
                        if turn:
                            found[name][way].append(seconds)
    return {name: (Times(kernel), Times(loops)) for name, (kernel, loops) in found.items()}


def measure(rounds: int) -> tuple[int, list[float], dict[str, Times]]:
    """Return the page's bytes, the seconds to its first answer, and each act's seconds of work."""
    other = famous_guide()["sentences"][1]
    who = f"#head={NOUN_FINDER}&row=10&key=5"
    drawn: list[float] = []
    work: dict[str, list[float]] = {name: [] for name in ACTS}
    with lab_file() as path, launch_chromium() as browser:
        for turn in range(rounds + 1):
            with open_page(browser, path, {}) as page:
                seconds = page.seconds_to_drawn
                seen = {}
                for name, act in ACTS.items():
                    page.ask(f"location.hash = '{who}'")
                    page.ask(SETTLED)
                    seen[name] = page.work(partial(page.ask, act.replace("OTHER", repr(other))))
            if turn:  # at first the browser is still starting
                drawn.append(seconds)
                for name, value in seen.items():
                    work[name].append(value)
        size = path.stat().st_size
    return size, drawn, {name: Times(values) for name, values in work.items()}


def measure_circuitsvis(rounds: int) -> tuple[int, list[float], Times]:
    """Return the same for the encoder's heads in CircuitsVis, whose only act is another head."""
    record = Translator.load(device="cpu").attend(famous_guide()["sentences"][0])
    heads = np.concatenate(record.encoder)
    page_of = attention_heads(attention=heads, tokens=list(record.source_tokens))
    drawn, work = [], []
    with tempfile.TemporaryDirectory() as folder, launch_chromium() as browser:
        path = Path(folder) / "circuitsvis.html"
        # As without a network: the script is in the page itself.
        path.write_text(FRAME.format(page_of.local_src), encoding="utf-8")
        for turn in range(rounds + 1):
            with open_page(browser, path, {}) as page:
                canvases = page.page.locator("canvas")
                check_canvases(
                    "CircuitsVis does not draw each head and the open one", canvases, 1 + len(heads)
                )
                where = canvases.nth(1).bounding_box()
                assert where is not None  # it is drawn
                middle = where["x"] + where["width"] / 2, where["y"] + where["height"] / 2
                seconds = page.work(partial(page.page.mouse.click, *middle))
                if turn:
                    drawn.append(page.seconds_to_drawn)
                    work.append(seconds)
        size = path.stat().st_size
    return size, drawn, Times(work)


def check_canvases(otherwise: str, found: Locator, count: int) -> None:
    """Raise a RuntimeError if a page does not show what is to be timed."""
    if found.count() != count:
        raise RuntimeError(f"{otherwise}: it has {found.count()} canvases; expected {count}")


def format_milliseconds(times: Times) -> str:
    """Return the median and, in brackets, the fastest."""
    return f"{1000 * times.median:,.1f} ({1000 * times.best:,.1f}) ms"


def section(rounds: int) -> str:
    """Return the section on the lab with the shipped model and a sentence of twelve tokens."""
    size, drawn, work = measure(max(rounds, 5))
    other_size, other_drawn, other_head = measure_circuitsvis(max(rounds, 5))
    rows = [
        ["page", f"{size / MEGA:.2f} MB", f"{other_size / MEGA:.2f} MB"],
        ["first drawing", *(f"{1000 * median(times):,.0f} ms" for times in (drawn, other_drawn))],
    ]
    rows += [
        [
            name,
            format_milliseconds(times),
            format_milliseconds(other_head) if name == "another head" else "–",
        ]
        for name, times in work.items()
    ]
    engine = measure_engine(max(rounds, 5))
    alone = [
        [
            name,
            *map(format_milliseconds, both),
            f"{both[1].median / both[0].median:.1f}",
        ]
        for name, both in engine.items()
    ]
    words = f"""\
The shipped translator (802,681 parameters, half precision) in one page, a sentence of 12 tokens, \
Chromium without a GPU. {describe_run(max(rounds, 5))} First drawing: from the beginning of the \
navigation to the frame after the first translation, or the first heads, are drawn. The others: \
main-thread work of one act, as for a record; median and, in brackets, the fastest.

CircuitsVis {version("circuitsvis")} shows the encoder's heads of the same \
sentence, with its script in the page. It has none of the other acts, and no page for \
cross-attention: it draws given weights between the tokens of one sentence, and runs no model. \
BertViz, measured above, draws given weights too.
"""
    promised = [
        Target(
            f"{name}, in ms of main-thread work",
            1000 * work[name].median,
            10,
            True,
            f"One translation by the engine takes {1000 * engine[TRANSLATION][0].median:.0f} ms of it.",
        )
        for name in list(ACTS)[:3]
    ]
    promised.insert(0, Target("page, in MB", size / MEGA, 2.2, True))
    promised += [
        Target(f"engine: {name}, in ms", 1000 * engine[name][0].median, limit, True)
        for name, (_, limit) in ENGINE.items()
    ]
    return "\n".join(
        [
            words,
            table(["", "lab", "CircuitsVis"], rows),
            "\nThe engine alone, in the same page, without a picture:\n",
            table(["", "WebAssembly", "plain loops", "ratio"], alone),
            target_table(promised, "limit"),
        ]
    )
