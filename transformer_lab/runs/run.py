"""A training run in a folder: starting it, resuming it, and describing it in config.json.

The command line, studies and benchmarks use this module.
"""

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch

from transformer_lab.config import Precision, TrainingConfig, check, check_choice, is_integer
from transformer_lab.config.device import pick_device
from transformer_lab.data.corpus import find_corpus, fingerprint
from transformer_lab.data.pair import Splits
from transformer_lab.data.splits import explain_new_split
from transformer_lab.runs.building import build_translator, make_trainer
from transformer_lab.runs.card import CARD, may_write_card, model_card
from transformer_lab.runs.presets import PRESETS
from transformer_lab.storage.files import expand_path, recover_folder
from transformer_lab.storage.folder import DESCRIPTION, hash_file, holds_translator
from transformer_lab.storage.lock import FolderLock
from transformer_lab.storage.tensors import CheckpointError
from transformer_lab.training import distributed
from transformer_lab.training.saving import is_shard
from transformer_lab.training.trainer import StepReport, Stop, Trainer
from transformer_lab.translator import Translator

STATE = "training_state.safetensors"


@dataclass(frozen=True)
class About:
    """The description of a run, stored as "about" in the config.json of its folder.

    A translator that does not come from a run has fewer fields, or none. `training` leaves out
    `max_minutes`, because that limit is set anew each time the run is resumed. `data` is the
    fingerprint of the training pairs, and `example` is an example sentence for a page to show.
    `steps`, `tokens` and `stop` come from the latest call to `Run.train`.
    """

    corpus: str | None = None
    seed: int = 0
    preset: str | None = None
    skip_bad: bool = False
    training: TrainingConfig | None = None
    data: str | None = None
    example: str | None = None
    steps: int | None = None
    tokens: int | None = None
    stop: Stop | None = None

    @classmethod
    def of(cls, translator: Translator) -> "About":
        """Return the description of the run that trained a translator.

        Raises:
            ValueError: If a field has the wrong type; the message names it.
        """
        said = {f.name: translator.about[f.name] for f in fields(cls) if f.name in translator.about}
        for name, kind in (
            ("corpus", str),
            ("preset", str),
            ("data", str),
            ("example", str),
            ("training", dict),
        ):
            value = said.get(name)
            fits = value is None or isinstance(value, kind)
            check(f"about[{name!r}]", value, f"a {kind.__name__}", fits)
        check("about['seed']", said.get("seed", 0), "an integer", is_integer(said.get("seed", 0)))
        if said.get("training") is not None:
            said["training"] = TrainingConfig.from_dict(said["training"])
        return cls(**said)

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are not None, as plain values for JSON."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass
class Run:
    """A run that was started by `begin_run` or resumed by `resume_run`.

    It holds the lock on its folder until `train` ends or `release` is called.
    """

    folder: Path
    translator: Translator
    splits: Splits[Any]
    trainer: Trainer
    lock: FolderLock
    released: str | None = field(default=None, init=False)
    """The SHA-256 of config.json at the moment this run released the folder."""

    @property
    def about(self) -> About:
        """The description of this run."""
        return About.of(self.translator)

    def train(self) -> Stop:
        """Train until a limit is reached, save the translator and its card, and return the limit.

        Ctrl-C, SIGTERM and SIGHUP count as limits, too. With several processes, only rank 0
        saves.

        Raises:
            ValueError: If another process holds the folder's lock, or has changed the folder since
                the last call.
            LossIsNaNError: If the loss is not finite.
        """
        if distributed.rank() > 0:
            return self.trainer.train()
        if not self.lock.is_held:
            self.lock.acquire()
        try:
            if self.released not in (None, hash_file(self.folder / "config.json")):
                raise ValueError(
                    f"another run has written to {self.folder} since this one stopped. Load this "
                    "run again with resume_run"
                )
            stop = self.trainer.train()
            done = self.trainer.progress
            self.translator.about |= {"steps": done.step, "tokens": done.tokens, "stop": stop}
            card = model_card(self.translator, self.splits).encode()
            beside = {CARD: card} if may_write_card(self.folder) else {}
            self.translator.save_in_locked(
                self.folder, torch.float32, overwrite=True, beside=beside
            )
            self.released = hash_file(self.folder / "config.json")
        finally:
            self.release()
        return stop

    def release(self) -> None:
        """Release the folder's lock, for example because this run will not be trained after all."""
        self.lock.release()


