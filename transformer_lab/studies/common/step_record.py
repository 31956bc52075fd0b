"""A training run's losses in the form that studies store: one mean for each group of steps.

Studies with their own training loop use `mean_losses`; those that use the package's `Trainer` pass
it a `StepRecord`.
"""

from collections.abc import Sequence

from transformer_lab.training.trainer import StepReport


def mean_losses(losses: Sequence[float], size: int) -> list[float]:
    """Return the mean of each group of `size` losses, rounded to four decimals.

    An incomplete last group is dropped.
    """
    groups = range(0, len(losses) - size + 1, size)
    return [round(sum(losses[i : i + size]) / size, 4) for i in groups]


class StepRecord:
    """A callback for a trainer's `on_step` that records the loss and gradient norm of each step."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.gradient_norms: list[float] = []

    def __call__(self, report: StepReport) -> None:
        """Record one step."""
        self.losses.append(report.loss.item())
        self.gradient_norms.append(report.gradient_norm.item())

    def summarize(self, size: int) -> dict[str, list[float]]:
        """Return the mean loss (nats) and largest gradient norm of each group of `size` steps."""
        groups = range(0, len(self.losses) - size + 1, size)
        return {
            "losses": mean_losses(self.losses, size),
            "largest_gradient_norms": [
                round(max(self.gradient_norms[i : i + size]), 4) for i in groups
            ],
        }
