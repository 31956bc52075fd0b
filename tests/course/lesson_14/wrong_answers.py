"""Wrong answers to the exercises of lesson 14, written as a learner writes them."""

import numpy as np


def weights_only(d_model, num_heads, d_k=None):
    d_k = d_k if d_k else d_model // num_heads
    d_v = d_model // num_heads
    w_q = w_k = d_model * num_heads * d_k
    w_v = d_model * num_heads * d_v
    w_o = num_heads * d_v * d_model
    return d_k, w_q + w_k + w_v + w_o


def heads_as_wide_as_the_model(d_model, num_heads, d_k=None):
    if d_k is None:
        d_k = d_model
    projection = d_model * d_k + d_k
    value = d_model * d_model + d_model
    return d_k, num_heads * (2 * projection + value) + num_heads * d_model**2 + d_model


def values_follow_keys(d_model, num_heads, d_k=None):
    d_k = d_model // num_heads if d_k is None else d_k
    wide = num_heads * d_k
    return d_k, 3 * (d_model * wide + wide) + wide * d_model + d_model


def three_projections(d_model, num_heads, d_k=None):
    d_k = d_model // num_heads if d_k is None else d_k
    wide = num_heads * d_k
    return d_k, 2 * (d_model * wide + wide) + d_model * d_model + d_model


def a_single_head(d_model, num_heads, d_k=None):
    d_v = d_model // num_heads
    d_k = d_k or d_v
    return d_k, 2 * (d_model * d_k + d_k) + (d_model * d_v + d_v) + (d_v * d_model + d_model)


def embeddings_whole(embedded, positions, sublayer, layer_norm, dropout):
    x = embedded + positions
    x = x + dropout(sublayer(x))
    return layer_norm(x)


def sublayer_whole(embedded, positions, sublayer, layer_norm, dropout):
    x = dropout(embedded + positions)
    x = x + sublayer(x)
    return layer_norm(x)


def before_the_positions(embedded, positions, sublayer, layer_norm, dropout):
    x = dropout(embedded)
    x = x + positions
    return layer_norm(dropout(sublayer(x)) + x)


def on_the_sum(embedded, positions, sublayer, layer_norm, dropout):
    x = dropout(positions + embedded)
    x = dropout(x + sublayer(x))
    return layer_norm(x)


def on_the_input(embedded, positions, sublayer, layer_norm, dropout):
    x = dropout(positions + embedded)
    return layer_norm(sublayer(dropout(x)) + x)


def at_the_end(embedded, positions, sublayer, layer_norm, dropout):
    x = dropout(positions + embedded)
    x = layer_norm(sublayer(x) + x)
    return dropout(x)


def old_residual(embedded, positions, sublayer, layer_norm, dropout):
    residual = embedded + positions
    x = dropout(residual)
    return layer_norm(residual + dropout(sublayer(x)))


def norm_first(embedded, positions, sublayer, layer_norm, dropout):
    x = dropout(embedded + positions)
    return x + dropout(sublayer(layer_norm(x)))


def one_each(embedded, positions, sublayer, layer_norm, dropout):
    x = dropout(embedded) + dropout(positions)
    return layer_norm(x + dropout(sublayer(x)))


def drawn_twice(embedded, positions, sublayer, layer_norm, dropout):
    residual = dropout(embedded + positions)
    inside = sublayer(dropout(embedded + positions))
    return layer_norm(residual + dropout(inside))


def as_if_unrelated(base, other):
    n = len(base)
    error = np.sqrt(np.var(base, ddof=1) / n + np.var(other, ddof=1) / n)
    return np.mean(other) - np.mean(base), error


def divided_by_n(base, other):
    differences = np.array(other) - np.array(base)
    return np.mean(differences), np.std(differences) / len(differences) ** 0.5


def not_divided(base, other):
    differences = [b - a for a, b in zip(base, other, strict=True)]
    mean = sum(differences) / len(differences)
    squares = [(d - mean) ** 2 for d in differences]
    return mean, (sum(squares) / (len(squares) - 1)) ** 0.5


def n_without_root(base, other):
    differences = np.subtract(other, base)
    return np.mean(differences), np.std(differences, ddof=1) / len(differences)


def base_minus_other(base, other):
    differences = np.subtract(base, other)
    return np.mean(differences), np.std(differences, ddof=1) / np.sqrt(len(differences))


def variance_of_the_mean(base, other):
    differences = np.subtract(other, base)
    return np.mean(differences), np.var(differences, ddof=1) / len(differences)


def hits(log_p, target):
    return sum(int(np.argmax(row)) == word for row, word in zip(log_p, target, strict=True)) / len(
        target
    )


def mean_of_perplexities(log_p, target):
    each = [1 / np.exp(row[word]) for row, word in zip(log_p, target, strict=True)]
    return sum(each) / len(each), hits(log_p, target)


def base_two(log_p, target):
    losses = [-row[word] for row, word in zip(log_p, target, strict=True)]
    return 2.0 ** np.mean(losses), hits(log_p, target)