@contextmanager
def folder_lock(folder: Path) -> Iterator[FolderLock]:
    """Yield a folder's lock without acquiring it, and release it if the block raises an error.

    If the block acquires the lock and succeeds, the lock stays held. If the block raises an error,
    a folder that it has created is removed, too, unless the folder contains files.
    """
    lock, made = FolderLock(folder), not folder.exists()
    try:
        yield lock
    except BaseException:
        lock.release()
        if made:
            with contextlib.suppress(OSError):  # it is not empty
                folder.rmdir()
        raise


def clear_unstarted_run(folder: Path) -> None:
    """Clean up after a run that stopped before it saved a state; hidden files are kept.

    Raises:
        ValueError: If the folder contains anything that is not left over from such a run.
    """
    if holds_translator(folder):
        recover_folder(folder)
    there = {p.name for p in folder.iterdir() if not p.name.startswith(".")}
    # Shards are useless if the file that names them was never written.
    parts = (
        {name for name in there if is_shard(folder / STATE, name)} if STATE not in there else set()
    )
    if there - DESCRIPTION - parts - ({CARD} if may_write_card(folder) else set()):
        what = "Continue the run with --resume, or choose another folder with --out"
        raise ValueError(f"{folder} is not empty. {what}")
    recover_folder(folder)
    for name in parts:
        (folder / name).unlink()


def begin_run(
    folder: str | Path,
    corpus: str = "world",
    *,
    preset: str | None = None,
    seed: int = 0,
    skip_bad: bool = False,
    vocab_size: int | None = None,
    max_steps: int | None = None,
    max_minutes: float | None = None,
    device: str | None = None,
    precision: Precision | None = None,
    on_step: Callable[[StepReport], None] | None = None,
    show_progress: bool = True,
) -> Run:
    """Prepare a new run and write its description; to start training, call `run.train()`.

    Args:
        folder: The folder for the translator and the state; it must be empty or not exist yet.
        corpus: "world", "debian:LANGUAGE", "hf:NAME", a file of pairs, the common part of two
            files' names, or a folder. A suffix "@SOURCE,TARGET" names the columns or languages, and
            a prefix "csv:" means that tables are CSV.
        preset: A key of `runs.presets.PRESETS`; by default, the one that suits the corpus.
        seed: The seed for the splits, the weights and the batches.
        skip_bad: Whether to skip invalid lines in a file.
        vocab_size: The number of tokens in a subword vocabulary; with 260, each byte is a token.
        max_steps: This and the next three arguments are as in `TrainingConfig`; by default, they
            come from the preset.
        max_minutes: The time limit for one call to `train`, in minutes.
        device: The device to train on.
        precision: The precision of the matrix products.
        on_step: A function that is called after each step.
        show_progress: Whether to show a progress bar.

    Raises:
        ValueError: If the folder is not empty, or an argument is not allowed.
        CorpusUnavailable: If the corpus needs apt or a network connection that is not available.
    """
    folder, known = expand_path(folder), find_corpus(corpus)
    preset = preset or known.preset
    check_choice("preset", preset, PRESETS)
    asked = collect_overrides(max_steps, max_minutes, device, precision)
    training = replace(PRESETS[preset].training, seed=seed, **asked)
    size = PRESETS[preset]
    if vocab_size is not None:
        if not known.has_pieces:
            raise ValueError(
                f"vocab_size is {vocab_size}, but it cannot be set for the corpus {known.name!r}, "
                "whose vocabulary consists of all its words"
            )
        size = replace(size, vocab_size=vocab_size)
    # A short run validates, too, so that you can see the loss fall.
    often = min(training.validate_every, math.ceil(training.max_steps / 3))
    training = replace(training, validate_every=often)
    pick_device(training.device)  # fail before the long part if the device is missing
    with folder_lock(folder) as lock:
        with distributed.rank_zero_first():
            if distributed.rank() == 0:
                lock.acquire()
                clear_unstarted_run(folder)
            with distributed.print_on_rank_zero():
                splits = known.splits(seed, skip_bad)
                translator = build_translator(splits, known.name, size, seed)
            about = About(
                corpus=known.name,
                seed=seed,
                preset=preset,
                skip_bad=skip_bad,
                training=replace(training, max_minutes=None),
                data=fingerprint(splits.train),
                example=pick_example(splits),
            )
            translator.about = about.to_dict()
            if distributed.rank() == 0:
                translator.save_description(folder)
        trainer = build_trainer(folder, translator, splits, training, on_step, show_progress)
        return Run(folder, translator, splits, trainer, lock)


