"""Checks of the exercises of lesson 04, positions."""

import numpy as np

from transformer_lab import numpy_reference as reference
from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues

# ---------------------------------------------------------------- sinusoids


def _angles(length: int, frequencies: np.ndarray, start: int = 0) -> np.ndarray:
    return (start + np.arange(length))[:, None] * frequencies


def _frequencies(d_model: int) -> np.ndarray:
    return 10_000 ** (-np.arange(0, d_model, 2) / d_model)


def _interleave(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def _table(length: int, frequencies: np.ndarray, start: int = 0) -> np.ndarray:
    angle = _angles(length, frequencies, start)
    return _interleave(np.sin(angle), np.cos(angle))


def _halves(length: int, d_model: int) -> np.ndarray:
    angle = _angles(length, _frequencies(d_model))
    return np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)


def _frequency_of_each_column(length: int, d_model: int) -> np.ndarray:
    angle = _angles(length, 10_000 ** (-np.arange(d_model) / d_model))
    return np.where(np.arange(d_model) % 2 == 0, np.sin(angle), np.cos(angle))


def _cosine_first(length: int, d_model: int) -> np.ndarray:
    angle = _angles(length, _frequencies(d_model))
    return _interleave(np.cos(angle), np.sin(angle))


def _random_table(chance: RandomValues) -> tuple:
    return chance.between(1, 40), 2 * chance.between(1, 40)


