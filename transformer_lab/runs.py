"""A training run in a folder: begin it, go on with it, and what it says about itself."""

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from transformer_lab.config import Precision, TrainingConfig, check
from transformer_lab.data.corpus import find_corpus, fingerprint
from transformer_lab.data.pair import Splits
from transformer_lab.device import pick_device
from transformer_lab.recipe import PRESETS, make_trainer, new_translator
from transformer_lab.training import distributed
from transformer_lab.training.trainer import StepReport, Stop, Trainer
from transformer_lab.translator import DESCRIPTION, Translator

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
        if said.get("training") is not None:
            said["training"] = TrainingConfig.from_dict(said["training"])
        return cls(**said)

    def to_dict(self) -> dict[str, Any]:
        """The fields that are known, as plain values, ready for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass
class Run:
    """A run that was begun or resumed; `begin` and `resume` make it."""

    folder: Path
    translator: Translator
    splits: Splits[Any]
    trainer: Trainer

    @property
    def about(self) -> About:
        """What the run says about itself."""
        return About.of(self.translator)

    def train(self) -> Stop:
        """Train until a limit is reached, and save; which limit it was.

        Ctrl-C is a limit too. Of several processes the first one saves.
        """
        stop = self.trainer.train()
        if distributed.rank() == 0:
            done = self.trainer.progress
            self.translator.about |= {"steps": done.step, "tokens": done.tokens, "stop": stop}
            self.translator.save(self.folder, overwrite=True)
        return stop


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
        corpus: "world", "debian:LANGUAGE" or a TSV file.
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
    folder, known = Path(folder), find_corpus(corpus)
    preset = preset or known.preset
    check("preset", preset, f"one of {tuple(PRESETS)}", preset in PRESETS)
    asked = asked_for(max_steps, max_minutes, device, precision)
    training = replace(PRESETS[preset].training, seed=seed, **asked)
    # A short run validates too, so that one sees the loss fall.
    often = min(training.validate_every, math.ceil(training.max_steps / 3))
    training = replace(training, validate_every=often)
    pick_device(training.device)  # a device that is not here should be said before the long part
    with distributed.first_before_others():
        # A description alone, of a run that never came to a state, has nothing to lose.
        if folder.exists() and {p.name for p in folder.iterdir()} - DESCRIPTION:
            expected = "resume (--resume) to go on, or take another folder (--out)"
            raise ValueError(f"{folder} is not empty; {expected}")
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
    return started(folder, translator, splits, training, on_step, show_progress)


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
    folder = Path(folder)
    with distributed.first_before_others():
        translator = Translator.load_untrained(folder)
        about = About.of(translator)
        if about.corpus is None or about.training is None or about.preset is None or not about.data:
            said = ("corpus", "data", "preset", "training")
            lacks = next(name for name in said if not getattr(about, name))
            raise ValueError(f"{folder} was not begun by train: it says nothing of {lacks!r}")
        for name, value, begun in (("preset", preset, about.preset), ("seed", seed, about.seed)):
            fits = value is None or value == begun
            check(name, value, f"{begun!r}, as {folder} began", fits)
        training = replace(about.training, **asked_for(max_steps, max_minutes, device, precision))
        if training.decay == "linear":
            end = about.training.max_steps
            expected = f"{end}, where the learning rate of this run reaches 0"
            check("max_steps", training.max_steps, expected, training.max_steps == end)
        known = find_corpus(corpus or about.corpus)
        splits = known.splits(about.seed, about.skip_bad)
        if fingerprint(splits.train) != about.data:
            raise ValueError(
                f"corpus {known.name!r} has changed since {folder} began, or is another"
            )
        now = replace(about, corpus=known.name, training=replace(training, max_minutes=None))
        translator.about |= now.to_dict()
    run = started(folder, translator, splits, training, on_step, show_progress)
    run.trainer.resume()
    if distributed.rank() == 0:
        translator.save_description(folder)
    return run


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


def started(
    folder: Path,
    translator: Translator,
    splits: Splits[Any],
    training: TrainingConfig,
    on_step: Callable[[StepReport], None] | None,
    show_progress: bool,
) -> Run:
    """The run with its trainer, before the first step."""
    trainer = make_trainer(
        translator,
        splits,
        training,
        state_path=folder / STATE,
        on_step=on_step,
        show_progress=show_progress,
        watch_exact_match=find_corpus(translator.about["corpus"]).watched,
    )
    return Run(folder, translator, splits, trainer)
