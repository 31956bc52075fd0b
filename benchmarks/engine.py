"""CTranslate2 in a process that has loaded nothing else.

    python -m benchmarks.engine answer|peak FOLDER BEAMS WORKERS [LENGTH] THREADS

`benchmarks.decoding` writes the folder: the model, and sources.json with each sentence's tokens.
"""

import json
import sys
from functools import partial
from pathlib import Path

import ctranslate2

from benchmarks.answer import time_or_peak


def main() -> None:
    """Decode as often as requested, or once to measure the peak memory."""
    what, folder, beams, workers, *length, threads = sys.argv[1:]
    count = int(workers)
    engine = ctranslate2.Translator(
        folder,
        device="cpu",
        inter_threads=count,
        intra_threads=int(threads) // count,
    )
    words = json.loads((Path(folder) / "sources.json").read_text(encoding="utf-8"))
    decode = partial(
        engine.translate_batch,
        words,
        beam_size=int(beams),
        length_penalty=0.6,
        return_scores=True,
        max_batch_size=len(words) // count,
    )
    time_or_peak(what, lambda length: decode(max_decoding_length=length), length)


if __name__ == "__main__":
    main()