def of_mean_probability(log_p, target):
    p = [np.exp(row[word]) for row, word in zip(log_p, target, strict=True)]
    return 1 / np.mean(p), hits(log_p, target)


def loss_itself(log_p, target):
    losses = [-row[word] for row, word in zip(log_p, target, strict=True)]
    return np.mean(losses), hits(log_p, target)


def probability_as_accuracy(log_p, target):
    p = np.exp(np.take_along_axis(log_p, target[:, None], axis=1))[:, 0]
    return np.exp(-np.log(p).mean()), p.mean()


def smoothed(log_p, target):
    smooth = np.full(log_p.shape, 0.1 / log_p.shape[1])
    smooth[np.arange(len(target)), target] += 0.9
    return np.exp(-(smooth * log_p).sum(axis=1).mean()), hits(log_p, target)


def entropy_of_predictions(log_p, target):
    p = np.exp(log_p)
    return np.exp(np.mean([-(a * np.log(a)).sum() for a in p])), hits(log_p, target)


def least_squares(u, v):
    u, v = np.asarray(u), np.asarray(v)
    slope = ((u - u.mean()) * (v - v.mean())).sum() / ((u - u.mean()) ** 2).sum()
    return slope, v.mean() - slope * u.mean()


def slope_as_it_is(x, y):
    slope, height = least_squares(np.log(x), np.log(y))
    return np.exp(height), slope


def log_of_the_factor(x, y):
    slope, height = least_squares(np.log(x), np.log(y))
    return height, -slope


def slope_first(x, y):
    slope, height = least_squares(np.log(x), np.log(y))
    return -slope, np.exp(height)


def plain_line(x, y):
    slope, height = least_squares(x, y)
    return height, -slope


def exponential(x, y):
    slope, height = least_squares(x, np.log(y))
    return np.exp(height), -slope


def two_bases(x, y):
    slope, height = least_squares(np.log10(x), np.log10(y))
    return np.exp(height), -slope


def first_and_last(x, y):
    slope = (np.log(y[-1]) - np.log(y[0])) / (np.log(x[-1]) - np.log(x[0]))
    return y[0] / x[0] ** slope, -slope


def always_falls(x, y):
    slope, height = np.polyfit(np.log(x), np.log(y), 1)
    return np.exp(height), np.abs(slope)


def sorted_places(x, y):
    slope, height = np.polyfit(np.log(sorted(x)), np.log(y), 1)
    return np.exp(height), -slope


TABLE = [
    ("attention_size", weights_only, "the biases are missing"),
    ("attention_size", heads_as_wide_as_the_model, "every head as wide as the model"),
    ("attention_size", values_follow_keys, "you made the values d_k wide"),
    ("attention_size", three_projections, "one of the four projections is missing"),
    ("attention_size", a_single_head, "only one head"),
    ("first_sublayer", embeddings_whole, "no dropout to the sum of embedding and positions"),
    ("first_sublayer", sublayer_whole, "output without dropout"),
    ("first_sublayer", before_the_positions, "before adding the positions"),
    ("first_sublayer", on_the_sum, "dropout after adding x"),
    ("first_sublayer", on_the_input, "to the sub-layer's input"),
    ("first_sublayer", at_the_end, "after the norm"),
    ("first_sublayer", old_residual, "as it was before the first dropout"),
    ("first_sublayer", norm_first, "this is pre-norm"),
    ("first_sublayer", one_each, "embedding and positions separately"),
    ("first_sublayer", drawn_twice, "two different versions of x"),
    ("paired_difference", as_if_unrelated, "as unrelated"),
    ("paired_difference", divided_by_n, "divide by n − 1"),
    ("paired_difference", not_divided, "divide by √n"),
    ("paired_difference", n_without_root, "A variance would be"),
    ("paired_difference", base_minus_other, "the sign is wrong"),
    ("paired_difference", variance_of_the_mean, "variance of the mean"),
    ("perplexity_and_accuracy", mean_of_perplexities, "after the exponential"),
    ("perplexity_and_accuracy", base_two, "the base should be e"),
    ("perplexity_and_accuracy", of_mean_probability, "1 over the mean probability"),
    ("perplexity_and_accuracy", loss_itself, "the loss in nats"),
    ("perplexity_and_accuracy", probability_as_accuracy, "is the mean probability"),
    ("perplexity_and_accuracy", smoothed, "this uses the smoothed loss"),
    ("perplexity_and_accuracy", entropy_of_predictions, "entropy of the predictions"),
    ("power_law", slope_as_it_is, "this is the slope itself"),
    ("power_law", log_of_the_factor, "still a logarithm"),
    ("power_law", slope_first, "the wrong way round"),
    ("power_law", plain_line, "a straight line to x and y"),
    ("power_law", exponential, "an exponential decay"),
    ("power_law", two_bases, "same base for both"),
    ("power_law", always_falls, "α should be negative"),
    ("power_law", sorted_places, "sorted x but not y"),
    ("power_law", first_and_last, "joins the first point to the last"),
]
