"""python -m benchmarks: measure this package and its peers in turn, and write RESULTS.md."""

import argparse
import warnings

import torch
from transformers.utils import logging

from benchmarks import decoding, imports, machine, training
from benchmarks.report import RESULTS, write_sections

SECTIONS = (
    "training",
    "decoding",
    "imports",
    "world",
    "real-text",
    "large",
    "record",
    "lab",
    "site",
    "playground",
    "first-minutes",
)
BY_DEFAULT = SECTIONS[:3]


def main() -> None:
    """Run the chosen sections."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=SECTIONS,
        default=BY_DEFAULT,
        help="sections to run. By default, these are left out: world, real-text and large, which "
        "take long; record, lab, site and playground, which need a browser, and record npm too; and "
        "first-minutes, which installs everything again",
    )
    parser.add_argument("--rounds", type=int, default=3, help="rounds of each comparison")
    parser.add_argument("--threads", type=int, default=2, help="threads for every candidate")
    chosen = parser.parse_args()
    torch.set_num_threads(chosen.threads)
    logging.set_verbosity_error()
    warnings.filterwarnings("ignore", message="The PyTorch API of nested tensors")

    # No matrices are multiplied for the pages.
    sections = (
        {}
        if set(chosen.only) <= {"record", "lab", "site", "playground", "first-minutes"}
        else {"The machine": machine.section()}
    )
    if "training" in chosen.only:
        sections["Training"] = training.section(chosen.rounds)
    if "decoding" in chosen.only:
        sections["Decoding"] = decoding.section(chosen.rounds)
    if "imports" in chosen.only:
        sections["Import time"] = imports.section(chosen.rounds)
    if "first-minutes" in chosen.only:
        from benchmarks import first_minutes

        sections["A newcomer's first minutes"] = first_minutes.section(chosen.rounds)
    if "world" in chosen.only:
        from benchmarks import world

        sections["Time to 98 % on the bilingual world"] = world.section()
    if "real-text" in chosen.only:
        from benchmarks import real_text

        sections["Twenty minutes of real text"] = real_text.section()
    if "large" in chosen.only:
        from benchmarks import large_corpus

        sections["A corpus that does not fit into memory"] = large_corpus.section()
    if "record" in chosen.only:
        from benchmarks import record_page

        sections["The lab on a record beside BertViz"] = record_page.section(chosen.rounds)
    if "lab" in chosen.only:
        from benchmarks import lab_page

        sections["The lab"] = lab_page.section(chosen.rounds)
    if "site" in chosen.only:
        from benchmarks import story

        sections["The website"] = story.section(chosen.rounds)
    if "playground" in chosen.only:
        from benchmarks import playground_page

        sections["The playground"] = playground_page.section(chosen.rounds)
    write_sections(sections)
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
