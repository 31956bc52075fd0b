"""Wrong answers to the exercises of lesson 10c, written as a learner writes them."""

import torch


def stops_too_early(logits, p):
    values, words = logits.sort(descending=True)
    values = values.masked_fill(values.softmax(-1).cumsum(-1) > p, -torch.inf)
    return torch.zeros_like(logits).scatter(1, words, values)


def each_above_p(logits, p):
    return logits.masked_fill(logits.softmax(-1) < p, -torch.inf)


def zeros(logits, p):
    values, words = logits.sort(descending=True)
    probabilities = values.softmax(-1)
    values = values * (probabilities.cumsum(-1) - probabilities < p)
    return torch.zeros_like(logits).scatter(1, words, values)


def the_others(logits, p):
    values, words = logits.sort(descending=True)
    probabilities = values.softmax(-1)
    values[probabilities.cumsum(-1) - probabilities < p] = -torch.inf
    return torch.zeros_like(logits).scatter(1, words, values)


def left_sorted(logits, p):
    values, _ = logits.sort(descending=True)
    probabilities = values.softmax(-1)
    return values.masked_fill(probabilities.cumsum(-1) - probabilities >= p, -torch.inf)


def wrong_end(logits, p):
    values, words = logits.sort()
    probabilities = values.softmax(-1)
    values[probabilities.cumsum(-1) - probabilities >= p] = -torch.inf
    return torch.zeros_like(logits).scatter(1, words, values)


def renormalised(logits, p):
    probabilities, words = logits.softmax(-1).sort(descending=True)
    probabilities[probabilities.cumsum(-1) - probabilities >= p] = 0
    probabilities = probabilities / probabilities.sum(-1, keepdim=True)
    return torch.zeros_like(logits).scatter(1, words, probabilities)


def first_always_and_up_to_p(logits, p):
    values, words = logits.sort(descending=True)
    keep = values.softmax(-1).cumsum(-1) <= p
    keep[:, 0] = True
    return torch.full_like(logits, -torch.inf).scatter(1, words, values.where(keep, -torch.inf))


def minus_a_billion(logits, p):
    values, words = logits.sort(descending=True)
    probabilities = values.softmax(-1)
    values[probabilities.cumsum(-1) - probabilities >= p] = -1e9
    return torch.zeros_like(logits).scatter(1, words, values)


def sorted_mask_on_unsorted(logits, p):
    probabilities = logits.softmax(-1).sort(descending=True).values
    drop = probabilities.cumsum(-1) - probabilities >= p
    return torch.where(drop, -torch.inf, logits)


def gathers(logits, p):
    values, words = logits.sort(descending=True)
    probabilities = values.softmax(-1)
    values[probabilities.cumsum(-1) - probabilities >= p] = -torch.inf
    return torch.gather(values, 1, words)


def softmax_over_sorted_rows(logits, p):
    values, words = logits.sort(descending=True)
    probabilities = torch.softmax(values, 0)
    values[torch.cumsum(probabilities, 1) - probabilities >= p] = -torch.inf
    return torch.zeros_like(logits).scatter(1, words, values)


def softmax_over_rows_then_sort(logits, p):
    probabilities, words = torch.softmax(logits, 0).sort(descending=True)
    values = logits.gather(1, words)
    values[torch.cumsum(probabilities, 1) - probabilities >= p] = -torch.inf
    return torch.zeros_like(logits).scatter(1, words, values)


def softmax_of_probabilities(logits, p):
    ordered, words = logits.softmax(-1).sort(descending=True)
    probabilities = ordered.softmax(-1)
    ordered[probabilities.cumsum(-1) - probabilities >= p] = -torch.inf
    return torch.zeros_like(logits).scatter(1, words, ordered)


def softmax_before_and_after_the_sort(logits, p):
    ordered, words = logits.softmax(-1).sort(descending=True)
    probabilities = ordered.softmax(-1)
    keep = probabilities.cumsum(-1) - probabilities < p
    return logits.where(torch.zeros_like(keep).scatter(1, words, keep), -torch.inf)


