"""Wrong answers to the exercises of lesson 08, written as a learner writes them."""

import itertools
from collections import Counter, defaultdict

import torch


def types_not_tokens(words):
    counts = Counter()
    for word in words:
        counts.update(itertools.pairwise(word))
    return counts


def set_of_pairs(words):
    counts = defaultdict(int)
    for word, times in words.items():
        for pair in {(word[i], word[i + 1]) for i in range(len(word) - 1)}:
            counts[pair] += times
    return counts


def sorted_pairs(words):
    counts = defaultdict(int)
    for word, times in words.items():
        for i in range(len(word) - 1):
            counts[tuple(sorted(word[i : i + 2]))] += times
    return counts


def strings(words):
    counts = defaultdict(int)
    for word, times in words.items():
        for i in range(len(word) - 1):
            counts[word[i] + word[i + 1]] += times
    return counts


def over_the_border(words):
    text = []
    for word, times in words.items():
        text += list(word) * times
    return {p: n for p, n in Counter(itertools.pairwise(text)).items()}  # noqa: C416


def steps_of_two(words):
    counts = defaultdict(int)
    for word, times in words.items():
        for i in range(0, len(word) - 1, 2):
            counts[word[i], word[i + 1]] += times
    return counts


def breaks_off(pieces, pair):
    pieces = list(pieces)
    for i in range(len(pieces) - 1):
        if (pieces[i], pieces[i + 1]) == pair:
            pieces[i : i + 2] = [pieces[i] + pieces[i + 1]]
            break
    return pieces


def uses_a_piece_twice(pieces, pair):
    out, i = [], 0
    while i < len(pieces):
        if i + 1 < len(pieces) and (pieces[i], pieces[i + 1]) == pair:
            out.append("".join(pair))
            followed = i + 2 < len(pieces) and (pieces[i + 1], pieces[i + 2]) == pair
            i += 1 if followed else 2
        else:
            out.append(pieces[i])
            i += 1
    return out


def replaced_in_the_text(pieces, pair):
    text = "".join(pieces).replace("".join(pair), "\0")
    return ["".join(pair) if sign == "\0" else sign for sign in text]


def backwards(pieces, pair):
    out, i = [], len(pieces) - 1
    while i >= 0:
        if i and (pieces[i - 1], pieces[i]) == pair:
            out.insert(0, "".join(pair))
            i -= 2
        else:
            out.insert(0, pieces[i])
            i -= 1
    return out


def as_sets(pieces, pair):
    out, i = [], 0
    while i < len(pieces):
        two = pieces[i : i + 2]
        if len(two) == 2 and Counter(two) == Counter(pair):
            out.append("".join(two))
            i += 2
        else:
            out.append(pieces[i])
            i += 1
    return out


def copied(pieces, pair):
    return list(pieces)


def on_the_left(sequences, pad_id):
    length = max(len(s) for s in sequences)
    return torch.tensor([[pad_id] * (length - len(s)) + s for s in sequences])


def zeros(sequences, pad_id):
    batch = torch.zeros(len(sequences), max(len(s) for s in sequences), dtype=torch.long)
    for row, s in zip(batch, sequences, strict=True):
        row[: len(s)] = torch.tensor(s)
    return batch


def to_the_shortest(sequences, pad_id):
    return torch.tensor([list(row) for row in zip(*zip(*sequences, strict=False), strict=True)])


def always_one(sequences, pad_id):
    length = max(len(s) for s in sequences) + 1
    return torch.tensor([s + [pad_id] * (length - len(s)) for s in sequences])


def time_first(sequences, pad_id):
    return torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(s) for s in sequences], padding_value=pad_id
    )


def by_length(sequences, pad_id):
    rows = [torch.tensor(s) for s in sorted(sequences, key=len)]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=pad_id)


def extends_the_lists(sequences, pad_id):
    length = max(len(s) for s in sequences)
    for s in sequences:
        s.extend([pad_id] * (length - len(s)))
    return torch.tensor(sequences)


def wrong_words_only(word, vocab_size, smoothing):
    target = torch.full((vocab_size,), smoothing / (vocab_size - 1))
    target[word] = 1 - smoothing
    return target


