"""Alt text made from a picture's numbers, for readers who cannot see the picture."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from transformer_lab.config import join_with_and

MOST_ROWS = 12  # rows of a map, or bars of a row, to name one by one; nobody listens to more
MOST_NUMBERS = 60  # numbers of a matrix to read out one by one


def add_alt_text(figure: Figure, title: str, seen: str) -> None:
    """Attach alt text to a figure: first the title, then a description of the picture.

    The text is stored in the figure's label, where `show` looks for it.
    """
    title = title.strip()
    if title and title[-1] not in ".!?…":
        title += "."
    figure.set_label(f"{title} {seen[:1].upper()}{seen[1:]}".strip())


def format_number(value: float) -> str:
    """Format a number with three significant digits for reading aloud, such as 0.0123 or 16,400."""
    if np.isnan(value):
        return "nothing"
    if np.isinf(value):
        return "infinity" if value > 0 else "−infinity"
    rounded = float(f"{value:.3g}")
    text = f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:g}"
    return text.replace("-", "−")


def describe_map(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str],
    *,
    row: int | None = None,
    mask: np.ndarray | None = None,
) -> str:
    """Describe a map of weights: the strongest key of each query, the framed row, and the mask."""
    text = f"Map of weights, {len(queries)} rows by {len(keys)} columns. "
    order = sorted(range(len(queries)), key=lambda n: -weights[n].max())[:MOST_ROWS]
    some = "" if len(order) == len(queries) else f" of the {MOST_ROWS} sharpest rows"
    strongest = [describe_strongest(weights[n], queries[n], keys) for n in sorted(order)]
    text += f"Largest weight{some}: {', '.join(strongest)}."
    if row is not None:
        best = np.argsort(-weights[row], kind="stable")[:3]
        largest = join_with_and([f"{keys[key]} {weights[row, key]:.2f}" for key in best])
        text += f" In the framed row, {queries[row]}: {largest}."
    if mask is not None and not mask.all():
        hidden = int((~mask).sum())
        text += f" The mask hides {hidden} {'cell' if hidden == 1 else 'cells'} (grey)."
    return text


def describe_strongest(weights: np.ndarray, query: str, keys: Sequence[str]) -> str:
    """Name the key that has the largest weight in a row, and give that weight."""
    return f"{query} on {keys[int(weights.argmax())]} {weights.max():.2f}"


def describe_panels(panels: Mapping[str, np.ndarray], keys: Sequence[str]) -> str:
    """Describe several maps of weights: how sharp each is, and the key most often favoured."""
    said = []
    for name, weights in panels.items():
        best = weights.argmax(axis=1)
        key = int(np.bincount(best).argmax())
        said.append(
            f"{name}: the largest weight of a row is {weights.max(axis=1).mean():.2f} on average, "
            f"most often on {keys[key]} ({int((best == key).sum())} of {len(best)} rows)"
        )
    return f"Maps of weights side by side. {'; '.join(said)}."


def describe_bars(rows: np.ndarray, labels: Sequence[str], keys: Sequence[str]) -> str:
    """Describe rows of bars: the three highest in each row, or all of them if there are few."""
    said = []
    for label, heights in zip(labels, rows, strict=True):
        few = len(keys) <= MOST_ROWS
        best = range(len(keys)) if few else np.argsort(-heights, kind="stable")[:3]
        bars = join_with_and([f"{keys[key]} {heights[key]:.2f}" for key in best])
        said.append(f"{label}: {bars}" if few else f"{label}: highest {bars}")
    return f"Bars. {'; '.join(said)}."


def describe_lines(
    x: np.ndarray, lines: Mapping[str, np.ndarray], x_label: str, y_label: str
) -> str:
    """Describe curves: where each begins and ends, and any peak or dip in between."""
    said = [f"{name} {describe_curve(x, y)}" for name, y in lines.items()]
    return f"{y_label} over {x_label}. {'; '.join(said)}."


def drop_rounding_noise(lines: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the lines, with values below 1e-5 of the largest magnitude set to 0.

    Such values are too small to see, and they may be rounding errors, which differ between
    processors.
    """
    sizes = [abs(y[np.isfinite(y)]).max(initial=0) for y in lines.values()]
    limit = 1e-5 * max(sizes, default=0.0)
    return {name: np.where(abs(y) < limit, 0.0, y) for name, y in lines.items()}