def no_free_word(proposed, best):
    words = []
    for mine, theirs in zip(proposed, best, strict=False):
        if mine != theirs:
            break
        words.append(mine)
    return words


def skips_what_differs(proposed, best):
    right = [a == b for a, b in zip(proposed, best, strict=False)]
    words = [word for word, fits in zip(proposed, right, strict=True) if fits]
    return [*words, best[right.index(False)] if False in right else best[-1]]


def takes_all_of_best(proposed, best):
    return best[:]


def all_or_nothing(proposed, best):
    if all(proposed[i] == best[i] for i in range(len(proposed))):
        return [*proposed, best[len(proposed)]]
    return [best[0]]


def draft_decides(proposed, best):
    for i, word in enumerate(proposed):
        if word != best[i]:
            return proposed[: i + 1]
    return proposed


def no_word_behind_a_right_draft(proposed, best):
    words = []
    for mine, theirs in zip(proposed, best, strict=False):
        words.append(theirs)
        if mine != theirs:
            break
    return words


def always_the_last_of_best(proposed, best):
    n = 0
    while n < len(proposed) and proposed[n] == best[n]:
        n += 1
    return proposed[:n] + best[-1:]


def both_words_at_the_difference(proposed, best):
    words = []
    for mine, theirs in zip(proposed, best, strict=False):
        words.append(mine)
        if mine != theirs:
            return [*words, theirs]
    return [*words, best[-1]]


def one_place_too_far(proposed, best):
    n = 0
    for mine, theirs in zip(proposed, best, strict=False):
        if mine != theirs:
            break
        n += 1
    return [*best[:n], best[n + 1]]


def missing(p, q):
    rest = torch.relu(p - q)
    return rest / (rest.sum(1, keepdim=True) + (rest.sum(1, keepdim=True) == 0))


def chance(p, q):
    return torch.minimum(p / q, torch.ones_like(p))


def above_one(p, q):
    return p / q, missing(p, q)


def turned_ratio(p, q):
    return chance(q, p), missing(p, q)


def both_at_once(p, q):
    return torch.where(p < q, p, q), missing(p, q)


def all_or_none(p, q):
    return (p >= q).double(), missing(p, q)


def from_p_again(p, q):
    return chance(p, q), p


def not_divided(p, q):
    return chance(p, q), torch.relu(p - q)


def refusals(p, q):
    refused = 1 - chance(p, q)
    return chance(p, q), refused / refused.sum(1, keepdim=True).clamp(1e-12)


def size_of_the_difference(p, q):
    return chance(p, q), missing(p, q) * 0 + abs(p - q) / abs(p - q).sum(1, keepdim=True).clamp(
        1e-9
    )


def softmax_of_the_difference(p, q):
    return chance(p, q), torch.softmax(p - q, dim=1)


def nothing_by_nothing(p, q):
    rest = torch.relu(p - q)
    return chance(p, q), rest / rest.sum(1, keepdim=True)


def sum_of_the_batch(p, q):
    return chance(p, q), torch.relu(p - q) / torch.relu(p - q).sum()


def p_of_the_right_words(p, q):
    rest = torch.where(p > q, p, 0.0)
    return chance(p, q), rest / rest.sum(1, keepdim=True).clamp(1e-9)


def draft_for_model(p, q):
    return chance(q, p), missing(q, p)


def threshold(logits, p):
    shares = logits.softmax(-1)
    ordered = shares.sort(dim=-1, descending=True).values
    last = (ordered.cumsum(-1) - ordered < p).sum(-1, keepdim=True) - 1
    return logits.masked_fill(shares < ordered.gather(-1, last), float("-inf"))


def one_more_at_the_last_digit(logits, p):
    ordered, words = logits.sort(dim=-1, descending=True)
    shares = ordered.softmax(-1)
    late = shares.cumsum(-1) - shares > p
    return logits.scatter(-1, words, ordered.masked_fill(late, float("-inf")))


