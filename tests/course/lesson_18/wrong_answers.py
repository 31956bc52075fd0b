"""Wrong answers to the exercises of lesson 18, written as a learner writes them."""

import numpy as np


def up_to_128(weights):
    scale = 128 / np.max(np.abs(weights))
    return np.rint(weights * scale).astype("int8"), scale


def cut_off(weights):
    scale = 127 / np.max(np.abs(weights))
    return np.array(weights * scale, dtype="int8"), scale


def step_size(weights):
    step = np.max(np.abs(weights)) / 127
    return np.rint(weights / step).astype("int8"), step


def largest_with_sign(weights):
    scale = 127 / np.max(weights)
    return np.rint(weights * scale).astype("int8"), scale


def row_by_row(weights):
    largest = np.abs(weights).max(-1)[..., None]
    return np.rint(weights / largest * 127).astype("int8"), 127 / largest


def all_positive(weights):
    low, high = weights.min(), weights.max()
    scale = 255 / (high - low)
    return np.rint((weights - low) * scale).astype("uint8"), scale


def fixed_scale(weights):
    return np.rint(127 * weights).astype("int8"), 127.0


def never_narrowed(weights):
    scale = 127 / abs(weights).max()
    return np.rint(weights * scale).astype(int), scale


def by_loop(weights, words, ask, receive):
    n = max(words) + 1
    found = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            block = weights[np.ix_(words == i, words == j)]
            found[i, j] = ask([receive(row) for row in block])
    return found


def mean_of_block(weights, words):
    return by_loop(weights, words, np.mean, np.mean)


def sum_of_block(weights, words):
    return by_loop(weights, words, np.sum, np.sum)


def wrong_way_round(weights, words):
    return by_loop(weights, words, np.sum, np.mean)


def first_row(weights, words):
    return by_loop(weights, words, lambda rows: rows[0], np.sum)


def first_column(weights, words):
    return by_loop(weights, words, np.mean, lambda row: row[0])


def strongest(weights, words):
    return by_loop(weights, words, np.mean, np.max)


def axes_swapped(weights, words):
    return by_loop(weights, words, np.mean, np.sum).transpose()


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def relu(z):
    return z * (z > 0)


def gate_reversed(state, x, w, w_f, b_f):
    f = sigmoid(w_f @ x + b_f)
    new = (1 - f) * state + f * (w @ x)
    return relu(new), new


def nothing_held_back(state, x, w, w_f, b_f):
    f = sigmoid(w_f @ x + b_f)
    new = f * state + w @ x
    return relu(new), new


def nothing_forgotten(state, x, w, w_f, b_f):
    f = sigmoid(w_f @ x + b_f)
    new = state + (1 - f) * (w @ x)
    return relu(new), new


def relu_carried(state, x, w, w_f, b_f):
    f = sigmoid(w_f @ x + b_f)
    new = relu(f * state + (1 - f) * (w @ x))
    return new, new


def no_relu(state, x, w, w_f, b_f):
    f = sigmoid(w_f @ x + b_f)
    new = f * state + (1 - f) * (w @ x)
    return new, new


def no_bias(state, x, w, w_f, b_f):
    f = sigmoid(w_f @ x)
    new = f * state + (1 - f) * (w @ x)
    return relu(new), new


def open_gate_overflows(state, x, w, w_f, b_f):
    e = np.exp(w_f @ x + b_f)
    f = e / (e + 1)
    new = f * state + (1 - f) * (w @ x)
    return relu(new), new


def turned_matrices(state, x, w, w_f, b_f):
    f = sigmoid(x @ w_f + b_f)
    new = f * state + (1 - f) * (x @ w)
    return relu(new), new


def order_swapped(state, x, w, w_f, b_f):
    f = sigmoid(w_f @ x + b_f)
    new = f * state + (1 - f) * (w @ x)
    return new, relu(new)


def counts(steps):
    values, times = np.unique(steps, return_counts=True)
    return int(values[times.argmax()]), times.max() / len(steps)


def sign_turned(links):
    return counts(links[:, 0] - links[:, 1])


def distance(links):
    return counts(np.abs(links[:, 1] - links[:, 0]))


def mean_step(links):
    steps = links[:, 1] - links[:, 0]
    offset = round(sum(steps) / len(steps))
    return offset, sum(steps == offset) / len(steps)


