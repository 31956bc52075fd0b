"""A plain training loop that can be stopped at any step and resumed (§5).

On a CPU a resumed run ends with the same bits as one that was never stopped, if it is one process
with as many threads. A GPU adds up in an order of its own.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import Literal

import torch
from torch import Tensor, nn
from tqdm.auto import tqdm

from transformer_lab.config import TrainingConfig, check
from transformer_lab.data.batching import Batch, Example, buckets, collate
from transformer_lab.data.stored import batches_of
from transformer_lab.device import device_of, pick_device, pick_dtype
from transformer_lab.model import Transformer
from transformer_lab.training import distributed
from transformer_lab.training.checkpoint import weights_of
from transformer_lab.training.folder import shapes_of
from transformer_lab.training.learner import learner_of
from transformer_lab.training.loss import label_smoothed_loss
from transformer_lab.training.saving import (
    adam_state,
    load_state,
    put_adam_state,
    save_state,
)
from transformer_lab.training.schedule import inverse_sqrt_rate, linear_rate, paper_rate
from transformer_lab.training.state import Progress, State
from transformer_lab.training.step import BatchLoss, adam, autocast, training_step

Stop = Literal["max_steps", "max_minutes", "patience", "interrupted"]
READ_EVERY = 20
"""Steps between two looks at the loss, and of several processes at whether to stop."""


class LossIsNaNError(ArithmeticError):
    """Training blew up; the message names the step and the usual causes."""


@dataclass(frozen=True)
class StepReport:
    """What `on_step` gets after each step.

    `loss` (nats per token, smoothed) and `gradient_norm` (before clipping)
    stay on the device; reading them with `float()` waits for it. `validation`
    holds the metrics at the steps that validate, else it is None.
    """

    step: int
    loss: Tensor
    gradient_norm: Tensor
    rate: float
    tokens: int
    seconds: float
    validation: dict[str, float] | None = None


class Trainer:
    """Trains a model on examples with Adam, warm-up, label smoothing and clipping.

    Args:
        model: Moved to the device and trained in place. It stays in evaluation mode, so that another
            thread may translate with it meanwhile.
        train: Examples to learn from.
        validation: Examples for the validation loss; never trained on.
        config: Steps, rates, seeds, device.
        measure: More metrics at each validation, for instance exact match.
        watch: The metric that `config.patience` counts on; smaller is better
            for names that end in "loss", larger for all others.
        on_step: Called after each step.
        state_path: Where the state is saved and resumed from; None saves nothing.
        show_progress: Show a progress bar.
    """

    def __init__(
        self,
        model: Transformer,
        train: Sequence[Example],
        validation: Sequence[Example],
        config: TrainingConfig,
        *,
        measure: Callable[[Transformer], dict[str, float]] | None = None,
        watch: str = "validation_loss",
        on_step: Callable[[StepReport], None] | None = None,
        state_path: Path | None = None,
        show_progress: bool = True,
    ):
        self.config = config
        self.device = pick_device(config.device)
        self.dtype = pick_dtype(config.precision, self.device)
        self.model = model.to(self.device).eval()
        self.batch_loss = distributed.wrapped(
            BatchLoss(learner_of(self.model), config.label_smoothing, self.dtype)
        )
        self.is_first = distributed.rank() == 0
        self.pad_id = self.model.config.pad_id
        self.batches = batches_of(train, config.batch_tokens, config.seed, self.pad_id)
        groups = buckets(validation, config.batch_tokens)
        self.validation = [collate(group, self.pad_id) for group in groups]
        self.measure, self.watch, self.on_step = measure, watch, on_step
        self.state_path, self.show_progress = state_path, show_progress
        self.progress = Progress()
        self.seconds_before = 0.0  # spent before the latest call of `train`
        self.optimizer: torch.optim.Optimizer = adam(self.model, config)
        self.divided = distributed.is_divided(self.optimizer)
        self.average = copies(weights_of(self.model))
        self.best_weights: dict[str, Tensor] | None = None
        self.own_weights: dict[str, Tensor] | None = None  # while the model has the averaged ones
        self.random_state: dict[str, Tensor] | None = None

    def train(self) -> Stop:
        """Train until a limit is reached, save the state, and return which limit it was.

        Ctrl-C finishes the step under way and stops; so does a signal to end, as from a scheduler,
        or from a terminal that is closed. The model ends with the
        moving average of its weights, or with `patience` with the best of them;
        another call goes on from the weights that Adam had reached.
        A LossIsNaNError leaves the last saved state untouched.
        """
        if self.own_weights is not None:
            put(self.own_weights, self.model)
        cuda = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(cuda), interruptible() as interrupted:
            self.seed()
            if self.random_state is not None and self.is_first:
                set_random_state(self.random_state, self.device)
            stop = self.run(interrupted)
            self.random_state = random_state(self.device)
            self.save()
        self.own_weights = copies(weights_of(self.model))
        best = self.best_weights if stop == "patience" else None
        put(best or self.average, self.model)
        return stop

    def run(self, interrupted: threading.Event) -> Stop:
        """The loop itself: one optimizer step after another."""
        config, now = self.config, self.progress
        unread: list[Tensor] = []
        self.seconds_before = now.seconds
        start = time.perf_counter() - now.seconds
        saved_at = time.perf_counter()
        batches = self.batches.starting_at(now.epoch, now.index)
        total = config.max_steps
        off = not (self.show_progress and self.is_first)
        with tqdm(total=total, initial=now.step, disable=off, unit="step") as bar:
            while (stop := self.agreed_limit(interrupted)) is None:
                now.epoch, now.index, batch = next(batches)
                now.index += 1
                now.step += 1
                now.tokens += int((batch.target_output != self.pad_id).sum())
                if not self.is_first:
                    self.seed()
                rate = self.rate(now.step)
                loss, norm = self.step(batch, rate)
                unread.append(loss)
                validates = now.step % config.validate_every == 0 or now.step == total
                saves = self.is_time_to_save(saved_at)
                # Reading a loss waits for the device, so it is done now and then.
                if validates or saves or len(unread) == READ_EVERY:
                    bar.set_postfix_str(f"loss {self.read(unread):.3f}, {self.last_validation()}")
                now.seconds = time.perf_counter() - start
                validation = self.validate() if validates and self.is_first else None
                if saves:
                    self.random_state = random_state(self.device)
                    self.save()
                    saved_at = time.perf_counter()
                bar.update()
                if self.on_step is not None and self.is_first:
                    seconds = time.perf_counter() - start
                    report = StepReport(now.step, loss, norm, rate, now.tokens, seconds, validation)
                    self.on_step(report)
            self.read(unread)
        return stop

    def seed(self) -> None:
        """Seed what is drawn, as dropout is, by process and step.

        What the first process draws is saved. The others are seeded at each step, so that they too
        go on with the same draws when a run is resumed.
        """
        rank, step = distributed.rank(), self.progress.step
        # A state from elsewhere may name a step with which the sum is more than PyTorch takes.
        torch.manual_seed((self.config.seed + 1_000_003 * rank + 7_919 * step) % 2**63)

    def step(self, batch: Batch, rate: float) -> tuple[Tensor, Tensor]:
        """One optimizer step; the loss and the gradient norm before clipping, both on the device."""
        loss, norm = training_step(self.loss_of, self.optimizer, batch, rate, self.config.clip_norm)
        self.follow()
        return distributed.mean_over_processes(loss), norm

    def loss_of(self, batch: Batch) -> Tensor:
        """The loss of this process's share of a batch, on the device."""
        place = distributed.rank(), distributed.processes()
        mine, factor = distributed.share_of(batch, *place, self.pad_id)
        loss: Tensor = self.batch_loss(mine.to(self.device))
        return loss * factor

    def agreed_limit(self, interrupted: threading.Event) -> Stop | None:
        """`limit`; of several processes all follow the first, which is asked now and then."""
        step = self.progress.step
        if distributed.processes() == 1 or step >= self.config.max_steps:
            return self.limit(interrupted)
        if step % READ_EVERY:
            return None
        return distributed.as_the_first(self.limit(interrupted))

    def limit(self, interrupted: threading.Event) -> Stop | None:
        """The reason to stop now, if there is one."""
        config, now = self.config, self.progress
        if interrupted.is_set():
            return "interrupted"
        if now.step >= config.max_steps:
            return "max_steps"
        minutes = (now.seconds - self.seconds_before) / 60
        if config.max_minutes is not None and minutes >= config.max_minutes:
            return "max_minutes"
        if config.patience is not None and now.worse >= config.patience:
            return "patience"
        return None

    def is_time_to_save(self, saved_at: float) -> bool:
        """Whether so many steps are done, or so many minutes have gone since the last time."""
        every, minutes = self.config.save_every, self.config.save_minutes
        if every is not None and self.progress.step % every == 0:
            return True
        due = minutes is not None and time.perf_counter() - saved_at >= 60 * minutes
        if not self.divided:
            return due
        # All must save at the same step, and their clocks differ.
        return self.progress.step % READ_EVERY == 0 and distributed.as_the_first(due)

    def rate(self, step: int) -> float:
        """The learning rate of a step, which counts from 1."""
        config = self.config
        if config.peak_rate is None:
            return paper_rate(step, self.model.config.d_model, config.warmup_steps)
        if config.decay == "linear":
            return linear_rate(step, config.peak_rate, config.warmup_steps, config.max_steps)
        return inverse_sqrt_rate(step, config.peak_rate, config.warmup_steps)

    @torch.no_grad()
    def follow(self) -> None:
        """Move the average a little towards the new weights, by more in the first steps."""
        step = self.progress.step
        decay = min(self.config.average_decay, step / (step + 9))
        weights = weights_of(self.model)
        torch._foreach_lerp_([self.average[n] for n in weights], list(weights.values()), 1 - decay)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Inside the block the model has its averaged weights."""
        own = copies(weights_of(self.model))
        put(self.average, self.model)
        try:
            yield
        finally:
            put(own, self.model)

    def read(self, unread: list[Tensor]) -> float:
        """Wait for the losses since the last call and empty the list; their mean, or LossIsNaNError."""
        if not unread:
            return math.nan
        losses = torch.stack(unread).cpu()
        unread.clear()
        finite = losses.isfinite()
        if not finite.all():
            first = self.progress.step - len(losses) + 1 + int((~finite).int().argmax())
            raise LossIsNaNError(
                f"the loss became {losses[~finite][0].item()} at step {first}. Usual causes: a peak "
                "rate too high, a warm-up too short, a row of logits that is all -inf, damaged input"
            )
        return losses.mean().item()

    def validate(self) -> dict[str, float]:
        """The validation loss and what `measure` adds, of the averaged weights, for the history."""
        with self.averaged():
            metrics = {"validation_loss": self.validation_loss()} if self.validation else {}
            if self.measure is not None:
                metrics |= self.measure(self.model)
            self.progress.history.append({"step": self.progress.step, **metrics})
            self.note_best(metrics)
        return metrics

    def validation_loss(self) -> float:
        """The mean cross-entropy of the validation tokens in nats, without smoothing."""
        return token_loss(self.model, self.validation, self.dtype)

    def note_best(self, metrics: dict[str, float]) -> None:
        """Count validations since the watched metric was best, and keep those weights."""
        if self.config.patience is None:
            return
        check("watch", self.watch, f"one of {sorted(metrics)}", self.watch in metrics)
        now = self.progress
        smaller_is_better = self.watch.endswith("loss")
        value = metrics[self.watch] if smaller_is_better else -metrics[self.watch]
        if value < now.best:
            now.best, now.worse = value, 0
            self.best_weights = copies(weights_of(self.model))
        else:
            now.worse += 1

    def last_validation(self) -> str:
        """The latest metrics in a few words, for the progress bar."""
        latest = self.progress.history[-1] if self.progress.history else {}
        return ", ".join(f"{k} {v:.3f}" for k, v in latest.items() if k != "step")

    def save(self) -> None:
        """Write the whole state of the run: the first process, or each its part."""
        if self.state_path is None or not (self.is_first or self.divided):
            return
        now = State(
            asdict(self.progress),
            weights_of(self.model),
            self.average,
            adam_state(self.optimizer, self.model),
            self.best_weights,
            self.random_state or {},
        )
        save_state(self.state_path, now, self.divided)

    def resume(self) -> None:
        """Continue from `state_path`; a CheckpointError names what does not fit."""
        assert self.state_path is not None, "resume needs a state_path"
        learning = {name for name, p in self.model.named_parameters() if p.requires_grad}
        state = load_state(self.state_path, shapes_of(self.model), learning)
        put(state.model, self.model)
        self.own_weights = None
        self.average = {n: t.to(self.device) for n, t in state.average.items()}
        self.progress = Progress(**state.progress)
        if self.progress.step:
            put_adam_state(state.adam, self.optimizer, self.model)
        self.best_weights = state.best
        self.random_state = state.random


@torch.no_grad()
def token_loss(model: Transformer, batches: Sequence[Batch], dtype: torch.dtype) -> float:
    """The mean cross-entropy of all real target tokens in nats, without smoothing; NaN of none."""
    model.eval()
    device, pad_id = device_of(model), model.config.pad_id
    total, tokens = 0.0, 0
    for batch in batches:
        real = int((batch.target_output != pad_id).sum())
        batch = batch.to(device)
        with autocast(device, dtype):
            logits = model(batch.source, batch.target_input)
        total += real * label_smoothed_loss(logits, batch.target_output, 0.0, pad_id).item()
        tokens += real
    return total / tokens if tokens else math.nan


def copies(weights: dict[str, Tensor]) -> dict[str, Tensor]:
    """The same weights in memory of their own."""
    return {name: tensor.clone() for name, tensor in weights.items()}


@torch.no_grad()
def put(weights: Mapping[str, Tensor], model: nn.Module) -> None:
    """Copy weights into a model."""
    for name, tensor in weights_of(model).items():
        tensor.copy_(weights[name])


def random_state(device: torch.device) -> dict[str, Tensor]:
    """The state of torch's random numbers, on the CPU and on the device."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(state: dict[str, Tensor], device: torch.device) -> None:
    """Go on with the random numbers where `random_state` was taken; another device starts anew."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
    elif device.type == "mps" and "mps" in state:
        torch.mps.set_rng_state(state["mps"])


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Turn Ctrl-C, SIGTERM and SIGHUP into an event, so that no step is cut in two.

    A second Ctrl-C is real: it comes from somebody who does not want to wait. The others may come
    in a row, as from a terminal and from whoever started it. What is ignored, as `nohup` has it,
    stays so.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event  # only the main thread may handle signals
        return
    asked = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    found = {number: signal.getsignal(number) for number in asked if number is not None}
    # None is a handler that is not Python's, and that could not be put back.
    before = {n: handler for n, handler in found.items() if handler not in (signal.SIG_IGN, None)}

    def on_interrupt(number: int, frame: FrameType | None) -> None:
        event.set()
        if number == signal.SIGINT:
            signal.signal(number, before[number])

    for number in before:
        signal.signal(number, on_interrupt)
    try:
        yield event
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
