"""Wrong answers to the exercises of lesson 01, written as a learner writes them."""

import numpy as np

from transformer_lab.numpy_reference import softmax, softmax_backward


def columns_sum_to_one(scores):
    e = np.exp(scores - np.max(scores, axis=0))
    return e / np.sum(e, axis=0)


def no_axis(scores):
    e = np.exp(scores - np.max(scores))
    return e / np.sum(e)


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


def output_alone(query, key, value):
    return softmax(query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5) @ value


def diagonal_only(grad_output, weights):
    return grad_output * (weights - weights**2)


def no_sum(grad_output, weights):
    return weights * grad_output


def unweighted_sum(grad_output, weights):
    return weights * (grad_output - grad_output.sum(-1, keepdims=True))


def sum_down_the_columns(grad_output, weights):
    return weights * (grad_output - np.sum(weights * grad_output, axis=0))


def sum_of_everything(grad_output, weights):
    return weights * (grad_output - np.vdot(weights, grad_output))


def the_whole_jacobian(grad_output, weights):
    jacobian = np.diag(weights) - np.outer(weights, weights)
    return np.matmul(jacobian, grad_output)


def sum_without_its_axis(grad_output, weights):
    return weights * grad_output - weights * np.sum(weights * grad_output, axis=-1)


def brackets_forgotten(grad_output, weights):
    return weights * grad_output - np.sum(weights * grad_output, -1, keepdims=True)


def plus_for_minus(grad_output, weights):
    return weights * (np.sum(weights * grad_output, -1, keepdims=True) + grad_output)


def along_the_second_axis(grad_output, weights):
    return weights * (grad_output - np.sum(weights * grad_output, 1, keepdims=True))


def product_of_all_rows(grad_output, weights):
    return weights * (grad_output - np.matmul(grad_output, weights))


def product_with_a_turn(grad_output, weights):
    return weights * (grad_output - grad_output @ weights.T)


def wrong_sign(grad_output, weights):
    return weights * (np.sum(weights * grad_output, -1, keepdims=True) - grad_output)


def no_factor(grad_output, weights):
    return grad_output - np.sum(weights * grad_output, -1, keepdims=True)


def backward(grad_output, key, query, value, weights, root_q, root_k, through_softmax=True):
    d_weights = grad_output @ np.swapaxes(value, -1, -2)
    d_scores = d_weights
    if through_softmax:
        d_scores = weights * (d_weights - (weights * d_weights).sum(-1, keepdims=True))
    d_query, d_key = d_scores @ key / root_q, np.swapaxes(d_scores, -1, -2) @ query / root_k
    return d_query, d_key, np.swapaxes(weights, -1, -2) @ grad_output


def no_root(grad_output, query, key, value, weights):
    return backward(grad_output, key, query, value, weights, 1, 1)


def root_for_query_only(grad_output, query, key, value, weights):
    return backward(grad_output, key, query, value, weights, query.shape[-1] ** 0.5, 1)


def divided_by_d_k(grad_output, query, key, value, weights):
    return backward(grad_output, key, query, value, weights, query.shape[-1], query.shape[-1])


def softmax_forgotten(grad_output, query, key, value, weights):
    root = query.shape[-1] ** 0.5
    return backward(grad_output, key, query, value, weights, root, root, through_softmax=False)


def key_before_query(grad_output, query, key, value, weights):
    root = query.shape[-1] ** 0.5
    d_query, d_key, d_value = backward(grad_output, key, query, value, weights, root, root)
    return d_key, d_query, d_value


def root_of_the_page(grad_output, query, key, value, weights):
    return backward(grad_output, key, query, value, weights, 2, 2)


def weights_before_gradient(grad_output, query, key, value, weights):
    d_value = np.swapaxes(weights, -1, -2) @ grad_output
    d_weights = grad_output @ np.swapaxes(value, -1, -2)
    d_scores = softmax_backward(weights, d_weights)
    root = query.shape[-1] ** 0.5
    return d_scores @ key / root, np.swapaxes(d_scores, -1, -2) @ query / root, d_value


def value_first(grad_output, query, key, value, weights):
    root = query.shape[-1] ** 0.5
    d_query, d_key, d_value = backward(grad_output, key, query, value, weights, root, root)
    return d_value, d_query, d_key


def no_transpose(grad_output, query, key, value, weights):
    d_scores = softmax_backward(grad_output @ np.swapaxes(value, -1, -2), weights)
    return d_scores @ key, d_scores @ query, np.swapaxes(weights, -1, -2) @ grad_output


def times_the_root(grad_output, query, key, value, weights):
    root = query.shape[-1] ** -0.5
    return backward(grad_output, key, query, value, weights, root, root)


