"""Decoding: new tokens per second, if every sentence has to reach the same length.

Each candidate has a process of its own, which loads no library that it does not need. The threads of
a library stay awake for a while after their work, waiting for more, so two libraries in one process
would disturb each other.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from benchmarks.answer import time_or_peak
from benchmarks.machine import describe_run
from benchmarks.memory import peak_megabytes
from benchmarks.peers import LARGE, SMALL, Size, TutorialTransformer, make_marian, make_ours
from benchmarks.report import Target, table, target_table
from benchmarks.timing import Times, explain_miss, measure_shares, median_ratio, sum_products
from transformer_lab.data.batching import EOS_ID, PAD_ID
from transformer_lab.decoding import beam_search, greedy
from transformer_lab.formats.to_ctranslate2 import build_spec
from transformer_lab.model import Transformer

SIZES = {"small": SMALL, "large": LARGE}
LENGTHS = (40, 128)
SENTENCES = 32
BEAM = 4
NEVER = -1e4  # the logit of eos for all candidates, so that none stops early
ENGINES = Path(tempfile.gettempdir()) / f"engines-{os.getpid()}"
AWAKE = 0.3  # seconds until the threads of the previous candidate are asleep

Decode = Callable[[int], object]
"""A function that decodes the sentences until they have this many new tokens."""


def draw_sources(size: Size) -> Tensor:
    """Draw random sentences of 10 to 25 tokens plus eos, padded."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, size.vocab, (SENTENCES, 26), generator=generator)
    lengths = torch.randint(10, 26, (SENTENCES,), generator=generator)
    at = torch.arange(26)
    ids[at > lengths[:, None]] = PAD_ID
    ids[at == lengths[:, None]] = EOS_ID
    return ids


def make_decoder(name: str, size: Size) -> Decode:
    """Return one of the compared decoders, with a model of its own.

    The seed is the same for all, and so are the weights where that is possible.
    """
    torch.manual_seed(0)
    source = draw_sources(size)
    beams = BEAM if "beam" in name else 1
    if name.startswith("MarianMT"):
        peer = make_marian(size).eval()
        peer.final_logits_bias[0, EOS_ID] = NEVER
        mask = (source != PAD_ID).long()
        return lambda length: peer.generate(
            input_ids=source,
            attention_mask=mask,
            max_new_tokens=length,
            num_beams=beams,
            do_sample=False,
        )
    if name.startswith("`nn.Transformer`"):
        tutorial = TutorialTransformer(size).eval()
        with torch.no_grad():
            tutorial.output.bias[EOS_ID] = NEVER
        return lambda length: tutorial.greedy(source, length)
    model = make_endless_model(size)
    if "compiled" in name:
        for layer in model.decoder.layers:
            layer.compile(dynamic=True)
    if beams > 1:
        return lambda length: beam_search(model, source, beam_size=beams, max_length=length)
    return lambda length: greedy(model, source, max_length=length)


def make_endless_model(size: Size) -> Transformer:
    """Return our model so that it never ends a sentence; it is the same at each call."""
    torch.manual_seed(0)
    model = make_ours(size).eval()
    with torch.no_grad():
        model.output.bias[EOS_ID] = NEVER
    return model


def write_for_ctranslate2(size: Size, folder: Path) -> None:
    """Write our model for CTranslate2, in float32, and the sentences to translate."""
    words = [str(i) for i in range(size.vocab)]
    build_spec(make_endless_model(size), words, words).save(str(folder))
    tokens = [[str(i) for i in row if i != PAD_ID] for row in draw_sources(size).tolist()]
    (folder / "sources.json").write_text(json.dumps(tokens), encoding="utf-8")


def build_command(what: str, name: str, size: str, *length: str) -> list[str]:
    """Return the command that starts a process that decodes as `name` does."""
    threads = str(torch.get_num_threads())
    if name.startswith("CTranslate2"):
        beams = str(BEAM if "beam" in name else 1)
        workers = threads if "workers" in name else "1"
        folder = str(ENGINES / size)
        asked = ["benchmarks.engine", what, folder, beams, workers, *length, threads]
    else:
        asked = ["benchmarks.decoding", what, name, size, *length, threads]
    return [sys.executable, "-m", *asked]


