"""A training run in a folder: begin it, go on with it, and what it says about itself."""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import Precision, TrainingConfig, check, is_integer
from transformer_lab.data.corpus import find_corpus, fingerprint
from transformer_lab.data.pair import Splits
from transformer_lab.device import pick_device
from transformer_lab.files import path_of, settle
from transformer_lab.lock import FolderLock
from transformer_lab.model_card import CARD, may_write, model_card
from transformer_lab.recipe import PRESETS, make_trainer, new_translator
from transformer_lab.training import distributed
from transformer_lab.training.checkpoint import CheckpointError
from transformer_lab.training.folder import DESCRIPTION, is_ours, sha256_of
from transformer_lab.training.saving import is_part
from transformer_lab.training.trainer import StepReport, Stop, Trainer
from transformer_lab.translator import Translator

STATE = "training_state.safetensors"


@dataclass(frozen=True)
class About:
    """What a run says about itself: "about" in the config.json of its folder.

    A translator from elsewhere says less of it, or nothing. `training` has no limit in minutes, as
    these are asked for anew each time; `data` is the fingerprint of the training pairs; `steps`,
    `tokens` and `stop` are those of the latest call of `train`.
    """

    corpus: str | None = None
    seed: int = 0
    preset: str | None = None
    skip_bad: bool = False
    training: TrainingConfig | None = None
    data: str | None = None
    steps: int | None = None
    tokens: int | None = None
    stop: Stop | None = None

    @classmethod
    def of(cls, translator: Translator) -> "About":
        """What this translator says; what else it says is nobody's business here."""
        said = {f.name: translator.about[f.name] for f in fields(cls) if f.name in translator.about}
        for name, kind in (("corpus", str), ("preset", str), ("data", str), ("training", dict)):
            value = said.get(name)
            check(f"about {name}", value, kind.__name__, value is None or isinstance(value, kind))
        check("about seed", said.get("seed", 0), "an integer", is_integer(said.get("seed", 0)))
        if said.get("training") is not None:
            said["training"] = TrainingConfig.from_dict(said["training"])
        return cls(**said)

    def to_dict(self) -> dict[str, Any]:
        """The fields that are known, as plain values, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass
class Run:
    """A run that was begun or resumed; `begin` and `resume` make it.

    Nobody else can write into its folder until `train` has ended, or `release` is called.
    """

    folder: Path
    translator: Translator
    splits: Splits[Any]
    trainer: Trainer
    lock: FolderLock
    left: str | None = field(default=None, init=False)
    """What the folder was when this run let go of it."""

    @property
    def about(self) -> About:
        """What the run says about itself."""
        return About.of(self.translator)

    def train(self) -> Stop:
        """Train until a limit is reached, and save; which limit it was.

        Ctrl-C is a limit too, and so is a signal to end. Of several processes the first one saves.

        Raises:
            ValueError: If another process has the folder, or has changed it since the last call.
        """
        if distributed.rank() > 0:
            return self.trainer.train()
        if not self.lock.held:
            self.lock.take()
        try:
            if self.left not in (None, sha256_of(self.folder / "config.json")):
                raise ValueError(f"{self.folder} has changed since; expected a run resumed from it")
            stop = self.trainer.train()
            done = self.trainer.progress
            self.translator.about |= {"steps": done.step, "tokens": done.tokens, "stop": stop}
            card = model_card(self.translator, self.splits).encode()
            beside = {CARD: card} if may_write(self.folder) else {}
            self.translator.write_into(self.folder, torch.float32, overwrite=True, beside=beside)
            self.left = sha256_of(self.folder / "config.json")
        finally:
            self.release()
        return stop

    def release(self) -> None:
        """Let others have the folder, as when this run is not to be trained after all."""
        self.lock.release()


@contextmanager
def lock_of(folder: Path) -> Iterator[FolderLock]:
    """A folder's lock, for the first process to take inside the block; it stays held.

    If the block fails it is let go, and no folder is left that was not there before.
    """
    lock, made = FolderLock(folder), not folder.exists()
    try:
        yield lock
    except BaseException:
        lock.release()
        if made:
            with contextlib.suppress(OSError):  # there is something in it
                folder.rmdir()
        raise


def make_room(folder: Path) -> None:
    """Clear away what a run that never came to a state has left; a ValueError if there is more.

    Hidden files are in nobody's way, and are left alone.
    """
    if is_ours(folder):
        settle(folder)
    there = {p.name for p in folder.iterdir() if not p.name.startswith(".")}
    # Parts of a state whose first file was never written are of no use to anybody.
    parts = (
        {name for name in there if is_part(folder / STATE, name)} if STATE not in there else set()
    )
    if there - DESCRIPTION - parts - ({CARD} if may_write(folder) else set()):
        expected = "resume (--resume) to go on, or take another folder (--out)"
        raise ValueError(f"{folder} is not empty; {expected}")
    settle(folder)
    for name in parts:
        (folder / name).unlink()


def begin(
    folder: str | Path,
    corpus: str = "world",
    *,
    preset: str | None = None,
    seed: int = 0,
    skip_bad: bool = False,
    max_steps: int | None = None,
    max_minutes: float | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    on_step: Callable[[StepReport], None] | None = None,
    show_progress: bool = True,
) -> Run:
    """A fresh run, described in its folder; `run.train()` does the rest.

    Args:
        folder: Where translator and state are saved; empty, or not there yet.
        corpus: "world", "debian:LANGUAGE", "hf:NAME", a file of pairs, what two files begin with, or
            a folder; with "@SOURCE,TARGET" behind it where its columns or languages have names, and
            "csv:" before it where its tables have commas and quotes.
        preset: A key of `recipe.PRESETS`; by default what suits the corpus.
        seed: Of the splits, the weights and the batches.
        skip_bad: Whether bad lines of a file are left out.
        max_steps: As in `TrainingConfig`, like the next three; by default those of the preset.
        max_minutes: Of one call of `train`.
        device: Where to train.
        precision: Of the matrix products.
        on_step: Called after each step.
        show_progress: Whether to show a progress bar.

    Raises:
        ValueError: If there is something in the folder, or an argument does not fit.
        CorpusUnavailable: Where apt or the network is missing.
    """
    folder, known = path_of(folder), find_corpus(corpus)
    preset = preset or known.preset
    check("preset", preset, f"one of {tuple(PRESETS)}", preset in PRESETS)
    asked = asked_for(max_steps, max_minutes, device, precision)
    training = replace(PRESETS[preset].training, seed=seed, **asked)
    # A short run validates too, so that one sees the loss fall.
    often = min(training.validate_every, math.ceil(training.max_steps / 3))
    training = replace(training, validate_every=often)
    pick_device(training.device)  # a device that is not here should be said before the long part
    with lock_of(folder) as lock:
        with distributed.first_before_others():
            if distributed.rank() == 0:
                lock.take()
                make_room(folder)
            with distributed.first_speaks():
                splits = known.splits(seed, skip_bad)
                translator = new_translator(splits, known.name, PRESETS[preset], seed)
            about = About(
                corpus=known.name,
                seed=seed,
                preset=preset,
                skip_bad=skip_bad,
                training=replace(training, max_minutes=None),
                data=fingerprint(splits.train),
            )
            translator.about = about.to_dict()
            if distributed.rank() == 0:
                translator.save_description(folder)
        trainer = trainer_of(folder, translator, splits, training, on_step, show_progress)
        return Run(folder, translator, splits, trainer, lock)


def resume(
    folder: str | Path,
    *,
    corpus: str | None = None,
    preset: str | None = None,
    seed: int | None = None,
    max_steps: int | None = None,
    max_minutes: float | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    on_step: Callable[[StepReport], None] | None = None,
    show_progress: bool = True,
) -> Run:
    """The run that was begun in this folder, where it stopped; `run.train()` goes on with it.

    What is not given is as it was, but for the minutes. A corpus may be given by another name, as
    when a file has been moved: its training pairs must be the same.

    Raises:
        ValueError: If no run was begun there, or what is asked is not what it was.
        CheckpointError: If its files are missing or damaged.
    """
    folder = path_of(folder)
    if not folder.is_dir():
        raise CheckpointError(f"{folder}: no such folder; expected that of a run")
    with lock_of(folder) as lock:
        with distributed.first_before_others():
            if distributed.rank() == 0:
                lock.take()
                if is_ours(folder):
                    settle(folder)
            state = folder / STATE
            room = state.stat().st_size if state.is_file() else None
            translator = Translator.load_untrained(folder, most_parameters=room)
            about = About.of(translator)
            if (
                about.corpus is None
                or about.training is None
                or about.preset is None
                or not about.data
            ):
                said = ("corpus", "data", "preset", "training")
                lacks = next(name for name in said if not getattr(about, name))
                raise ValueError(f"{folder} was not begun by train: it says nothing of {lacks!r}")
            for name, value, begun in (
                ("preset", preset, about.preset),
                ("seed", seed, about.seed),
            ):
                fits = value is None or value == begun
                check(name, value, f"{begun!r}, as {folder} began", fits)
            training = replace(
                about.training, **asked_for(max_steps, max_minutes, device, precision)
            )
            if training.decay == "linear":
                end = about.training.max_steps
                expected = f"{end}, where the learning rate of this run reaches 0"
                check("max_steps", training.max_steps, expected, training.max_steps == end)
            known = find_corpus(about.corpus if corpus is None else corpus)
            with distributed.first_speaks():
                splits = known.splits(about.seed, about.skip_bad)
            if fingerprint(splits.train) != about.data:
                raise ValueError(
                    f"corpus {known.name!r} has changed since {folder} began, or is another"
                )
            now = replace(about, corpus=known.name, training=replace(training, max_minutes=None))
            translator.about |= now.to_dict()
        trainer = trainer_of(folder, translator, splits, training, on_step, show_progress)
        trainer.resume()
        if distributed.rank() == 0:
            translator.save_description(folder)
        return Run(folder, translator, splits, trainer, lock)


def asked_for(
    max_steps: int | None, max_minutes: float | None, device: str | None, precision: str | None
) -> Mapping[str, Any]:
    """Those that are given, as fields of `TrainingConfig`."""
    given = {
        "max_steps": max_steps,
        "max_minutes": max_minutes,
        "device": device,
        "precision": precision,
    }
    return {name: value for name, value in given.items() if value is not None}


def trainer_of(
    folder: Path,
    translator: Translator,
    splits: Splits[Any],
    training: TrainingConfig,
    on_step: Callable[[StepReport], None] | None,
    show_progress: bool,
) -> Trainer:
    """The trainer of a run, before the first step; a ValueError if the processes differ in its data."""
    # Each machine has prepared its corpus, and learnt its pieces, for itself.
    distributed.check_same("fingerprint of the training pairs", translator.about["data"])
    both = translator.source_tokenizer.to_json() + translator.target_tokenizer.to_json()
    distributed.check_same("sum of the tokenizers", sha256(both.encode()).hexdigest()[:16])
    with distributed.first_speaks():
        return make_trainer(
            translator,
            splits,
            training,
            state_path=folder / STATE,
            on_step=on_step,
            show_progress=show_progress,
            watch_exact_match=find_corpus(translator.about["corpus"]).watched,
        )
