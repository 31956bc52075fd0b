"""Training runs of a small model by one process or by several, in the order in which they are asked for.

`test_distributed.py` starts it, once with torchrun for all that two processes do.
"""

import json
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import torch

from transformer_lab.config import TrainingConfig, TransformerConfig
from transformer_lab.data.batching import encode_pairs
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.data.world.grammar import world
from transformer_lab.model import Transformer
from transformer_lab.training import distributed
from transformer_lab.training.distributed_trainer import DistributedTrainer
from transformer_lab.training.trainer import Trainer


@dataclass(frozen=True)
class Training:
    """One training: its folder, what happens in it, and its settings."""

    folder: str
    mode: str = "train"
    steps: int = 13
    dropout: float = 0.0
    divided: bool = False


def train(asked: Training) -> list:
    """How the training stopped, each step's loss and norm, the history, and the last step's number."""
    pairs = world(train=101, validation=7, test=3, seed=0)
    tokenizers = [
        WordTokenizer.train([getattr(pair, side) for pair in pairs.train])
        for side in ("source", "target")
    ]
    torch.manual_seed(distributed.rank())  # a process that starts otherwise is brought into line
    config = TransformerConfig(
        source_vocab_size=tokenizers[0].vocab_size,
        target_vocab_size=tokenizers[1].vocab_size,
        d_model=14,
        d_ff=11,
        num_heads=2,
        num_encoder_layers=1,
        num_decoder_layers=1,
        dropout=asked.dropout,
        tie_source_target=False,
    )
    losses, norms = [], []

    def on_step(report):
        losses.append(report.loss.item())
        norms.append(report.gradient_norm.item())

    Path(asked.folder).mkdir(parents=True, exist_ok=True)
    kind = DistributedTrainer if distributed.world_size() > 1 else Trainer
    trainer = kind(
        Transformer(config),
        encode_pairs(pairs.train, *tokenizers),
        encode_pairs(pairs.validation, *tokenizers),
        TrainingConfig(
            max_steps=asked.steps,
            batch_tokens=47,
            warmup_steps=3,
            validate_every=5,
            device="cpu",
            precision="fp32",
            # By their number 7 and 14 of the divided ones, by the time 20.
            save_every=7 if asked.divided else 5,
            save_minutes=1e-9 if asked.divided else None,
            shard_optimizer=asked.divided,
        ),
        on_step=on_step,
        state_path=Path(asked.folder) / "training_state.safetensors",
    )
    if asked.mode == "die" and distributed.rank() == 1:
        trainer.update_ema = lambda: os.kill(os.getpid(), signal.SIGKILL)
    if asked.mode == "disagree":  # the first wants to stop, the other never
        first = distributed.rank() == 0
        own_reason = Trainer.stop_reason
        Trainer.stop_reason = lambda self, event: "interrupted" if first else None
    if asked.mode == "resume":
        trainer.resume()
    stop = trainer.train()
    if asked.mode == "disagree":
        Trainer.stop_reason = own_reason
    return [stop, losses, norms, trainer.progress.history, trainer.progress.step]


def failed(mode: str) -> list[str]:
    """What a process says where the pairs of the others are other ones, or where another has none."""
    try:
        if mode == "other pairs":
            distributed.check_same("pairs", f"of {distributed.rank()}")
        with distributed.rank_zero_first():
            if distributed.rank() == 1:
                raise ValueError("there is no corpus")
    except ValueError as error:
        return [str(error)]
    return ["nothing"]


def main() -> None:
    """Do the training runs of the file that is given, and print a line of JSON for each."""
    torch.set_num_threads(1)
    with distributed.process_group("cpu"):
        for asked in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
            training = Training(**asked)
            fails = training.mode in ("other pairs", "no corpus")
            print(json.dumps(failed(training.mode) if fails else train(training)), flush=True)


if __name__ == "__main__":
    main()
