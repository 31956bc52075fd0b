"""Wrong answers to the exercises of lesson 10, written as a learner writes them."""

import math

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


# ---------------------------------------------------------------- one step with a cache


def projected(x, keys, values, w_q, w_k, w_v):
    keys = torch.cat([keys, torch.einsum("bd,de->be", x, w_k).unsqueeze(1)], dim=1)
    values = torch.cat([values, torch.einsum("bd,de->be", x, w_v).unsqueeze(1)], dim=1)
    return torch.einsum("bd,de->be", x, w_q), keys, values


def mixed(query, keys, values, root=None):
    scores = torch.einsum("be,bne->bn", query, keys) / (root or keys.shape[-1] ** 0.5)
    return torch.einsum("bn,bne->be", scores.softmax(-1), values)


def unscaled(*case):
    query, keys, values = projected(*case)
    return mixed(query, keys, values, 1), keys, values


def root_of_d_model(x, *rest):
    query, keys, values = projected(x, *rest)
    return mixed(query, keys, values, x.shape[-1] ** 0.5), keys, values


def root_of_the_words(*case):
    query, keys, values = projected(*case)
    return mixed(query, keys, values, keys.shape[1] ** 0.5), keys, values


def five_written_in(*case):
    query, keys, values = projected(*case)
    return mixed(query, keys, values, 5**0.5), keys, values


def attends_before_it_appends(x, keys, values, *weights):
    query, longer, more = projected(x, keys, values, *weights)
    return mixed(query, keys, values), longer, more


def forgets_to_return_them(x, keys, values, *weights):
    return mixed(*projected(x, keys, values, *weights)), keys, values


def prepends(x, keys, values, w_q, w_k, w_v):
    keys = torch.cat([(x @ w_k)[:, None], keys], 1)
    values = torch.cat([(x @ w_v)[:, None], values], 1)
    return mixed(x @ w_q, keys, values), keys, values


def triangle_of_one_row(*case):
    query, keys, values = projected(*case)
    scores = torch.einsum("be,bne->bn", query, keys) / keys.shape[-1] ** 0.5
    seen = torch.ones(1, keys.shape[1]).tril().bool()
    weights = scores.masked_fill(~seen, float("-inf")).softmax(-1)
    return torch.einsum("bn,bne->be", weights, values), keys, values


def the_output_alone(*case):
    return mixed(*projected(*case))


def one_axis_too_many(*case):
    query, keys, values = projected(*case)
    return mixed(query, keys, values)[:, None], keys, values


def queries_as_one_matrix(x, keys, values, W_Q, W_K, W_V):
    keys = torch.cat([keys, (x @ W_K).unsqueeze(1)], 1)
    values = torch.cat([values, (x @ W_V).unsqueeze(1)], 1)
    weights = torch.softmax(x @ W_Q @ keys.transpose(1, 2) / math.sqrt(W_Q.shape[1]), -1)
    return weights @ values, keys, values


def first_row_of_them(*arguments):
    output, keys, values = queries_as_one_matrix(*arguments)
    return output[:, 0, :], keys, values


def as_numpy(*case):
    query, keys, values = projected(*case)
    return mixed(query, keys, values).numpy(), keys.numpy(), values.numpy()


# ---------------------------------------------------------------- prefill, then decode


def reads_each_prompt_word(read, prompt, count):
    cache = None
    for word in prompt:
        logits, cache = read([word], cache)
    out = [logits[-1].argmax().item()]
    for _ in range(count - 1):
        logits, cache = read([out[-1]], cache)
        out.append(logits[-1].argmax().item())
    return out


def rereads_it_all(read, prompt, count):
    ids = [*prompt]
    while len(ids) < len(prompt) + count:
        ids.append(read(ids, None)[0][-1].argmax().item())
    return ids[len(prompt) :]


def rereads_it_behind_the_cache(read, prompt, count):
    ids, cache = [*prompt], None
    while len(ids) < len(prompt) + count:
        logits, cache = read(ids, cache)
        ids.append(logits[-1].argmax().item())
    return ids[len(prompt) :]


def last_prompt_word_again(read, prompt, count):
    cache, out = read(prompt, None)[1], [prompt[-1]]
    for _ in range(count):
        logits, cache = read(out[-1:], cache)
        out.append(logits[0].argmax().item())
    return out[1:]


