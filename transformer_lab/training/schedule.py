"""The learning rate as a function of the step: up for `warmup_steps`, then down (§5.3)."""


def paper_rate(step: int, d_model: int, warmup_steps: int = 4_000) -> float:
    """d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5) (§5.3, equation 3); steps count from 1."""
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def inverse_sqrt_rate(step: int, peak: float, warmup_steps: int) -> float:
    """The same curve, given by its highest value: `peak`, reached at step `warmup_steps`."""
    return peak * min((warmup_steps / step) ** 0.5, step / warmup_steps)


def linear_rate(step: int, peak: float, warmup_steps: int, max_steps: int) -> float:
    """Up to `peak` as in the paper, then straight down to 0 just after the last step.

    Not the paper's: a short run that knows its length ends better when its last steps are small.
    """
    left = max(max_steps + 1 - step, 0)
    return peak * min(step / warmup_steps, left / max(max_steps + 1 - warmup_steps, 1))
