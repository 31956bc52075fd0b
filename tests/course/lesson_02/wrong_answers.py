"""Wrong answers to the exercises of lesson 02, written as a learner writes them."""

import numpy as np


def only_d_k(d_k, query_std, key_std):
    return float(d_k)


def the_standard_deviation(d_k, query_std, key_std):
    return d_k**0.5 * query_std * key_std


def not_squared(d_k, query_std, key_std):
    return query_std * key_std * d_k


def variances_added(d_k, query_std, key_std):
    return sum(query_std**2 + key_std**2 for _ in range(d_k))


def d_k_squared(d_k, query_std, key_std):
    return (d_k * query_std * key_std) ** 2


def one_product(d_k, query_std, key_std):
    return (query_std * key_std) ** 2


def no_outer(weights):
    return np.eye(weights.shape[-1]) * weights[..., None, :]


def sign_turned(weights):
    outer = np.einsum("...j,...k->...jk", weights, weights)
    return outer - np.eye(weights.shape[-1]) * weights[..., None, :]


def for_one_row(weights):
    flat = weights.reshape(-1)
    return np.diag(flat) - np.outer(flat, flat)


def diagonal_alone(weights):
    return np.eye(weights.shape[-1]) * (weights - weights**2)[..., None, :]


def bare_identity(weights):
    return np.eye(weights.shape[-1]) - np.einsum("...j,...k->...jk", weights, weights)


def a_vector(weights):
    return weights - weights**2


def jacobian(weights):
    outer = np.einsum("...j,...k->...jk", weights, weights)
    return np.eye(weights.shape[-1]) * weights[..., None, :] - outer


def no_root(weights):
    return np.einsum("...jk,...jk->...", jacobian(weights), jacobian(weights))


def norm_of_all(weights):
    return np.linalg.norm(jacobian(weights).ravel())


def trace(weights):
    return np.trace(jacobian(weights), axis1=-2, axis2=-1)


def diagonal_norm(weights):
    return np.linalg.norm(weights - weights**2, axis=-1)


def absolute_values(weights):
    return np.abs(jacobian(weights)).sum((-1, -2))


def norm_of_each_line(weights):
    return np.linalg.norm(jacobian(weights), axis=-1)


TABLE = [
    ("score_variance", only_d_k, "only for numbers with variance 1"),
    ("score_variance", the_standard_deviation, "this is the standard deviation"),
    ("score_variance", not_squared, "Square both"),
    ("score_variance", variances_added, "product of the variances"),
    ("score_variance", d_k_squared, "you multiply by d_k²"),
    ("score_variance", one_product, "the variance of one product"),
    ("softmax_jacobian", no_outer, "−w_j w_k is missing"),
    ("softmax_jacobian", sign_turned, "the sign"),
    ("softmax_jacobian", for_one_row, "right for a single row"),
    ("softmax_jacobian", diagonal_alone, "this is only the diagonal"),
    ("softmax_jacobian", bare_identity, "multiplied by w_j"),
    ("softmax_jacobian", a_vector, "each row is a square"),
    ("jacobian_norm", no_root, "Take the square root"),
    ("jacobian_norm", norm_of_all, "each row of weights should get its own"),
    ("jacobian_norm", trace, "this is the trace"),
    ("jacobian_norm", diagonal_norm, "you use only the diagonal"),
    ("jacobian_norm", absolute_values, "sum of absolute values"),
    ("jacobian_norm", norm_of_each_line, "over only one axis"),
]
