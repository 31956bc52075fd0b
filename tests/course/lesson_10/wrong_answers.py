"""Wrong answers to the exercises of lesson 10, written as a learner writes them."""

import torch


def returns_what_it_read(next_logits, bos, eos, limit):
    ids = [bos]
    while ids[-1] != eos and len(ids) <= limit:
        ids.append(next_logits(ids).argmax().item())
    return ids


def breaks_before_eos(next_logits, bos, eos, limit):
    words = []
    for _ in range(limit):
        word = next_logits([bos, *words]).argmax().item()
        if word == eos:
            break
        words.append(word)
    return words


def forgets_the_past(next_logits, bos, eos, limit):
    word, words = bos, []
    while word != eos and len(words) < limit:
        word = next_logits([word]).argmax().item()
        words.append(word)
    return words


def bos_is_lost(next_logits, bos, eos, limit):
    words = [next_logits([bos]).argmax().item()]
    while words[-1] != eos and len(words) < limit:
        words.append(next_logits(words).argmax().item())
    return words


def fills_up_to_the_limit(next_logits, bos, eos, limit):
    ids = [bos]
    for _ in range(limit):
        ids += [next_logits(ids).argmax().item()]
    return ids[1:]


def counts_bos(next_logits, bos, eos, limit):
    ids = [bos]
    while len(ids) < limit and ids[-1] != eos:
        ids.append(int(torch.argmax(next_logits(ids))))
    return ids[1:]


def trusts_the_model_to_end(next_logits, bos, eos, limit):
    ids = [bos]
    while ids[-1] != eos:
        ids.append(int(next_logits(ids).argmax()))
    return ids[1:]


def one_more_at_the_limit(next_logits, bos, eos, limit):
    words = []
    while len(words) <= limit:
        words.append(int(next_logits([bos, *words]).argmax()))
        if words[-1] == eos:
            break
    return words


def bos_takes_a_place(next_logits, bos, eos, limit):
    ids = [bos]
    while len(ids) < limit:
        ids.append(int(next_logits(ids).argmax()))
        if ids[-1] == eos:
            return ids
    return ids


def wrong_end_dropped(next_logits, bos, eos, limit):
    ids = [bos]
    for _ in range(limit):
        word = next_logits(ids).argmax().item()
        if word == eos:
            return ids
        ids.append(word)
    return ids


def one_child_each(beams, log_probabilities, k):
    found = []
    for (value, ids), row in zip(beams, log_probabilities, strict=True):
        word = int(row.argmax())
        found.append((value + row[word].item(), (*ids, word)))
    return sorted(found, key=lambda pair: -pair[0])[:k]


def never_prunes(beams, log_probabilities, k):
    found = []
    for (value, ids), row in zip(beams, log_probabilities, strict=True):
        best = row.topk(k)
        for log_p, word in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            found.append((value + log_p, (*ids, word)))
    return sorted(found, key=lambda pair: -pair[0])


