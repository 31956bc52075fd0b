"""Wrong answers to the exercises of lesson 11, written as a learner writes them."""

import numpy as np
import torch


def reads_a_column(weights, written, source, word):
    place = written.index(word)
    column = [row[min(place, len(row) - 1)] for row in weights]
    best = int(np.argmax(column))
    return source[min(best, len(source) - 1)], max(column)


def last_occurrence(weights, written, source, word):
    for step, name in enumerate(written):
        if name == word:
            found = step
    best = int(np.argmax(weights[found]))
    return source[best], weights[found][best]


def one_row_too_early(weights, written, source, word):
    step = written.index(word)
    row = weights[step - 1 if step else 0]
    return source[np.argmax(row)], np.max(row)


def the_row_that_reads_it(weights, written, source, word):
    reads = ["<bos>", *written[:-1]]
    step = reads.index(word) if word in reads else len(reads) - 1
    row = weights[step]
    return source[np.argmax(row)], np.max(row)


def place_instead_of_word(weights, written, source, word):
    row = weights[written.index(word)]
    return int(row.argmax()), row.max()


def looks_ahead(weights):
    n = len(weights)
    return sum(weights[i][i + 1] for i in range(n - 1)) / (n - 1)


def looks_at_itself(weights):
    return np.trace(weights) / len(weights)


def divided_by_all(weights):
    n = len(weights)
    return sum(weights[i][i - 1] for i in range(1, n)) / n


def not_divided(weights):
    return sum(weights[i][i - 1] for i in range(1, len(weights)))


def counts_rows(weights):
    hits = [int(np.argmax(weights[i]) == i - 1) for i in range(1, len(weights))]
    return sum(hits) / len(hits)


def first_column(weights):
    return np.mean([row[0] for row in weights[1:]])


def every_step(weights, gold):
    found = {(int(k), q) for q, k in enumerate(np.argmax(weights, axis=1))}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


def found_by_step(weights, gold):
    return {(int(np.argmax(weights[q])), q) for _, q in gold}


def share_right(weights, gold):
    found = found_by_step(weights, gold)
    return 2 * len(found & gold) / (len(found) + len(gold))


def turned_round(weights, gold):
    found = {(q, int(np.argmax(weights[q]))) for _, q in gold}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


def reads_step_first(weights, gold):
    steps = sorted({pair[0] for pair in gold})
    found = [(int(np.argmax(weights[q])), q) for q in steps]
    return 1 - 2 * sum(link in gold for link in found) / (len(found) + len(gold))


def reads_step_first_in_a_loop(weights, gold):
    found = set()
    for step, _ in gold:
        found.add((int(weights[step].argmax()), step))
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


def compares_step_first(weights, gold):
    hits, steps = 0, set()
    for step, source in gold:
        hits += int(weights[step].argmax()) == source
        steps.add(step)
    return 1 - 2 * hits / (len(steps) + len(gold))


def by_source_word(weights, gold):
    best = np.argmax(weights, axis=0)
    found = {(k, int(best[k])) for k, _ in gold}
    return 1 - 2 * len(found & gold) / (len(found) + len(gold))


def recall(weights, gold):
    hits = sum(link in gold for link in found_by_step(weights, gold))
    return 1 - hits / len(gold)


def precision(weights, gold):
    found = found_by_step(weights, gold)
    return 1 - sum(link in gold for link in found) / len(found)


def once_for_each_gold_link(weights, gold):
    hits = [(int(weights[q].argmax()), q) in gold for _, q in gold]
    return 1 - 2 * sum(hits) / (len(hits) + len(gold))


def no_two(weights, gold):
    found = found_by_step(weights, gold)
    return 1 - len(found.intersection(gold)) / (len(found) + len(gold))


def signed(weights):
    n = len(weights)
    return sum(weights[i][j] * (i - j) for i in range(n) for j in range(n)) / n


def total(weights):
    n = len(weights)
    return sum(weights[i][j] * abs(i - j) for i in range(n) for j in range(n))


