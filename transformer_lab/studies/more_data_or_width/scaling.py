"""Lesson 14's second study: does a translator keep improving with more data, and with more width?

    python -m transformer_lab.studies.more_data_or_width.scaling

The base model of the ablations is trained on 250 to 32,000 pairs. Variants of it with a d_model of
16 to 128 are trained on 8,000 pairs. All runs take the same number of steps, so 250 pairs are seen
over a hundred times and 32,000 pairs only once. The study leaves out depth, longer training for
larger models, and anything that takes more than a minute on one core.
"""

from typing import Any

from transformer_lab.studies.common.grid import Setting, run_study_command
from transformer_lab.studies.table_3 import ablations

NAME = "scaling"
PAIRS = (250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
WIDTHS = (16, 32, 96, 128)
"""The values of d_model other than the base model's 64; d_ff is four times as large."""
WIDTH_PAIRS = 8_000

GRID: list[Setting] = [
    {**ablations.BASE, "row": row, **changes, "seed": seed}
    for seed in (0, 1, 2)
    for row, changes in [
        *[("data", {"pairs": pairs}) for pairs in PAIRS],
        *[("width", {"pairs": WIDTH_PAIRS, "d_model": d, "d_ff": 4 * d}) for d in WIDTHS],
    ]
]
SMALL: list[Setting] = [
    {**ablations.BASE, "row": "small", "pairs": 250, "steps": 40, "seed": seed} for seed in range(5)
]
"""Runs of a few seconds; the tests repeat one of them."""


def run(setting: Setting) -> dict[str, Any]:
    """Train one translator, and return the same scores as `table_3.ablations.run`."""
    return ablations.run(setting)


if __name__ == "__main__":
    run_study_command(NAME, run, [*SMALL, *GRID])
