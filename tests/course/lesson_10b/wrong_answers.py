"""Wrong answers to the exercises of lesson 10b, written as a learner writes them."""

import math

import torch


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


def softmax_by_hand(x, keys, values, W_Q, W_K, W_V):
    keys = torch.cat((keys, (x @ W_K).unsqueeze(1)), dim=1)
    values = torch.cat((values, (x @ W_V).unsqueeze(1)), dim=1)
    e = torch.exp((keys @ (x @ W_Q).unsqueeze(2)) / keys.shape[2] ** 0.5)
    weights = e / e.sum(dim=1, keepdim=True)
    return (weights * values).sum(dim=1), keys, values


TABLE = [
    ("cached_step", softmax_by_hand, "NaN for large ones"),
    ("cached_step", unscaled, "the scale is missing"),
    ("cached_step", root_of_d_model, "you divide the scores by √d_model"),
    ("cached_step", root_of_the_words, "the square root of the number of words"),
    ("cached_step", five_written_in, "√5 is hard-coded"),
    ("cached_step", attends_before_it_appends, "the new word does not see itself"),
    ("cached_step", forgets_to_return_them, "you use the new key and value"),
    ("cached_step", prepends, "you put the new word in front"),
    ("cached_step", triangle_of_one_row, "the new word sees only the"),
    ("cached_step", queries_as_one_matrix, "you compare all of the batch's"),
    ("cached_step", first_row_of_them, "this is right for a single"),
    ("cached_step", the_output_alone, "your answer returns 1 value, but should return 3"),
    ("cached_step", one_axis_too_many, "are right, but the shape is not"),
    ("cached_step", as_numpy, "the next cells need a PyTorch tensor"),
    ("continued", reads_each_prompt_word, "you make too many passes. The prompt's words"),
    ("continued", rereads_it_all, "these are the right words, but you read"),
    ("continued", rereads_it_behind_the_cache, "you read words again that"),
    ("continued", last_prompt_word_again, "you read the prompt's last word twice"),
    ("continued", reads_the_last_for_nothing, "one pass too many"),
    ("continued", first_row, "the first row of logits"),
    ("continued", cache_not_kept, "the cache still holds only the prompt"),
    ("continued", never_a_cache, "you start each pass without"),
    ("continued", one_pass_for_all, "you write several words in one pass, but all rows"),
    ("continued", prompt_and_all, "you also return the prompt"),
    ("continued", grows_the_prompt, "your answer changes prompt in place"),
    ("continued", a_bare_word, "For a single word, pass [word]"),
    ("next_places", length_of_the_cache, "the length of the cache"),
    ("next_places", place_of_the_last, "the last word that was read"),
    ("next_places", counts_from_one, "positions are counted from 0"),
    ("next_places", no_column_for_itself, "no column for the new word"),
    ("next_places", hidden_from_itself, "you hide the new word from itself"),
    ("next_places", itself_in_front, "you put the new word's column"),
    ("next_places", as_for_padding_behind, "Here the padding comes before the words"),
    ("next_places", zero_is_padding, "0 is hard-coded"),
    ("next_places", larger_than_padding, "Compare each id and `pad_id` with `!=`"),
    ("next_places", two_axes, "two dimensions of size 1 in the middle"),
    ("next_places", places_of_all, "these are the positions of"),
    ("next_places", float_places, "should consist of integers"),
    ("reordered", rows_of_the_first_sentence, "you take every sentence's rows"),
    ("reordered", batch_and_beams_apart, "these are the right rows with"),
    ("reordered", keys_alone, "you move the keys but leave"),
    ("reordered", first_layer_alone, "you reorder only the first"),
    ("reordered", sorts_the_places, "the order that sorts the parents"),
    ("reordered", puts_instead_of_taking, "some rows stay empty"),
    ("reordered", names_bound_in_vain, "you have not moved anything"),
    ("reordered", steps_by_batch, "you start sentence s at row"),
    ("reordered", by_beam_then_sentence, "lie side by side"),
    ("reordered", moved_where_they_lie, "your answer changes cache in place"),
    ("reordered", numpy_pairs, "needs keys and values that are tensors"),
    ("cache_numbers", as_without_groups, "you count `num_heads` heads, but there"),
    ("cache_numbers", keys_and_no_values, "you count one vector for"),
    ("cache_numbers", queries_of_all_heads, "you also count queries, but"),
    ("cache_numbers", no_memory, "you forget the memory, but"),
    ("cache_numbers", memory_once, "you count the memory's keys"),
    ("cache_numbers", one_layer, "you count only one layer"),
    ("cache_numbers", size_of_a_group, "you use num_heads // num_key_value_heads"),
    ("cache_numbers", sixty_four, "64 is hard-coded"),
    ("cache_numbers", in_bytes, "this is the size in bytes"),
]
