"""Checks for the exercises of lesson 14: perplexity and accuracy, and a power law."""

import math
from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step

# ---------------------------------------------------------------- perplexity and accuracy


def _score_words(log_p: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    right = log_p[np.arange(len(target)), target]
    accuracy = (log_p.argmax(axis=-1) == target).mean()
    return math.exp(-right.mean()), float(accuracy)


def _work_out_scores(log_p: np.ndarray, target: np.ndarray, at: tuple) -> Iterator[Step]:
    right = log_p[np.arange(len(target)), target]
    yield "log p of the right words", right
    yield "their mean, with its sign changed", -right.mean()
    yield "e to the power of that", math.exp(-right.mean())
    yield "the most probable words", log_p.argmax(axis=-1)
    yield (
        "1 where that is the right word, 0 where it is not",
        (log_p.argmax(axis=-1) == target).astype(int),
    )
    yield "the share that is right", (log_p.argmax(axis=-1) == target).mean()


_edit_scores = partial(edit_reference, _score_words)


def _word_cases() -> list[tuple]:
    cases = [(np.log([[0.7, 0.2, 0.1], [0.5, 0.1, 0.4]]), np.array([0, 2]))]
    for words, vocabulary in ((5, 7), (13, 5), (3, 263)):
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
    reference=_score_words,
    cases=_word_cases,
    drawn=_random_words,
    results=("the perplexity", "the accuracy"),
    working=_work_out_scores,
    verified="the perplexity from the right words' −log p, and the share of words predicted right",
    mistakes=[
        Mistake(
            _edit_scores(("math.exp(-right.mean())", "np.exp(-right).mean()")),
            "you took the mean after the exponential, so one very unlikely word outweighs all the "
            "others. Take the mean of −log p first.",
        ),
        Mistake(
            _edit_scores(("math.exp(-right.mean())", "2 ** (-right.mean())")),
            "you used base 2, but these are natural logarithms, so the base should be e.",
        ),
        Mistake(
            _edit_scores(("math.exp(-right.mean())", "1 / np.exp(right).mean()")),
            "this is 1 over the mean probability. Take the mean of the logarithms instead.",
        ),
        Mistake(
            _edit_scores(("math.exp(-right.mean())", "-right.mean()")),
            "this is the loss in nats. The perplexity should be e to the power of the loss.",
        ),
        Mistake(
            _edit_scores(("(log_p.argmax(axis=-1) == target).mean()", "np.exp(right).mean()")),
            "your accuracy is the mean probability of the right word. Instead, return the share "
            "of rows in which the right word is the most probable one.",
        ),
        Mistake(
            _edit_scores(("-right.mean()", "-0.9 * right.mean() - 0.1 * log_p.mean()")),
            "this uses the smoothed loss. A perplexity should use only log p of the right word, "
            "or models trained with different label smoothing could not be compared.",
        ),
        Mistake(
            _edit_scores(("-right.mean()", "-(np.exp(log_p) * log_p).sum(axis=-1).mean()")),
            "this uses the entropy of the predictions, which says how confident they are, not how "
            "accurate.",
        ),
    ],
)

# ---------------------------------------------------------------- a power law


def _fit_power_law(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    slope, intercept = np.polyfit(np.log(x), np.log(y), 1)
    return math.exp(intercept), float(-slope)


def _work_out_fit(x: np.ndarray, y: np.ndarray, at: tuple) -> Iterator[Step]:
    slope, height = np.polyfit(np.log(x), np.log(y), 1)
    yield "log x", np.log(x)
    yield "log y", np.log(y)
    yield "the height of the straight line through them, where log x is 0", height
    yield "the factor, e to the power of that", math.exp(height)
    yield "the slope of that line", slope
    yield "the exponent", -slope


_edit_fit = partial(edit_reference, _fit_power_law)


def _power_cases() -> list[tuple]:
    cases = [(np.array([1.0, 2.0, 4.0]), np.array([8.0, 4.0, 2.0]))]
    for n, exponent in ((5, 0.5), (7, 1.2), (3, 0.2), (11, -0.7)):  # with the last, y grows
        x = 100 * 2.0 ** np.random.default_rng(n).permutation(n)
        cases.append((x, 3 * x**-exponent * np.exp(0.1 * random_array(n, seed=n))))
    return cases


def _random_points(chance: RandomValues) -> tuple:
    x = np.exp(chance.numbers(chance.between(3, 15), scale=2.0))
    noise = np.exp(chance.numbers(len(x), scale=0.1))
    exponent = chance.real(0.1, 1.5) * chance.one_of(1, 1, -1)
    return x, chance.real(0.5, 20.0) * x**-exponent * noise


power_law = Check(
    reference=_fit_power_law,
    cases=_power_cases,
    drawn=_random_points,
    results=("the factor", "the exponent"),
    working=_work_out_fit,
    tolerance=1e-7,
    verified="the straight line through the logarithms, with the sign of its slope changed",
    mistakes=[
        Mistake(
            _edit_fit(("-slope", "slope")),
            "your α has the wrong sign, because this is the slope itself. A falling line has a "
            "negative slope but a positive α, so change the sign.",
        ),
        Mistake(
            _edit_fit(("math.exp(intercept)", "float(intercept)")),
            "your factor is still a logarithm, because the line's height at log x = 0 is log c. "
            "Return e to the power of that height.",
        ),
        Mistake(
            _edit_fit(("math.exp(intercept), float(-slope)", "float(-slope), math.exp(intercept)")),
            "the two results are the wrong way round. np.polyfit gives the slope first, but you "
            "should return the factor first.",
        ),
        Mistake(
            _edit_fit(
                ("np.log(x), np.log(y)", "x, y"), ("math.exp(intercept)", "float(intercept)")
            ),
            "this fits a straight line to x and y themselves. Take the logarithm of both first.",
        ),
        Mistake(
            _edit_fit(("np.log(x)", "x")),
            "you took the logarithm of y only, so this fits an exponential decay, y = c · e^(−αx).",
        ),
        Mistake(
            _edit_fit(("np.log", "np.log10")),
            "you took logarithms to base 10, but went back with exp. Use the same base for both.",
        ),
        Mistake(
            lambda x, y: (
                float(y[0] * x[0] ** (-math.log(y[-1] / y[0]) / math.log(x[-1] / x[0]))),
                -math.log(y[-1] / y[0]) / math.log(x[-1] / x[0]),
            ),
            "this joins the first point to the last, but a least-squares line should use all "
            "points.",
        ),
        Mistake(
            _edit_fit(("float(-slope)", "abs(float(slope))")),
            "you dropped the sign of the slope. If y grows with x, α should be negative.",
        ),
        Mistake(
            lambda x, y: _fit_power_law(np.sort(x), y),
            "you sorted x but not y, so each x may be paired with the wrong y.",
        ),
    ],
)
