"""The lab on a record against BertViz, in one browser: size, drawing time, interactions, memory."""

import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from importlib.metadata import version
from pathlib import Path
from statistics import median

import numpy as np
from jaxtyping import Float
from playwright.sync_api import Browser

from benchmarks.bertviz_scripts import check_addresses, load_bertviz_scripts
from benchmarks.browser import MEGA, open_page
from benchmarks.machine import describe_run
from benchmarks.report import Target, table, target_table
from benchmarks.timing import Times, median_ratio
from tools.browser import launch_chromium
from transformer_lab.attention.record import AttentionRecord
from transformer_lab.figures.bertviz import head_view, model_view
from transformer_lab.lab import lab

LAYERS, HEADS = 6, 8
LENGTHS = (12, 40, 100)
LONG = 512
FRAME = '<!doctype html>\n<meta charset="utf-8">\n<title>BertViz</title>\n<body>\n{}\n</body>\n'
HOVERED = (2, 5, 8, 11)
"""The tokens that the pointer visits one after the other; they are rows and columns of our map."""


@dataclass(frozen=True)
class Candidate:
    """One way to look at a record, and how its page is used.

    The fields after `build` are expressions in the page.
    """

    name: str
    build: Callable[[AttentionRecord, Path], object]
    """Write the page of the encoder's heads, which can change to the other two kinds."""
    whole: str
    """Whether everything is drawn, for `n` tokens."""
    change_head: str
    change_kind: str
    places: str
    """The positions of the tokens to hover over: a list of (x, y)."""
    marked: str
    """Whether the page shows that the pointer is over token `i`."""
    deeper: str = ""
    """Draws all heads small; empty if they are drawn from the beginning."""


def select_option(select: str, value: int | str) -> str:
    """Return the expression that chooses another option of a list, as a reader does."""
    return (
        f"(document.querySelector('{select}').value = {value!r}, "
        f"document.querySelector('{select}').dispatchEvent(new Event('change')), true)"
    )


def list_middles(tokens: str) -> str:
    """Return the expression for the centres of the `HOVERED` ones among these elements."""
    return (
        f"{list(HOVERED)}.map((i) => {tokens}[i].getBoundingClientRect())"
        ".map((box) => [box.x + box.width / 2, box.y + box.height / 2])"
    )


OURS = Candidate(
    "the lab",
    lambda record, path: lab(record, start="head=e1.1&view=map").to_html(path, overwrite=True),
    whole=f"document.querySelectorAll('[data-control=\"heads\"] option').length === {3 * LAYERS * HEADS}"
    " && (document.querySelectorAll('.weight-map tbody tr').length === n"
    " || document.querySelector('.cells canvas').width === n)",
    change_head=select_option('[data-control="heads"]', "e1.2"),
    change_kind=select_option('[data-control="heads"]', "d1.2"),
    # Large maps are pictures, and small ones are tables.
    places=f"""(() => {{
        document.querySelector('.weight-map').scrollIntoView();
        const place = (x, y, width, height) => [x + width / 2, y + height / 2];
        const whole = document.querySelector('.cells')?.getBoundingClientRect();
        return {list(HOVERED)}.map((i) => {{
            const [wide, tall] = [whole?.width / n, whole?.height / n];
            if (whole) return place(whole.x + i * wide, whole.y + i * tall, wide, tall);
            const cell = document.querySelector(`td[data-row="${{i}}"][data-key="${{i}}"]`);
            const {{ x, y, width, height }} = cell.getBoundingClientRect();
            return place(x, y, width, height);
        }});
    }})()""",
    marked="document.querySelector('.readout').textContent.startsWith(`The weight of “word${i}” is `)",
    deeper="document.querySelector('.more').open = true",
)
MODEL_VIEW = Candidate(
    "BertViz, model view",
    lambda record, path: path.write_text(FRAME.format(model_view(record).data), encoding="utf-8"),
    whole=f"document.querySelectorAll('line').length === {LAYERS * HEADS} * n * n",
    # The last element of a drawing is the one that reacts to a click.
    change_head="document.querySelector('#attn_background_0_1').parentNode.lastChild"
    ".dispatchEvent(new MouseEvent('click'))",
    change_kind=select_option("#filter", 1),
    places=list_middles("document.querySelectorAll('.detail .highlight')"),
    marked="document.querySelectorAll('.attn-line-group[style*=\"opacity: 0\"]').length === n - 1",
)
HEAD_VIEW = Candidate(
    "BertViz, head view",
    lambda record, path: path.write_text(FRAME.format(head_view(record).data), encoding="utf-8"),
    whole=f"document.querySelectorAll('line').length === {HEADS} * n * n",
    change_head=select_option("#layer", 3),
    change_kind=select_option("#filter", 1),
    places=list_middles("document.querySelectorAll('#left text')"),
    marked=f"document.querySelectorAll('line[visibility=visible]').length === {HEADS} * n",
)
CANDIDATES = (OURS, MODEL_VIEW, HEAD_VIEW)