sinusoids = Check(
    reference=reference.sinusoidal_positions,
    cases=lambda: [(3, 2), (5, 6), (7, 14), (13, 10), (1, 4), (101, 22)],
    drawn=_random_table,
    results=("the table",),
    verified="equal to §3.5 for several lengths and widths",
    mistakes=[
        Mistake(
            _halves,
            "all sines first, then all cosines: this is another layout than the paper's, which "
            "alternates them.",
        ),
        Mistake(
            _frequency_of_each_column,
            "every column has a frequency of its own. Columns 2i and 2i + 1 share one: sine and "
            "cosine of the same angle.",
        ),
        Mistake(
            lambda n, d: _table(n, 10_000 ** (-np.arange(d // 2) / d)),
            "the exponent is 2i/d_model, with 2i = 0, 2, 4, …; you used i/d_model.",
        ),
        Mistake(
            lambda n, d: _table(n, 10_000 ** (-2 * np.arange(0, d, 2) / d)),
            "2i is counted twice: if i runs over 0, 2, 4, …, it is 2i already.",
        ),
        Mistake(
            lambda n, d: _table(n, _frequencies(d), start=1),
            "positions count from 0: the first row is sin 0 = 0, cos 0 = 1.",
        ),
        Mistake(_cosine_first, "sine belongs to the even columns, cosine to the odd ones."),
        Mistake(
            lambda n, d: _table(n, 1 / _frequencies(d)),
            "you multiply by 10000^(2i/d_model); divide: the first pair is the fastest.",
        ),
        Mistake(
            lambda n, d: _table(n, np.deg2rad(_frequencies(d))),
            "the angles are taken for degrees: sin and cos want radians, and the formula gives them.",
        ),
        Mistake(
            lambda n, d: _table(n, 2 * np.pi * _frequencies(d)),
            "every angle has a factor of 2π too much: the formula has none.",
        ),
        Mistake(
            lambda n, d: _table(n, _frequencies(d) / n),
            "the position is divided by the length; it is the plain number 0, 1, 2, …",
        ),
        Mistake(
            lambda n, d: _table(n, 1_000 ** (-np.arange(0, d, 2) / d)),
            "the base is 10,000.",
        ),
    ],
)

# ---------------------------------------------------------------- the rotation


def _blocks(k: int, frequencies: np.ndarray, sign: float = 1.0) -> np.ndarray:
    size = 2 * len(frequencies)
    matrix = np.zeros((size, size))
    for pair, frequency in enumerate(frequencies):
        sin, cos = sign * np.sin(k * frequency), np.cos(k * frequency)
        matrix[2 * pair : 2 * pair + 2, 2 * pair : 2 * pair + 2] = [[cos, sin], [-sin, cos]]
    return matrix


def _rotation(k: int, d_model: int) -> np.ndarray:
    return _blocks(k, _frequencies(d_model))


def _random_turn(chance: RandomValues) -> tuple:
    return chance.between(-99, 99), 2 * chance.between(1, 20)


rotation = Check(
    reference=_rotation,
    cases=lambda: [(1, 2), (3, 6), (-2, 6), (11, 10), (0, 4), (1009, 14)],
    drawn=_random_turn,
    results=("R_k",),
    verified="R_k PE(pos) = PE(pos + k) for every pos, forwards and backwards",
    mistakes=[
        Mistake(
            lambda k, d: _blocks(k, _frequencies(d), sign=-1.0),
            "this turns the other way: it gives PE(pos − k). Look at the signs of the sines.",
        ),
        Mistake(
            lambda k, d: _blocks(k, np.ones(d // 2)),
            "all pairs turn by the same angle; pair i turns by k · 10000^(−2i/d_model).",
        ),
        Mistake(
            lambda k, d: _blocks(1, _frequencies(d)),
            "k does not enter: this is one step.",
        ),
        Mistake(
            lambda k, d: _blocks(k, 10_000 ** (-np.arange(d // 2) / d)),
            "the exponent is 2i/d_model for pair i, not i/d_model.",
        ),
        Mistake(
            lambda k, d: _blocks(k, 10_000 ** (-2 * np.arange(0, d, 2) / d)),
            "2i is counted twice: if i runs over 0, 2, 4, …, it is 2i already.",
        ),
        Mistake(
            lambda k, d: np.diag(np.repeat(np.cos(k * _frequencies(d)), 2)),
            "the sines beside the diagonal are missing: a turn mixes the two numbers of a pair.",
        ),
        Mistake(
            lambda k, d: abs(_rotation(k, d)),
            "a rotation has one minus sign in each block (or the cosine itself is negative).",
        ),
    ],
)

# ---------------------------------------------------------------- rotary


def _turn(x: np.ndarray, frequencies: np.ndarray, start: int, sign: float = 1.0) -> np.ndarray:
    angle = _angles(x.shape[-2], frequencies, start)
    sin, cos = sign * np.sin(angle), np.cos(angle)
    even, odd = x[..., 0::2], x[..., 1::2]
    return _interleave(even * cos - odd * sin, even * sin + odd * cos)


def _rotate(x: np.ndarray, start: int) -> np.ndarray:
    return _turn(x, _frequencies(x.shape[-1]), start)


def _no_start(x: np.ndarray, start: int) -> np.ndarray:
    return _rotate(x, 0)


def _adds(x: np.ndarray, start: int) -> np.ndarray:
    return x + _table(x.shape[-2], _frequencies(x.shape[-1]), start)


def _turns_halves(x: np.ndarray, start: int) -> np.ndarray:
    half = x.shape[-1] // 2
    angle = _angles(x.shape[-2], _frequencies(x.shape[-1]), start)
    first, second = x[..., :half], x[..., half:]
    turned = [first * np.cos(angle) - second * np.sin(angle)]
    turned += [first * np.sin(angle) + second * np.cos(angle)]
    return np.concatenate(turned, axis=-1)


def _overwrites(x: np.ndarray, start: int) -> np.ndarray:
    angle = _angles(x.shape[-2], _frequencies(x.shape[-1]), start)
    even, odd = x[..., 0::2], x[..., 1::2]
    even = even * np.cos(angle) - odd * np.sin(angle)
    return _interleave(even, even * np.sin(angle) + odd * np.cos(angle))


def _reflects(x: np.ndarray, start: int) -> np.ndarray:
    angle = _angles(x.shape[-2], _frequencies(x.shape[-1]), start)
    even, odd = x[..., 0::2], x[..., 1::2]
    return _interleave(
        even * np.cos(angle) + odd * np.sin(angle), even * np.sin(angle) + odd * np.cos(angle)
    )


def _random_rows(chance: RandomValues) -> tuple:
    length, half = chance.sizes(2)
    return chance.numbers(*chance.batch(), length, 2 * half), chance.between(0, 99)


rotate = Check(
    reference=_rotate,
    cases=lambda: [
        (random_array(2, 4), 0),
        (random_array(3, 5, 6, seed=1), 0),
        (random_array(2, 3, 5, 6, seed=2), 7),
        (random_array(1, 2, seed=3), 3),
        (random_array(7, 3, 10, seed=4), 101),
    ],
    drawn=_random_rows,
    results=("the turned vectors",),
    verified="each pair turned by its position's angle; lengths stay, and scores know distances only",
    mistakes=[
        Mistake(_no_start, "right from position 0 on; the first row is position `start`."),
        Mistake(_adds, "this adds sinusoids. Rotary multiplies: it turns the vector itself."),
        Mistake(
            lambda x, start: _turn(x, _frequencies(x.shape[-1]), start, sign=-1.0),
            "it turns the other way round. Scores stay as they are (only differences count), but "
            "the paper of Su et al. and the package turn by +angle.",
        ),
        Mistake(
            lambda x, start: _turn(x, np.ones(x.shape[-1] // 2), start),
            "all pairs turn equally fast; pair i turns by position · 10000^(−2i/d_k).",
        ),
        Mistake(
            lambda x, start: _turn(
                x, 10_000 ** (-np.arange(x.shape[-1] // 2) / x.shape[-1]), start
            ),
            "the exponent is 2i/d_k for pair i, not i/d_k.",
        ),
        Mistake(
            _overwrites,
            "the second line uses the even number that the first has turned already.",
        ),
        Mistake(
            _turns_halves,
            "you pair column i with column i + d/2. Some libraries do; here neighbours (2i, 2i + 1) "
            "are pairs.",
        ),
        Mistake(
            _reflects,
            "a minus sign is missing: even · cos − odd · sin. As it is, lengths change.",
        ),
    ],
)

# ---------------------------------------------------------------- ALiBi


def _bias(num_heads: int, length: int) -> np.ndarray:
    distance = abs(np.arange(length)[:, None] - np.arange(length))
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    return -slopes[:, None, None] * distance


def _with_slopes(num_heads: int, length: int, slopes: np.ndarray) -> np.ndarray:
    distance = abs(np.arange(length)[:, None] - np.arange(length))
    return -slopes[:, None, None] * distance


def _signed_distance(num_heads: int, length: int) -> np.ndarray:
    distance = np.arange(length)[:, None] - np.arange(length)
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    return -slopes[:, None, None] * distance


def _random_bias(chance: RandomValues) -> tuple:
    return tuple(chance.sizes(2))


alibi = Check(
    reference=_bias,
    cases=lambda: [(1, 2), (2, 3), (8, 5), (3, 7), (5, 1), (11, 2)],
    drawn=_random_bias,
    results=("the bias",),
    verified="−slope · distance, a slope for each head, 0 on the diagonal",
    mistakes=[
        Mistake(
            lambda h, n: -_bias(h, n),
            "the sign: far keys should get a lower score, not a higher one.",
        ),
        Mistake(
            lambda h, n: _with_slopes(h, n, np.ones(h)),
            "every head has the same slope; head n of h has 2^(−8n/h).",
        ),
        Mistake(
            lambda h, n: _with_slopes(h, n, 2.0 ** (-8 * np.arange(h) / h)),
            "heads count from 1 here: the first slope is 2^(−8/h), not 1.",
        ),
        Mistake(
            lambda h, n: _with_slopes(h, n, 2.0 ** (-np.arange(1.0, h + 1))),
            "right for 8 heads only: the exponent is −8n/h.",
        ),
        Mistake(
            _signed_distance,
            "the distance must not be negative: in an encoder, keys to the right are far too.",
        ),
        Mistake(
            lambda h, n: 2.0 ** _with_slopes(h, n, np.ones(h)),
            "the bias is added to the scores: a linear penalty, not a power of the distance.",
        ),
    ],
)