def reads_the_last_for_nothing(read, prompt, count):
    (logits, cache), out = read(prompt, None), []
    while len(out) < count:
        out.append(logits[-1].argmax().item())
        logits, cache = read([out[-1]], cache)
    return out


def first_row(read, prompt, count):
    (logits, cache), out = read(prompt, None), []
    out = [logits[0].argmax().item()]
    while len(out) < count:
        logits, cache = read([out[-1]], cache)
        out.append(logits[0].argmax().item())
    return out


def cache_not_kept(read, prompt, count):
    logits, cache = read(prompt, None)
    out = [logits[-1].argmax().item()]
    while len(out) < count:
        out.append(read([out[-1]], cache)[0][-1].argmax().item())
    return out


def never_a_cache(read, prompt, count):
    out = [*prompt]
    for n in range(count):
        out.append(read(prompt if n == 0 else out[-1:], None)[0][-1].argmax().item())
    return out[len(prompt) :]


def one_pass_for_all(read, prompt, count):
    return read(prompt, None)[0].argmax(dim=1).tolist()[:count]


def prompt_and_all(read, prompt, count):
    ids, new, cache = [*prompt], prompt, None
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [logits[-1].argmax().item()]
        ids += new
    return ids


def grows_the_prompt(read, prompt, count):
    new, cache, n = [*prompt], None, len(prompt)
    for _ in range(count):
        logits, cache = read(new, cache)
        new = [logits[-1].argmax().item()]
        prompt.append(new[0])
    return prompt[n:]


def a_bare_word(read, prompt, count):
    new, cache, out = prompt, None, []
    for _ in range(count):
        logits, cache = read(new, cache)
        new = logits[-1].argmax()
        out.append(int(new))
    return out


# ---------------------------------------------------------------- padding in front


def behind(seen):
    return torch.nn.functional.pad(seen, (0, 1), value=True)[:, None, None]


def length_of_the_cache(ids, pad_id):
    return torch.tensor([ids.shape[1]] * len(ids)), behind(ids != pad_id)


def place_of_the_last(ids, pad_id):
    return ids.ne(pad_id).sum(-1) - 1, behind(ids != pad_id)


def counts_from_one(ids, pad_id):
    return ids.ne(pad_id).sum(-1) + 1, behind(ids != pad_id)


def no_column_for_itself(ids, pad_id):
    return ids.ne(pad_id).sum(-1), ids.ne(pad_id)[:, None, None]


def hidden_from_itself(ids, pad_id):
    seen = torch.nn.functional.pad(ids != pad_id, (0, 1), value=False)
    return ids.ne(pad_id).sum(-1), seen[:, None, None]


def itself_in_front(ids, pad_id):
    seen = torch.nn.functional.pad(ids != pad_id, (1, 0), value=True)
    return ids.ne(pad_id).sum(-1), seen[:, None, None]


def as_for_padding_behind(ids, pad_id):
    count = ids.ne(pad_id).sum(-1, keepdim=True)
    return count[:, 0], (torch.arange(ids.shape[1] + 1) <= count)[:, None, None]


def zero_is_padding(ids, pad_id):
    return ids.bool().sum(-1), behind(ids.bool())


def larger_than_padding(ids, pad_id):
    return ids.gt(pad_id).sum(-1), behind(ids > pad_id)


def two_axes(ids, pad_id):
    return ids.ne(pad_id).sum(-1), behind(ids != pad_id)[:, 0, 0]


def places_of_all(ids, pad_id):
    return ids.ne(pad_id).long().cumsum(-1) - 1, behind(ids != pad_id)


def float_places(ids, pad_id):
    return ids.ne(pad_id).float().sum(-1), behind(ids != pad_id)


# ---------------------------------------------------------------- beams that change places


def old_rows(parents):
    return torch.cat([row + n * len(row) for n, row in enumerate(parents)])


def rows_of_the_first_sentence(cache, parents):
    return [[x[parents.reshape(-1)] for x in pair] for pair in cache]


def batch_and_beams_apart(cache, parents):
    return [
        (k[old_rows(parents).view_as(parents)], v[old_rows(parents).view_as(parents)])
        for k, v in cache
    ]


def keys_alone(cache, parents):
    return [(k.index_select(0, old_rows(parents)), v) for k, v in cache]


def first_layer_alone(cache, parents):
    rows = old_rows(parents)
    return [tuple(x[rows] for x in cache[0]), *cache[1:]]


def sorts_the_places(cache, parents):
    rows = torch.argsort(old_rows(parents), stable=True)
    return [(k[rows], v[rows]) for k, v in cache]


