"""Wrong answers to the exercises of lesson 01, written as a learner writes them."""

import numpy as np

from transformer_lab.numpy_reference import softmax


def columns_sum_to_one(scores):
    e = np.exp(scores - np.max(scores, axis=0))
    return e / np.sum(e, axis=0)


def no_axis(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)


def as_in_the_formula(scores):
    return np.exp(scores) / np.exp(scores).sum()


def overflows(scores):
    e = np.exp(scores)
    return e / e.sum(-1)[..., None]


def one_maximum_for_all(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum(-1, keepdims=True)


def forgets_to_divide(scores):
    return np.exp(scores - scores.max(-1, keepdims=True))


def spoils_its_argument(scores):
    scores -= scores.max(-1, keepdims=True)
    e = np.exp(scores)
    return e / e.sum(-1, keepdims=True)


def no_keepdims(scores):
    e = np.exp(scores - scores.max(-1))
    return e / e.sum(-1)


def keepdims_in_one_place(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(-1)


def second_axis(scores):
    e = np.exp(scores - scores.max(1)[:, None])
    return e / e.sum(1, keepdims=True)


def one_sum_for_all(scores):
    e = np.exp(scores - np.max(scores, -1)[..., None])
    return e / np.sum(e)


def subtracts_the_smallest(scores):
    e = np.exp(scores - np.min(scores, -1)[..., None])
    return e / np.sum(e, -1)[..., None]


def subtracts_the_mean(scores):
    e = np.exp(scores - np.mean(scores, axis=-1, keepdims=True))
    return e / np.sum(e, -1)[..., None]


def subtracts_the_largest_size(scores):
    e = np.exp(scores - np.abs(scores).max(-1)[..., None])
    return e / np.sum(e, -1)[..., None]


def subtracts_the_first(scores):
    e = np.exp(scores - scores[..., 0, None])
    return e / np.sum(e, -1)[..., None]


def subtracts_the_last(scores):
    e = np.exp(scores - scores[..., -1:])
    return e / np.sum(e, -1)[..., None]


def subtracts_the_median(scores):
    e = np.exp(scores - np.median(scores, axis=-1, keepdims=True))
    return e / np.sum(e, -1)[..., None]


def subtracts_700(scores):
    e = np.exp(scores - 700)
    return e / np.sum(e, -1)[..., None]


def builtin_max(scores):
    e = np.exp(scores - max(scores))
    return e / sum(e)


def own_maximum_but_column_sums(scores):
    e = np.exp(scores - scores.max(-1, keepdims=True))
    return e / e.sum(axis=0)


def unscaled(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2))
    return weights @ value, weights


def by_d_k(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / key.shape[-1])
    return weights @ value, weights


def by_the_number_of_keys(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / key.shape[-2] ** 0.5)
    return weights @ value, weights


def by_the_number_of_queries(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / query.shape[-2] ** 0.5)
    return weights @ value, weights


def by_the_first_length(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / len(query) ** 0.5)
    return weights @ value, weights


def by_the_root_of_two(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / 2**0.5)
    return weights @ value, weights


def dot_for_matmul(query, key, value):
    weights = softmax(np.dot(query, np.swapaxes(key, -1, -2)) / query.shape[-1] ** 0.5)
    return weights @ value, weights


def inner_for_matmul(query, key, value):
    weights = softmax(np.inner(query, key) / query.shape[-1] ** 0.5)
    return weights @ value, weights


def einsum_of_two_axes(query, key, value):
    weights = softmax(np.einsum("qd,kd->qk", query, key) / query.shape[-1] ** 0.5)
    return weights @ value, weights


def scaled_after(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2)) / key.shape[-1] ** 0.5
    return weights @ value, weights


def over_queries(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5
    e = np.exp(scores - scores.max(axis=-2, keepdims=True))
    weights = e / e.sum(axis=-2, keepdims=True)
    return weights @ value, weights


def scores_for_weights(query, key, value):
    scores = query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5
    return softmax(scores) @ value, scores


def turns_all_axes(query, key, value):
    weights = softmax(query @ key.T / query.shape[-1] ** 0.5)
    return weights @ value, weights


def the_line_of_the_page(query, key, value):
    weights = softmax(query @ key.T / 2)
    return weights @ value, weights


def second_axis_of_the_key(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / np.sqrt(key.shape[1]))
    return weights @ value, weights


def second_axis_of_the_query(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[1]))
    return weights @ value, weights


def halves_after_the_power(query, key, value):
    weights = softmax(query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 1 / 2)
    return weights @ value, weights


def half_as_a_power(query, key, value):
    d_k = query.shape[-1] ** 1 / 2
    weights = softmax(query @ np.swapaxes(key, -1, -2) / d_k)
    return weights @ value, weights


def output_alone(query, key, value):
    return softmax(query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5) @ value


def large_scores_overflow(query, key, value):
    e = np.exp(query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5)
    weights = e / e.sum(-1)[..., None]
    return weights @ value, weights


TABLE = [
    ("softmax", columns_sum_to_one, "the wrong axis"),
    ("softmax", no_axis, "sum to 1 over all rows together"),
    ("softmax", as_in_the_formula, "divided by its own sum"),
    ("softmax", overflows, "overflows"),
    ("softmax", one_maximum_for_all, "each row's own maximum"),
    ("softmax", forgets_to_divide, "do not divide each row by its sum"),
    ("softmax", spoils_its_argument, "in place"),
    ("softmax", no_keepdims, "keepdims"),
    ("softmax", keepdims_in_one_place, "keepdims"),
    ("softmax", second_axis, "axis=-1"),
    ("softmax", one_sum_for_all, "you divide by the sum of the whole array"),
    ("softmax", subtracts_the_smallest, "the smallest score"),
    ("softmax", subtracts_the_mean, "the mean of the row"),
    ("softmax", subtracts_the_largest_size, "the largest absolute value"),
    ("softmax", subtracts_the_first, "the first score"),
    ("softmax", subtracts_the_last, "is nan, but should be"),
    ("softmax", subtracts_the_median, "is nan, but should be"),
    ("softmax", subtracts_700, "is nan, but should be"),
    ("softmax", builtin_max, "raises ValueError: The truth value"),
    ("attention", large_scores_overflow, "subtracts the largest score of the row"),
    ("attention", unscaled, "not divided by √d_k"),
    ("attention", by_d_k, "divided by d_k, not by √d_k"),
    ("attention", by_the_number_of_keys, "number of keys"),
    ("attention", scaled_after, "divide by √d_k after the softmax"),
    ("attention", over_queries, "columns sum to 1, but the rows should"),
    ("attention", scores_for_weights, "the scores from before the softmax"),
    ("attention", by_the_number_of_queries, "the square root of the number of queries"),
    ("attention", by_the_first_length, "shape[-1]"),
    ("attention", by_the_root_of_two, "√2"),
    ("attention", dot_for_matmul, "raises ValueError"),
    ("attention", inner_for_matmul, "raises ValueError"),
    ("attention", einsum_of_two_axes, "raises ValueError"),
    ("attention", turns_all_axes, "reverses the order of all axes"),
    ("softmax", own_maximum_but_column_sums, "the sums of the columns"),
    ("attention", the_line_of_the_page, "only for the numbers on this page"),
    ("attention", second_axis_of_the_key, "the width of a key only if there is no batch"),
    ("attention", second_axis_of_the_query, "the width of a query only if there is no batch"),
    ("attention", halves_after_the_power, "divides by d_k and then by 2"),
    ("attention", half_as_a_power, "is d_k divided by 2"),
    ("attention", output_alone, "returns 1 value, but should return 2: the output and the weights"),
]
