"""What is asked of every check of a lesson.

Each `lesson_NN/test_checks.py` has these tests, and `conftest.py` says for which check, and with which
answer, each of them is run.
"""

import copy
import itertools
import math
import random
from dataclasses import replace

import numpy as np
import torch

from transformer_lab.course.judge.check import NO_EXPLANATION, RANDOM_CASES, Check
from transformer_lab.course.judge.closeness import is_close
from transformer_lab.course.judge.random_values import RandomValues
from transformer_lab.course.judge.returned_arrays import as_array
from transformer_lab.course.judge.side_effects import is_unchanged
from transformer_lab.course.judge.working import MAX_STEPS, format_step

OTHERS = range(RANDOM_CASES, RANDOM_CASES + 20)
"""Seeds that no check itself draws with."""
MOVES = {"09.training_step": ("loss_of",)}
"""What an answer is asked to change."""


def name_of(check: Check) -> str:
    """Its lesson and its name, such as 08.merge."""
    return f"{check.place.lesson}.{check.place.name}"


def drawing(check: Check, seeds) -> Check:
    """The check with drawn cases alone."""
    return replace(
        check, cases=lambda: [check.drawn(RandomValues(seed)) for seed in seeds], drawn=None
    )


def test_the_reference_is_right(check):
    verdict = check.verdict(check.reference)
    assert verdict.right
    assert verdict.text.startswith("Right: ")
    assert check.verified in verdict.text
    assert not any(outcome.error for outcome in check.known_outcomes(check.reference))


def test_every_known_mistake_gets_its_own_hint(check):
    hints = [mistake.hint for mistake in check.mistakes]
    assert len(hints) == len(set(hints)) >= 5
    for mistake in check.mistakes:
        verdict = check.judge(check.known_outcomes(mistake.answer))
        assert not verdict.right
        assert mistake.hint in verdict.text


def test_wrong_answers_as_learners_write_them_get_the_hint_that_fits(check, wrong_answer, hint):
    verdict = check.verdict(wrong_answer)
    assert not verdict.right
    assert hint in verdict.text


def test_each_check_has_five_such_answers_or_more(table, checks):
    counts = {name: sum(row[0] == name for row in table) for name in checks}
    assert min(counts.values()) >= 5, counts


def test_a_stub_is_not_written_yet(check):
    def stub(*arguments):
        raise NotImplementedError

    assert check.verdict(stub).text.startswith("Not written yet")


def test_no_right_answer_is_refused_for_its_style(check, right_answer):
    verdict = check.verdict(right_answer)
    assert verdict.right, verdict.text


# ---------------------------------------------------------------- drawn cases


def test_every_check_draws_and_its_reference_can_do_what_is_drawn(check):
    drawn = drawing(check, OTHERS)
    for outcome in drawn.known_outcomes(drawn.reference):
        assert outcome.error is None
        assert outcome.changed == MOVES.get(name_of(check), ())
        assert not any(np.isnan(r).any() for r in outcome.results if r.dtype.kind == "f")


def test_a_seed_draws_the_same_case_twice(check):
    one, other = drawing(check, (7,)), drawing(check, (7,))
    assert one.describe_arguments(one.all_cases[0]) == other.describe_arguments(other.all_cases[0])
    (a,), (b,) = one.known_outcomes(one.reference), other.known_outcomes(other.reference)
    assert a.equals(b, 0.0)


def test_no_right_answer_is_refused_whatever_is_drawn(check, right_answer):
    verdict = drawing(check, OTHERS).verdict(right_answer)
    assert verdict.right, verdict.text


def test_who_knows_the_written_cases_by_heart_is_refused(example):
    right = example.known_outcomes(example.reference)
    written, drawn = right[:-RANDOM_CASES], right[-RANDOM_CASES:]
    for known in written:
        assert not example.judge([*written, *[known] * RANDOM_CASES]).right
    assert example.judge([*written, *drawn]).right


# ---------------------------------------------------------------- a case worked out


def test_one_number_or_word_can_be_worked_out(check):
    results = [x for one in check.known_outcomes(check.reference) for x in one.results]
    assert check.working or any(x.ndim for x in results)


