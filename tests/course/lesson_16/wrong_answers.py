"""Wrong answers to the exercises of lesson 16, written as a learner writes them."""

import numpy as np


def cut(ids, starts, length):
    return np.stack([ids[s : s + length] for s in starts])


def not_shifted(ids, starts, length):
    batch = cut(ids, starts, length)
    return batch, batch.copy()


def shifted_to_the_past(ids, starts, length):
    return cut(ids, starts, length), cut(np.roll(ids, 1), starts, length)


def turned_round(ids, starts, length):
    return cut(ids, starts + 1, length), cut(ids, starts, length)


def one_short(ids, starts, length):
    batch = cut(ids, starts, length)
    return batch[:, :-1], batch[:, 1:]


def following_window(ids, starts, length):
    return cut(ids, starts, length), cut(ids, starts + length, length)


def only_the_last(ids, starts, length):
    batch = cut(ids, starts, length + 1)
    return batch[:, :-1], batch[:, -1]


def in_order(ids, starts, length):
    starts = np.array([n * length for n in range(len(starts))])
    return cut(ids, starts, length), cut(ids, starts + 1, length)


def last_token_lost(ids, starts, length):
    following = np.roll(ids[:-1], -1)
    return cut(ids, starts, length), cut(following, starts, length)


def last_window_left_out(ids, starts, length):
    kept = [s for s in starts if s + length < len(ids) - 1]
    return cut(ids, np.array(kept), length), cut(ids, np.array(kept) + 1, length)


def ask_for_all(ids, chosen, mask_id):
    inputs = ids.copy()
    inputs[chosen] = mask_id
    return inputs, ids


def hide_the_others(ids, chosen, mask_id):
    inputs, targets = ids.copy(), ids.copy()
    inputs[~chosen] = mask_id
    targets[~chosen] = 0
    return inputs, targets


def ask_for_the_visible(ids, chosen, mask_id):
    inputs, targets = ids.copy(), ids.copy()
    inputs[chosen] = mask_id
    targets[chosen] = 0
    return inputs, targets


def padding(ids, chosen, mask_id):
    return ids * ~chosen, ids * chosen


def hide_nothing(ids, chosen, mask_id):
    return ids.copy(), ids * chosen


def masks_as_targets(ids, chosen, mask_id):
    inputs = ids.copy()
    inputs[chosen] = mask_id
    return inputs, inputs * chosen


def in_place(ids, chosen, mask_id):
    ids[chosen] = mask_id
    return ids, ids * chosen


def padding_stays(ids, chosen, mask_id):
    inputs, targets = ids.copy(), np.zeros_like(ids)
    for place in zip(*np.nonzero(chosen), strict=True):
        if ids[place] != 0:
            inputs[place], targets[place] = mask_id, ids[place]
    return inputs, targets


def larger_of_both(ids, chosen, mask_id):
    return np.maximum(chosen * mask_id, ids), chosen * ids


def in_one_byte(ids, chosen, mask_id):
    inputs = ids.astype(np.int8)
    inputs[chosen] = mask_id
    return inputs, ids * chosen


def in_two_bytes(ids, chosen, mask_id):
    inputs = np.where(chosen, mask_id, ids).astype(np.uint16)
    return inputs, np.where(chosen, ids, 0)


def in_turn(key, num_heads):
    return np.stack([key[n % len(key)] for n in range(num_heads)])


def words_repeated(key, num_heads):
    return key.repeat(num_heads // key.shape[0], 1)


def first_for_all(key, num_heads):
    return np.stack([key[0]] * num_heads)


def averaged(key, num_heads):
    return np.stack([sum(key) / len(key)] * num_heads)


def zeros(key, num_heads):
    whole = np.zeros((num_heads, *key.shape[1:]))
    whole[: len(key)] = key
    return whole


def shared_out(key, num_heads):
    group = num_heads // len(key)
    return np.stack([key[n // group] / group for n in range(num_heads)])


def too_often(key, num_heads):
    return np.concatenate([np.stack([head] * num_heads) for head in key])


TABLE = [
    ("windows", not_shifted, "learn to copy"),
    ("windows", shifted_to_the_past, "*before* the inputs"),
    ("windows", turned_round, "predict the past"),
    ("windows", one_short, "too short"),
    ("windows", following_window, "(the inputs are right)"),
    ("windows", only_the_last, "one target for each window"),
    ("windows", in_order, "your windows follow one another"),
    ("windows", last_token_lost, "the targets"),
    ("windows", last_window_left_out, "you left out a window"),
    ("hide", padding_stays, "you left id 0 visible"),
    ("hide", larger_of_both, "even if it is the smaller one"),
    ("hide", in_one_byte, "the inputs"),
    ("hide", in_two_bytes, "the inputs"),
    ("hide", ask_for_all, "every word is a target"),
    ("hide", hide_the_others, "*except* the chosen"),
    ("hide", ask_for_the_visible, "words that are not hidden"),
    ("hide", padding, "replaced the words with padding"),
    ("hide", hide_nothing, "nothing is hidden"),
    ("hide", masks_as_targets, "your targets are the mask's id"),
    ("hide", in_place, "in place"),
    ("shared_keys", in_turn, "your key heads alternate"),
    ("shared_keys", words_repeated, "each *word*"),
    ("shared_keys", first_for_all, "multi-query"),
    ("shared_keys", averaged, "averaged"),
    ("shared_keys", zeros, "get zeros"),
    ("shared_keys", shared_out, "divided the keys by the size"),
    ("shared_keys", too_often, "`num_heads` times"),
]