def forgets_the_sum(beams, log_probabilities, k):
    best = log_probabilities.flatten().topk(k)
    width = log_probabilities.size(1)
    return [
        (value, (*beams[place // width][1], place % width))
        for value, place in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def multiplies(beams, log_probabilities, k):
    totals = torch.tensor([b[0] for b in beams])[:, None] * log_probabilities
    best = totals.flatten().topk(k)
    width = log_probabilities.size(1)
    return [
        (value, (*beams[place // width][1], place % width))
        for value, place in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def ascending(beams, log_probabilities, k):
    totals = torch.tensor([b[0] for b in beams])[:, None] + log_probabilities
    worst = totals.flatten().topk(k, largest=False)
    width = log_probabilities.size(1)
    return [
        (value, (*beams[place // width][1], place % width))
        for value, place in zip(worst.values.tolist(), worst.indices.tolist(), strict=True)
    ]


def keeps_the_end_of_the_sorted_list(beams, log_probabilities, k):
    found = []
    for (value, ids), row in zip(beams, log_probabilities, strict=True):
        found += [(value + float(log_p), (*ids, word)) for word, log_p in enumerate(row)]
    return sorted(found)[-k:]


def first_beam_only(beams, log_probabilities, k):
    value, ids = max(beams)
    row = log_probabilities[beams.index((value, ids))]
    best = (value + row).topk(k)
    return [
        (v, (*ids, w)) for v, w in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def best_of(totals, beams, k):
    width = totals.size(1)
    values, places = totals.flatten().topk(k)
    return [
        (value, (*beams[place // width][1], place % width))
        for value, place in zip(values.tolist(), places.tolist(), strict=True)
    ]


def sums_before(beams):
    return torch.tensor([[value] for value, _ in beams], dtype=torch.float64)


def log_again(beams, log_probabilities, k):
    return best_of(sums_before(beams) + log_probabilities.log(), beams, k)


def log_again_in_a_loop(beams, log_probabilities, k):
    found = []
    for (value, ids), row in zip(beams, log_probabilities.log(), strict=True):
        for word in range(len(row)):
            found.append(((value + row[word]).item(), (*ids, word)))
    return sorted(found, key=lambda pair: pair[0], reverse=True)[:k]


def new_word_in_front(beams, log_probabilities, k):
    found = []
    for i, (value, ids) in enumerate(beams):
        for word in range(log_probabilities.size(1)):
            found.append((value + log_probabilities[i, word].item(), (word, *ids)))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return found[:k]


def mean_of_two(beams, log_probabilities, k):
    before = sums_before(beams).expand_as(log_probabilities)
    return best_of(torch.stack([before, log_probabilities]).mean(0), beams, k)


def mean_over_ids(beams, log_probabilities, k):
    lengths = torch.tensor([[len(ids) + 1] for _, ids in beams])
    return best_of((sums_before(beams) + log_probabilities) / lengths, beams, k)


def mean_over_words(beams, log_probabilities, k):
    lengths = torch.tensor([[len(ids)] for _, ids in beams])  # the new word, and bos left out
    return best_of((sums_before(beams) + log_probabilities) / lengths, beams, k)


def asks_each_row_for_k(beams, log_probabilities, k):
    found = []
    for (value, ids), row in zip(beams, log_probabilities, strict=True):
        best = row.topk(k)
        for log_p, word in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            found.append((value + log_p, (*ids, word)))
    return sorted(found, reverse=True)[:k]


def never_prunes_what_there_is(beams, log_probabilities, k):
    found = []
    for (value, ids), row in zip(beams, log_probabilities, strict=True):
        best = row.topk(min(k, len(row)))
        for log_p, word in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            found.append((value + log_p, (*ids, word)))
    return sorted(found, key=lambda pair: -pair[0])


def times(log_probability, length, alpha):
    return log_probability * ((5 + length) ** alpha / 6**alpha)


def negative_exponent_twice(log_probability, length, alpha):
    return log_probability / ((5 + length) / 6) ** -alpha


def minus(log_probability, length, alpha):
    return log_probability - ((5 + length) / 6) ** alpha


def plain_length(log_probability, length, alpha):
    return log_probability * length**-alpha


def power_above_only(log_probability, length, alpha):
    return log_probability / (((5 + length) ** alpha) / 6)


def factor(log_probability, length, alpha):
    return log_probability / (alpha * (length + 5) / 6)


def positive(log_probability, length, alpha):
    return abs(log_probability) / ((5 + length) / 6) ** alpha


def brackets(log_probability, length, alpha):
    return log_probability / (5 + length / 6) ** alpha


def six_forgotten(log_probability, length, alpha):
    return log_probability * (5 + length) ** -alpha


def six_alone_to_the_power(log_probability, length, alpha):
    penalty = (5 + length) / 6**alpha
    return log_probability / penalty


def divides_twice(log_probability, length, alpha):
    return log_probability / (5 + length) / 6**alpha


def probability_first(log_probability, length, alpha):
    penalty = ((5 + length) / 6) ** alpha
    return 2.718281828459045**log_probability / penalty


def length_without_eos(log_probability, length, alpha):
    words = length - 1
    return log_probability / ((5 + words) / 6) ** alpha


TABLE = [
    ("greedy_words", returns_what_it_read, "you return bos, but it is"),
    ("greedy_words", breaks_before_eos, "you leave out eos. It is"),
    ("greedy_words", forgets_the_past, "you give the model only the"),
    ("greedy_words", bos_is_lost, "you leave out bos, but the"),
    ("greedy_words", fills_up_to_the_limit, "stop there"),
    ("greedy_words", counts_bos, "at the limit, your list is one word too short"),
    ("greedy_words", trusts_the_model_to_end, "you ignore the limit, but"),
    ("greedy_words", one_more_at_the_limit, "at the limit, your list is one word too long"),
    ("greedy_words", bos_takes_a_place, "you return bos and count"),
    ("greedy_words", wrong_end_dropped, "you keep bos and drop eos"),
    ("beam_step", one_child_each, "you continue each beginning"),
    ("beam_step", never_prunes, "the beam grows with every step"),
    ("beam_step", forgets_the_sum, "you use only the last word's"),
    ("beam_step", multiplies, "you multiply log-probabilities"),
    ("beam_step", ascending, "these are the worst k"),
    ("beam_step", keeps_the_end_of_the_sorted_list, "these are the right beginnings"),
    ("beam_step", first_beam_only, "you continue only the best beginning"),
    ("beam_step", log_again, "the sums are NaN. Do you"),
    ("beam_step", log_again_in_a_loop, "the sums are NaN. Do you"),
    ("beam_step", new_word_in_front, "you put the new word in front"),
    ("beam_step", mean_of_two, "the mean of two log-probabilities"),
    ("beam_step", mean_over_ids, "you divide by the number of ids"),
    ("beam_step", mean_over_words, "you divide by the number of words"),
    ("beam_step", asks_each_row_for_k, "right unless k is larger than the vocabulary"),
    ("beam_step", never_prunes_what_there_is, "the beam grows with every step"),
    ("beam_score", times, "favours short sentences even more"),
    ("beam_score", negative_exponent_twice, "favours short sentences even more"),
    ("beam_score", minus, "you subtract the penalty"),
    ("beam_score", plain_length, "plain length to the power"),
    ("beam_score", power_above_only, "should apply to the whole fraction"),
    ("beam_score", factor, "you use α as a factor, but"),
    ("beam_score", positive, "the sign is wrong"),
    ("beam_score", brackets, "the brackets are wrong: this"),
    ("beam_score", six_forgotten, "the 6 is missing"),
    ("beam_score", six_alone_to_the_power, "you apply the power only"),
    ("beam_score", divides_twice, "two divisions in a row"),
    ("beam_score", probability_first, "you divide the probability"),
    ("beam_score", length_without_eos, "the length that you use is too small by 1"),
]