class DecoderProcess:
    """A decoder in a process of its own, which decodes on request and says how long it took."""

    def __init__(self, name: str, size: str):
        self.process = subprocess.Popen(  # noqa: S603
            build_command("answer", name, size),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.started = self.seconds_of(LENGTHS[0])

    def seconds_of(self, length: int) -> float:
        """Decode to this length, once the threads of all others are asleep; return the seconds."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        time.sleep(AWAKE)
        self.process.stdin.write(f"{length}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self) -> None:
        """End the process."""
        self.process.communicate()


UNCACHED = "`nn.Transformer`, uncached"
GREEDY = ("MarianMT, greedy", "CTranslate2, greedy", "CTranslate2, workers, greedy", "ours, greedy")
BEAMS = ("MarianMT, beam 4", "CTranslate2, beam 4", "CTranslate2, workers, beam 4", "ours, beam 4")
COMPILED = "ours, compiled, greedy"


def time_rounds(names: tuple[str, ...], size: str, rounds: int) -> dict[int, dict[str, Times]]:
    """Return the seconds of each candidate at each length; the candidates take turns."""
    asked = {name: DecoderProcess(name, size) for name in names}
    times = {}
    for length in LENGTHS:
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(rounds):
            for name, one in asked.items():
                seconds[name].append(one.seconds_of(length))
        times[length] = {name: Times(values) for name, values in seconds.items()}
    for one in asked.values():
        one.close()
    return times


def section(rounds: int) -> str:
    """Return the section: rates, memory and the targets for them."""
    rounds = max(rounds, 5)
    parts, targets = [], []
    try:
        for name, size in SIZES.items():
            (ENGINES / name).mkdir(parents=True)
            write_for_ctranslate2(size, ENGINES / name)
            # Uncached and in `generate`, the larger size takes minutes and shows nothing new.
            names = (UNCACHED, *GREEDY, *BEAMS) if name == "small" else (*GREEDY[1:], *BEAMS[1:])
            times = time_rounds(names, name, rounds)
            parts.append(f"**{size.name}**\n")
            parts += [format_rates(times[length], name, length) for length in LENGTHS]
            targets += list_targets(times, name)
    finally:
        shutil.rmtree(ENGINES, ignore_errors=True)
    about = (
        f"{SENTENCES} sentences in one batch, float32, random weights; the logit of "
        "eos is lowered so that every sentence runs to the length. Tokens are those of the best "
        "hypothesis. Each candidate has a process of its own, and is asked when the threads of the "
        "one before sleep. *Workers*: CTranslate2 with one thread for each part of the batch, "
        "where otherwise all threads work on the whole batch, as ours do. Peak memory is what "
        "decoding adds to a fresh process that holds the model and "
        f"has decoded two words. {describe_run(rounds)}\n"
    )
    return "\n".join([about, *parts, measure_compiled(rounds), target_table(targets)])


def format_rates(times: dict[str, Times], size: str, length: int) -> str:
    """Return a table of tokens per second and memory."""
    tokens = SENTENCES * length
    slowest = times.get(UNCACHED)
    rows = [
        (
            name,
            f"{tokens / t.median / 1e3:.1f} ({tokens / t.best / 1e3:.1f})",
            f"{median_ratio(slowest, t):.1f}" if slowest else "–",
            f"{peak_megabytes(*build_command('peak', name, size, str(length))):.0f} MB",
        )
        for name, t in times.items()
    ]
    return table([f"{length} new tokens", "k tokens/s", "× uncached", "peak memory"], rows)


def list_targets(times: dict[int, dict[str, Times]], size: str) -> list[Target]:
    """Return the targets for our package at one size."""
    mine = {name: make_decoder(name, SIZES[size]) for name in (GREEDY[-1], BEAMS[-1])}
    share = {
        name: sum_products(measure_shares(partial(run, LENGTHS[0]))) for name, run in mine.items()
    }
    wanted = [
        ("greedy to CTranslate2", GREEDY[1], GREEDY[-1], 1.0),
        ("beam 4 to CTranslate2", BEAMS[1], BEAMS[-1], 0.9),
    ]
    targets = []
    for length, uncached in zip(LENGTHS, (6.0, 15.0), strict=True):
        of_small = [
            ("greedy to uncached", UNCACHED, GREEDY[-1], uncached),
            ("greedy to `generate`", GREEDY[0], GREEDY[-1], 1.8),
            ("beam 4 to `generate`", BEAMS[0], BEAMS[-1], 2.0),
        ]
        for what, slow, name, goal in [*(of_small if size == "small" else []), *wanted]:
            reached = median_ratio(times[length][slow], times[length][name])
            which = f"d_model {SIZES[size].d_model}, {length} tokens: {what}"
            targets.append(Target(which, reached, goal, reason=explain_miss(reached, share[name])))
    return targets


def measure_compiled(rounds: int) -> str:
    """Measure the decoder's layers compiled by `torch.compile`, if there is a compiler.

    This is separate from the other measurements.
    """
    if not shutil.which("g++"):
        return "`torch.compile` was not tried: there is no g++.\n"
    plain, fast = DecoderProcess(GREEDY[-1], "small"), DecoderProcess(COMPILED, "small")
    length = LENGTHS[-1]
    seconds = [(plain.seconds_of(length), fast.seconds_of(length)) for _ in range(rounds)]
    plain.close()
    fast.close()
    times = [Times(list(one)) for one in zip(*seconds, strict=True)]
    return (
        f"`torch.compile` of the decoder's layers ({SIZES['small'].name}, {length} tokens, greedy): "
        f"{median_ratio(*times):.2f} times as fast as without, and {fast.started:.0f} s for the first "
        "sentence.\n"
    )


def main() -> None:
    """Decode here: `python -m benchmarks.decoding answer|peak NAME SIZE [LENGTH] THREADS`."""
    what, name, size, *length, threads = sys.argv[1:]
    torch.set_num_threads(int(threads))
    time_or_peak(what, make_decoder(name, SIZES[size]), length)


if __name__ == "__main__":
    main()