@dataclass
class Measurement:
    """The measurements of one candidate at one length, with times in seconds, one for each round."""

    payload: int = 0
    said: str = ""
    times: dict[str, list[float]] = field(default_factory=dict)
    memory: list[tuple[float, float]] = field(default_factory=list)

    def note(self, what: str, seconds: float) -> None:
        """Add one round's time."""
        self.times.setdefault(what, []).append(seconds)

    def of(self, what: str) -> Times:
        """Return the times of one thing in all rounds."""
        return Times(self.times[what])


def draw_record(tokens: int) -> AttentionRecord:
    """Draw 48 heads of each kind: softmaxes of 2 × standard normal scores, causal in the decoder."""
    draw = np.random.default_rng(0)
    earlier = np.tril(np.ones((tokens, tokens), dtype=bool))

    def layers(seen: np.ndarray) -> tuple[Float[np.ndarray, "heads query key"], ...]:
        found = []
        for _ in range(LAYERS):
            scores = 2 * draw.standard_normal((HEADS, tokens, tokens))
            powers = np.where(seen, np.exp(scores), 0)
            found.append((powers / powers.sum(-1, keepdims=True)).astype(np.float32))
        return tuple(found)

    source, target = (tuple(f"{side}{i}" for i in range(tokens)) for side in ("word", "mot"))
    everywhere = np.ones_like(earlier)
    return AttentionRecord(
        source, target, target, layers(everywhere), layers(earlier), layers(everywhere)
    )


def measure_page(
    browser: Browser,
    candidate: Candidate,
    record: AttentionRecord,
    folder: Path,
    served: dict[str, bytes],
    seen: Measurement,
) -> None:
    """Build a candidate's page, open it and use it; note the time of each step."""
    path = folder / "page.html"
    start = time.perf_counter()
    candidate.build(record, path)
    seen.note("build", time.perf_counter() - start)
    seen.payload = path.stat().st_size
    check_addresses(path.read_text(encoding="utf-8"), served)
    with open_page(browser, path, served) as page:
        seen.note("drawn", page.seconds_to_drawn)
        page.ask(f"n = {len(record.source_tokens)}")
        check_page(candidate, "is not drawn whole", page.ask(candidate.whole))
        seen.memory.append(page.megabytes())
        seen.note("head", page.work(lambda: page.ask(candidate.change_head)))
        hovers = []
        for token, (x, y) in zip(HOVERED, page.ask(candidate.places), strict=True):
            page.ask(f"i = {token}")
            hovers.append(page.work(partial(page.page.mouse.move, x, y)))
            check_page(candidate, "shows no hover", page.ask(candidate.marked))
        seen.note("hover", median(hovers))
        seen.note("kind", page.work(lambda: page.ask(candidate.change_kind)))
        if candidate.deeper:
            seen.note("deeper", page.work(lambda: page.ask(candidate.deeper)))
        note = "document.querySelector('.weight-map .note')?.textContent"
        seen.said = page.ask(
            f"{note}?.match(/Of each row .* is on average .* of a row\\./)?.[0] ?? ''"
        )


def check_page(candidate: Candidate, otherwise: str, holds: bool) -> None:
    """Raise a RuntimeError if a page does not do what is to be timed."""
    if not holds:
        raise RuntimeError(f"{candidate.name} {otherwise}")


def measure_candidates(
    browser: Browser,
    candidates: Iterable[Candidate],
    tokens: int,
    rounds: int,
    served: dict[str, bytes],
) -> dict[str, Measurement]:
    """Measure all candidates on one record; they take turns in each round."""
    record = draw_record(tokens)
    found = {candidate.name: Measurement() for candidate in candidates}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for candidate in candidates:
                seen = found[candidate.name]
                measure_page(browser, candidate, record, Path(folder), served, seen)
    return found


def format_row(tokens: int, name: str, seen: Measurement) -> list[str]:
    """Return one line of the table: medians and, in brackets, the fastest round."""

    def milliseconds(what: str) -> str:
        times = seen.of(what)
        return f"{1000 * times.median:,.0f} ({1000 * times.best:,.0f})"

    def fine(what: str) -> str:
        times = seen.of(what)
        return f"{1000 * times.median:,.1f} ({1000 * times.best:,.1f})"

    heap, process = (median(values) for values in zip(*seen.memory, strict=True))
    return [
        str(tokens),
        name,
        f"{seen.payload / MEGA:.2f} MB",
        *(milliseconds(what) for what in ("build", "drawn")),
        *(fine(what) for what in ("hover", "kind", "head")),
        fine("deeper") if "deeper" in seen.times else "–",
        f"{heap:,.1f} MB",
        f"{process:,.0f} MB",
    ]


