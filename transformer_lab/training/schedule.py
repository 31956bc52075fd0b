"""The learning rate as a function of the step: it rises for `warmup_steps`, then falls (§5.3).

The trainer uses it, and lesson 08 plots it. Steps are counted from 1.
"""


def paper_rate(step: int, d_model: int, warmup_steps: int = 4_000) -> float:
    """Return the paper's learning rate at a step, counted from 1 (§5.3, equation 3).

    It is d_model^-0.5 · min(step^-0.5, step · warmup_steps^-1.5).
    """
    return d_model**-0.5 * min(step**-0.5, step * warmup_steps**-1.5)


def inverse_sqrt_rate(step: int, peak: float, warmup_steps: int) -> float:
    """Return the paper's learning rate at a step, rescaled so that its highest value is `peak`.

    It reaches `peak` at step `warmup_steps`; see `paper_rate` for the curve.
    """
    return peak * min((warmup_steps / step) ** 0.5, step / warmup_steps)


def linear_rate(step: int, peak: float, warmup_steps: int, max_steps: int) -> float:
    """Return a learning rate with linear warm-up to `peak`, then linear decay.

    The rate would reach 0 at step `max_steps` + 1, whereas the paper's rate never reaches 0. A
    short run ends with a better model if its last steps are small.
    """
    left = max(max_steps + 1 - step, 0)
    return peak * min(step / warmup_steps, left / max(max_steps + 1 - warmup_steps, 1))