def transposed_by_t(grad_output, query, key, value, weights):
    d_scores = softmax_backward(grad_output @ np.swapaxes(value, -1, -2), weights)
    d_scores /= query.shape[-1] ** 0.5
    return d_scores @ key, d_scores.T @ query, np.swapaxes(weights, -1, -2) @ grad_output


def two_of_three(grad_output, query, key, value, weights):
    root = query.shape[-1] ** 0.5
    return backward(grad_output, key, query, value, weights, root, root)[:2]


def large_scores_overflow(query, key, value):
    e = np.exp(query @ np.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5)
    weights = e / e.sum(-1)[..., None]
    return weights @ value, weights


TABLE = [
    ("softmax", columns_sum_to_one, "the wrong axis"),
    ("softmax", no_axis, "all rows together sum to 1"),
    ("softmax", overflows, "overflows"),
    ("softmax", one_maximum_for_all, "each row's own maximum"),
    ("softmax", forgets_to_divide, "not divided by their sum"),
    ("softmax", spoils_its_argument, "in place"),
    ("softmax", no_keepdims, "keepdims"),
    ("softmax", keepdims_in_one_place, "keepdims"),
    ("softmax", second_axis, "axis=-1"),
    ("softmax", one_sum_for_all, "the sum must be each row's own"),
    ("softmax", subtracts_the_smallest, "the smallest score"),
    ("softmax", subtracts_the_mean, "the mean of the row"),
    ("softmax", subtracts_the_largest_size, "the largest size"),
    ("softmax", subtracts_the_first, "the first score"),
    ("softmax", subtracts_the_last, "is nan; expected"),
    ("softmax", subtracts_the_median, "is nan; expected"),
    ("softmax", subtracts_700, "is nan; expected"),
    ("softmax", builtin_max, "stops with ValueError: The truth value"),
    ("attention", large_scores_overflow, "subtracts the largest score of the row"),
    ("attention", unscaled, "not divided by √d_k"),
    ("attention", by_d_k, "scaled by d_k, not √d_k"),
    ("attention", by_the_number_of_keys, "number of keys"),
    ("attention", scaled_after, "before the softmax, not after"),
    ("attention", over_queries, "columns sum to 1 instead of rows"),
    ("attention", scores_for_weights, "scores before the softmax"),
    ("attention", by_the_number_of_queries, "number of queries"),
    ("attention", by_the_first_length, "shape[-1]"),
    ("attention", by_the_root_of_two, "√2"),
    ("attention", dot_for_matmul, "stops with ValueError"),
    ("attention", inner_for_matmul, "stops with ValueError"),
    ("attention", einsum_of_two_axes, "stops with ValueError"),
    ("attention", turns_all_axes, "turns all axes"),
    ("attention", output_alone, "returns 1 thing; expected 2: the output, the weights"),
    ("softmax_backward", diagonal_only, "diagonal of the Jacobian alone"),
    ("softmax_backward", no_sum, "is missing"),
    ("softmax_backward", unweighted_sum, "weigh each dw_j by w_j"),
    ("softmax_backward", sum_down_the_columns, "wrong axis"),
    ("softmax_backward", sum_of_everything, "the whole array"),
    ("softmax_backward", wrong_sign, "the sign"),
    ("softmax_backward", the_whole_jacobian, "a Jacobian of its own"),
    ("softmax_backward", sum_without_its_axis, "keep its axis"),
    ("softmax_backward", brackets_forgotten, "brackets"),
    ("softmax_backward", plus_for_minus, "taken away"),
    ("softmax_backward", along_the_second_axis, "axis=-1"),
    ("softmax_backward", product_of_all_rows, "of its own products"),
    ("softmax_backward", product_with_a_turn, "stops with ValueError"),
    ("softmax_backward", no_factor, "factor w_k in front"),
    ("attention_backward", no_root, "lack the 1/√d_k"),
    ("attention_backward", root_for_query_only, "dK lacks its 1/√d_k"),
    ("attention_backward", divided_by_d_k, "divided by d_k"),
    ("attention_backward", softmax_forgotten, "skip the softmax"),
    ("attention_backward", key_before_query, "dQ and dK are swapped"),
    ("attention_backward", root_of_the_page, "on this page only"),
    ("attention_backward", weights_before_gradient, "the gradient comes first"),
    ("attention_backward", value_first, "dV comes last"),
    ("attention_backward", no_transpose, "stops with ValueError"),
    ("attention_backward", times_the_root, "multiplied by √d_k"),
    ("attention_backward", transposed_by_t, "turns all axes"),
    ("attention_backward", two_of_three, "returns 2 things; expected 3: dQ, dK, dV"),
]
