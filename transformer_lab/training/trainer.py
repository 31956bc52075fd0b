"""The training loop, which can be stopped at any step and resumed (§5).

Runs, studies and lesson 09 use it; for several processes, see `distributed_trainer`. On a CPU, the
results of a resumed run and an uninterrupted one are bit-identical if both use the same number of
threads. A GPU may add numbers in a different order.
"""

import math
import signal
import sys
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

from transformer_lab.config import TrainingConfig, check_choice
from transformer_lab.config.device import device_of, pick_device, pick_dtype
from transformer_lab.data.batching import Batch, Example, buckets, collate
from transformer_lab.data.stored import make_batches
from transformer_lab.model import Transformer
from transformer_lab.model.weights import shapes_of
from transformer_lab.storage.tensors import weights_of
from transformer_lab.training.learner import clone_sharing_parameters
from transformer_lab.training.loss import label_smoothed_loss
from transformer_lab.training.saving import (
    get_adam_state,
    load_state,
    save_state,
    set_adam_state,
)
from transformer_lab.training.schedule import inverse_sqrt_rate, linear_rate, paper_rate
from transformer_lab.training.state import Progress, State
from transformer_lab.training.step import BatchLoss, autocast, build_adam, training_step

Stop = Literal["max_steps", "max_minutes", "patience", "interrupted"]
READ_EVERY = 20
"""The interval, in steps, at which losses are read and processes agree on whether to stop."""


def bar_seconds() -> float:
    """Return the minimum time between two updates of the progress bar, in seconds.

    Where the bar cannot be redrawn in place, as in a log file, updates are rare.
    """
    is_notebook = type(sys.stderr).__module__ == "ipykernel.iostream"
    is_redrawn = sys.stderr.isatty() or is_notebook
    return 0.1 if is_redrawn else 10.0


class LossIsNaNError(ArithmeticError):
    """The error raised when the loss is NaN or infinite; it names the step and the usual causes."""


@dataclass(frozen=True)
class StepReport:
    """The report that a trainer passes to `on_step` after each step.

    Attributes:
        step: The step, counted from 1.
        loss: The smoothed loss in nats per token, still on the device: `float(loss)` waits for it.
        gradient_norm: The gradient's norm before clipping, also still on the device.
        rate: The learning rate of this step.
        tokens: Target tokens trained on so far, without padding.
        seconds: Training time so far.
        validation: The metrics, if this step ends with a validation; otherwise None.
    """

    step: int
    loss: Tensor
    gradient_norm: Tensor
    rate: float
    tokens: int
    seconds: float
    validation: dict[str, float] | None = None


