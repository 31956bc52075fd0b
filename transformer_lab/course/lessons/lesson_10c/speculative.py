"""Checks for the exercise of lesson 10c on speculative decoding."""

from collections.abc import Iterator

import numpy as np

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.working import Step
from transformer_lab.course.lessons.lesson_10.greedy import as_words
from transformer_lab.decoding import speculative


def _accept_all_or_nothing(proposed: list[int], best: list[int]) -> list[int]:
    return list(best) if proposed == best[:-1] else best[:1]


def _count_agreeing(proposed: list[int], best: list[int]) -> int:
    return len(speculative.accept(proposed, best)) - 1


def _work_out_accepted(proposed: list[int], best: list[int], at: tuple) -> Iterator[Step]:
    agreed = _count_agreeing(proposed, best)
    yield "whether proposed and best agree at each position", np.equal(proposed, best[:-1])
    yield "how many agree before the first difference", agreed
    yield "these words of the draft", proposed[:agreed]
    yield "the large model's own word at the next position", best[agreed]
    yield "what is written", speculative.accept(proposed, best)


def _random_words(chance: RandomValues) -> tuple:
    """Return a random case: two lists of ids that agree up to a random position.

    The ids are large, so equal ids are different Python objects.
    """
    best = chance.ids(chance.between(3, 12), below=4).tolist()
    proposed, count = chance.ids(len(best) - 1, below=4).tolist(), chance.between(0, len(best) - 1)
    rows = best[:count] + proposed[count:], best
    return tuple([1_000 + word for word in row] for row in rows)


accept = Check(
    reference=speculative.accept,
    run=as_words,
    cases=lambda: [
        ([5], [5, 9]),
        ([5, 7, 9], [5, 8, 9, 4]),
        ([5, 7, 9, 4], [5, 7, 9, 4, 2]),
        ([5, 7], [6, 5, 7]),
        ([3, 3, 8, 3, 6], [3, 3, 3, 3, 6, 7]),
        ([], [6]),
        ([7, 7, 7], [7, 7, 7, 7]),
        ([4, 9, 8], [9, 4, 8, 9]),
        ([0, 2, 1], [0, 2, 0, 1]),
    ],
    drawn=_random_words,
    arguments=("proposed", "best"),
    results=("the list of words",),
    working=_work_out_accepted,
    verified="the draft's words up to the first difference, and one of the large model's",
    mistakes=[
        Mistake(
            lambda proposed, best: proposed[: _count_agreeing(proposed, best)],
            "you leave out the large model's own word. It has already been computed, so it costs "
            "nothing, and if the draft's first word is wrong, it is the only word you can write.",
        ),
        Mistake(
            lambda proposed, best: [
                *(a for a, b in zip(proposed, best, strict=False) if a == b),
                best[_count_agreeing(proposed, best)],
            ],
            "you also accept words after the first difference, but they were checked as "
            "continuations of a word that is not written.",
        ),
        Mistake(
            lambda proposed, best: list(best),
            "you accept all of the large model's words, but after the first difference they "
            "are based on the draft's wrong word. Stop there.",
        ),
        Mistake(
            _accept_all_or_nothing,
            "you write only the first word if any word differs, but all of the draft's words "
            "before the first difference are right.",
        ),
        Mistake(
            lambda proposed, best: [
                *proposed[: _count_agreeing(proposed, best)],
                *proposed[_count_agreeing(proposed, best) :][:1],
            ],
            "at the first difference you write the draft's word, but you should write the large "
            "model's.",
        ),
        Mistake(
            lambda proposed, best: best[
                : _count_agreeing(proposed, best)
                + (_count_agreeing(proposed, best) < len(proposed))
            ],
            "when the whole draft is right, you leave out the large model's next word. It has "
            "already been computed, so write it as well.",
        ),
        Mistake(
            lambda proposed, best: [*(w for w in proposed if w in best), best[-1]],
            "you only check whether a word appears anywhere in `best`. Compare the words position "
            "by position.",
        ),
        Mistake(
            lambda proposed, best: [*proposed[: _count_agreeing(proposed, best)], best[-1]],
            "you add the last word of `best`. Add the one at the first difference instead.",
        ),
        Mistake(
            lambda proposed, best: [
                *proposed[: _count_agreeing(proposed, best) + 1],
                best[_count_agreeing(proposed, best)],
            ],
            "you also write the draft's wrong word, but the large model's word should replace it.",
        ),
        Mistake(
            lambda proposed, best: [
                *proposed[: _count_agreeing(proposed, best)],
                best[_count_agreeing(proposed, best) + 1],
            ],
            "you look one position too far in `best`. Use its word at the first difference.",
        ),
    ],
)
