"""Wrong answers to the exercises of lesson 04, written as a learner writes them."""

import numpy as np


def sines_then_cosines(length, d_model):
    angle = np.outer(np.arange(length), 1 / 10_000 ** (np.arange(0, d_model, 2) / d_model))
    return np.hstack([np.sin(angle), np.cos(angle)])


def a_frequency_a_column(length, d_model):
    table = np.zeros((length, d_model))
    for position in range(length):
        for column in range(d_model):
            angle = position / 10_000 ** (column / d_model)
            table[position, column] = np.cos(angle) if column % 2 else np.sin(angle)
    return table


def fill(length, d_model, angle_of):
    table = np.zeros((length, d_model))
    for position in range(length):
        for i in range(d_model // 2):
            table[position, 2 * i] = np.sin(angle_of(position, i))
            table[position, 2 * i + 1] = np.cos(angle_of(position, i))
    return table


def i_for_two_i(length, d_model):
    return fill(length, d_model, lambda p, i: p / 10_000 ** (i / d_model))


def from_one(length, d_model):
    return fill(length, d_model, lambda p, i: (p + 1) / 10_000 ** (2 * i / d_model))


def swapped(length, d_model):
    table = fill(length, d_model, lambda p, i: p / 10_000 ** (2 * i / d_model))
    return table.reshape(length, -1, 2)[:, :, ::-1].reshape(length, d_model)


def times_for_divided(length, d_model):
    return fill(length, d_model, lambda p, i: p * 10_000 ** (2 * i / d_model))


def blocks(k, d_model, angle_of):
    matrix = np.zeros((d_model, d_model))
    for i in range(d_model // 2):
        a = angle_of(i)
        matrix[2 * i, 2 * i] = matrix[2 * i + 1, 2 * i + 1] = np.cos(a)
        matrix[2 * i, 2 * i + 1], matrix[2 * i + 1, 2 * i] = np.sin(a), -np.sin(a)
    return matrix


def transposed(k, d_model):
    return blocks(k, d_model, lambda i: k / 10_000 ** (2 * i / d_model)).T


def one_angle(k, d_model):
    return blocks(k, d_model, lambda i: k)


def one_step(k, d_model):
    return blocks(k, d_model, lambda i: 10_000 ** (-2 * i / d_model))


def i_again(k, d_model):
    return blocks(k, d_model, lambda i: k / 10_000 ** (i / d_model))


def cosines_only(k, d_model):
    return np.eye(d_model) * blocks(k, d_model, lambda i: k / 10_000 ** (2 * i / d_model))


def angles(x, start):
    frequency = 10_000 ** (-np.arange(0, x.shape[-1], 2) / x.shape[-1])
    return np.arange(start, start + x.shape[-2])[:, None] * frequency


def turned(x, angle):
    result = np.empty_like(x)
    result[..., 0::2] = x[..., 0::2] * np.cos(angle) - x[..., 1::2] * np.sin(angle)
    result[..., 1::2] = x[..., 0::2] * np.sin(angle) + x[..., 1::2] * np.cos(angle)
    return result


def start_forgotten(x, start):
    return turned(x, angles(x, 0))


def added(x, start):
    result = x.copy()
    result[..., 0::2] += np.sin(angles(x, start))
    result[..., 1::2] += np.cos(angles(x, start))
    return result


def backwards(x, start):
    return turned(x, -angles(x, start))


def equally_fast(x, start):
    return turned(x, np.arange(start, start + x.shape[-2])[:, None])


def in_halves(x, start):
    a, b = np.split(x, 2, axis=-1)
    angle = angles(x, start)
    c, s = np.cos(angle), np.sin(angle)
    return np.concatenate([a * c - b * s, a * s + b * c], axis=-1)


def penalty(num_heads, length, slopes, signed=False):
    bias = np.zeros((num_heads, length, length))
    for i in range(length):
        for j in range(length):
            bias[:, i, j] = -np.array(slopes) * ((i - j) if signed else abs(i - j))
    return bias


def rewards_distance(num_heads, length):
    return -penalty(num_heads, length, [2 ** (-8 * n / num_heads) for n in range(1, num_heads + 1)])


def one_slope(num_heads, length):
    return penalty(num_heads, length, [1.0] * num_heads)


def heads_from_zero(num_heads, length):
    return penalty(num_heads, length, [2 ** (-8 * n / num_heads) for n in range(num_heads)])


def halves_for_every_h(num_heads, length):
    return penalty(num_heads, length, [0.5**n for n in range(1, num_heads + 1)])


def negative_to_the_right(num_heads, length):
    slopes = [2 ** (-8 * n / num_heads) for n in range(1, num_heads + 1)]
    return penalty(num_heads, length, slopes, signed=True)


def in_degrees(length, d_model):
    angle = np.radians(np.arange(length)[:, None] / 10_000 ** (np.arange(0, d_model, 2) / d_model))
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, d_model)


def in_whole_turns(length, d_model):
    angle = 2 * np.pi * np.arange(length)[:, None] / 10_000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, d_model)


def from_zero_to_one(length, d_model):
    places = np.arange(length)[:, None] / length
    angle = places / 10_000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(length, d_model)


TABLE = [
    ("sinusoids", in_degrees, "treat the angles as degrees"),
    ("sinusoids", in_whole_turns, "an extra factor of 2π"),
    ("sinusoids", from_zero_to_one, "divide the position by the length"),
    ("sinusoids", sines_then_cosines, "all sines first"),
    ("sinusoids", a_frequency_a_column, "its own frequency"),
    ("sinusoids", i_for_two_i, "it should be 2i/d_model"),
    ("sinusoids", from_one, "should be counted from 0"),
    ("sinusoids", swapped, "Sine belongs in the even columns"),
    ("sinusoids", times_for_divided, "the first pair is the fastest"),
    ("rotation", transposed, "rotates in the wrong direction"),
    ("rotation", one_angle, "the same angle"),
    ("rotation", one_step, "you do not use k"),
    ("rotation", i_again, "for pair i it should be 2i/d_model"),
    ("rotation", cosines_only, "sines next to the diagonal"),
    ("rotate", start_forgotten, "position `start`"),
    ("rotate", added, "this adds sinusoids"),
    ("rotate", backwards, "rotates the vectors by −angle"),
    ("rotate", equally_fast, "all pairs by the same angle"),
    ("rotate", in_halves, "column i with column i + d/2"),
    ("alibi", rewards_distance, "a lower score"),
    ("alibi", one_slope, "the same slope"),
    ("alibi", heads_from_zero, "should be counted from 1"),
    ("alibi", halves_for_every_h, "only for 8 heads"),
    ("alibi", negative_to_the_right, "keys on the right are negative"),
]