def puts_instead_of_taking(cache, parents):
    out = []
    for k, v in cache:
        new_k, new_v = torch.zeros_like(k), torch.zeros_like(v)
        for place, row in enumerate(old_rows(parents)):
            new_k[row], new_v[row] = k[place], v[place]
        out.append((new_k, new_v))
    return out


def names_bound_in_vain(cache, parents):
    rows = old_rows(parents)
    for k, v in cache:
        k, v = k[rows], v[rows]
    return cache


def steps_by_batch(cache, parents):
    rows = torch.cat([row + n * len(parents) for n, row in enumerate(parents)])
    return [(k[rows], v[rows]) for k, v in cache]


def by_beam_then_sentence(cache, parents):
    rows = old_rows(parents).reshape(parents.shape).t().reshape(-1)
    return [(k[rows], v[rows]) for k, v in cache]


def moved_where_they_lie(cache, parents):
    rows = old_rows(parents)
    for pair in cache:
        for x in pair:
            x.copy_(x[rows])
    return cache


def numpy_pairs(cache, parents):
    rows = old_rows(parents)
    return [(k[rows].numpy(), v[rows].numpy()) for k, v in cache]


# ---------------------------------------------------------------- the size of the cache


def width_of(d_model, heads):
    return d_model // heads


def as_without_groups(layers, d_model, num_heads, num_key_value_heads, source, written):
    return 2 * d_model * layers * (source + written)


def keys_and_no_values(layers, d_model, num_heads, num_key_value_heads, source, written):
    return width_of(d_model, num_heads) * num_key_value_heads * layers * (source + written)


def queries_of_all_heads(layers, d_model, num_heads, num_key_value_heads, source, written):
    each = d_model + 2 * num_key_value_heads * width_of(d_model, num_heads)
    return each * layers * (source + written)


def no_memory(layers, d_model, num_heads, num_key_value_heads, source, written):
    return 2 * num_key_value_heads * width_of(d_model, num_heads) * layers * written


def memory_once(layers, d_model, num_heads, num_key_value_heads, source, written):
    return 2 * num_key_value_heads * width_of(d_model, num_heads) * (layers * written + source)


def one_layer(layers, d_model, num_heads, num_key_value_heads, source, written):
    return 2 * num_key_value_heads * width_of(d_model, num_heads) * (written + source)


def size_of_a_group(layers, d_model, num_heads, num_key_value_heads, source, written):
    group = num_heads // num_key_value_heads
    return 2 * group * width_of(d_model, num_heads) * layers * (written + source)


def sixty_four(layers, d_model, num_heads, num_key_value_heads, source, written):
    return 128 * num_key_value_heads * layers * (written + source)


def in_bytes(layers, d_model, num_heads, num_key_value_heads, source, written):
    return 8 * num_key_value_heads * width_of(d_model, num_heads) * layers * (written + source)


# ---------------------------------------------------------------- kept, or drawn anew


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


# ---------------------------------------------------------------- top-p, equal words


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