class Trainer:
    """A loop that trains a model with Adam, warm-up, label smoothing and gradient clipping.

    Args:
        model: The model; it is moved to the device and trained in place. It stays in evaluation
            mode, so another thread may translate with it in the meantime.
        train: The examples to learn from.
        validation: The examples for the validation loss; the model never trains on them.
        config: The configuration of the training run.
        measure: A function that returns further metrics at each validation, such as exact match.
        monitor: The metric for early stopping: training ends after `config.patience` validations
            without improvement. If the metric's name ends in "loss", smaller is better; otherwise
            larger is better.
        on_step: A function that is called after each step.
        state_path: The file for saving and resuming the state; with None, nothing is saved.
        show_progress: Whether to show a progress bar.
    """

    def __init__(
        self,
        model: Transformer,
        train: Sequence[Example],
        validation: Sequence[Example],
        config: TrainingConfig,
        *,
        measure: Callable[[Transformer], dict[str, float]] | None = None,
        monitor: str = "validation_loss",
        on_step: Callable[[StepReport], None] | None = None,
        state_path: Path | None = None,
        show_progress: bool = True,
    ):
        self.config = config
        self.device = pick_device(config.device)
        self.dtype = pick_dtype(config.precision, self.device)
        self.model = model.to(self.device).eval()
        self.batch_loss = self.build_loss()
        self.pad_id = self.model.config.pad_id
        self.batches = make_batches(train, config.batch_tokens, config.seed, self.pad_id)
        groups = buckets(validation, config.batch_tokens)
        self.validation = [collate(group, self.pad_id) for group in groups]
        self.measure, self.monitor, self.on_step = measure, monitor, on_step
        self.state_path, self.show_progress = state_path, show_progress
        self.progress = Progress()
        self.seconds_before = 0.0  # spent before the latest call of `train`
        self.optimizer = self.build_optimizer()
        self.ema = clone_weights(weights_of(self.model))  # exponential moving average
        self.best_weights: dict[str, Tensor] | None = None
        self.own_weights: dict[str, Tensor] | None = None  # while the model has the EMA's
        self.random_state: dict[str, Tensor] | None = None

    def build_loss(self) -> nn.Module:
        """Return the module that computes the loss of a batch.

        It holds a copy of the model that is in training mode and shares the model's parameters.
        """
        learner = clone_sharing_parameters(self.model)
        return BatchLoss(learner, self.config.label_smoothing, self.dtype)

    def build_optimizer(self) -> torch.optim.Optimizer:
        """Return an Adam optimizer for the model's parameters."""
        return build_adam(self.model, self.config)

    def train(self) -> Stop:
        """Train until there is a reason to stop, save the state, and return that reason.

        On Ctrl-C, training finishes the current step and then stops. SIGTERM and SIGHUP, which
        schedulers and closing terminals send, have the same effect. At the end, the model uses the
        exponential moving average (EMA) of its weights, or the EMA at the best validation if
        `patience` ran out. Another call continues from the latest weights, not from their average.

        Raises:
            LossIsNaNError: If the loss is not finite; the last saved state is kept.
        """
        if self.own_weights is not None:
            set_weights(self.model, self.own_weights)
        cuda = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(cuda), interruptible() as interrupted:
            self.seed()
            stop = self.run(interrupted)
            self.random_state = get_random_state(self.device)
            self.save()
        self.own_weights = clone_weights(weights_of(self.model))
        best = self.best_weights if stop == "patience" else None
        set_weights(self.model, best or self.ema)
        return stop

    def run(self, interrupted: threading.Event) -> Stop:
        """Take optimizer steps until there is a reason to stop, and return that reason."""
        config, now = self.config, self.progress
        unread: list[Tensor] = []
        self.seconds_before = now.seconds
        start = time.perf_counter() - now.seconds
        saved_at = time.perf_counter()
        batches = self.batches.iterate_from(now.epoch, now.index)
        total = config.max_steps
        off = not self.show_progress
        pause = bar_seconds()
        with tqdm(
            total=total, initial=now.step, disable=off, unit="step", mininterval=pause
        ) as bar:
            while (stop := self.stop_reason(interrupted)) is None:
                now.epoch, now.index, batch = next(batches)
                now.index += 1
                now.step += 1
                now.tokens += int((batch.target_output != self.pad_id).sum())
                rate = self.learning_rate(now.step)
                loss, norm = self.step(batch, rate)
                unread.append(loss)
                validates = now.step % config.validate_every == 0 or now.step == total
                saves = self.is_time_to_save(saved_at)
                # Reading a loss waits for the device, so it is done only now and then.
                if validates or saves or len(unread) == READ_EVERY:
                    losses = f"loss {self.read_losses(unread):.3f}, {self.last_validation()}"
                    bar.set_postfix_str(losses, refresh=False)
                now.seconds = time.perf_counter() - start
                validation = self.validate() if validates else None
                if saves:
                    self.random_state = get_random_state(self.device)
                    self.save()
                    saved_at = time.perf_counter()
                bar.update()
                if self.on_step is not None:
                    seconds = time.perf_counter() - start
                    report = StepReport(now.step, loss, norm, rate, now.tokens, seconds, validation)
                    self.on_step(report)
            self.read_losses(unread)
        return stop

    def seed(self) -> None:
        """Seed the random number generators, or restore their state if the run was resumed."""
        # A state from elsewhere may hold a step so large that PyTorch would refuse the sum.
        torch.manual_seed((self.config.seed + 7_919 * self.progress.step) % 2**63)
        if self.random_state is not None:
            set_random_state(self.random_state, self.device)

    def step(self, batch: Batch, rate: float) -> tuple[Tensor, Tensor]:
        """Take one optimizer step on a batch with the learning rate `rate`.

        Returns:
            The loss and the gradient norm before clipping, both still on the device.
        """
        clip_norm = self.config.clip_norm
        loss, norm = training_step(self.compute_loss, self.optimizer, batch, rate, clip_norm)
        self.update_ema()
        return loss, norm

    def compute_loss(self, batch: Batch) -> Tensor:
        """Return the loss of a batch, on the device."""
        loss: Tensor = self.batch_loss(batch.to(self.device))
        return loss

    def stop_reason(self, interrupted: threading.Event) -> Stop | None:
        """Return the reason to stop, or None to continue."""
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
        """Return whether the state should be saved after this step.

        It is saved every `config.save_every` steps and every `config.save_minutes` minutes.
        `saved_at` is the time of the last save, as returned by `time.perf_counter`.
        """
        every = self.config.save_every
        return (every is not None and self.progress.step % every == 0) or self.is_save_due(saved_at)

    def is_save_due(self, saved_at: float) -> bool:
        """Return whether `save_minutes` have passed since `saved_at` (see `is_time_to_save`)."""
        minutes = self.config.save_minutes
        return minutes is not None and time.perf_counter() - saved_at >= 60 * minutes

    def learning_rate(self, step: int) -> float:
        """Return the learning rate at a step, counted from 1."""
        config = self.config
        if config.peak_rate is None:
            return paper_rate(step, self.model.config.d_model, config.warmup_steps)
        if config.decay == "linear":
            return linear_rate(step, config.peak_rate, config.warmup_steps, config.max_steps)
        return inverse_sqrt_rate(step, config.peak_rate, config.warmup_steps)

    @torch.no_grad()
    def update_ema(self) -> None:
        """Move the exponential moving average of the weights towards the new weights.

        The decay is `config.average_decay`, but lower in the first steps, because the average would
        otherwise retain the random initial weights for too long.
        """
        step = self.progress.step
        decay = min(self.config.average_decay, step / (step + 9))
        torch._foreach_lerp_(list(self.ema.values()), list(self.model.parameters()), 1 - decay)

    @contextmanager
    def ema_weights(self) -> Iterator[None]:
        """Replace the model's weights with their exponential moving average inside the block."""
        own = clone_weights(weights_of(self.model))
        set_weights(self.model, self.ema)
        try:
            yield
        finally:
            set_weights(self.model, own)

    def read_losses(self, unread: list[Tensor]) -> float:
        """Return the mean of the unread losses, and clear the list.

        If there are no unread losses, the mean is NaN.

        Raises:
            LossIsNaNError: If a loss is not finite.
        """
        if not unread:
            return math.nan
        losses = torch.stack(unread).cpu()
        unread.clear()
        finite = losses.isfinite()
        if not finite.all():
            first = self.progress.step - len(losses) + 1 + int((~finite).int().argmax())
            raise LossIsNaNError(
                f"the loss became {losses[~finite][0].item()} at step {first}. Usual causes: too "
                "high a peak rate, too short a warm-up, a row of logits that is all -inf, or "
                "damaged input"
            )
        return losses.mean().item()

    def validate(self) -> dict[str, float]:
        """Add the validation loss and the metrics of `measure` to the history, and return them.

        While the metrics are computed, the model uses its EMA weights.
        """
        with self.ema_weights():
            metrics = {"validation_loss": self.validation_loss()} if self.validation else {}
            if self.measure is not None:
                metrics |= self.measure(self.model)
            self.progress.history.append({"step": self.progress.step, **metrics})
            self.update_best(metrics)
        return metrics

    def validation_loss(self) -> float:
        """Return the mean cross-entropy of the validation tokens in nats, without smoothing."""
        return token_loss(self.model, self.validation, self.dtype)

    def update_best(self, metrics: dict[str, float]) -> None:
        """Keep a copy of the weights if the monitored metric is the best so far.

        Otherwise, add 1 to `progress.worse`. Without `config.patience`, do nothing.
        """
        if self.config.patience is None:
            return
        check_choice("monitor", self.monitor, sorted(metrics))
        now = self.progress
        smaller_is_better = self.monitor.endswith("loss")
        value = metrics[self.monitor] if smaller_is_better else -metrics[self.monitor]
        if value < now.best:
            now.best, now.worse = value, 0
            self.best_weights = clone_weights(weights_of(self.model))
        else:
            now.worse += 1

    def last_validation(self) -> str:
        """Return the latest metrics as short text for the progress bar."""
        latest = self.progress.history[-1] if self.progress.history else {}
        return ", ".join(f"{k} {v:.3f}" for k, v in latest.items() if k != "step")

    def save(self) -> None:
        """Write the whole state of the run to `state_path`, if there is one."""
        if self.state_path is not None:
            save_state(self.state_path, self.current_state())

    def current_state(self) -> State:
        """Return everything the run needs to continue, in the form that `save` writes."""
        return State(
            asdict(self.progress),
            weights_of(self.model),
            self.ema,
            get_adam_state(self.optimizer, self.model),
            self.best_weights,
            self.random_state or {},
        )

    def resume(self) -> None:
        """Restore the state in `state_path`, so that `train` continues from there.

        Raises:
            CheckpointError: If something is missing or damaged, or does not match the model; the
                message names it.
        """
        assert self.state_path is not None, "resume needs a state_path"
        learning = {name for name, p in self.model.named_parameters() if p.requires_grad}
        state = load_state(self.state_path, shapes_of(self.model), learning)
        set_weights(self.model, state.model)
        self.own_weights = None
        # In the model's order, as `update_ema` needs it.
        self.ema = {n: state.ema[n].to(self.device) for n in weights_of(self.model)}
        self.progress = Progress(**state.progress)
        if self.progress.step:
            set_adam_state(state.adam, self.optimizer, self.model)
        self.best_weights = state.best
        self.random_state = state.random


