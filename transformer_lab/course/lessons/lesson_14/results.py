"""Checks of the exercises of lesson 14: paired differences, perplexity, accuracy, power laws."""

import math

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

# ---------------------------------------------------------------- a difference and its error


def _difference(base: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    d = other - base
    return d.mean(), d.std(ddof=1) / math.sqrt(len(d))


def _run_cases() -> list[tuple]:
    cases = [(np.array([0.4, 0.5, 0.3]), np.array([0.5, 0.7, 0.3]))]
    for n in (2, 5, 7):
        common, own = random_array(n, seed=n), random_array(2, n, seed=n + 10)
        cases.append((common + 0.3 * own[0], common + 0.3 * own[1] + 0.5))
    return cases


def _random_runs(chance: RandomValues) -> tuple:
    count = chance.between(3, 20)
    common = chance.numbers(count, scale=3.0)
    return common + chance.numbers(count), common + chance.numbers(count) + chance.real(-2, 2)


paired_difference = Check(
    reference=_difference,
    cases=_run_cases,
    drawn=_random_runs,
    results=("the difference", "its standard error"),
    verified="the mean of the differences seed by seed, and their spread divided by √n",
    mistakes=[
        Mistake(
            lambda base, other: (
                other.mean() - base.mean(),
                math.sqrt((base.var(ddof=1) + other.var(ddof=1)) / len(base)),
            ),
            "this error takes the two settings as unrelated. Run 3 of both has the same sentences: "
            "take the differences first, then their spread.",
        ),
        Mistake(
            lambda base, other: (
                (other - base).mean(),
                (other - base).std() / math.sqrt(len(base)),
            ),
            "the spread divides by n. It is measured from the mean of the same few numbers: divide "
            "by n − 1 (ddof=1).",
        ),
        Mistake(
            lambda base, other: ((other - base).mean(), (other - base).std(ddof=1)),
            "this is the spread of one difference. The mean of n of them is surer: divide by √n.",
        ),
        Mistake(
            lambda base, other: ((other - base).mean(), (other - base).std(ddof=1) / len(base)),
            "the spread is divided by n; it is the variance that is. The spread is divided by √n.",
        ),
        Mistake(
            lambda base, other: (-_difference(base, other)[0], _difference(base, other)[1]),
            "the sign is turned round: what the change adds, other − base, is asked.",
        ),
        Mistake(
            lambda base, other: ((other - base).mean(), (other - base).var(ddof=1) / len(base)),
            "this is the variance of the mean; its standard error is the square root of it.",
        ),
    ],
)

# ---------------------------------------------------------------- perplexity and accuracy


def _right(log_p: np.ndarray, target: np.ndarray) -> np.ndarray:
    return log_p[np.arange(len(target)), target]


def _accuracy(log_p: np.ndarray, target: np.ndarray) -> float:
    return float((log_p.argmax(axis=-1) == target).mean())


def _word_cases() -> list[tuple]:
    cases = [(np.log([[0.7, 0.2, 0.1], [0.5, 0.1, 0.4]]), np.array([0, 2]))]
    for words, vocabulary in ((5, 7), (13, 5), (3, 11)):
        scores = 2 * random_array(words, vocabulary, seed=words)
        log_p = scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))
        drawn = abs(random_array(words, vocabulary, seed=words + 10)).argmax(axis=-1)
        likely = scores.argmax(axis=-1)
        cases.append((log_p, np.where(np.arange(words) % 2, drawn, likely)))
    return cases


def _random_words(chance: RandomValues) -> tuple:
    words, vocabulary = chance.sizes(2)
    p = chance.weights(words, vocabulary)
    drawn = chance.random.integers(0, vocabulary, words)
    return np.log(p), np.where(chance.flips(words), p.argmax(axis=-1), drawn)


