"""Wrong answers to the exercises of lesson 12, written as a learner writes them."""

import numpy as np


def other_minus_referent(weights, row, referent, other):
    return np.array([head[row][other] - head[row][referent] for head in weights])


def down_the_column(weights, row, referent, other):
    column = weights[..., min(row, weights.shape[-1] - 1)]
    return column[:, referent] - column[:, other]


def without_the_heads(weights, row, referent, other):
    return weights[row, referent] - weights[row, other]


def row_before_noun(weights, row, referent, other):
    looks = weights[row]
    return looks[referent] - looks[other]


def row_on_the_heads_axis(weights, row, referent, other):
    return weights[row, :, referent] - weights[row, :, other]


def one_for_all_heads(weights, row, referent, other):
    mean = weights.mean(0)
    return mean[row, referent] - mean[row, other]


def referent_only(weights, row, referent, other):
    return np.stack([head[row, referent] for head in weights])


def yes_or_no(weights, row, referent, other):
    return weights[:, row, referent] - weights[:, row, other] > 0


def ratio(weights, row, referent, other):
    return np.divide(weights[:, row, referent], weights[:, row, other])


def rounds(differences, signs):
    """(round, head): the mean of each head in each round."""
    return np.array([(row[:, None] * differences).mean(0) for row in signs])


def without_abs(differences, signs):
    return np.quantile(rounds(differences, signs).max(1), 0.95)


def pooled(differences, signs):
    return np.quantile(np.abs(rounds(differences, signs)).ravel(), 0.95)


def sums(differences, signs):
    return np.quantile(np.abs(signs.dot(differences)).max(1), 0.95)


def the_maximum(differences, signs):
    return np.abs(rounds(differences, signs)).max()


def mean_of_rounds(differences, signs):
    return np.mean([np.abs(means).max() for means in rounds(differences, signs)])


def no_signs(differences, signs):
    return np.max(np.abs(np.mean(differences, axis=0)))


def head_by_head(differences, signs):
    means = np.abs(rounds(differences, signs))
    return max(np.quantile(means[:, h], 0.95) for h in range(means.shape[1]))


def halves(layers):
    n = layers.shape[-1]
    return [(layer.mean(0) + np.eye(n)) / 2 for layer in layers]


def first_on_the_left(layers):
    out = np.eye(layers.shape[-1])
    for a in halves(layers):
        out = out @ a
    return out


def no_identity(layers):
    out = layers[0].mean(0)
    for layer in layers[1:]:
        out = layer.mean(0) @ out
    return out


def not_halved(layers):
    n = layers.shape[-1]
    out = np.eye(n)
    for layer in layers:
        out = (np.eye(n) + layer.mean(0)) @ out
    return out


def heads_summed(layers):
    n = layers.shape[-1]
    out = np.eye(n)
    for layer in layers:
        out = (np.eye(n) / 2 + layer.sum(0) / 2) @ out
    return out


def mean_of_layers(layers):
    return sum(halves(layers)) / len(layers)


def cell_by_cell(layers):
    out = np.ones(layers.shape[-2:])
    for a in halves(layers):
        out = out * a
    return out


def last_layer(layers):
    return halves(layers)[-1]


def one_added(weights, query, key):
    out = np.array(weights)
    out[query][key] = 1.0
    return out


def emptied_column(weights, query, key):
    out = np.array(weights)
    out[:, key] = 0.0
    out[query, key] = 1.0
    return out


def swapped(weights, query, key):
    out = np.array(weights)
    row = min(key, out.shape[0] - 1)
    out[row, :] = 0.0
    out[row, min(query, out.shape[1] - 1)] = 1.0
    return out


def all_else_gone(weights, query, key):
    out = np.zeros(weights.shape)
    out[query, key] = 1.0
    return out


def every_row(weights, query, key):
    out = weights * 0
    out[:, key] = 1.0
    return out


def the_row_alone(weights, query, key):
    return np.eye(weights.shape[1])[key]


TABLE = [
    ("preference", other_minus_referent, "the sign is wrong: a head"),
    ("preference", down_the_column, "swapped rows and columns"),
    ("preference", without_the_heads, "weights has three axes, and the heads come first"),
    ("preference", row_before_noun, "weights has three axes and the heads come first"),
    ("preference", row_on_the_heads_axis, "that is the axis of the heads"),
    ("preference", one_for_all_heads, "mean over the heads"),
    ("preference", referent_only, "only the weight on the referent"),
    ("preference", yes_or_no, "by how much"),
    ("preference", ratio, "divides the two weights"),
    ("largest_by_chance", without_abs, "absolute value"),
    ("largest_by_chance", pooled, "pools all heads"),
    ("largest_by_chance", sums, "sums over the sentences"),
    ("largest_by_chance", the_maximum, "largest mean of all rounds"),
    ("largest_by_chance", mean_of_rounds, "mean over the rounds"),
    ("largest_by_chance", no_signs, "have not used the signs"),
    ("largest_by_chance", head_by_head, "a percentile for each head"),
    ("rollout", first_on_the_left, "in the wrong order"),
    ("rollout", no_identity, "identity is missing"),
    ("rollout", not_halved, "sum to 2"),
    ("rollout", heads_summed, "summed the heads"),
    ("rollout", mean_of_layers, "averaged the layers"),
    ("rollout", cell_by_cell, "cell by cell"),
    ("rollout", last_layer, "only the last layer"),
    ("point", one_added, "sums to more than 1"),
    ("point", emptied_column, "set a column to 0"),
    ("point", swapped, "swapped query and key"),
    ("point", all_else_gone, "the other rows to 0"),
    ("point", every_row, "every row looks at the key"),
    ("point", the_row_alone, "only the row"),
]