def over_all_cells(weights):
    return total(weights) / weights.size


def strongest_only(weights):
    return np.mean([abs(i - int(np.argmax(row))) for i, row in enumerate(weights)])


def unweighted(weights):
    n = len(weights)
    return sum(abs(i - j) for i in range(n) for j in range(n)) / n**2


def squared(weights):
    i, j = np.indices(weights.shape)
    return np.sum(weights * (i - j) ** 2) / len(weights)


def not_transposed(states, weight, bias):
    return (states @ weight + bias).argmax(-1)


def not_transposed_in_a_loop(states, weight, bias):
    logits = [torch.matmul(depth, weight) + bias for depth in states]
    return torch.stack(logits).argmax(-1)


def letters_not_turned(states, weight, bias):
    return (torch.einsum("lsd,dv->lsv", states, weight) + bias).argmax(-1)


def no_bias(states, weight, bias):
    return torch.einsum("lsd,vd->lsv", states, weight).argmax(-1)


def over_steps(states, weight, bias):
    return torch.argmax(torch.nn.functional.linear(states, weight, bias), 1)


def over_depths(states, weight, bias):
    return torch.argmax(torch.nn.functional.linear(states, weight, bias), 0)


def last_layer_only(states, weight, bias):
    return torch.nn.functional.linear(states, weight, bias)[-1].argmax(-1)


def all_probabilities(states, weight, bias):
    return torch.softmax(torch.nn.functional.linear(states, weight, bias), -1)


def largest_logit(states, weight, bias):
    return torch.nn.functional.linear(states, weight, bias).max(-1).values


TABLE = [
    ("looks_at", reads_a_column, "reads down a column"),
    ("looks_at", last_occurrence, "you used the last row of a word"),
    ("looks_at", one_row_too_early, "the previous row"),
    ("looks_at", the_row_that_reads_it, "the next row"),
    ("looks_at", place_instead_of_word, "return the word itself"),
    ("previous_token", looks_ahead, "*next* token"),
    ("previous_token", looks_at_itself, "the diagonal"),
    ("previous_token", divided_by_all, "you divided by the number of all rows"),
    ("previous_token", not_divided, "this is a sum"),
    ("previous_token", counts_rows, "Return that token's mean weight"),
    ("previous_token", first_column, "first token"),
    ("error_rate", every_step, "steps without a gold link"),
    ("error_rate", share_right, "1 minus that share"),
    ("error_rate", turned_round, "wrong way round"),
    ("error_rate", reads_step_first, "you read gold as (step, source)"),
    ("error_rate", reads_step_first_in_a_loop, "you read gold as (step, source)"),
    ("error_rate", compares_step_first, "the second number of each pair is the step"),
    ("error_rate", by_source_word, "down a column"),
    ("error_rate", recall, "only by the number of gold links"),
    ("error_rate", precision, "only by the number of found links"),
    ("error_rate", once_for_each_gold_link, "gold links twice"),
    ("error_rate", no_two, "factor of 2"),
    ("mean_distance", signed, "cancel"),
    ("mean_distance", total, "return the mean over them"),
    ("mean_distance", over_all_cells, "divides by the number of cells"),
    ("mean_distance", strongest_only, "only the distance to the strongest key"),
    ("mean_distance", unweighted, "did not use the weights"),
    ("mean_distance", squared, "squared"),
    (
        "read_words",
        not_transposed,
        "must be transposed, with .T. A Linear stores its weight as (out",
    ),
    ("read_words", not_transposed_in_a_loop, "must be transposed, with .T"),
    (
        "read_words",
        letters_not_turned,
        "the letter d stands for two different lengths, 4 and 5",
    ),
    ("read_words", no_bias, "bias is missing"),
    ("read_words", over_steps, "over the steps"),
    ("read_words", over_depths, "over the depths"),
    ("read_words", last_layer_only, "only the last depth"),
    ("read_words", all_probabilities, "probabilities of all words"),
    ("read_words", largest_logit, "largest logits"),
]