@torch.no_grad()
def token_loss(model: Transformer, batches: Sequence[Batch], dtype: torch.dtype) -> float:
    """Return the mean unsmoothed cross-entropy in nats over all target tokens except padding.

    The result is NaN if there are no tokens. The model is switched to evaluation mode.
    """
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


def clone_weights(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return a copy of each weight tensor, by name."""
    return {name: tensor.clone() for name, tensor in weights.items()}


@torch.no_grad()
def set_weights(model: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Copy weights into a model, by name."""
    for name, tensor in weights_of(model).items():
        tensor.copy_(weights[name])


def get_random_state(device: torch.device) -> dict[str, Tensor]:
    """Return the states of PyTorch's random number generators, for the CPU and the device."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    elif device.type == "mps":
        state["mps"] = torch.mps.get_rng_state()
    return state


def set_random_state(state: dict[str, Tensor], device: torch.device) -> None:
    """Restore the states from `get_random_state`: the CPU's, and the device's if it was saved."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
    elif device.type == "mps" and "mps" in state:
        torch.mps.set_rng_state(state["mps"])


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """Yield an event that is set on Ctrl-C, SIGTERM or SIGHUP, so the current step can finish.

    A second Ctrl-C raises KeyboardInterrupt, for users who do not want to wait. SIGTERM and SIGHUP
    may arrive repeatedly, because a terminal and a parent process may both send them. A signal that
    was already ignored, as under `nohup`, stays ignored. Outside the main thread, signals are
    handled as before.
    """
    event = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield event  # only the main thread may handle signals
        return
    numbers = [getattr(signal, name, None) for name in ("SIGINT", "SIGTERM", "SIGHUP")]
    found = {number: signal.getsignal(number) for number in numbers if number is not None}
    # None stands for a handler that was not set from Python and could not be restored.
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