def how_many(links):
    offset, share = counts(links[:, 1] - links[:, 0])
    return offset, round(share * len(links))


def frequent_place(links):
    return counts(links[:, 1])


def middle_step(links):
    steps = np.sort(links[:, 1] - links[:, 0])
    offset = int(np.median(steps))
    return offset, np.mean(steps == offset)


def one_of_all(links):
    steps = links[:, 1] - links[:, 0]
    return counts(steps)[0], 1 / len(np.unique(steps))


def of_the_values(values, draws):
    return tuple(np.quantile(values, [0.025, 0.975]))


def one_heap(values, draws):
    return tuple(np.quantile(values[draws].ravel(), [0.025, 0.975]))


def ninety(values, draws):
    return tuple(np.quantile([values[d].mean() for d in draws], [0.05, 0.95]))


def other_axis(values, draws):
    return tuple(np.quantile(sum(values[d] for d in draws) / len(draws), [0.025, 0.975]))


def deviations(values, draws):
    return values.mean() - 1.96 * np.std(values), values.mean() + 1.96 * np.std(values)


def extremes(values, draws):
    means = [values[d].mean() for d in draws]
    return min(means), max(means)


def medians(values, draws):
    return tuple(np.quantile([np.median(values[d]) for d in draws], [0.025, 0.975]))


def near_steps_alone(links):
    steps = links[:, 1] - links[:, 0]
    tried = range(-3, 4)
    shares = [(steps == offset).mean() for offset in tried]
    return tried[int(np.argmax(shares))], max(shares)


def step_of_the_first(links):
    steps = links[:, 1] - links[:, 0]
    return int(steps[0]), np.mean(steps == steps[0])


def step_of_the_last(links):
    steps = links[:, 1] - links[:, 0]
    return int(steps[-1]), np.mean(steps == steps[-1])


TABLE = [
    ("eight_bits", up_to_128, "only go up to 127"),
    ("eight_bits", cut_off, "instead of rounding"),
    ("eight_bits", step_size, "upside down"),
    ("eight_bits", largest_with_sign, "sign"),
    ("eight_bits", row_by_row, "you gave each row its own scale"),
    ("eight_bits", all_positive, "0 to 255"),
    ("eight_bits", fixed_scale, "whatever the weights are"),
    ("eight_bits", never_narrowed, "64 bits each"),
    ("join", mean_of_block, "*receive*"),
    ("join", sum_of_block, "number of pieces"),
    ("join", wrong_way_round, "swapped the two steps"),
    ("join", first_row, "word's first piece"),
    ("join", first_column, "first piece receives"),
    ("join", strongest, "only the piece with the largest weight"),
    ("join", axes_swapped, "swapped the axes"),
    ("ssru_step", gate_reversed, "wrong way round"),
    ("ssru_step", nothing_held_back, "is added in full"),
    ("ssru_step", nothing_forgotten, "kept in full"),
    ("ssru_step", relu_carried, "after the ReLU"),
    ("ssru_step", no_relu, "ReLU(c)"),
    ("ssru_step", no_bias, "the gate's bias is missing"),
    ("ssru_step", open_gate_overflows, "where e^(−z) is infinite"),
    ("ssru_step", turned_matrices, "transposed"),
    ("ssru_step", order_swapped, "the output should come first"),
    ("best_offset", sign_turned, "wrong sign"),
    ("best_offset", distance, "to the right together"),
    ("best_offset", mean_step, "mean step"),
    ("best_offset", how_many, "a count"),
    ("best_offset", frequent_place, "*position*"),
    ("best_offset", middle_step, "median step"),
    ("best_offset", one_of_all, "different steps"),
    ("best_offset", near_steps_alone, "the offset is"),
    ("best_offset", step_of_the_first, "step of the first link"),
    ("best_offset", step_of_the_last, "the offset is"),
    ("interval", of_the_values, "percentiles of the *values*"),
    ("interval", one_heap, "you pooled all drawn values"),
    ("interval", ninety, "90%"),
    ("interval", other_axis, "over the rounds"),
    ("interval", deviations, "does not shrink"),
    ("interval", extremes, "move apart"),
    ("interval", medians, "median"),
]
