"""Wrong answers to the exercises of lesson 13, written as a learner writes them."""

import math
from collections import Counter

import numpy as np

EOS = 2


def half_a_turn(last, d_model):
    return np.array([last / 10_000 ** (2 * i / d_model) >= math.pi for i in range(d_model // 2)])


def in_degrees(last, d_model):
    return np.array([last / 10_000 ** (2 * i / d_model) >= 360 for i in range(d_model // 2)])


def exponent_i(last, d_model):
    return np.array([last / 10_000 ** (i / d_model) >= 2 * math.pi for i in range(d_model // 2)])


def one_for_each_number(last, d_model):
    speeds = [10_000 ** (-2 * (i // 2) / d_model) for i in range(d_model)]
    return np.array([last * speed >= 2 * math.pi for speed in speeds])


def not_yet_round(last, d_model):
    wavelength = 2 * math.pi * 10_000 ** (np.arange(0, d_model, 2) / d_model)
    return wavelength > last


def how_many(last, d_model):
    wavelength = 2 * math.pi * 10_000 ** (np.arange(0, d_model, 2) / d_model)
    return int((wavelength <= last).sum())


def no_minus(last, d_model):
    return np.array(
        [last * 10_000 ** (2 * i / d_model) >= 2 * math.pi for i in range(d_model // 2)]
    )


def every_number_moved(before, after):
    return np.array([r for r in range(len(before)) if np.all(before[r] != after[r])])


def the_untouched(before, after):
    return np.array([r for r in range(len(before)) if np.array_equal(before[r], after[r])])


def a_mask(before, after):
    return np.array([not np.array_equal(a, b) for a, b in zip(before, after, strict=True)])


def sums_of_rows(before, after):
    moved = np.abs((after - before).sum(axis=1))
    return np.where(moved > 1e-7)[0]


def columns(before, after):
    return np.where(np.abs(after - before).max(axis=0) > 0)[0]


def length_of_rows(before, after):
    def length(table):
        return (table**2).sum(axis=1)

    return np.flatnonzero(~np.isclose(length(before), length(after), rtol=1e-14, atol=0))


def as_sets(before, after):
    rows = zip(before.tolist(), after.tolist(), strict=True)
    return np.array([n for n, (a, b) in enumerate(rows) if set(a) != set(b)])


def without_signs(before, after):
    return np.where(np.any(before**2 != after**2, axis=1))[0]


def number_of_rows(before, after):
    return len(np.unique(np.nonzero(after - before)[0]))


def by_lengths(written, right):
    if written == right:
        return "exact"
    if len(written) < len(right):
        return "stopped"
    if len(written) > len(right):
        return "went on"
    return "word"


def the_wrong_way_round(written, right):
    if written == right:
        return "exact"
    for a, b in zip(written, right, strict=False):
        if a != b:
            return "went on" if a == EOS else "stopped" if b == EOS else "word"
    return "stopped"


def ignores_the_end(written, right):
    for a, b in zip(written, right, strict=False):
        if a != b:
            return "stopped" if a == EOS else "went on" if b == EOS else "word"
    return "exact"


def three_kinds(written, right):
    if written == right:
        return "exact"
    for a, b in zip(written, right, strict=False):
        if a != b:
            return "stopped" if a == EOS else "went on"
    return "went on"


def place_of_eos(written, right):
    if written == right:
        return "exact"
    end = written.index(EOS) if EOS in written else len(written)
    if end < right.index(EOS) and EOS in written:
        return "stopped"
    return "went on" if len(written) > len(right) else "word"


def in_any_order(written, right):
    if Counter(written) == Counter(right):
        return "exact"
    for a, b in zip(written, right, strict=False):
        if a != b:
            return "stopped" if a == EOS else "went on" if b == EOS else "word"
    return "went on"


def cut_off_is_no_mistake(written, right):
    if written == right:
        return "exact"
    for i, (a, b) in enumerate(zip(written, right, strict=False)):
        if a != b and a != EOS and i == len(written) - 1:
            return "went on"
        if a != b:
            return "stopped" if a == EOS else "went on" if b == EOS else "word"
    return "went on"


def cut_off_too_early(written, right):
    for i, b in enumerate(right):
        if i == len(written):
            return "went on" if b == EOS else "word"
        if written[i] != b:
            return "stopped" if written[i] == EOS else "went on" if b == EOS else "word"
    return "exact"


def longest_of_all(lengths, exact):
    good = [length for length, share in zip(lengths, exact, strict=True) if share >= 0.5]
    return good[-1] if good else 0


def more_than_half(lengths, exact):
    best = 0
    for length, share in zip(lengths, exact, strict=True):
        if not share > 0.5:
            return best
        best = length
    return best


def first_too_long(lengths, exact):
    for length, share in zip(lengths, exact, strict=True):
        if share < 0.5:
            return length
    return length


def index_of_it(lengths, exact):
    n = 0
    while n < len(exact) and exact[n] >= 0.5:
        n += 1
    return max(n - 1, 0)


def counts(lengths, exact):
    return len([share for share in exact if share >= 0.5])


def all_right(lengths, exact):
    best = 0
    for length, share in zip(lengths, exact, strict=True):
        if share < 0.99:
            break
        best = length
    return best


def divided_by_n(one, other):
    sd = math.sqrt((one.std() ** 2 + other.std() ** 2) / 2)
    return 2 * sd * math.sqrt(2 / len(one))


def one_standard_error(one, other):
    sd = math.sqrt((one.std(ddof=1) ** 2 + other.std(ddof=1) ** 2) / 2)
    return sd * math.sqrt(2 / len(one))


def of_one_mean(one, other):
    sd = math.sqrt((one.std(ddof=1) ** 2 + other.std(ddof=1) ** 2) / 2)
    return 2 * sd / math.sqrt(len(one))


def thrown_together(one, other):
    sd = np.std([*one, *other], ddof=1)
    return 2 * sd * math.sqrt(2 / len(one))


def what_was_found(one, other):
    return abs(one.mean() - other.mean())


def variance_for_sd(one, other):
    variance = (one.var(ddof=1) + other.var(ddof=1)) / 2
    return 2 * variance * math.sqrt(2 / len(one))


def no_n(one, other):
    return 2 * math.sqrt((one.std(ddof=1) ** 2 + other.std(ddof=1) ** 2) / 2)


TABLE = [
    ("full_turns", half_a_turn, "half a turn"),
    ("full_turns", in_degrees, "radians"),
    ("full_turns", exponent_i, "you used i/d_model"),
    ("full_turns", one_for_each_number, "only one for each pair"),
    ("full_turns", not_yet_round, "*not* made a full turn"),
    ("full_turns", how_many, "a truth value for each pair"),
    ("full_turns", no_minus, "lacks its minus"),
    ("reached_rows", every_number_moved, "in *any* of them"),
    ("reached_rows", the_untouched, "no gradient reached"),
    ("reached_rows", a_mask, "truth value"),
    ("reached_rows", sums_of_rows, "cancel"),
    ("reached_rows", columns, "you swapped rows and columns"),
    ("reached_rows", length_of_rows, "keep its length"),
    ("reached_rows", as_sets, "regardless of position"),
    ("reached_rows", without_signs, "whose sign flips"),
    ("reached_rows", number_of_rows, "number of rows that have changed"),
    ("failure", by_lengths, "compares the lengths"),
    ("failure", the_wrong_way_round, "are swapped"),
    ("failure", ignores_the_end, "is not exact"),
    ("failure", three_kinds, "a wrong word in place of another"),
    ("failure", place_of_eos, "where eos is"),
    ("failure", in_any_order, "in another order"),
    ("failure", cut_off_is_no_mistake, "the last word of an answer"),
    ("failure", cut_off_too_early, "the right answer is longer"),
    ("reach", longest_of_all, "Stop at the first"),
    ("reach", more_than_half, "should still count"),
    ("reach", first_too_long, "too long"),
    ("reach", index_of_it, "position in the list"),
    ("reach", counts, "number of lengths"),
    ("reach", all_right, "half should be enough"),
    ("smallest_difference", divided_by_n, "ddof=1"),
    ("smallest_difference", one_standard_error, "one standard error"),
    ("smallest_difference", of_one_mean, "one mean"),
    ("smallest_difference", thrown_together, "you pooled the two groups"),
    ("smallest_difference", what_was_found, "that was found"),
    ("smallest_difference", variance_for_sd, "this uses variances"),
    ("smallest_difference", no_n, "with more seeds"),
]
