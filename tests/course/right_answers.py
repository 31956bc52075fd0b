"""Right answers in another style than the reference: loops, einsum, PyTorch, single precision."""

import itertools
import math

import numpy as np
import torch
from torch import nn

from transformer_lab.model.attention import MultiHeadAttention
from transformer_lab.model.feed_forward import FeedForward
from transformer_lab.model.masks import causal_mask, padding_mask
from transformer_lab.model.positions import AlibiPositions


def softmax_by_rows(scores, axis=-1):
    out = np.empty(scores.shape)
    for place in itertools.product(*map(range, scores.shape[:-1])):
        row = np.exp(scores[place] - max(scores[place]))
        out[place] = row / sum(row)
    return out


def attention_by_einsum(query, key, value, *, scale=None):
    scores = np.einsum("...qd,...kd->...qk", query, key) / math.sqrt(query.shape[-1])
    weights = softmax_by_rows(scores)
    return [np.einsum("...qk,...kv->...qv", weights, value), weights]


def softmax_backward_by_jacobians(grad_output, weights):
    jacobians = weights[..., :, None] * (np.eye(weights.shape[-1]) - weights[..., None, :])
    return np.einsum("...j,...jk->...k", grad_output, jacobians)


def split_by_columns(x, num_heads):
    return np.stack(np.split(x, num_heads, axis=-1), axis=1)


def merge_by_columns(heads):
    return np.concatenate([heads[:, h] for h in range(heads.shape[1])], axis=-1)


class ManyParts(nn.Module):
    """Multi-head attention with a buffer and parts without parameters."""

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        self.num_heads = num_heads
        for name in ("w_v", "w_o", "w_q", "w_k"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.drop = nn.Dropout(dropout)
        self.register_buffer("scale", torch.tensor(float(num_heads / d_model)).sqrt())

    def forward(self, query, key, value):
        def heads(x):
            return torch.stack(x.chunk(self.num_heads, dim=-1), dim=1)

        q, k, v = heads(self.w_q(query)), heads(self.w_k(key)), heads(self.w_v(value))
        weights = torch.einsum("bhqd,bhkd->bhqk", q, k).mul(self.scale).softmax(-1)
        return self.w_o(torch.cat(list((self.drop(weights) @ v).unbind(1)), dim=-1))


class OtherLayer(nn.Module):
    def __init__(self, d_model, num_heads, d_ff):
        super().__init__()
        self.norm_2, self.norm_1 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff)
        self.self_attention = MultiHeadAttention(d_model, num_heads)
        self.dropout = nn.Identity()

    def forward(self, x, mask=None):
        for norm, part in (
            (self.norm_1, lambda y: self.self_attention(y, y, y, mask)),
            (self.norm_2, self.feed_forward),
        ):
            x = norm(x + self.dropout(part(x)))
        return x


def alibi_of_the_package(num_heads, length):
    x = torch.zeros(1, num_heads, length, 2)
    return AlibiPositions(num_heads)(x, x)[2]


def sinusoids_in_torch(length, d_model):
    angle = torch.arange(length)[:, None] / 10_000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)


def masked_by_where(scores, mask):
    hidden = torch.where(mask, scores, torch.tensor(-math.inf))
    largest = hidden.amax(-1, keepdim=True).clamp(min=-1e300)
    weights = (hidden - largest).exp()
    return weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)


def causal_by_comparison(length):
    places = torch.arange(length)
    return places[:, None] >= places


def moved_by_any_feature(function, x):
    found = torch.zeros(len(x), len(x), dtype=torch.bool)
    for j, feature in itertools.product(range(len(x)), range(x.shape[1])):
        other = x.clone()
        other[j, feature] += 0.5
        found[:, j] |= (function(other) != function(x)).any(dim=1)
    return found


def read_by_copy(target, bos_id):
    read = target.clone()
    read[:, 1:], read[:, 0] = target[:, :-1], bos_id
    return read


def pad_into(sequences, pad_id):
    out = torch.full((len(sequences), max(map(len, sequences))), pad_id)
    for row, sequence in zip(out, sequences, strict=True):
        row[: len(sequence)] = torch.tensor(sequence)
    return out


