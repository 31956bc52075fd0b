"""The run that is disturbed: `transformer-lab train`, small, and saved every third step.

It trains on 211 sentences of the bilingual world with dropout, so that its random numbers count too.
In a process of its own: `python -m tools.stress.chaos.disturbed train …`, which torchrun starts.
"""

import hashlib
import sys
from functools import partial
from pathlib import Path

import torch

from transformer_lab.command.main import main
from transformer_lab.config import TrainingConfig, TransformerConfig
from transformer_lab.data.world.grammar import world
from transformer_lab.runs.card import CARD
from transformer_lab.runs.presets import PRESETS, Preset
from transformer_lab.runs.run import STATE
from transformer_lab.storage.folder import DESCRIPTION, WEIGHTS
from transformer_lab.storage.tensors import load_tensors

PRESET = "disturbed"
STEPS = 60
SAVE_EVERY = 3
PAIRS = 211
SENTENCE = "the cat sleeps"
WHOLE = DESCRIPTION | {CARD, WEIGHTS, STATE}
"""The files in the folder of a run that has ended; there must be no other."""

PRESETS[PRESET] = Preset(
    partial(
        TransformerConfig.tiny,
        d_model=62,
        d_ff=127,
        num_heads=2,
        dropout=0.1,
        max_length=47,
    ),
    TrainingConfig(
        max_steps=STEPS,
        batch_tokens=307,
        warmup_steps=5,
        validate_every=20,
        save_every=SAVE_EVERY,
        precision="fp32",
        device="cpu",
    ),
    vocab_size=283,
)


def write_corpus(path: Path) -> None:
    """Write sentences of the bilingual world into a file that serves as a user's own corpus."""
    pairs = world(train=PAIRS, validation=0, test=0, seed=0).train
    path.write_text("".join(f"{p.source}\t{p.target}\n" for p in pairs), encoding="utf-8")


def begin(corpus: Path, out: Path) -> list[str]:
    """Return the arguments that start a run."""
    return ["train", "--corpus", str(corpus), "--preset", PRESET, "--out", str(out)]


def resume(out: Path) -> list[str]:
    """Return the arguments that resume a run."""
    return ["train", "--resume", "--out", str(out)]


def go_on(corpus: Path, out: Path) -> list[str]:
    """Return the arguments that resume a run, or start it again if it has saved no state."""
    return resume(out) if (out / STATE).exists() else begin(corpus, out)


def translate(out: Path) -> list[str]:
    """Return the arguments that translate with what a run has saved."""
    return ["translate", "--model", str(out), "--beam", "1", SENTENCE]


def step_of(out: Path) -> int | None:
    """Return the step of the saved state, None without one; a damaged one is a CheckpointError."""
    path = out / STATE
    return load_tensors(path)[1]["progress"]["step"] if path.exists() else None


def sum_of_weights(out: Path) -> str:
    """Return the SHA-256 of the names and numbers of the final weights."""
    tensors, _ = load_tensors(out / WEIGHTS)
    whole = hashlib.sha256()
    for name in sorted(tensors):
        whole.update(name.encode() + tensors[name].numpy().tobytes())
    return whole.hexdigest()


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(sys.argv[1:]))