def describe_curve(x: np.ndarray, y: np.ndarray) -> str:
    """Say where a curve begins and ends, and where any clear peak or dip lies in between."""
    there = np.flatnonzero(np.isfinite(y))
    x, y = x[there], y[there]
    if len(y) == 1:
        return f"is {format_number(y[0])} at {format_number(x[0])}"
    if y.min() == y.max():
        return f"is {format_number(y[0])} everywhere"
    start, end = (f"{format_number(y[n])} at {format_number(x[n])}" for n in (0, -1))
    text = f"goes from {start} to {end}"
    margin = 0.1 * (y.max() - y.min())
    for name, at in (("lowest", int(y.argmin())), ("highest", int(y.argmax()))):
        if min(abs(y[at] - y[0]), abs(y[at] - y[-1])) > margin:
            text += f", {name} {format_number(y[at])} at {format_number(x[at])}"
    return text


def describe_grids(
    grids: Mapping[str, np.ndarray],
    rows: Mapping[str, Sequence[str]],
    columns: Mapping[str, Sequence[str]],
    masks: Sequence[str],
    digits: int,
) -> str:
    """Describe small matrices: their numbers row by row, or the range if there are too many."""
    said = []
    for name, grid in grids.items():
        high, wide = grid.shape
        labels = rows.get(name) or [f"row {n}" for n in range(high)]
        called = " ".join(name.split())
        keys = columns.get(name) or [str(n) for n in range(wide)]
        if name in masks:
            seen = [
                describe_mask_row(label, keys, line)
                for label, line in zip(labels, grid, strict=True)
            ]
            said.append(f"{called}: {', '.join(seen)}")
        elif grid.size <= MOST_NUMBERS:
            lines = zip(labels, grid.astype(float), strict=True)
            seen = [
                f"{label} {' '.join(format_cell(v, digits) for v in line)}" for label, line in lines
            ]
            said.append(f"{called}, {high} by {wide}: {'; '.join(seen)}")
        else:
            said.append(f"{called}, {high} by {wide}: {format_range(grid)}")
    return f"{'. '.join(said)}."


def format_cell(value: float, digits: int) -> str:
    """Round a number as in its cell, and format it for reading aloud, without trailing zeros."""
    return format_number(float(f"{value:z.{digits}f}"))


def describe_mask_row(label: str, keys: Sequence[str], line: np.ndarray) -> str:
    """Say which keys a query may see, according to one row of a mask."""
    seen = [key for key, may in zip(keys, line, strict=True) if may]
    return f"{label} sees {join_with_and(seen) if seen else 'nothing'}"


def format_range(values: np.ndarray) -> str:
    """Format the range of the finite numbers, from the smallest to the largest."""
    finite = values[np.isfinite(values)].astype(float)
    return (
        f"from {format_number(finite.min())} to {format_number(finite.max())}"
        if finite.size
        else "no number"
    )


def describe_signed_map(values: np.ndarray, x_label: str, y_label: str, value_label: str) -> str:
    """Describe a large map: its size, and where its smallest and largest numbers are."""
    what = value_label or "numbers"
    low, high = (np.unravel_index(f(), values.shape) for f in (values.argmin, values.argmax))
    places = [
        f"{name} {format_number(values[at])} in row {at[0]}, column {at[1]}"
        for name, at in (("smallest", low), ("largest", high))
    ]
    size = f"{values.shape[0]} rows ({y_label}) by {values.shape[1]} columns ({x_label})"
    return f"Map of {what}, {size}: {join_with_and(places)}."


def describe_stages(stages: Mapping[str, np.ndarray]) -> str:
    """Describe arrays in the order in which they are computed: the size and range of each."""
    said = [
        f"{n}. {name}, {values.shape[0]} by {values.shape[1]}, {format_range(values)}"
        for n, (name, values) in enumerate(stages.items(), start=1)
    ]
    return f"Maps with a row for each word: {'; '.join(said)}."


def describe_clocks(angles: Mapping[str, np.ndarray], names: Sequence[str]) -> str:
    """Describe clock hands: the angle of each in degrees, clockwise from the top."""
    said = []
    for clock, name in enumerate(names):
        hands = [
            f"{what} at {float(np.degrees(row[clock])) % 360:.0f}°" for what, row in angles.items()
        ]
        said.append(f"{' '.join(name.split())}: {join_with_and(hands)}")
    return f"{len(names)} clocks. {'; '.join(said)}."


def describe_runs(runs: Mapping[str, Sequence[float]], x_label: str) -> str:
    """Describe runs drawn as dots: the mean, minimum and maximum for each setting."""
    said = []
    for name, values in runs.items():
        low, high = format_number(min(values)), format_number(max(values))
        count = f"{len(values)} run{'s' * (len(values) > 1)}"
        between = f", {low} to {high}" if low != high else ""
        said.append(f"{name} {format_number(float(np.mean(values)))}{between} ({count})")
    return f"{x_label}, mean and range of the runs. {'; '.join(said)}."