def right_word_overwritten(word, vocab_size, smoothing):
    target = torch.ones(vocab_size) * smoothing / vocab_size
    target[word] = 1 - smoothing
    return target


def added(word, vocab_size, smoothing):
    target = torch.ones(vocab_size) * smoothing / vocab_size
    target[word] = 1
    return target


def one_hot(word, vocab_size, smoothing):
    return torch.eye(vocab_size)[word]


def not_divided(word, vocab_size, smoothing):
    target = torch.full((vocab_size,), smoothing)
    target[word] = 1 - smoothing
    return target


def exchanged(word, vocab_size, smoothing):
    return smoothing * torch.eye(vocab_size)[word] + (1 - smoothing) / vocab_size


def larger_of_the_two(step, d_model, warmup_steps):
    return max(step**-0.5, step * warmup_steps**-1.5) / d_model**0.5


def no_width(step, d_model, warmup_steps):
    return min(1 / step**0.5, step / warmup_steps**1.5)


def times_the_width(step, d_model, warmup_steps):
    return d_model**0.5 * min(1 / step**0.5, step / warmup_steps**1.5)


def no_warmup(step, d_model, warmup_steps):
    return (d_model * step) ** -0.5


def only_warmup(step, d_model, warmup_steps):
    return step / warmup_steps**1.5 / d_model**0.5


def other_exponent(step, d_model, warmup_steps):
    return d_model**-0.5 * min(step**-0.5, step / warmup_steps)


def from_zero(step, d_model, warmup_steps):
    return d_model**-0.5 * min(step**-0.5, (step - 1) / warmup_steps**1.5)


def compares_slices(pieces, pair):
    merged, i = [], 0
    while i < len(pieces):
        if pieces[i : i + 2] == pair:
            merged.append(pieces[i] + pieces[i + 1])
            i += 2
        else:
            merged.append(pieces[i])
            i += 1
    return merged


TABLE = [
    ("merge", compares_slices, "nothing in a list is merged"),
    ("count_pairs", types_not_tokens, "you count each word once"),
    ("count_pairs", set_of_pairs, "occurs twice in a word"),
    ("count_pairs", sorted_pairs, "the order matters"),
    ("count_pairs", strings, "you join each pair into one"),
    ("count_pairs", over_the_border, "you count the last piece"),
    ("count_pairs", steps_of_two, "only every second pair"),
    ("merge", breaks_off, "only the first occurrence"),
    ("merge", uses_a_piece_twice, "you merge the same piece"),
    ("merge", replaced_in_the_text, "you merge wherever the letters"),
    ("merge", backwards, "from left to right"),
    ("merge", as_sets, "you also merge (b, a), but"),
    ("merge", copied, "nothing is merged"),
    ("pad", on_the_left, "padding is on the left"),
    ("pad", zeros, "you pad with 0, but you should"),
    ("pad", to_the_shortest, "you cut all sentences to"),
    ("pad", always_one, "one column too many"),
    ("pad", time_first, "the batch comes first here"),
    ("pad", by_length, "the sentences are in the wrong order"),
    ("pad", extends_the_lists, "your answer changes sequences in place"),
    ("smoothed_target", wrong_words_only, "you spread ε over the wrong"),
    ("smoothed_target", right_word_overwritten, "sums to less than 1"),
    ("smoothed_target", added, "sums to more than 1"),
    ("smoothed_target", one_hot, "nothing is smoothed"),
    ("smoothed_target", not_divided, "you give every wrong word all of"),
    ("smoothed_target", exchanged, "are swapped"),
    ("paper_rate", larger_of_the_two, "you use max, so the rate"),
    ("paper_rate", no_width, "d_model^−0.5 is missing"),
    ("paper_rate", times_the_width, "you multiply by √d_model"),
    ("paper_rate", no_warmup, "there is no warm-up"),
    ("paper_rate", only_warmup, "rises for ever"),
    ("paper_rate", other_exponent, "Raise warmup_steps to the power"),
    ("paper_rate", from_zero, "the first step has a rate"),
]
