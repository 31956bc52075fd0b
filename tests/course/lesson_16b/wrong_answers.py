"""Wrong answers to the exercises of lesson 16b, written as a learner writes them."""

import numpy as np


def states(decay, inputs, step):
    state, found = np.zeros_like(inputs[0]), []
    for t in range(len(inputs)):
        state = step(state, t)
        found.append(state)
    return np.stack(found)


def no_decay(decay, inputs):
    return states(decay, inputs, lambda h, t: h + inputs[t])


def decay_of_before(decay, inputs):
    return states(decay, inputs, lambda h, t: decay[t - 1] * h + inputs[t])


def moving_average(decay, inputs):
    return states(decay, inputs, lambda h, t: decay[t] * h + (1 - decay[t]) * inputs[t])


def all_fades(decay, inputs):
    return states(decay, inputs, lambda h, t: decay[t] * (h + inputs[t]))


def two_steps(decay, inputs):
    before = inputs.copy()
    before[1:] = inputs[:-1]
    return inputs + decay * before


def final_state(decay, inputs):
    state = 0
    for a, b in zip(decay, inputs, strict=True):
        state = state * a + b
    return state


def written_too_soon(decay, inputs):
    state, found = np.zeros_like(inputs[0]), []
    for a, b in zip(decay, inputs, strict=True):
        found.append(state)
        state = a * state + b
    return np.stack(found)


def softmax(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def listen(query, key, value, edges, weigh):
    new = np.zeros((len(query), value.shape[1]))
    for node in range(len(query)):
        sources = [a for a, b in edges if b == node]
        if sources:
            scores = key[sources] @ query[node] / np.sqrt(key.shape[1])
            new[node] = weigh(scores, node) @ value[sources]
    return new


def backwards(query, key, value, edges):
    turned = [(b, a) for a, b in edges]
    return listen(query, key, value, turned, lambda s, _: softmax(s))


def unscaled(query, key, value, edges):
    root = np.sqrt(key.shape[1])
    return listen(query, key, value, edges, lambda s, _: softmax(s * root))


def over_all(query, key, value, edges):
    every = query @ key.T / np.sqrt(key.shape[1])
    return listen(
        query, key, value, edges, lambda s, n: np.exp(s - every[n].max()) * softmax(every[n]).max()
    )


def alike(query, key, value, edges):
    return listen(query, key, value, edges, lambda s, _: np.full(len(s), 1 / len(s)))


def not_normalised(query, key, value, edges):
    return listen(query, key, value, edges, lambda s, _: np.exp(s - s.max()))


def too_large_for_exp(query, key, value, edges):
    return listen(query, key, value, edges, lambda s, _: np.exp(s) / np.exp(s).sum())


def largest_of_its_row(query, key, value, edges):
    largest = (query @ key.T / np.sqrt(key.shape[1])).max(axis=1)

    def weigh(scores, node):
        weights = np.exp(scores - largest[node])
        return weights / weights.sum()

    return listen(query, key, value, edges, weigh)


def largest_of_the_table(query, key, value, edges):
    largest = (query @ key.T / np.sqrt(key.shape[1])).max()

    def weigh(scores, _):
        weights = np.exp(scores - largest)
        return weights / weights.sum()

    return listen(query, key, value, edges, weigh)


def roles_swapped(query, key, value, edges):
    return listen(key, query, value, edges, lambda s, _: softmax(s))


def with_loops(query, key, value, edges):
    loops = {(n, n) for n in range(len(query))}
    both = sorted({tuple(e) for e in edges} | loops)
    return listen(query, key, value, both, lambda s, _: softmax(s))


TABLE = [
    ("scan", no_decay, "nothing fades"),
    ("scan", decay_of_before, "previous step's decay"),
    ("scan", moving_average, "moving average"),
    ("scan", all_fades, "the new input fades"),
    ("scan", two_steps, "only the previous input"),
    ("scan", final_state, "last state"),
    ("scan", written_too_soon, "input of its own step"),
    ("messages", backwards, "backwards along the edges"),
    ("messages", unscaled, "√d_k"),
    ("messages", over_all, "over all nodes"),
    ("messages", alike, "count equally"),
    ("messages", not_normalised, "did not normalise the weights"),
    ("messages", too_large_for_exp, "the exponential of a large score"),
    ("messages", largest_of_its_row, "largest score of the node's *senders*"),
    ("messages", largest_of_the_table, "NaN"),
    ("messages", roles_swapped, "you swapped query and key"),
    ("messages", with_loops, "to itself"),
]
