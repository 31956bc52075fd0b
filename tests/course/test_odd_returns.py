"""Whatever an answer returns, raises or changes, a check says something about it and never stops."""

import itertools
import math
import random

import numpy as np
import pytest
import torch

from tests.course.test_check import CHECKS, TWICE
from transformer_lab.course.check import BEYOND_WORDS


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
    assert BEYOND_WORDS not in verdict.text
    return verdict.text


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_stops_at_an_odd_return(name):
    check = CHECKS[name]
    drawn = random.Random(name)
    odd = [*ODD]
    for _ in range(12):
        one, other = drawn.sample(ODD, 2)
        odd.append(drawn.choice([lambda a=one, b=other: (a(), b()), lambda a=one: [a()] * 3]))
    for make in odd:
        if name == "07.tie" or (name == "07.forward" and make is ODD[0]):
            continue  # what `tie` returns nobody reads
        refused(check, lambda *_, make=make, **__: make())


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_stops_at_an_odd_error(name):
    for answer in STOPS:
        refused(CHECKS[name], answer)
    refused(CHECKS[name], lambda: 1)  # takes no argument
    refused(CHECKS[name], lambda a, b, c, d, e, f, g, h, i, j: 1)


@pytest.mark.parametrize("name", CHECKS)
def test_no_check_stops_at_the_right_results_in_odd_clothes(name):
    """The reference's results as a list, doubled, wrapped, cut, in another kind of number."""
    check = CHECKS[name]
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
        verdict = check.verdict(lambda *a, c=change, **k: c(check.reference(*a, **k)))
        assert BEYOND_WORDS not in verdict.text


def test_an_error_shows_the_learners_own_line():
    def helper(x):
        return np.zeros(3) + x  # fits the first case, and not the second

    text = refused(TWICE, lambda x: 2 * x + 0 * helper(x))
    assert "in your line" in text
    assert "return np.zeros(3) + x  # fits the first case" in text


def test_an_error_in_reading_says_what_was_returned():
    text = refused(CHECKS["10.beam_step"], lambda beams, rows, k: ([1.0], [(1,)]))
    assert "it returns a tuple of 2 things" in text
    assert "a list of pairs (log-probability, ids) is asked" in text


def test_results_in_another_order_are_named():
    def turned(weights, written, source, word):
        row = weights[written.index(word)]
        return row.max(), source[row.argmax()]

    text = refused(CHECKS["11.looks_at"], turned)
    assert (
        "it returns (its weight, the source word); expected (the source word, its weight)" in text
    )


def test_wrong_arguments_are_named():
    assert "cannot be called with the 3 arguments" in refused(
        CHECKS["01.attention"], lambda q, k: q
    )


def test_a_default_that_is_changed_is_named():
    def remembers(x, seen=[]):  # noqa: B006
        seen.append(1)
        return 2 * x

    assert "it changes the default of seen" in refused(TWICE, remembers)


CALLS = [0]


def test_a_global_that_is_changed_is_named():
    def counts(x):
        CALLS.append(1)
        return 2 * x

    assert "it changes the global CALLS" in refused(TWICE, counts)


def test_an_answer_that_remembers_is_refused():
    class Once:
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return 2 * x if self.calls <= 2 else 3 * x

    assert "called again with the same arguments" in refused(TWICE, Once())


def test_an_answer_that_calls_the_package_is_refused():
    from transformer_lab.numpy_reference import softmax

    check = CHECKS["01.softmax"]
    assert "the package's own softmax" in refused(check, lambda scores: softmax(scores))
    assert check.verdict(softmax).right  # to ask about the package itself is no cheating