def pick_example(splits: Splits[Any]) -> str | None:
    """Return a validation source to show as an example, or None if there are none.

    It is the first source of 6 to 12 words or, if there is no such source, the first one.
    """
    sources = [pair.source for pair in splits.validation]
    handy = [source for source in sources if 6 <= len(source.split()) <= 12]
    return next(iter(handy or sources), None)


def resume_run(
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
    """Load a run from its folder, as it was when it stopped; to continue it, call `run.train()`.

    Before that call, `run.translator` uses the latest weights. `Translator.load(folder)` loads the
    averaged weights instead, which translate better.

    Arguments that are None keep the run's own values, except `max_minutes`, where None means no
    limit. The corpus may have a different name, for example because its file has moved, but its
    training pairs must be the same. See `begin_run` for the arguments.

    Raises:
        ValueError: If the folder does not hold a run, or an argument conflicts with the run's
            settings.
        CheckpointError: If the run's files are missing or damaged.
    """
    folder = expand_path(folder)
    if not folder.is_dir():
        raise CheckpointError(f"{folder} does not exist; expected the folder of a run")
    with folder_lock(folder) as lock:
        with distributed.rank_zero_first():
            if distributed.rank() == 0:
                lock.acquire()
                if holds_translator(folder):
                    recover_folder(folder)
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
                raise ValueError(
                    f"{folder} is not the folder of a run: its config.json has no {lacks!r}"
                )
            for name, value, begun in (
                ("preset", preset, about.preset),
                ("seed", seed, about.seed),
            ):
                fits = value is None or value == begun
                check(name, value, f"{begun!r}, as when the run in {folder} was started", fits)
            training = replace(
                about.training, **collect_overrides(max_steps, max_minutes, device, precision)
            )
            if training.decay == "linear":
                end = about.training.max_steps
                expected = f"{end}, because the learning rate falls to 0 over that many steps"
                check("max_steps", training.max_steps, expected, training.max_steps == end)
            known = find_corpus(about.corpus if corpus is None else corpus)
            with distributed.print_on_rank_zero():
                splits = known.splits(about.seed, about.skip_bad)
            if fingerprint(splits.train) != about.data:
                raise ValueError(
                    f"the corpus {known.name!r} is not the one used for {folder}, or it has changed"
                    f"{explain_new_split(splits)}"
                )
            now = replace(about, corpus=known.name, training=replace(training, max_minutes=None))
            translator.about |= now.to_dict()
        trainer = build_trainer(folder, translator, splits, training, on_step, show_progress)
        trainer.resume()
        if distributed.rank() == 0:
            translator.save_description(folder)
        return Run(folder, translator, splits, trainer, lock)


def collect_overrides(
    max_steps: int | None, max_minutes: float | None, device: str | None, precision: str | None
) -> Mapping[str, Any]:
    """Return the arguments that are not None, as fields of `TrainingConfig`."""
    given = {
        "max_steps": max_steps,
        "max_minutes": max_minutes,
        "device": device,
        "precision": precision,
    }
    return {name: value for name, value in given.items() if value is not None}


def build_trainer(
    folder: Path,
    translator: Translator,
    splits: Splits[Any],
    training: TrainingConfig,
    on_step: Callable[[StepReport], None] | None,
    show_progress: bool,
) -> Trainer:
    """Build the trainer of a run.

    Raises:
        ValueError: If the processes have different data or tokenizers.
    """
    # Each machine has prepared the corpus and learnt the word pieces for itself.
    distributed.check_same("fingerprint of the training pairs", translator.about["data"])
    both = translator.source_tokenizer.to_json() + translator.target_tokenizer.to_json()
    distributed.check_same("checksum of the tokenizers", sha256(both.encode()).hexdigest()[:16])
    with distributed.print_on_rank_zero():
        return make_trainer(
            translator,
            splits,
            training,
            state_path=folder / STATE,
            on_step=on_step,
            show_progress=show_progress,
            watch_exact_match=find_corpus(translator.about["corpus"]).validation_translations,
        )