def softmax_by_hand(x, keys, values, W_Q, W_K, W_V):
    keys = torch.cat((keys, (x @ W_K).unsqueeze(1)), dim=1)
    values = torch.cat((values, (x @ W_V).unsqueeze(1)), dim=1)
    e = torch.exp((keys @ (x @ W_Q).unsqueeze(2)) / keys.shape[2] ** 0.5)
    weights = e / e.sum(dim=1, keepdim=True)
    return (weights * values).sum(dim=1), keys, values


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
    ("keep_top_p", top_p_of_raw_exponentials, "logits near 0 alone"),
    ("keep_top_p", below_p_together, "ask what stands before it"),
    ("greedy_words", returns_what_it_read, "bos is no word of the translation"),
    ("greedy_words", breaks_before_eos, "eos is missing"),
    ("greedy_words", forgets_the_past, "only the last word is read"),
    ("greedy_words", bos_is_lost, "bos is not read"),
    ("greedy_words", fills_up_to_the_limit, "stop there"),
    ("greedy_words", counts_bos, "one word too few at the limit"),
    ("greedy_words", trusts_the_model_to_end, "the limit is not kept"),
    ("greedy_words", one_more_at_the_limit, "one word too many at the limit"),
    ("greedy_words", bos_takes_a_place, "bos is returned, and counted"),
    ("greedy_words", wrong_end_dropped, "the two ends have changed places"),
    ("beam_step", one_child_each, "each beginning goes on with its best word alone"),
    ("beam_step", never_prunes, "the beam grows with every step"),
    ("beam_step", forgets_the_sum, "only the last word's log-probability counts"),
    ("beam_step", multiplies, "log-probabilities are added"),
    ("beam_step", ascending, "these are the worst k"),
    ("beam_step", keeps_the_end_of_the_sorted_list, "the best comes first"),
    ("beam_step", first_beam_only, "only the best beginning is continued"),
    ("beam_step", log_again, "a logarithm taken twice"),
    ("beam_step", log_again_in_a_loop, "a logarithm taken twice"),
    ("beam_step", new_word_in_front, "the new word stands in front"),
    ("beam_step", mean_of_two, "the mean of two log-probabilities"),
    ("beam_step", mean_over_ids, "divided by the number of ids"),
    ("beam_step", mean_over_words, "divided by the number of words"),
    ("beam_step", asks_each_row_for_k, "right until k is more than the vocabulary"),
    ("beam_step", never_prunes_what_there_is, "the beam grows with every step"),
    ("beam_score", times, "favours short sentences even more"),
    ("beam_score", negative_exponent_twice, "favours short sentences even more"),
    ("beam_score", minus, "subtracted"),
    ("beam_score", plain_length, "plain length to the power"),
    ("beam_score", power_above_only, "over the whole fraction"),
    ("beam_score", factor, "α is an exponent"),
    ("beam_score", positive, "the sign is turned"),
    ("beam_score", brackets, "mind the brackets"),
    ("beam_score", six_forgotten, "the 6 is missing"),
    ("beam_score", six_alone_to_the_power, "over the 6 alone"),
    ("beam_score", divides_twice, "two divisions in a row"),
    ("beam_score", probability_first, "this is a probability"),
    ("beam_score", length_without_eos, "one word is not counted"),
    ("keep_top_p", stops_too_early, "the word with which the sum reaches p"),
    ("keep_top_p", each_above_p, "this keeps words that have p each"),
    ("keep_top_p", zeros, "a logit of 0 is not nothing"),
    ("keep_top_p", the_others, "have changed places"),
    ("keep_top_p", left_sorted, "in its word's place again"),
    ("keep_top_p", wrong_end, "begin with the most probable"),
    ("keep_top_p", renormalised, "logits are asked for"),
    ("keep_top_p", first_always_and_up_to_p, "the first word is kept in any case"),
    ("keep_top_p", minus_a_billion, "a large negative number"),
    ("keep_top_p", sorted_mask_on_unsorted, "the mask is in sorted order"),
    ("keep_top_p", gathers, "`scatter` is what undoes a sort"),
    ("keep_top_p", softmax_over_sorted_rows, "down the columns of the batch"),
    ("keep_top_p", softmax_over_rows_then_sort, "rows share one sum"),
    ("keep_top_p", softmax_of_probabilities, "the softmax is taken twice, and probabilities"),
    ("keep_top_p", softmax_before_and_after_the_sort, "too many are kept"),
    ("accept", no_free_word, "the large model's own word is missing"),
    ("accept", skips_what_differs, "words behind the first difference"),
    ("accept", takes_all_of_best, "all of the large model's words are taken"),
    ("accept", all_or_nothing, "all is thrown away"),
    ("accept", draft_decides, "the large model decides"),
    ("accept", no_word_behind_a_right_draft, "behind it comes free too"),
    ("accept", always_the_last_of_best, "the last of `best`"),
    ("accept", both_words_at_the_difference, "the draft's wrong word is written too"),
    ("accept", one_place_too_far, "one place too far"),
    ("keep_top_p", threshold, "all of them stay, though fewer reach p"),
    ("keep_top_p", one_more_at_the_last_digit, "to the last digit"),
    ("cached_step", softmax_by_hand, "NaN for large ones"),
    ("cached_step", unscaled, "the scale is missing"),
    ("cached_step", root_of_d_model, "divided by √d_model"),
    ("cached_step", root_of_the_words, "the root of the number of words"),
    ("cached_step", five_written_in, "√5 is written in"),
    ("cached_step", attends_before_it_appends, "the new word does not see itself"),
    ("cached_step", forgets_to_return_them, "return the longer tables"),
    ("cached_step", prepends, "the new word stands in front"),
    ("cached_step", triangle_of_one_row, "A causal mask of one row"),
    ("cached_step", queries_as_one_matrix, "meet the keys of each sentence"),
    ("cached_step", first_row_of_them, "right for one sentence alone"),
    ("cached_step", the_output_alone, "it returns 1 thing; expected 3"),
    ("cached_step", one_axis_too_many, "in another shape"),
    ("cached_step", as_numpy, "the next cells need a PyTorch tensor"),
    ("continued", reads_each_prompt_word, "so one pass reads them"),
    ("continued", rereads_it_all, "everything is read again each time"),
    ("continued", rereads_it_behind_the_cache, "they stand there twice"),
    ("continued", last_prompt_word_again, "the prompt's last word is read twice"),
    ("continued", reads_the_last_for_nothing, "one pass too many"),
    ("continued", first_row, "the first row of logits"),
    ("continued", cache_not_kept, "the cache stays that of the prompt"),
    ("continued", never_a_cache, "each pass begins without a cache"),
    ("continued", one_pass_for_all, "one pass cannot write"),
    ("continued", prompt_and_all, "the prompt is returned, too"),
    ("continued", grows_the_prompt, "it changes prompt in place"),
    ("continued", a_bare_word, "one word is [word]"),
    ("next_places", length_of_the_cache, "the length of the cache"),
    ("next_places", place_of_the_last, "the last word that was read"),
    ("next_places", counts_from_one, "positions count from 0"),
    ("next_places", no_column_for_itself, "no column for the new word"),
    ("next_places", hidden_from_itself, "hidden from itself"),
    ("next_places", itself_in_front, "column stands in front"),
    ("next_places", as_for_padding_behind, "Here it is in front"),
    ("next_places", zero_is_padding, "0 is written in"),
    ("next_places", larger_than_padding, "compare with !="),
    ("next_places", two_axes, "two dimensions of size 1 in the middle"),
    ("next_places", places_of_all, "one for each new word is asked"),
    ("next_places", float_places, "whole numbers"),
    ("reordered", rows_of_the_first_sentence, "all sentences get rows of the first one"),
    ("reordered", batch_and_beams_apart, "batch and beams are one axis"),
    ("reordered", keys_alone, "the keys follow and the values stay"),
    ("reordered", first_layer_alone, "only the first layer's follow"),
    ("reordered", sorts_the_places, "the places are sorted"),
    ("reordered", puts_instead_of_taking, "where none is put there is nothing"),
    ("reordered", names_bound_in_vain, "nothing has moved"),
    ("reordered", steps_by_batch, "and not at s · batch"),
    ("reordered", by_beam_then_sentence, "lie side by side"),
    ("reordered", moved_where_they_lie, "it changes cache in place"),
    ("reordered", numpy_pairs, "keys and values are tensors"),
    ("cache_numbers", as_without_groups, "all heads are counted"),
    ("cache_numbers", keys_and_no_values, "both key and value are kept"),
    ("cache_numbers", queries_of_all_heads, "queries are counted, too"),
    ("cache_numbers", no_memory, "the memory is forgotten"),
    ("cache_numbers", memory_once, "each layer projects its own"),
    ("cache_numbers", one_layer, "one layer is counted"),
    ("cache_numbers", size_of_a_group, "how many queries share a key"),
    ("cache_numbers", sixty_four, "64 is written in"),
    ("cache_numbers", in_bytes, "these are bytes"),
    ("keep_or_redraw", adds_a_little, "the chance to be kept: right"),
    ("keep_or_redraw", above_one, "a chance above 1"),
    ("keep_or_redraw", turned_ratio, "the ratio is turned round"),
    ("keep_or_redraw", both_at_once, "drawn *and* kept"),
    ("keep_or_redraw", all_or_none, "all or nothing"),
    ("keep_or_redraw", from_p_again, "drawn anew from p"),
    ("keep_or_redraw", not_divided, "not yet divided by its sum"),
    ("keep_or_redraw", refusals, "how often a word is refused"),
    ("keep_or_redraw", size_of_the_difference, "the size of the difference"),
    ("keep_or_redraw", softmax_of_the_difference, "no logits"),
    ("keep_or_redraw", nothing_by_nothing, "0/0"),
    ("keep_or_redraw", sum_of_the_batch, "the sum of the whole batch"),
    ("keep_or_redraw", p_of_the_right_words, "with all of their p"),
    ("keep_or_redraw", draft_for_model, "p and q have changed places"),
]
