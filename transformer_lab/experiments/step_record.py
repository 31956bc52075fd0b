"""What happened in training, step by step, as a study stores it."""

from transformer_lab.training.trainer import StepReport


class StepRecord:
    """Collects the loss and the gradient norm of every step: a trainer's `on_step`."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.gradient_norms: list[float] = []

    def __call__(self, report: StepReport) -> None:
        """Note one step."""
        self.losses.append(report.loss.item())
        self.gradient_norms.append(report.gradient_norm.item())

    def in_groups(self, size: int) -> dict[str, list[float]]:
        """The mean loss in nats and the largest gradient norm of each `size` steps."""
        groups = range(0, len(self.losses) - size + 1, size)
        return {
            "losses": [round(sum(self.losses[i : i + size]) / size, 4) for i in groups],
            "largest_gradient_norms": [
                round(max(self.gradient_norms[i : i + size]), 4) for i in groups
            ],
        }