def below_p_together(logits, p):
    ordered, words = logits.sort(dim=-1, descending=True)
    together = ordered.softmax(dim=-1).cumsum(dim=-1)
    return torch.empty_like(logits).scatter(
        -1, words, ordered.masked_fill(~(together < p), -torch.inf)
    )


def top_p_of_raw_exponentials(logits, p):
    probabilities = logits.exp() / logits.exp().sum(dim=-1, keepdim=True)
    ordered, words = probabilities.sort(dim=-1, descending=True)
    kept = ordered.cumsum(dim=-1) - ordered < p
    return logits.masked_fill(~torch.zeros_like(kept).scatter(-1, words, kept), -torch.inf)


def adds_a_little(p, q):
    kept = torch.minimum(p / q, torch.ones_like(p))
    missing = torch.relu(p - q)
    return kept, missing / (missing.sum(dim=1, keepdim=True) + 1e-10)


TABLE = [
    ("keep_top_p", top_p_of_raw_exponentials, "only for logits near 0"),
    ("keep_top_p", below_p_together, "you drop the word that brings the sum up to p"),
    ("keep_top_p", stops_too_early, "the word that takes the sum past p"),
    ("keep_top_p", each_above_p, "you keep each word whose"),
    ("keep_top_p", zeros, "you give the dropped words"),
    ("keep_top_p", the_others, "are swapped"),
    ("keep_top_p", left_sorted, "back in its word's place"),
    ("keep_top_p", wrong_end, "your sum starts with the"),
    ("keep_top_p", renormalised, "return logits"),
    ("keep_top_p", first_always_and_up_to_p, "you always keep the most probable word"),
    ("keep_top_p", minus_a_billion, "a large negative number"),
    ("keep_top_p", sorted_mask_on_unsorted, "your mask is in sorted order"),
    ("keep_top_p", gathers, "`gather` reorders the logits"),
    ("keep_top_p", softmax_over_sorted_rows, "down the columns of the batch"),
    ("keep_top_p", softmax_over_rows_then_sort, "the columns sum to 1, not the rows"),
    ("keep_top_p", softmax_of_probabilities, "you take the softmax twice and"),
    ("keep_top_p", softmax_before_and_after_the_sort, "you take the softmax twice, which"),
    ("accept", no_free_word, "you leave out the large model's own"),
    ("accept", skips_what_differs, "words after the first difference"),
    ("accept", takes_all_of_best, "you accept all of the large"),
    ("accept", all_or_nothing, "you write only the first word if any word differs"),
    ("accept", draft_decides, "at the first difference you"),
    ("accept", no_word_behind_a_right_draft, "when the whole draft is right"),
    ("accept", always_the_last_of_best, "you add the last word of"),
    ("accept", both_words_at_the_difference, "you also write the draft's wrong"),
    ("accept", one_place_too_far, "one position too far"),
    ("keep_top_p", threshold, "this is right except for"),
    ("keep_top_p", one_more_at_the_last_digit, "where the sum is exactly p"),
    ("keep_or_redraw", adds_a_little, "the chance of being kept is right"),
    ("keep_or_redraw", above_one, "some of these probabilities"),
    ("keep_or_redraw", turned_ratio, "the ratio is upside down"),
    ("keep_or_redraw", both_at_once, "drawn *and* kept"),
    ("keep_or_redraw", all_or_none, "all or nothing"),
    ("keep_or_redraw", from_p_again, "you draw the replacement"),
    ("keep_or_redraw", not_divided, "this is p − q, but you have"),
    ("keep_or_redraw", refusals, "in proportion to 1 − kept"),
    ("keep_or_redraw", size_of_the_difference, "you use the absolute difference"),
    ("keep_or_redraw", softmax_of_the_difference, "not logits"),
    ("keep_or_redraw", nothing_by_nothing, "divide 0 by 0"),
    ("keep_or_redraw", sum_of_the_batch, "the sum of the whole batch"),
    ("keep_or_redraw", p_of_the_right_words, "these are the right words"),
    ("keep_or_redraw", draft_for_model, "p and q are swapped"),
]