perplexity_and_accuracy = Check(
    reference=lambda log_p, target: (
        math.exp(-_right(log_p, target).mean()),
        _accuracy(log_p, target),
    ),
    cases=_word_cases,
    drawn=_random_words,
    results=("the perplexity", "the accuracy"),
    verified="e to the mean of −log p of the right word, and the share where it is the largest",
    mistakes=[
        Mistake(
            lambda log_p, target: (
                np.exp(-_right(log_p, target)).mean(),
                _accuracy(log_p, target),
            ),
            "the mean is taken after the exponential: one very unlikely word then outweighs all. "
            "Take the mean of −log p first.",
        ),
        Mistake(
            lambda log_p, target: (
                2 ** (-_right(log_p, target).mean()),
                _accuracy(log_p, target),
            ),
            "these logarithms are natural ones: the base is e, not 2.",
        ),
        Mistake(
            lambda log_p, target: (
                1 / np.exp(_right(log_p, target)).mean(),
                _accuracy(log_p, target),
            ),
            "this is 1 over the mean probability; the mean is that of the logarithms.",
        ),
        Mistake(
            lambda log_p, target: (-_right(log_p, target).mean(), _accuracy(log_p, target)),
            "this is the loss in nats; the perplexity is e to it.",
        ),
        Mistake(
            lambda log_p, target: (
                math.exp(-_right(log_p, target).mean()),
                np.exp(_right(log_p, target)).mean(),
            ),
            "the accuracy is the mean probability of the right word. Count instead how often it is "
            "the most probable one, by however little.",
        ),
        Mistake(
            lambda log_p, target: (
                math.exp(-0.9 * _right(log_p, target).mean() - 0.1 * log_p.mean()),
                _accuracy(log_p, target),
            ),
            "this is the smoothed loss. A perplexity counts the right word alone, or models trained "
            "with different ε could not be compared.",
        ),
        Mistake(
            lambda log_p, target: (
                math.exp(-(np.exp(log_p) * log_p).sum(axis=-1).mean()),
                _accuracy(log_p, target),
            ),
            "this is the entropy of the predictions: how sure they are, not how right.",
        ),
    ],
)

# ---------------------------------------------------------------- a power law


def _line(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The slope and the intercept of a least-squares line."""
    slope, intercept = np.polyfit(x, y, 1)
    return float(slope), float(intercept)


def _power_cases() -> list[tuple]:
    cases = [(np.array([1.0, 2.0, 4.0]), np.array([8.0, 4.0, 2.0]))]
    for n, exponent in ((5, 0.5), (7, 1.2), (3, 0.2)):
        x = 100 * 2.0 ** np.arange(n)
        cases.append((x, 3 * x**-exponent * np.exp(0.1 * random_array(n, seed=n))))
    return cases


def _random_points(chance: RandomValues) -> tuple:
    x = np.sort(np.exp(chance.numbers(chance.between(3, 15), scale=2.0)))
    noise = np.exp(chance.numbers(len(x), scale=0.1))
    return x, chance.real(0.5, 20.0) * x ** -chance.real(0.1, 1.5) * noise


power_law = Check(
    reference=lambda x, y: (
        math.exp(_line(np.log(x), np.log(y))[1]),
        -_line(np.log(x), np.log(y))[0],
    ),
    cases=_power_cases,
    drawn=_random_points,
    results=("the factor", "the exponent"),
    tolerance=1e-7,
    verified="the straight line through the logarithms, with its slope's sign turned",
    mistakes=[
        Mistake(
            lambda x, y: (
                math.exp(_line(np.log(x), np.log(y))[1]),
                _line(np.log(x), np.log(y))[0],
            ),
            "the slope of a falling line is negative; α stands behind a minus sign already.",
        ),
        Mistake(
            lambda x, y: (_line(np.log(x), np.log(y))[1], -_line(np.log(x), np.log(y))[0]),
            "the factor is still a logarithm: the line's height at log x = 0 is log of the factor.",
        ),
        Mistake(
            lambda x, y: (
                -_line(np.log(x), np.log(y))[0],
                math.exp(_line(np.log(x), np.log(y))[1]),
            ),
            "the two are the other way round: factor, exponent. np.polyfit gives the slope first.",
        ),
        Mistake(
            lambda x, y: (_line(x, y)[1], -_line(x, y)[0]),
            "this is a straight line through x and y themselves; take the logarithm of both.",
        ),
        Mistake(
            lambda x, y: (math.exp(_line(x, np.log(y))[1]), -_line(x, np.log(y))[0]),
            "only y is a logarithm: that is an exponential decay, y = c · e^(−αx).",
        ),
        Mistake(
            lambda x, y: (
                math.exp(_line(np.log10(x), np.log10(y))[1]),
                -_line(np.log10(x), np.log10(y))[0],
            ),
            "the line was fitted to log10 and undone with e: use one base for both.",
        ),
        Mistake(
            lambda x, y: (
                float(y[0] * x[0] ** (-math.log(y[-1] / y[0]) / math.log(x[-1] / x[0]))),
                -math.log(y[-1] / y[0]) / math.log(x[-1] / x[0]),
            ),
            "this joins the first point to the last. The line of least squares uses all points.",
        ),
    ],
)