def test_the_working_of_a_case_comes_to_the_reference_s_results(check):
    if check.working is None:
        return
    for case, outcome in zip(check.all_cases, check.known_outcomes(check.reference), strict=True):
        for number, want in enumerate(outcome.results):
            at = tuple(n // 2 for n in want.shape)
            before = copy.deepcopy(case)
            steps = list(check.working(*case, at=at))
            assert all(map(is_unchanged, before, case))
            assert 2 <= len(steps) <= MAX_STEPS
            assert all(what and format_step(value) for what, value in steps)
            # The array itself, the row in which the wrong number stands, or that number.
            parts = [want, *(want[at[:n]] for n in range(1, want.ndim + 1))] if want.size else []
            values = [as_array(value) for _, value in steps]
            assert not parts or any(
                part.shape == value.shape and is_close(value, part, 1e-6)
                for part in parts
                for value in values
            ), f"{check.results[number]} of {case}: {parts[-1]} is not among {steps}"


# ---------------------------------------------------------------- odd answers


class Hostile:
    """Everything that Python asks of a value goes wrong."""

    def _fail(self, *_):
        raise RuntimeError("not with me")

    __iter__ = __len__ = __eq__ = __bool__ = __repr__ = __str__ = __array__ = __float__ = _fail
    __int__ = __getitem__ = __call__ = __add__ = __hash__ = _fail


class Liar:
    """It says that it is an array, and is none."""

    shape, ndim, dtype, size = (2, 3), 2, np.dtype(float), 6

    def __array__(self, dtype=None, copy=None):
        return "not an array"


class Endless:
    def __iter__(self):
        return itertools.count()


class LateError(Exception):
    def __str__(self):
        raise ValueError("no text")


def late():
    yield 1
    raise RuntimeError("only when asked")


ODD = [
    lambda: None,
    lambda: "text",
    lambda: b"bytes",
    lambda: ...,
    lambda: NotImplemented,
    lambda: Hostile(),
    lambda: Liar(),
    lambda: Endless(),
    lambda: late(),
    lambda: (x for x in range(3)),
    lambda: math.nan,
    lambda: math.inf,
    lambda: 10**400,
    lambda: 1 + 2j,
    lambda: True,
    lambda: [],
    lambda: (),
    lambda: {},
    lambda: {"a": [1, {2}]},
    lambda: {1, 2},
    lambda: [[1, 2], [3]],
    lambda: [[], [[]]],
    lambda: [None, None],
    lambda: (0.5, "word"),
    lambda: ("word", 0.5),
    lambda: [(1.0, (1, 2)), (2.0, (1,))],
    lambda: [(math.nan, [1])],
    lambda: ["a", 1],
    lambda: np.array([]),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros(()),
    lambda: np.array([None, "a"], dtype=object),
    lambda: np.array(["a", "b"]),
    lambda: np.array([1 + 1j]),
    lambda: np.array(["2020-01-01"], dtype="datetime64[D]"),
    lambda: np.full((2, 3), np.nan),
    lambda: np.full((2, 3), 1e308) * 10,
    lambda: np.broadcast_to(1.0, (10**5, 10**5)),
    lambda: np.ma.masked_array([1.0, 2.0], mask=[True, False]),
    lambda: np.float16(1),
    lambda: torch.empty(0),
    lambda: torch.zeros(2, 3, dtype=torch.bfloat16),
    lambda: torch.zeros(2, 3, dtype=torch.complex64),
    lambda: torch.eye(3).to_sparse(),
    lambda: torch.ones(2, 3, requires_grad=True),
    lambda: torch.nn.Linear(2, 3),
    lambda: torch.nn.Linear,
    lambda: [torch.nn.Linear(2, 3), torch.ones(2)],
    lambda: np,
    lambda: len,
    lambda: lambda x: x,
    lambda: "x" * 10**6,
    lambda: list(range(10**5)),
    lambda: float("-inf"),
    lambda: np.timedelta64(1),
    lambda: memoryview(b"abc"),
    lambda: range(3),
    lambda: type("Odd", (list,), {"__len__": lambda self: -1})(),
    lambda: type("Number", (float,), {"__eq__": lambda self, other: 1 / 0})(2.0),
]


def stops_with(error):
    def answer(*_, **__):
        raise error

    return answer


STOPS = [
    stops_with(error)
    for error in (
        LateError(),
        RuntimeError(""),
        RecursionError("deep"),
        KeyError(Hostile),
        SystemExit(3),
        StopIteration(),
        MemoryError(),
    )
]


def refused(check, answer):
    verdict = check.verdict(answer)
    assert not verdict.right
    assert verdict.text.startswith("Not yet: ")
    assert NO_EXPLANATION not in verdict.text
    return verdict.text


def test_no_check_stops_at_an_odd_return(example):
    drawn = random.Random(name_of(example))
    odd = [*ODD]
    for _ in range(12):
        one, other = drawn.sample(ODD, 2)
        odd.append(drawn.choice([lambda a=one, b=other: (a(), b()), lambda a=one: [a()] * 3]))
    for make in odd:
        name = name_of(example)
        if name == "07.tie" or (name == "07.forward" and make is ODD[0]):
            continue  # what `tie` returns nobody reads
        refused(example, lambda *_, make=make, **__: make())


def test_no_check_stops_at_an_answer_that_is_right_in_some_cases(example):
    calls = itertools.count()

    def answer(*a, **k):
        result = example.reference(*a, **k)
        return result if next(calls) % 2 else (result, result)

    assert NO_EXPLANATION not in example.verdict(answer).text


def test_no_check_stops_at_an_odd_error(example):
    for answer in STOPS:
        refused(example, answer)
    refused(example, lambda: 1)  # takes no argument
    refused(example, lambda a, b, c, d, e, f, g, h, i, j: 1)


def test_no_check_stops_at_the_right_results_in_odd_clothes(example):
    """The reference's results as a list, doubled, wrapped, cut, in another kind of number."""
    changes = [
        lambda x: [x],
        lambda x: (x, x),
        lambda x: x[:1],
        lambda x: x[0],
        lambda x: -x,
        lambda x: x.astype(np.float16),
        lambda x: list(x)[::-1],
        lambda x: dict(enumerate(x)),
        lambda x: tuple(str(one) for one in x),
        lambda x: x * float("nan"),
        lambda x: iter(x),
    ]
    for change in changes:
        verdict = example.verdict(lambda *a, c=change, **k: c(example.reference(*a, **k)))
        assert NO_EXPLANATION not in verdict.text
