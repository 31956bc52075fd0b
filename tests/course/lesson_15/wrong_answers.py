"""Wrong answers to the exercises of lesson 15, written as a learner writes them."""

import numpy as np


def operations(n, d):
    multiply_and_add = 2
    return multiply_and_add * 4 * n * d**2, multiply_and_add * 2 * n**2 * d


def no_output_projection(n, d):
    return n * d * d + n * d * d + n * d * d, n * n * d + n * n * d


def scores_only(n, d):
    return 4 * n * d**2, d * n**2


def quadratic_first(n, d):
    scores = mix = n * d * n
    return scores + mix, 4 * d * n * d


def parameters(n, d):
    return 4 * d**2, 2 * d * n**2


def entries(n, d):
    return 4 * n * d**2, n**2 + n**2


def projections_of_the_matrix(n, d):
    return 4 * d * n**2, 2 * d * n**2


def straight_line(n, seconds):
    return np.polyfit(n, seconds, 1)[0]


def half_logarithmic(n, seconds):
    return np.polyfit(n, np.log(seconds), 1)[0]


def turned(n, seconds):
    return np.polyfit(np.log(seconds), np.log(n), 1)[0]


def two_points(n, seconds):
    x, y = np.log(n), np.log(seconds)
    return (y[-1] - y[0]) / (x[-1] - x[0])


def intercept(n, seconds):
    _, height = np.polyfit(np.log(n), np.log(seconds), 1)
    return height


def quotient(n, seconds):
    return np.mean([np.log(s) / np.log(m) for m, s in zip(n, seconds, strict=True)])


def rows(factor, mix):
    return np.array([f * row for f, row in zip(factor, mix, strict=True)])


def added(la, ta, ma, lb, tb, mb):
    return np.where(la > lb, la, lb), ta + tb, ma + mb


def second_is_the_largest(la, ta, ma, lb, tb, mb):
    shrink = np.exp(la - lb)
    return lb, tb + ta * shrink, mb + rows(shrink, ma)


def first_is_scaled(la, ta, ma, lb, tb, mb):
    top = np.max([la, lb], axis=0)
    shrink = np.exp(la - top)
    return top, tb + shrink * ta, mb + rows(shrink, ma)


def sign(la, ta, ma, lb, tb, mb):
    top = np.max([la, lb], axis=0)
    a, b = np.exp(top - la), np.exp(top - lb)
    return top, a * ta + b * tb, rows(a, ma) + rows(b, mb)


def only_totals(la, ta, ma, lb, tb, mb):
    top = np.max([la, lb], axis=0)
    return top, np.exp(la - top) * ta + np.exp(lb - top) * tb, mb + ma


def divided_too_soon(la, ta, ma, lb, tb, mb):
    top = np.max([la, lb], axis=0)
    a, b = np.exp(la - top), np.exp(lb - top)
    total = a * ta + b * tb
    return top, total, (rows(a, ma) + rows(b, mb)) / total[:, None]


def sum_of_largest(la, ta, ma, lb, tb, mb):
    top = np.max([la, lb], axis=0)
    a, b = np.exp(la - top), np.exp(lb - top)
    return lb + la, a * ta + b * tb, rows(a, ma) + rows(b, mb)


def not_normalised(q, k, value):
    return np.einsum("qd,kd,kv->qv", q, k, value)


def by_length(q, k, value):
    return np.einsum("qd,kd,kv->qv", q, k, value) / k.shape[0]


def softmax(q, k, value):
    weights = np.exp(q @ k.T)
    return weights / weights.sum(-1, keepdims=True) @ value


def outputs_sum_to_one(q, k, value):
    out = (q @ k.T) @ value
    return out / np.sum(out, axis=-1, keepdims=True)


def by_feature(q, k, value):
    return q @ ((k / np.sum(k, axis=0)).T @ value)


def columns(q, k, value):
    weights = q @ k.T
    return weights / weights.sum(0, keepdims=True) @ value


def with_queries(layers, heads, d_k, d_v, words, each):
    query = key = d_k
    return layers * heads * words * (query + key + d_v) * each


def keys_only(layers, heads, d_k, d_v, words, each):
    return words * d_k * heads * layers * each


def numbers(layers, heads, d_k, d_v, words, each):
    return words * (d_k + d_v) * heads * layers


def matrices(layers, heads, d_k, d_v, words, each):
    return each * words**2 * heads * layers


def one_head(layers, heads, d_k, d_v, words, each):
    return each * words * (d_k + d_v) * layers


def one_layer(layers, heads, d_k, d_v, words, each):
    return each * words * (d_k + d_v) * heads


def twice_the_keys(layers, heads, d_k, d_v, words, each):
    return 2 * each * words * d_k * heads * layers


def by_way_of_the_first(largest_a, total_a, mixed_a, largest_b, total_b, mixed_b):
    factor = np.exp(largest_b - largest_a)
    total, mixed = total_a + factor * total_b, mixed_a + factor[:, None] * mixed_b
    largest = np.maximum(largest_a, largest_b)
    scale = np.exp(largest_a - largest)
    return largest, scale * total, scale[:, None] * mixed


def never_falls(n, seconds):
    return abs(np.polyfit(np.log(n), np.log(seconds), 1)[0])


def sorted_lengths(n, seconds):
    return np.polyfit(np.log(sorted(n)), np.log(seconds), 1)[0]


TABLE = [
    ("products", operations, "only the multiplications"),
    ("products", no_output_projection, "three projections"),
    ("products", scores_only, "only one of the two products"),
    ("products", quadratic_first, "swapped the two numbers"),
    ("products", parameters, "number of parameters"),
    ("products", entries, "only the n² pairs"),
    ("products", projections_of_the_matrix, "n·d² multiplications, not n²·d"),
    ("exponent", straight_line, "did not take logarithms"),
    ("exponent", half_logarithmic, "exponential growth"),
    ("exponent", turned, "swapped the axes"),
    ("exponent", two_points, "points between them should count too"),
    ("exponent", intercept, "height"),
    ("exponent", quotient, "point by point"),
    ("exponent", never_falls, "should be negative"),
    ("exponent", sorted_lengths, "may be paired with the wrong time"),
    ("merge", by_way_of_the_first, "Scale each part once"),
    ("merge", added, "you did not scale the parts"),
    ("merge", second_is_the_largest, "larger of the two"),
    ("merge", first_is_scaled, "only the first part"),
    ("merge", sign, "sign in the exponent"),
    ("merge", only_totals, "not the mixes"),
    ("merge", divided_too_soon, "by the total too early"),
    ("merge", sum_of_largest, "you added the two largest scores"),
    ("linear_mix", not_normalised, "do not sum to 1"),
    ("linear_mix", by_length, "number of keys"),
    ("linear_mix", softmax, "this is the softmax"),
    ("linear_mix", outputs_sum_to_one, "the weights should sum to 1"),
    ("linear_mix", by_feature, "Divide each row by a single number"),
    ("linear_mix", columns, "your columns sum to 1"),
    ("cache_bytes", with_queries, "counts queries"),
    ("cache_bytes", keys_only, "the cache stores the values"),
    ("cache_bytes", numbers, "counts numbers"),
    ("cache_bytes", matrices, "n × n matrix"),
    ("cache_bytes", one_head, "every head"),
    ("cache_bytes", one_layer, "every layer"),
    ("cache_bytes", twice_the_keys, "their width is d_v"),
]