def time_empty_page(browser: Browser, rounds: int) -> float:
    """Return how long it takes to draw an empty drawing, which no page can avoid."""
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        path.write_text(FRAME.format('<div id="vis"><svg></svg></div>'), encoding="utf-8")
        for _ in range(rounds):
            with open_page(browser, path, {}) as page:
                seconds.append(page.seconds_to_drawn)
    return median(seconds)


def list_targets(found: dict[str, Measurement], nothing: float) -> list[Target]:
    """Return the targets at 100 tokens, against BertViz's model view, which shows all heads too."""
    ours, model = found[OURS.name], found[MODEL_VIEW.name]
    drawn = median_ratio(model.of("drawn"), ours.of("drawn"))
    reason = f"A page with an empty drawing takes {1000 * nothing:.0f} ms."
    return [
        Target("BertViz's payload to ours", model.payload / ours.payload, 30),
        Target("BertViz's drawing time to ours", drawn, 20, reason=reason),
        *(
            Target(f"ours, {words}, in ms", 1000 * ours.of(what).median, limit, True, why)
            for what, words, limit, why in (
                ("drawn", "drawn", 200, reason),
                ("hover", "main-thread work of a hover", 16, ""),
                ("kind", "main-thread work of a change of kind", 16, ""),
            )
        ),
    ]


def section(rounds: int) -> str:
    """Return the section: all lengths against BertViz, and a long record in the lab alone."""
    rounds = max(rounds, 5)
    served = load_bertviz_scripts()
    with launch_chromium() as browser:
        chromium_version = browser.version.partition(".")[0]
        measure_candidates(
            browser, CANDIDATES, 2 + max(HOVERED), 1, served
        )  # the browser is still starting
        nothing = time_empty_page(browser, rounds)
        found = {n: measure_candidates(browser, CANDIDATES, n, rounds, served) for n in LENGTHS}
        long = measure_candidates(browser, [OURS], LONG, 1, served)[OURS.name]
    rows = [format_row(n, name, seen) for n in LENGTHS for name, seen in found[n].items()]
    rows.append(format_row(LONG, OURS.name, long))
    head = [
        "tokens",
        "",
        "payload",
        "build, ms",
        "drawn, ms",
        "hover, ms",
        "other kind, ms",
        "other head or layer, ms",
        "all heads, ms",
        "script's heap",
        "page's process",
    ]
    model = found[LENGTHS[-1]][MODEL_VIEW.name].payload
    would_be = model * (LONG / LENGTHS[-1]) ** 2 / 1e9
    words = f"""\
{LAYERS * HEADS} heads ({LAYERS} layers × {HEADS}) of each of three kinds, with random weights: \
softmaxes of 2 × standard normal scores, the decoder's causal. BertViz {version("bertviz")}, its \
scripts from npm (RequireJS 2.3.6, D3 5.7.0; jQuery 2.1.0, because npm has no 2.0.0) served locally; \
Chromium {chromium_version}, without a GPU. {describe_run(rounds)}

Payload: the HTML, with everything but BertViz's scripts. Build: from the record to the file, in \
Python. Drawn: from the beginning of the navigation to the frame after the first complete \
drawing. Hover, other kind, other head or layer, all heads: main-thread work of one interaction (the \
processor time that Chromium counts for the page's tasks from the event to the second frame after \
it, less that of two idle frames); the head \
is changed by a list, in BertViz's model view by a click on its drawing. The lab draws all \
{3 * LAYERS * HEADS} heads small when “Go deeper” is opened. Memory, after \
garbage collection: the script's heap, and the anonymous resident memory of the page's process, \
where an SVG's elements are. Medians of the rounds and, in brackets, the fastest.
"""
    long_words = f"""\
At {LONG} tokens the lab says: “{long.said}” BertViz was not run there: its page would need \
{would_be:.1f} GB and its model view {LAYERS * HEADS * LONG**2 / 1e6:.1f} million lines.
"""
    at = f"At {LENGTHS[-1]} tokens, to BertViz's model view:\n"
    promised = target_table(list_targets(found[LENGTHS[-1]], nothing), "ratio or limit")
    return "\n".join([words, table(head, rows), long_words, at, promised])