def topk_of_all(beams, log_probabilities, k):
    totals = torch.tensor([v for v, _ in beams])[:, None] + log_probabilities
    values, places = totals.flatten().topk(k)
    width = log_probabilities.shape[1]
    return [
        (v.item(), beams[p // width][1] + (p % width,))
        for v, p in zip(values, places.tolist(), strict=True)
    ]


def scan_by_powers(decay, inputs):
    return np.array(
        [
            sum(np.prod(decay[s + 1 : t + 1], axis=0) * inputs[s] for s in range(t + 1))
            for t in range(len(inputs))
        ]
    )


def wired_by_names(layer, x, memory, mask, memory_mask):
    def own(y):
        return layer.self_attention(query=y, key=y, value=y, mask=mask)

    def theirs(y):
        return layer.cross_attention(y, *[memory] * 2, mask=memory_mask)

    for add_norm, part in (
        (layer.add_norm_1, own),
        (layer.add_norm_2, theirs),
        (layer.add_norm_3, lambda y: layer.feed_forward(y)),
    ):
        x = add_norm(x, sublayer=part)
    return x


def wired_without_add_norm(layer, x, memory, mask, memory_mask):
    """Add & Norm written out, for either place of the norm."""

    def around(add_norm, x, sublayer):
        if add_norm.norm == "pre":
            return x + sublayer(add_norm.layer_norm(x))
        return add_norm.layer_norm(x + sublayer(x))

    x = around(layer.add_norm_1, x, lambda y: layer.self_attention(y, y, y, mask))
    x = around(layer.add_norm_2, x, lambda y: layer.cross_attention(y, memory, memory, memory_mask))
    return around(layer.add_norm_3, x, layer.feed_forward)


def step_by_einsum(x, keys, values, w_q, w_k, w_v):
    keys = torch.cat((keys, torch.einsum("bd,dk->bk", x, w_k).unsqueeze(1)), 1)
    values = torch.cat((values, torch.einsum("bd,dv->bv", x, w_v).unsqueeze(1)), 1)
    scores = torch.einsum("bd,dk,bnk->bn", x, w_q, keys) * keys.shape[2] ** -0.5
    return torch.einsum("bn,bnv->bv", scores.softmax(-1), values), keys, values


def step_of_each_sentence(x, keys, values, *weights):
    with torch.no_grad():
        found = [one_sentence(*each, *weights) for each in zip(x, keys, values, strict=True)]
    return [torch.stack(part) for part in zip(*found, strict=True)]


def one_sentence(x, keys, values, w_q, w_k, w_v):
    keys, values = torch.vstack([keys, x @ w_k]), torch.vstack([values, x @ w_v])
    out = torch.nn.functional.scaled_dot_product_attention((x @ w_q)[None], keys, values)
    return out[0], keys, values


def continued_by_recursion(read, prompt, count, cache=None):
    logits, cache = read(torch.tensor(prompt), cache)
    word = logits[-1].argmax()
    return [
        word,
        *(continued_by_recursion(read, [int(word)], count - 1, cache) if count > 1 else []),
    ]


def continued_in_numpy(read, prompt, count):
    logits, cache = read(np.array(prompt), None)
    words = [np.argmax(logits[-1].numpy())]
    while len(words) < count:
        logits, cache = read((words[-1],), cache)
        words.append(np.argmax(logits.numpy()))
    return words


def places_by_loops(ids, pad_id):
    seen = [[word != pad_id for word in row] + [True] for row in ids.tolist()]
    return [
        torch.tensor([sum(row) - 1 for row in seen]),
        torch.tensor(seen).view(len(ids), 1, 1, -1),
    ]


def places_of_the_first_word(ids, pad_id):
    """Counted from the first word on, as padding stands in front alone."""
    length = ids.shape[1]
    first = torch.where(ids != pad_id, torch.arange(length), length).amin(1)
    seen = torch.arange(length + 1) >= first[:, None]
    return (length - first).int(), seen[:, None, None]


def reordered_by_gather(cache, parents):
    def follow(x):
        batch, beams = parents.shape
        apart = x.unflatten(0, (batch, beams))
        index = parents.view(batch, beams, 1, 1, 1).expand_as(apart)
        return apart.gather(1, index).flatten(0, 1)

    return tuple(tuple(map(follow, pair)) for pair in cache)


def reordered_by_loops(cache, parents):
    beams = parents.shape[1]
    rows = [s * beams + j for s, row in enumerate(parents.tolist()) for j in row]
    return [[torch.stack([x[r] for r in rows]) for x in pair] for pair in cache]


def kept_by_where(p, q):
    kept = torch.where(p >= q, 1.0, p / q.clamp(min=1e-30))
    rest = torch.where(p > q, p - q, 0.0)
    return kept, torch.nan_to_num(rest / rest.sum(1, keepdim=True))


def kept_by_rows(p, q):
    pairs = [
        (min(1.0, a / b) if b else 0.0, max(0.0, a - b))
        for a, b in zip(flat(p), flat(q), strict=True)
    ]
    kept, rest = (torch.tensor(part).double().view_as(p) for part in zip(*pairs, strict=True))
    return [kept, rest / rest.sum(-1)[:, None].clamp(min=1e-300)]


def flat(x):
    return x.flatten().tolist()


def greedy_by_recursion(next_logits, ids, eos, left):
    if left == 0 or ids[-1] == eos:
        return []
    word = next_logits(torch.tensor(ids)).argmax()
    return [word, *greedy_by_recursion(next_logits, [*ids, int(word)], eos, left - 1)]


def top_p_by_a_loop(row, p):
    kept, total = torch.full_like(row, float("-inf")), 0.0
    for word in row.argsort(descending=True):
        if total < p:
            kept[word] = row[word]
            total += row.softmax(0)[word]
    return kept


def step_in_numbers(loss_of, optimizer, batch, rate):
    optimizer.zero_grad(set_to_none=False)
    for group in optimizer.param_groups:
        group.update(lr=rate)
    loss = loss_of(batch)
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(loss_of.parameters(), 1.0)
    optimizer.step()
    return loss.item(), norm.item()


RIGHT = [
    ("01.softmax", softmax_by_rows),
    ("01.softmax", lambda scores: softmax_by_rows(scores).astype(np.float32)),
    ("01.softmax", lambda scores: torch.tensor(scores).softmax(-1)),
    ("01.attention", attention_by_einsum),
    ("01b.softmax_backward", softmax_backward_by_jacobians),
    ("02.score_variance", lambda d_k, q, k: np.float64((math.sqrt(d_k) * q * k) ** 2)),
    (
        "02.jacobian_norm",
        lambda w: np.linalg.norm(
            np.stack([np.diag(r) - np.outer(r, r) for r in w.reshape(-1, w.shape[-1])]), axis=(1, 2)
        ).reshape(w.shape[:-1]),
    ),
    ("03.split_heads", split_by_columns),
    ("03.merge_heads", merge_by_columns),
    ("03.multi_head_class", ManyParts),
    ("03.multiplications", lambda n, d, h: np.int64(2 * n * d * (2 * d + n))),
    ("04.sinusoids", sinusoids_in_torch),
    ("04.alibi", alibi_of_the_package),
    (
        "05.feed_forward",
        lambda x, *w: np.einsum("...f,fd->...d", (x @ w[0] + w[1]).clip(0), w[2]) + w[3],
    ),
    ("05.add_norm", lambda x, sublayer, norm, dropout=None: norm(np.add(sublayer(x), x))),
    ("05.encoder_layer", OtherLayer),
    ("06.padding_mask", lambda ids, pad_id: ids.ne(pad_id).view(len(ids), 1, 1, -1)),
    ("06.masked_weights", masked_by_where),
    ("06.causal_mask", causal_by_comparison),
    ("06.sees", moved_by_any_feature),
    ("06.shift_right", read_by_copy),
    ("07.layer_parameters", lambda d, f: np.int64(4 * d * d + 2 * d * f + 9 * d + f)),
    ("08.merge", lambda pieces, pair: tuple(merged(pieces, pair))),
    ("08.pad", pad_into),
    ("08.paper_rate", lambda s, d, w: torch.tensor(min(s**-0.5, s * w**-1.5) / d**0.5)),
    ("06.decoder_layer", wired_by_names),
    ("06.decoder_layer", wired_without_add_norm),
    ("10b.cached_step", step_by_einsum),
    ("10b.cached_step", step_of_each_sentence),
    ("10b.continued", continued_by_recursion),
    ("10b.continued", continued_in_numpy),
    ("10b.next_places", places_by_loops),
    ("10b.next_places", places_of_the_first_word),
    ("10b.reordered", reordered_by_gather),
    ("10b.reordered", reordered_by_loops),
    (
        "10b.cache_numbers",
        lambda l, d, h, g, s, w: np.int64(2 * l) * torch.tensor(d * g // h * (w + s)),
    ),
    (
        "10b.cache_numbers",
        lambda l, d, h, g, s, w: sum(2 * g * (d // h) for _ in range(l * (s + w))),
    ),
    ("10c.keep_or_redraw", kept_by_where),
    ("10c.keep_or_redraw", kept_by_rows),
    ("10.beam_step", topk_of_all),
    ("10.greedy_words", lambda f, bos, eos, limit: list(words_of(f, bos, eos, limit))),
    ("10c.accept", lambda proposed, best: best[: 1 + agreed(proposed, best)]),
    ("11.looks_at", lambda w, a, b, x: (np.str_(b[np.argmax(w[a.index(x)])]), max(w[a.index(x)]))),
    (
        "11.mean_distance",
        lambda w: (
            np.average(np.abs(np.subtract.outer(range(len(w)), range(len(w)))), weights=w)
            * w.sum()
            / len(w)
        ),
    ),
    (
        "14.paired_difference",
        lambda a, b: np.array([(b - a).mean(), (b - a).std(ddof=1) / len(a) ** 0.5]),
    ),
    ("15.products", lambda n, d: [np.int64(4 * n * d * d), 2 * n * n * d]),
    ("16b.scan", scan_by_powers),
    ("17.words_that_fit", lambda room, l, h, d, s, e: max(0, int(room / (2 * l * h * d * e)) - s)),
]
"""(lesson and check, a right answer)"""


def merged(pieces, pair):
    pieces = list(pieces)
    while pieces:
        left = pieces.pop(0)
        yield left + pieces.pop(0) if pieces and (left, pieces[0]) == pair else left


def words_of(next_logits, bos, eos, limit):
    ids = torch.tensor([bos])
    for _ in range(limit):
        word = np.argmax(next_logits(ids).numpy())
        yield word
        if word == eos:
            return
        ids = torch.cat([ids, torch.tensor([word])])


def agreed(proposed, best):
    pairs = zip(proposed, best, strict=False)
    return len(list(itertools.takewhile(lambda pair: pair[0] == pair[1], pairs)))


RIGHT_IN_ANOTHER_WAY = {
    "05.feed_forward": lambda x, w1, b1, w2, b2: (
        np.where(x @ w1 + b1 > 0, x @ w1 + b1, 0) @ w2 + b2
    ),
    "06.masked_weights": lambda scores, mask: torch.where(
        mask, torch.where(mask, scores, -torch.inf).softmax(-1), 0.0
    ),
    "10.greedy_words": lambda next_logits, bos, eos, limit: greedy_by_recursion(
        next_logits, [bos], eos, limit
    ),
    "10.beam_step": lambda beams, rows, k: [
        [value, (*beams[place // rows.shape[1]][1], place % rows.shape[1])]
        for value, place in zip(
            *(
                part.tolist()
                for part in (torch.tensor([[b[0]] for b in beams]) + rows).flatten().topk(k)
            ),
            strict=True,
        )
    ],
    "10c.keep_top_p": lambda logits, p: torch.stack([top_p_by_a_loop(row, p) for row in logits]),
    "10c.keep_top_p: log-probabilities are logits too": lambda logits, p: torch.stack(
        [top_p_by_a_loop(row, p) for row in logits.log_softmax(-1)]
    ),
    "10c.keep_top_p: shares of the kept words, as logarithms": lambda logits, p: torch.stack(
        [top_p_by_a_loop(row, p).softmax(-1).log() for row in logits]
    ),
    "09.training_step": step_in_numbers,
    "10c.accept": lambda proposed, best: [
        word for n, word in enumerate(best) if proposed[:n] == best[:n]
    ],
    "07.encoder_input": lambda ids, table, positions: (
        torch.nn.functional.embedding(ids, table) * torch.tensor(table.shape[1]).sqrt()
        + positions[: ids.shape[1]]
    ),
    "07.forward": lambda model, source, target: model.output(
        model.decoder(
            model.target_positions(model.embed(model.target_embedding, target)),
            model.encode(source, padding_mask(source, model.config.pad_id)),
            causal_mask(target.size(1)) & padding_mask(target, model.config.pad_id),
            padding_mask(source, model.config.pad_id),
        )
    ),
    "18.eight_bits: a list of a tensor and a number": lambda weights: [
        (torch.tensor(weights) * (127 / abs(weights).max())).round().to(torch.int8),
        127 / abs(weights).max(),
    ],
    "18.join: rows as lists": lambda weights, words: [
        [
            weights[np.ix_(words == asks, words == gives)].sum() / (words == asks).sum()
            for gives in range(max(words) + 1)
        ]
        for asks in range(max(words) + 1)
    ],
    "18.interval: one array of both ends": lambda values, draws: np.percentile(
        values[draws].mean(axis=1), (2.5, 97.5)
    ),
    "18.interval: PyTorch": lambda values, draws: torch.quantile(
        torch.tensor(values[draws].mean(axis=1)), torch.tensor([0.025, 0.975], dtype=torch.float64)
    ),
}
"""(lesson and check, and perhaps how the answer is unlike the reference): a right answer"""
