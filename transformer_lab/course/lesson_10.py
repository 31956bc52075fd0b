"""Lesson 10, decoding: the checks of its exercises, and its quiz."""

import math
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from transformer_lab.course.check import Check, Mistake
from transformer_lab.course.quiz import Question, Quiz
from transformer_lab.decoding import beam, sampling, speculative

Beginning = tuple[float, tuple[int, ...]]
Scorer = Callable[[Any], Tensor]

# ---------------------------------------------------------------- greedy decoding

BOS, EOS = 1, 2


def _scorer(seed: int, vocabulary: int, ends_after: int) -> Scorer:
    """Logits that depend on all words so far; eos is best once there are `ends_after` of them."""
    table = torch.randn(97, vocabulary, generator=torch.Generator().manual_seed(seed))

    def next_logits(ids: Sequence[int] | Tensor) -> Tensor:
        words = [int(word) for word in ids]
        place = sum((n + 1) * (word + 3) for n, word in enumerate(words)) % 97
        logits = table[place].clone()
        logits[BOS] = -9.0
        logits[EOS] = 9.0 if len(words) > ends_after else -9.0
        return logits

    return next_logits


def _greedy(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    words: list[int] = []
    while len(words) < limit and eos not in words:
        words.append(int(next_logits([bos, *words]).argmax()))
    return words


def _as_words(answer: Callable[..., Any], *arguments: Any) -> Tensor | None:
    """The written words as one tensor, whatever kind of list they came in."""
    words = answer(*arguments)
    return None if words is None else torch.tensor([int(word) for word in words])


def _reads_only_the_last(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    return _greedy(lambda ids: next_logits(ids[-1:]), bos, eos, limit)


def _reads_no_bos(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    return _greedy(lambda ids: next_logits(ids[1:] or ids), bos, eos, limit)


def _never_stops(next_logits: Scorer, bos: int, eos: int, limit: int) -> list[int]:
    words: list[int] = []
    for _ in range(limit):
        words.append(int(next_logits([bos, *words]).argmax()))
    return words


greedy_words = Check(
    reference=_greedy,
    run=_as_words,
    cases=lambda: [
        (_scorer(0, 7, 2), BOS, EOS, 11),
        (_scorer(1, 11, 5), BOS, EOS, 11),
        (_scorer(2, 13, 11), BOS, EOS, 5),
    ],
    arguments=("next_logits", "bos", "eos", "limit"),
    results=("the list of words",),
    verified="the best word each time, all words so far are read, stop at eos or at the limit",
    mistakes=[
        Mistake(
            lambda *a: [a[1], *_greedy(*a)],
            "bos is no word of the translation: it is read, and not returned.",
        ),
        Mistake(
            lambda *a: [w for w in _greedy(*a) if w != a[2]],
            "eos is missing. It belongs to what was written: its probability counts too.",
        ),
        Mistake(
            _reads_only_the_last,
            "only the last word is read; the model wants all words so far.",
        ),
        Mistake(_reads_no_bos, "bos is not read; the model has always begun with it."),
        Mistake(_never_stops, "it writes on behind eos; stop there."),
        Mistake(
            lambda f, bos, eos, limit: _greedy(lambda ids: -f(ids), bos, eos, limit),
            "this takes the least probable word each time.",
        ),
        Mistake(
            lambda f, bos, eos, limit: _greedy(f, bos, eos, limit - 1),
            "one word too few at the limit: bos does not count.",
        ),
        Mistake(
            lambda f, bos, eos, limit: _greedy(f, bos, eos, limit + 1),
            "one word too many at the limit: stop when there are `limit` words.",
        ),
        Mistake(
            lambda f, bos, eos, limit: [bos, *_greedy(f, bos, eos, limit - 1)],
            "bos is returned, and counted as a word: leave it out, and there is room for one more.",
        ),
        Mistake(
            lambda *a: [a[1], *(w for w in _greedy(*a) if w != a[2])],
            "the two ends have changed places: eos belongs to what was written, bos does not.",
        ),
        Mistake(
            lambda f, bos, eos, limit: _greedy(f, bos, eos, 10_000),
            "the limit is not kept: a model may never write eos.",
        ),
    ],
)

# ---------------------------------------------------------------- one step of beam search


def _beam_step(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
    every = [
        (value + log_p, (*ids, word))
        for (value, ids), row in zip(beams, rows.tolist(), strict=True)
        for word, log_p in enumerate(row)
    ]
    return sorted(every, reverse=True)[:k]


def _in_two_parts(answer: Callable[..., Any], *arguments: Any) -> Any:
    """The values as a tensor, and the beginnings as one text."""
    found = answer(*arguments)
    if found is None:
        return None
    values = torch.tensor([float(value) for value, _ in found], dtype=torch.float64)
    if values.isnan().any():
        return values, ""  # such numbers have no order, so the beginnings are chance
    return values, " | ".join(" ".join(str(int(i)) for i in ids) for _, ids in found)


def _beams(seed: int, beams: int, vocabulary: int, length: int) -> tuple[list[Beginning], Tensor]:
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(3, vocabulary, (beams, length), generator=generator).tolist()
    values = torch.randn(beams, generator=generator, dtype=torch.float64).sub(5).tolist()
    rows = torch.randn(beams, vocabulary, generator=generator, dtype=torch.float64) * 2
    return list(zip(values, map(tuple, ids), strict=True)), rows.log_softmax(dim=-1)


def _with_values(
    change: Callable[[float, float], float],
) -> Callable[..., list[Beginning]]:
    """Beam search's step with another sum in place of value + log_p."""

    def step(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
        every = [
            (change(value, log_p), (*ids, word))
            for (value, ids), row in zip(beams, rows.tolist(), strict=True)
            for word, log_p in enumerate(row)
        ]
        return sorted(every, reverse=True)[:k]

    return step


def _each_its_best(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
    one_each = [_beam_step([one], row[None], 1)[0] for one, row in zip(beams, rows, strict=True)]
    return sorted(one_each, reverse=True)[:k]


def _k_of_each(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
    found = [_beam_step([one], row[None], k) for one, row in zip(beams, rows, strict=True)]
    return sorted((c for part in found for c in part), reverse=True)


def _only_the_best_goes_on(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
    best = max(range(len(beams)), key=lambda n: beams[n][0])
    return _beam_step([beams[best]], rows[best][None], k)


def _by_topk_of_each_row(
    step: Callable[..., list[Beginning]],
) -> Callable[..., list[Beginning]]:
    """The step of somebody who asks each row for k words, whether it has so many or not."""

    def with_topk(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
        rows.topk(k)  # stops here if there are fewer
        return step(beams, rows, k)

    return with_topk


def _divided(by: Callable[[int], int]) -> Callable[..., list[Beginning]]:
    """The right continuations, each sum divided by a number made of its length, bos included."""
    return lambda beams, rows, k: [
        (value / by(len(ids)), ids) for value, ids in _beam_step(beams, rows, k)
    ]


def _by_the_last_word(beams: Sequence[Beginning], rows: Tensor, k: int) -> list[Beginning]:
    every = [
        (log_p, value + log_p, (*ids, word))
        for (value, ids), row in zip(beams, rows.tolist(), strict=True)
        for word, log_p in enumerate(row)
    ]
    return [(value, ids) for _, value, ids in sorted(every, reverse=True)[:k]]


beam_step = Check(
    reference=_beam_step,
    run=_in_two_parts,
    cases=lambda: [
        ([(-0.5, (1,))], torch.tensor([[0.5, 0.3, 0.2]], dtype=torch.float64).log(), 2),
        (*_beams(0, 3, 7, 2), 3),
        (*_beams(1, 2, 11, 5), 5),
        (*_beams(3, 5, 7, 3), 4),
        (*_beams(4, 2, 5, 3), 7),  # more than the vocabulary has words
    ],
    arguments=("beams", "log_probabilities", "k"),
    results=("the log-probabilities", "the beginnings"),
    verified="the k best of all continuations of all beginnings, best first",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            _each_its_best,
            "each beginning goes on with its best word alone. Two continuations of one beginning "
            "may both be among the best k.",
        ),
        Mistake(
            _k_of_each,
            "k continuations of each beginning are k·k: the beam grows with every step. Keep the "
            "best k of all.",
        ),
        Mistake(
            _with_values(lambda value, log_p: log_p),
            "only the last word's log-probability counts; add that of the beginning.",
        ),
        Mistake(
            _by_the_last_word,
            "sorted by the last word alone; sort by the whole beginning's log-probability.",
        ),
        Mistake(
            _with_values(lambda value, log_p: value * log_p),
            "log-probabilities are added: log(a·b) = log a + log b.",
        ),
        Mistake(
            _with_values(lambda value, log_p: value + math.exp(log_p)),
            "a log-probability and a probability are added; stay with logarithms.",
        ),
        Mistake(
            lambda beams, rows, k: _beam_step(beams, rows, 10_000)[-k:][::-1],
            "these are the worst k: a log-probability is better when it is nearer to 0.",
        ),
        Mistake(
            lambda beams, rows, k: _beam_step(beams, rows, k)[::-1],
            "the right ones, the worst first; the best comes first.",
        ),
        Mistake(
            lambda beams, rows, k: [(v, i[-1:]) for v, i in _beam_step(beams, rows, k)],
            "only the new word is there: append it to its beginning.",
        ),
        Mistake(
            _only_the_best_goes_on,
            "only the best beginning is continued; continue all of them.",
        ),
        Mistake(
            _by_topk_of_each_row(_only_the_best_goes_on),
            "only the best beginning is continued; continue all of them. And where k is more than "
            "the vocabulary, `topk` of one row stops.",
        ),
        Mistake(
            _by_topk_of_each_row(_k_of_each),
            "k continuations of each beginning are k·k: the beam grows with every step. Keep the "
            "best k of all. And where k is more than the vocabulary, `topk` of one row stops.",
        ),
        Mistake(
            _by_topk_of_each_row(_beam_step),
            "right until k is more than the vocabulary: there `topk` of one row stops. Take the "
            "best k of all rows together, or min(k, vocabulary) of each.",
        ),
        Mistake(
            lambda beams, rows, k: [(math.nan, ())] * k,
            "the sums are nan. Is a logarithm taken twice? log_probabilities are logarithms already.",
        ),
        Mistake(
            lambda beams, rows, k: [(v, (i[-1], *i[:-1])) for v, i in _beam_step(beams, rows, k)],
            "the new word stands in front; it comes behind its beginning.",
        ),
        Mistake(
            _divided(lambda length: 2),
            "this is the mean of two log-probabilities. The beginning's is a sum already: add to it.",
        ),
        Mistake(
            _divided(lambda length: length),
            "divided by the number of ids: a sum is asked for. Length is dealt with later.",
        ),
        Mistake(
            _divided(lambda length: length - 1),
            "divided by the number of words: a sum is asked for. Length is dealt with later.",
        ),
    ],
)

# ---------------------------------------------------------------- length penalty


def _beam_score(log_probability: float, length: int, alpha: float) -> float:
    return log_probability / beam.length_penalty(length, alpha)


beam_score = Check(
    reference=_beam_score,
    cases=lambda: [(-3.0, 1, 0.6), (-2.83, 9, 0.6), (-2.41, 8, 2.0), (-7.0, 13, 1.0)],
    arguments=("log_probability", "length", "alpha"),
    results=("the score",),
    verified="divided by the penalty, so that longer sentences come nearer to 0",
    tolerance=1e-7,
    mistakes=[
        Mistake(
            lambda v, n, a: v * beam.length_penalty(n, a),
            "multiplied: log-probabilities are negative, so this favours short sentences even more. "
            "Divide.",
        ),
        Mistake(
            lambda v, n, a: v - beam.length_penalty(n, a),
            "subtracted; the paper's reference divides.",
        ),
        Mistake(
            lambda v, n, a: v / n**a,
            "this is the plain length to the power α. It is used too; here it is (5 + length)/6.",
        ),
        Mistake(
            lambda v, n, a: v / ((5 + n) ** a / 6),
            "the power goes over the whole fraction: ((5 + length)/6)^α.",
        ),
        Mistake(
            lambda v, n, a: v / (a * (5 + n) / 6),
            "α is an exponent, not a factor: α = 0 must mean no penalty.",
        ),
        Mistake(
            lambda v, n, a: -v / beam.length_penalty(n, a),
            "the sign is turned: the best score would belong to the least probable sentence.",
        ),
        Mistake(
            lambda v, n, a: v / beam.length_penalty(n, a) / n,
            "divided by the length and by the penalty; the penalty alone is enough.",
        ),
        Mistake(lambda v, n, a: v, "the length is not used."),
        Mistake(
            lambda v, n, a: v / (5 + n / 6) ** a,
            "mind the brackets: (5 + length)/6, not 5 + length/6.",
        ),
        Mistake(
            lambda v, n, a: v / (5 + n) ** a,
            "the 6 is missing: the penalty is ((5 + length)/6)^α, which is 1 for one word.",
        ),
        Mistake(
            lambda v, n, a: v / ((5 + n) / 6**a),
            "the power goes over the 6 alone: ((5 + length)/6)^α has it over the whole fraction.",
        ),
        Mistake(
            lambda v, n, a: v / (5 + n) / 6**a,
            "two divisions in a row divide by both: put brackets around the whole penalty.",
        ),
        Mistake(
            lambda v, n, a: math.exp(v) / beam.length_penalty(n, a),
            "this is a probability; the logarithm is divided, as it is.",
        ),
        Mistake(
            lambda v, n, a: v / ((4 + n) / 6) ** a,
            "one word is not counted: `length` has eos in it, and it stays in.",
        ),
    ],
)

# ---------------------------------------------------------------- top-p


def _cut(
    logits: Tensor, p: float, keeps: Callable[[Tensor, Tensor], Tensor], fill: float = -math.inf
) -> Tensor:
    """Logits where `keeps` says so of the sum before a word and the sum with it."""
    ordered, words = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=-1)
    with_it = probabilities.cumsum(dim=-1)
    kept = ordered.where(keeps(with_it - probabilities, with_it), fill)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _as_log_probabilities(answer: Callable[..., Any], *arguments: Any) -> Any:
    """What would be drawn from: the same number added to a row's logits changes nothing."""
    logits = answer(*arguments)
    return logits.log_softmax(dim=-1) if isinstance(logits, Tensor) else logits


def _softmax_twice(logits: Tensor, p: float) -> Tensor:
    ordered, words = logits.sort(dim=-1, descending=True)
    flat = ordered.softmax(dim=-1).softmax(dim=-1)
    kept = ordered.masked_fill(flat.cumsum(dim=-1) - flat >= p, -math.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _softmax_of_columns(logits: Tensor, p: float) -> Tensor:
    """Softmax over the rows of the sorted logits."""
    ordered, words = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=0)
    kept = ordered.masked_fill(probabilities.cumsum(dim=-1) - probabilities >= p, -math.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _softmax_of_unsorted_columns(logits: Tensor, p: float) -> Tensor:
    """Softmax over the rows, then sorted by what came out."""
    probabilities, words = logits.softmax(dim=0).sort(dim=-1, descending=True)
    dropped = probabilities.cumsum(dim=-1) - probabilities >= p
    return logits.masked_fill(torch.empty_like(dropped).scatter(-1, words, dropped), -math.inf)


def _mask_not_put_back(logits: Tensor, p: float) -> Tensor:
    dropped = _in_sorted_order(logits, p).isinf()
    return logits.masked_fill(dropped, -math.inf)


def _gathered(logits: Tensor, p: float) -> Tensor:
    words = logits.argsort(dim=-1, descending=True)
    return _in_sorted_order(logits, p).gather(-1, words)


def _in_sorted_order(logits: Tensor, p: float) -> Tensor:
    return sampling.keep_top_p(logits, p).sort(dim=-1, descending=True).values


def _all_rows_alike(logits: Tensor, p: float) -> Tensor:
    first = int(sampling.keep_top_p(logits[:1], p).isfinite().sum())
    return sampling.keep_top_k(logits, first)


keep_top_p = Check(
    reference=lambda logits, p: sampling.keep_top_p(logits, p),
    run=_as_log_probabilities,
    cases=lambda: [
        (torch.tensor([[0.15, 0.5, 0.05, 0.3]], dtype=torch.float64).log(), 0.7),
        (_random_logits(0, 3, 7), 0.6),
        (_random_logits(1, 5, 11), 0.95),
        (_random_logits(2, 2, 5), 0.05),
    ],
    arguments=("logits", "p"),
    results=("log_softmax of the logits",),
    verified="the fewest words that reach p, in their old places, the others at −∞",
    tolerance=1e-6,
    mistakes=[
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: with_it <= p),
            "the word with which the sum reaches p belongs to them; without it the kept ones have "
            "less than p, and sometimes none is left.",
        ),
        Mistake(
            lambda logits, p: logits.where(logits.softmax(dim=-1) >= p, -math.inf),
            "this keeps words that have p each; p is what the kept words have together.",
        ),
        Mistake(
            lambda logits, p: logits.where(logits.softmax(dim=-1) >= 1 - p, -math.inf),
            "this keeps words above a fixed probability; p is what the kept words have together.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: before < p, fill=0.0),
            "a logit of 0 is not nothing: e⁰ = 1. Take −∞.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: before >= p),
            "kept and dropped have changed places.",
        ),
        Mistake(
            _in_sorted_order,
            "sorted, and not put back: each logit must stand in its word's place again.",
        ),
        Mistake(
            lambda logits, p: -_cut_from_below(logits, p),
            "the sum begins with the least probable words; begin with the most probable.",
        ),
        Mistake(
            _all_rows_alike,
            "all rows keep as many words as the first; each row has its own number.",
        ),
        Mistake(
            lambda logits, p: sampling.keep_top_p(logits, p).softmax(dim=-1),
            "these are probabilities; logits are asked for.",
        ),
        Mistake(
            lambda logits, p: _cut(
                logits, p, lambda before, with_it: logits.sort(descending=True)[0].cumsum(-1) < p
            ),
            "logits are added up; p is a sum of probabilities, so take the softmax first.",
        ),
        Mistake(
            lambda logits, p: _cut(
                logits, p, lambda before, with_it: (with_it <= p) | (before == 0)
            ),
            "the first word is kept in any case, but the word with which the sum reaches p is not.",
        ),
        Mistake(
            lambda logits, p: _cut(logits, p, lambda before, with_it: before < p, fill=-1e9),
            "−1e9 is a large negative number, and no −∞: in half precision it does not exist.",
        ),
        Mistake(
            _mask_not_put_back,
            "the mask is in sorted order and the logits are not: scatter it back to the words first.",
        ),
        Mistake(
            _gathered,
            "`gather` sorts once more; `scatter` is what undoes a sort.",
        ),
        Mistake(
            _softmax_of_columns,
            "the softmax goes down the columns of the batch (dim 0); each row has its own: dim −1.",
        ),
        Mistake(
            _softmax_of_unsorted_columns,
            "the softmax goes over the batch (dim 0), so that rows share one sum; take dim −1.",
        ),
        Mistake(
            lambda logits, p: _cut(logits.softmax(dim=-1), p, lambda before, with_it: before < p),
            "the softmax is taken twice, and probabilities come back: sort the logits, then once.",
        ),
        Mistake(
            _softmax_twice,
            "the softmax is taken twice: that makes all words nearly alike, and too many are kept.",
        ),
    ],
)


def _cut_from_below(logits: Tensor, p: float) -> Tensor:
    """Minus the logits of the least probable words that reach p; +∞ for the others."""
    ordered, words = logits.sort(dim=-1)
    probabilities = ordered.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities
    kept = (-ordered).masked_fill(before >= p, math.inf)
    return torch.empty_like(logits).scatter(-1, words, kept)


def _random_logits(seed: int, rows: int, words: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    scale = torch.linspace(0.5, 4, rows, dtype=torch.float64)[:, None]  # rows unequally sure
    return scale * torch.randn(rows, words, generator=generator, dtype=torch.float64)


# ---------------------------------------------------------------- speculative decoding


def _accept_all_or_nothing(proposed: list[int], best: list[int]) -> list[int]:
    return list(best) if proposed == best[:-1] else best[:1]


def _agreed(proposed: list[int], best: list[int]) -> int:
    return len(speculative.accept(proposed, best)) - 1


accept = Check(
    reference=speculative.accept,
    run=_as_words,
    cases=lambda: [
        ([5], [5, 9]),
        ([5, 7, 9], [5, 8, 9, 4]),
        ([5, 7, 9, 4], [5, 7, 9, 4, 2]),
        ([5, 7], [6, 5, 7]),
        ([3, 3, 8, 3, 6], [3, 3, 3, 3, 6, 7]),
        ([], [6]),
    ],
    arguments=("proposed", "best"),
    results=("the list of words",),
    verified="the draft's words up to the first difference, and one of the large model's",
    mistakes=[
        Mistake(
            lambda proposed, best: proposed[: _agreed(proposed, best)],
            "the large model's own word is missing: it has been computed, so it comes free, and "
            "without it a bad draft would never get on.",
        ),
        Mistake(
            lambda proposed, best: [
                *(a for a, b in zip(proposed, best, strict=False) if a == b),
                best[_agreed(proposed, best)],
            ],
            "words behind the first difference are taken too. They were checked as continuations "
            "of a word that is not written.",
        ),
        Mistake(
            lambda proposed, best: list(best),
            "all of the large model's words are taken. Behind the first difference they continue "
            "the draft's wrong word.",
        ),
        Mistake(
            _accept_all_or_nothing,
            "one difference and all is thrown away; what stands before it is right.",
        ),
        Mistake(
            lambda proposed, best: [
                *proposed[: _agreed(proposed, best)],
                *proposed[_agreed(proposed, best) :][:1],
            ],
            "at the first difference the draft's word is written; the large model decides.",
        ),
        Mistake(
            lambda proposed, best: best[
                : _agreed(proposed, best) + (_agreed(proposed, best) < len(proposed))
            ],
            "when the whole draft is right, the large model's word behind it comes free too.",
        ),
        Mistake(
            lambda proposed, best: [*(w for w in proposed if w in best), best[-1]],
            "it is compared whether a word occurs; compare place by place.",
        ),
        Mistake(
            lambda proposed, best: [*proposed[: _agreed(proposed, best)], best[-1]],
            "the word taken is the last of `best`; take the one at the first difference.",
        ),
        Mistake(
            lambda proposed, best: [
                *proposed[: _agreed(proposed, best) + 1],
                best[_agreed(proposed, best)],
            ],
            "the draft's wrong word is written too; the large model's word stands in its place.",
        ),
        Mistake(
            lambda proposed, best: [
                *proposed[: _agreed(proposed, best)],
                best[_agreed(proposed, best) + 1],
            ],
            "one place too far in `best`: its word at the first difference is the one that follows "
            "what agrees.",
        ),
    ],
)

check = SimpleNamespace(
    greedy_words=greedy_words,
    beam_step=beam_step,
    beam_score=beam_score,
    keep_top_p=keep_top_p,
    accept=accept,
)

quiz = Quiz(
    [
        Question(
            "What does greedy decoding find?",
            (
                (
                    "the most probable sentence",
                    "A best first word can lead into a bad sentence: 0.6 · 0.5 is less than 0.4 · 0.9.",
                ),
                (
                    "the most probable word at each step",
                    "Given the words before, and nothing else: it never takes a word back.",
                ),
                ("the same as a beam of 4, more slowly", "It is the beam of 1, and the fastest."),
            ),
            right=1,
        ),
        Question(
            "A larger beam finds a more probable translation. Is it a better one?",
            (
                (
                    "always: probability is what the model has learnt",
                    "Look at the empty translation.",
                ),
                (
                    "it depends on the model",
                    "A model's favourite may be short, or empty. On this page BLEU went both ways.",
                ),
                (
                    "never: it leads to ever shorter ones",
                    "Shorter can be better: our worst snapshot gains by a beam of 4, mostly "
                    "where greedy finds no end.",
                ),
            ),
            right=1,
        ),
        Question(
            "Log-probabilities −2.4 (8 words) and −2.8 (9 words). What does a larger α do?",
            (
                (
                    "it helps the shorter one",
                    "Dividing by a larger number brings −2.8 nearer to 0.",
                ),
                ("it changes both alike", "The penalty depends on the length."),
                (
                    "it helps the longer one",
                    "Its negative number is divided by more, and so it is nearer to 0.",
                ),
            ),
            right=2,
        ),
        Question(
            "Which of these is a BLEU that others can compare with?",
            (
                (
                    "of the whole test text, with the scorer's signature",
                    "One score for the corpus. The signature says how the text was cut into "
                    "words, and which version counted.",
                ),
                (
                    "of token ids, where no rule for words is needed",
                    "Then the tokenizer decides what a word is, and yours is not mine.",
                ),
                (
                    "the mean of the sentences' BLEU",
                    "BLEU counts over the corpus; the mean of sentences is another number.",
                ),
                (
                    "of sentences of the training set",
                    "They were seen. And they lack the combinations of words that our test holds "
                    "out: a gap between the two has both causes.",
                ),
            ),
            right=0,
        ),
        Question(
            "What does the cache keep?",
            (
                (
                    "queries, keys and values of all words so far",
                    "A past word's query was used at its own step and is needed by nobody.",
                ),
                (
                    "keys and values of all words so far",
                    "And those of the memory. The new word brings its own query.",
                ),
                ("the weights of all heads at all steps so far", "They are new for each query."),
            ),
            right=1,
        ),
        Question(
            "Top-k and top-p: which keeps more words where the model is unsure?",
            (
                ("top-k", "It keeps k words everywhere, whatever the probabilities are."),
                (
                    "top-p",
                    "It needs more words to reach p when none of them has much.",
                ),
                ("both keep equally many", "Only top-k's number is fixed."),
            ),
            right=1,
        ),
        Question(
            "A draft model is wrong at every word. What does greedy speculative decoding write?",
            (
                (
                    "nonsense, built on wrong words",
                    "Nothing is written that the large model would not have written.",
                ),
                (
                    "what the large model alone would write",
                    "In as many passes: each gives one word, the large model's own. The draft's "
                    "work is lost.",
                ),
                (
                    "nothing, as every word is rejected",
                    "Each pass gives one word of the large model.",
                ),
            ),
            right=1,
        ),
    ]
)
