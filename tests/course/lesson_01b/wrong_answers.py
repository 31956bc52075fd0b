"""Wrong answers to the exercises of lesson 01b, written as a learner writes them."""

import numpy as np

from transformer_lab.numpy_reference import softmax_backward


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


TABLE = [
    ("softmax_backward", diagonal_only, "only the diagonal of the Jacobian"),
    ("softmax_backward", no_sum, "is missing"),
    ("softmax_backward", unweighted_sum, "weight each dw_j by w_j"),
    ("softmax_backward", sum_down_the_columns, "wrong axis"),
    ("softmax_backward", sum_of_everything, "the whole array"),
    ("softmax_backward", wrong_sign, "the sign"),
    ("softmax_backward", the_whole_jacobian, "its own Jacobian"),
    ("softmax_backward", sum_without_its_axis, "lines up with its row"),
    ("softmax_backward", brackets_forgotten, "brackets"),
    ("softmax_backward", plus_for_minus, "should be subtracted"),
    ("softmax_backward", along_the_second_axis, "axis=-1"),
    ("softmax_backward", product_of_all_rows, "one sum of products for each row"),
    ("softmax_backward", product_with_a_turn, "raises ValueError"),
    ("softmax_backward", no_factor, "factor w_k in front"),
    ("attention_backward", no_root, "lack the factor 1/√d_k"),
    ("attention_backward", root_for_query_only, "dK lacks its factor 1/√d_k"),
    ("attention_backward", divided_by_d_k, "divide dQ and dK by d_k"),
    ("attention_backward", softmax_forgotten, "skip the softmax"),
    ("attention_backward", key_before_query, "dQ and dK are swapped"),
    ("attention_backward", root_of_the_page, "divide dQ and dK by 2"),
    ("attention_backward", weights_before_gradient, "The gradient comes first"),
    ("attention_backward", value_first, "you return dV first"),
    ("attention_backward", no_transpose, "raises ValueError"),
    ("attention_backward", times_the_root, "multiply dQ and dK by √d_k"),
    ("attention_backward", transposed_by_t, "reverses the order of all axes"),
    ("attention_backward", two_of_three, "returns 2 values, but should return 3: dQ, dK and dV"),
]
