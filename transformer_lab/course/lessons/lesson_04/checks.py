"""Checks for the exercises of lesson 04: positions."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from transformer_lab import numpy_reference as reference
from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.edited_reference import edit_reference
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step, name_row

# ---------------------------------------------------------------- sinusoids


def _interleave(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.stack([first, second], axis=-1).reshape(*first.shape[:-1], -1)


def _make_table(length: int, d_model: int) -> np.ndarray:
    frequencies = 10_000 ** (-np.arange(0, d_model, 2) / d_model)
    angle = np.arange(length)[:, None] * frequencies
    return _interleave(np.sin(angle), np.cos(angle))


_edit_table = partial(edit_reference, _make_table)


def _work_out_sinusoid(length: int, d_model: int, at: tuple) -> Iterator[Step]:
    position, column = at
    pair, name = column // 2, "cosine" if column % 2 else "sine"
    speed = 10_000 ** (-2 * pair / d_model)
    yield f"the pair i that column {column} belongs to, counted from 0", pair
    yield f"its speed, 1 divided by 10000^({2 * pair}/{d_model}), because 2i is {2 * pair}", speed
    yield f"position {position} times that speed (the angle)", position * speed
    value = np.cos(position * speed) if column % 2 else np.sin(position * speed)
    yield f"its {name}, because column {column} is {'odd' if column % 2 else 'even'}", value


def _random_table(chance: RandomValues) -> tuple:
    return chance.between(1, 40), 2 * chance.between(1, 40)


sinusoids = Check(
    reference=reference.sinusoidal_positions,
    cases=lambda: [(3, 2), (5, 6), (7, 14), (13, 10), (1, 4), (101, 22)],
    drawn=_random_table,
    results=("the table",),
    working=_work_out_sinusoid,
    verified="your table agrees with §3.5, for several lengths and widths",
    mistakes=[
        Mistake(
            _edit_table(
                (
                    "_interleave(np.sin(angle), np.cos(angle))",
                    "np.concatenate([np.sin(angle), np.cos(angle)], axis=-1)",
                )
            ),
            "this puts all sines first and all cosines after them, but the paper alternates the "
            "two.",
        ),
        Mistake(
            _edit_table(
                ("np.arange(0, d_model, 2)", "np.arange(d_model)"),
                (
                    "_interleave(np.sin(angle), np.cos(angle))",
                    "np.where(np.arange(d_model) % 2, np.cos(angle), np.sin(angle))",
                ),
            ),
            "you give every column its own frequency, but columns 2i and 2i + 1 should share one, "
            "because they are the sine and the cosine of the same angle.",
        ),
        Mistake(
            _edit_table(("np.arange(0, d_model, 2)", "np.arange(d_model // 2)")),
            "you used the exponent i/d_model, but it should be 2i/d_model, where 2i is 0, 2, 4, "
            "and so on.",
        ),
        Mistake(
            _edit_table(("-np.arange", "-2 * np.arange")),
            "your exponent is twice as large as it should be. If your i takes the values 0, 2, 4, "
            "…, it is already the 2i of the formula.",
        ),
        Mistake(
            _edit_table(("np.arange(length)", "np.arange(1, length + 1)")),
            "you count positions from 1, but they should be counted from 0, so that the first row "
            "begins with sin 0 = 0 and cos 0 = 1.",
        ),
        Mistake(
            _edit_table(("np.sin(angle), np.cos(angle)", "np.cos(angle), np.sin(angle)")),
            "you swapped sine and cosine. Sine belongs in the even columns, and cosine in the odd "
            "ones.",
        ),
        Mistake(
            _edit_table(("* frequencies", "/ frequencies")),
            "you multiply by 10000^(2i/d_model), but you should divide by it, so that the first "
            "pair is the fastest to turn.",
        ),
        Mistake(
            _edit_table(("* frequencies", "* np.deg2rad(frequencies)")),
            "you treat the angles as degrees, but the formula gives radians, which is what sin and "
            "cos expect.",
        ),
        Mistake(
            _edit_table(("* frequencies", "* 2 * np.pi * frequencies")),
            "every angle has an extra factor of 2π, which is not in the formula.",
        ),
        Mistake(
            _edit_table(("* frequencies", "* frequencies / length")),
            "you divide the position by the length, but you should use the position itself (0, 1, "
            "2, …).",
        ),
        Mistake(_edit_table(("10_000", "1_000")), "the base is 1,000, but it should be 10,000."),
    ],
)

# ---------------------------------------------------------------- the rotation


def _make_rotation(k: int, d_model: int) -> np.ndarray:
    matrix = np.zeros((d_model, d_model))
    for column in range(0, d_model, 2):
        angle = k * 10_000 ** (-column / d_model)
        sin, cos = np.sin(angle), np.cos(angle)
        matrix[column : column + 2, column : column + 2] = [[cos, sin], [-sin, cos]]
    return matrix


_edit_rotation = partial(edit_reference, _make_rotation)


def _work_out_rotation(k: int, d_model: int, at: tuple) -> Iterator[Step]:
    row, column = at
    pair = row // 2
    angle = k * 10_000 ** (-2 * pair / d_model)
    block = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    yield f"the pair i that row {row} belongs to, counted from 0", pair
    yield f"its angle, {k} divided by 10000^({2 * pair}/{d_model}), because 2i is {2 * pair}", angle
    yield "its block, cos and sin above −sin and cos", block
    if column // 2 == pair:
        yield f"the number in row {row}, column {column}", block[row % 2, column % 2]
    else:
        yield f"the number in row {row}, column {column}, outside the block", 0.0


def _random_turn(chance: RandomValues) -> tuple:
    return chance.between(-99, 99), 2 * chance.between(1, 20)


rotation = Check(
    reference=_make_rotation,
    cases=lambda: [(1, 2), (3, 6), (-2, 6), (11, 10), (0, 4), (1009, 14)],
    drawn=_random_turn,
    results=("R_k",),
    working=_work_out_rotation,
    verified="R_k PE(pos) = PE(pos + k) for every pos, forwards and backwards",
    mistakes=[
        Mistake(
            _edit_rotation(("np.sin(angle)", "-np.sin(angle)")),
            "this rotates in the wrong direction, so it gives PE(pos − k). Check the signs of the "
            "sines.",
        ),
        Mistake(
            _edit_rotation(("k * 10_000 ** (-column / d_model)", "k")),
            "you rotate all pairs by the same angle, but pair i should be rotated by k · "
            "10000^(−2i/d_model).",
        ),
        Mistake(
            _edit_rotation(("k * 10_000", "10_000")),
            "you do not use k, so this always moves by one position.",
        ),
        Mistake(
            _edit_rotation(("-column / d_model", "-(column // 2) / d_model")),
            "you used the exponent i/d_model, but for pair i it should be 2i/d_model.",
        ),
        Mistake(
            _edit_rotation(("-column", "-2 * column")),
            "your exponent is twice as large as it should be. If your i takes the values 0, 2, 4, "
            "…, it is already the 2i of the formula.",
        ),
        Mistake(
            _edit_rotation(("np.sin(angle)", "0")),
            "the sines next to the diagonal are missing. A rotation should mix the two numbers in a "
            "pair, but this only scales them.",
        ),
        Mistake(
            _edit_rotation(("return matrix", "return abs(matrix)")),
            "none of your numbers is negative, but one sine in each block should have a minus "
            "sign, and the sines and cosines themselves can be negative.",
        ),
    ],
)

# ---------------------------------------------------------------- rotary


def _rotate(x: np.ndarray, start: int) -> np.ndarray:
    length, d_k = x.shape[-2:]
    frequencies = 10_000 ** (-np.arange(0, d_k, 2) / d_k)
    angle = np.arange(start, start + length)[:, None] * frequencies
    sin, cos = np.sin(angle), np.cos(angle)
    even, odd = x[..., 0::2], x[..., 1::2]
    first = even * cos - odd * sin
    second = even * sin + odd * cos
    return _interleave(first, second)


_edit_rotary = partial(edit_reference, _rotate)


def _work_out_turn(x: np.ndarray, start: int, at: tuple) -> Iterator[Step]:
    first = at[-1] // 2 * 2
    even, odd = x[at[:-1]][first : first + 2]
    angle = (start + at[-2]) * 10_000 ** (-first / x.shape[-1])
    sin, cos = np.sin(angle), np.cos(angle)
    yield f"{name_row('x', at)}, columns {first} and {first + 1} (even and odd)", [even, odd]
    yield f"its angle, position {start + at[-2]} divided by 10000^({first}/{x.shape[-1]})", angle
    yield "the cos and sin of that angle", [cos, sin]
    turned = (even * cos - odd * sin, even * sin + odd * cos)[at[-1] % 2]
    formula = ("even · cos − odd · sin", "even · sin + odd · cos")[at[-1] % 2]
    yield f"{formula} (column {at[-1]})", turned


def _random_rows(chance: RandomValues) -> tuple:
    length, half = chance.sizes(2)
    return chance.numbers(*chance.batch(), length, 2 * half), chance.between(0, 99)


rotate = Check(
    reference=_rotate,
    cases=lambda: [
        (np.array([[3.0, 1.0, -2.0, 4.0], [2.0, -1.0, 5.0, 6.0]]), 0),
        (random_array(3, 5, 6, seed=1), 0),
        (random_array(2, 3, 5, 6, seed=2), 7),
        (random_array(1, 2, seed=3), 3),
        (random_array(7, 3, 10, seed=4), 101),
    ],
    drawn=_random_rows,
    results=("the rotated vectors",),
    working=_work_out_turn,
    verified="each pair is rotated by its position's angle, so scores depend only on distances",
    mistakes=[
        Mistake(
            _edit_rotary(("np.arange(start, start + length)", "np.arange(length)")),
            "you start at position 0, but the first row should be at position `start`.",
        ),
        Mistake(
            _edit_rotary(("_interleave(first, second)", "x + _interleave(sin, cos)")),
            "this adds sinusoids to the vector, but rotary positions should rotate the vector "
            "itself.",
        ),
        Mistake(
            _edit_rotary(("np.sin(angle)", "-np.sin(angle)")),
            "this rotates the vectors by −angle, which is the wrong direction. Rotate them by "
            "+angle, as the package does.",
        ),
        Mistake(
            _edit_rotary(("* frequencies", "* np.ones(d_k // 2)")),
            "you rotate all pairs by the same angle, but pair i should be rotated by position · "
            "10000^(−2i/d_k).",
        ),
        Mistake(
            _edit_rotary(("np.arange(0, d_k, 2)", "np.arange(d_k // 2)")),
            "you used the exponent i/d_k, but for pair i it should be 2i/d_k.",
        ),
        Mistake(
            _edit_rotary(("first", "even")),
            "you compute the odd columns from even columns that you have already changed. Use the "
            "old values for both.",
        ),
        Mistake(
            _edit_rotary(
                ("x[..., 0::2], x[..., 1::2]", "x[..., : d_k // 2], x[..., d_k // 2 :]"),
                ("_interleave(first, second)", "np.concatenate([first, second], axis=-1)"),
            ),
            "you pair column i with column i + d/2, as some libraries do, but here a pair is two "
            "neighbouring columns, 2i and 2i + 1.",
        ),
        Mistake(
            _edit_rotary(("- odd * sin", "+ odd * sin")),
            "the minus sign in even · cos − odd · sin is missing, so the rotation changes "
            "the vector's length.",
        ),
    ],
)

# ---------------------------------------------------------------- ALiBi


def _make_bias(num_heads: int, length: int) -> np.ndarray:
    distance = abs(np.arange(length)[:, None] - np.arange(length))
    slopes = 2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)
    return -slopes[:, None, None] * distance


_edit_bias = partial(edit_reference, _make_bias)


def _work_out_bias(num_heads: int, length: int, at: tuple) -> Iterator[Step]:
    head, query, key = at
    slope = 2.0 ** (-8 * (head + 1) / num_heads)
    yield "the head's number n, counted from 1", head + 1
    yield f"its slope, 2^(−8 · {head + 1}/{num_heads})", slope
    yield f"how far key {key} is from query {query}", abs(query - key)
    yield "slope times distance, with the sign changed", 0.0 - slope * abs(query - key)


def _random_bias(chance: RandomValues) -> tuple:
    return tuple(chance.sizes(2))


alibi = Check(
    reference=_make_bias,
    cases=lambda: [(1, 2), (2, 3), (8, 5), (3, 7), (5, 1), (11, 2)],
    drawn=_random_bias,
    results=("the bias",),
    working=_work_out_bias,
    verified="−slope · distance, with a slope for each head and 0 on the diagonal",
    mistakes=[
        Mistake(
            _edit_bias(("-slopes", "slopes")),
            "your bias has the wrong sign. Distant keys should get a lower score, not a higher "
            "one.",
        ),
        Mistake(
            _edit_bias(
                ("2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)", "np.ones(num_heads)")
            ),
            "you give every head the same slope, but with h heads, the slope of head n should be "
            "2^(−8n/h).",
        ),
        Mistake(
            _edit_bias(("np.arange(1, num_heads + 1)", "np.arange(num_heads)")),
            "you count heads from 0, but they should be counted from 1, so that the first slope is "
            "2^(−8/h), not 1.",
        ),
        Mistake(
            _edit_bias(
                ("-8 * np.arange(1, num_heads + 1) / num_heads", "-np.arange(1.0, num_heads + 1)")
            ),
            "this is right only for 8 heads. For h heads, the exponent should be −8n/h.",
        ),
        Mistake(
            _edit_bias(("abs(", "(")),
            "your distances to keys on the right are negative, but a key to the right is just as "
            "far away as one to the left.",
        ),
        Mistake(
            _edit_bias(
                ("2.0 ** (-8 * np.arange(1, num_heads + 1) / num_heads)", "np.ones(num_heads)"),
                ("-slopes[:, None, None] * distance", "2.0 ** (-slopes[:, None, None] * distance)"),
            ),
            "your bias is 2^(−distance), but it should be linear in the distance, −slope · "
            "distance.",
        ),
    ],
)
