"""A coincidence is not called a cause, one number is enough to name a standard mistake, and a right
answer may come in another kind of number or sequence."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest

from tests.course.every_check import refused
from transformer_lab.course.judge import check as judge
from transformer_lab.course.judge import time_limit
from transformer_lab.course.judge.check import RANDOM_CASES, Check, Mistake
from transformer_lab.course.lessons import lesson

# ---------------------------------------------------------------- coincidence and cause


def test_what_the_check_itself_calls_says_nothing_of_the_answer():
    def largest(model):
        return {
            name: max(
                float(p.grad.norm()) if p.grad is not None else 0.0 for p in part.parameters()
            )
            for name, part in model.named_children()
        }

    text = refused(lesson("09b").check.gradient_norms, largest)
    assert "model.first" not in text
    assert "entry [0] of the norms is" in text


def test_a_sign_that_changes_nothing_is_not_said_to_be_turned():
    def a_little_more(d_k, query_std, key_std):
        return d_k * query_std**2 * key_std**2 + 1e-6

    text = refused(lesson("02").check.score_variance, a_little_more)
    assert "sign" not in text
    assert "the variance is" in text


DOUBLED = Check(
    reference=lambda x: 2 * x,
    cases=lambda: [(np.array([3.0, 1.0, 2.0, 5.0]),)],
    drawn=lambda chance: (chance.numbers(*chance.sizes(1)),),
    mistakes=[],
    verified="doubled",
    arguments=("x",),
)


def test_what_is_true_of_one_case_alone_is_not_shown():
    def answer(x):
        return np.append(2 * x[:-1], 0.0) if len(x) == 4 else np.sin(x)

    alone = replace(DOUBLED, drawn=None)
    assert "Only the last entry is wrong" in refused(alone, answer)
    assert "Only the last entry" not in refused(DOUBLED, answer)


def test_what_is_true_of_fresh_cases_too_is_shown():
    def forgets_the_last(x):
        return np.append(2 * x[:-1], 0.0)

    assert "Only the last entry is wrong" in refused(DOUBLED, forgets_the_last)


# ---------------------------------------------------------------- patterns of the cases


COUNTED = Check(
    reference=lambda n, rows: n * rows,
    cases=lambda: [(3, 2), (1, 5), (4, 7)],
    drawn=lambda chance: (chance.between(1, 3), chance.between(2, 9)),
    mistakes=[],
    verified="counted",
)


def test_a_pattern_is_said_if_fresh_cases_confirm_it():
    text = refused(COUNTED, lambda n, rows: n * n * rows + (n - 1))
    assert "cases, and only when n is 1" in text


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ([np.inf, 2.0, 3.0], "and only when x contains no infinite numbers"),
        ([], "and only when x is not empty"),
        ([5.0], "and only when the first axis of x does not have length 1"),
    ],
)
def test_a_kind_of_case_that_goes_wrong_is_said_as_what_the_others_are_not(odd, said):
    others = [([1.0, 2.0, 3.0],), ([4.0, 6.0],)]
    check = Check(
        reference=lambda x: 2 * x,
        cases=lambda: [(np.array(x),) for (x,) in [*others, (odd,)]],
        drawn=lambda chance: (np.array(odd if chance.between(0, 1) else [7.0, chance.real(2, 3)]),),
        mistakes=[],
        verified="doubled",
    )

    def fails(x):
        wrong = x.size < 2 or np.isinf(x).any()
        return 2 * x if not wrong else np.full(max(1, x.size), 11.0)

    assert said in refused(check, fails)


def test_a_pattern_that_a_fresh_case_contradicts_is_not_said():
    text = refused(COUNTED, lambda n, rows: n * rows + 7 * (n > 1) + (rows == 9))
    assert "only when" not in text
    assert "right in" in text


def test_a_pattern_that_no_fresh_case_shows_is_not_said():
    many = replace(COUNTED, drawn=lambda chance: (chance.between(2, 9), chance.between(2, 9)))
    for check in (many, replace(COUNTED, drawn=None)):
        text = refused(check, lambda n, rows: n * n * rows + (n - 1))
        assert "only when" not in text
        assert "right in 1 of" in text


def test_one_value_that_is_right_is_no_rule():
    text = refused(lesson("02").check.score_variance, lambda d, a, b: d * (a + b) ** 2 / 4)
    assert "only when" not in text


# ---------------------------------------------------------------- short lists


SORTED = Check(
    reference=sorted,
    run=lambda answer, words: np.array(answer(words), dtype=str),
    cases=lambda: [(["b", "a", "b"],), (["d", "c", "a", "b"],), (["a"],)],
    drawn=lambda chance: ([chance.one_of(*"abcdefg") for _ in range(chance.between(5, 9))],),
    arguments=("words",),
    mistakes=[],
    verified="sorted",
    working=lambda words, at: [("the words in order", sorted(words))],
)


def test_what_is_true_of_all_lists_and_of_a_long_one_is_said():
    assert "shifted forward by 1" in refused(SORTED, lambda w: [*sorted(w)[-1:], *sorted(w)[:-1]])
    assert "The last entry is missing; the rest is right" in refused(
        SORTED, lambda w: sorted(w)[: max(1, len(w) - 1)]
    )


@pytest.mark.parametrize(
    "answer",
    [
        lambda w: ["b", "a", "b"] if len(w) == 3 else w[:1] * len(w),
        lambda w: ["a", "b"] if len(w) == 3 else [*w, "z"],
        lambda w: ["a", "a", "a"] if len(w) == 3 else w[::-1],
        lambda w: [] if len(w) == 3 else w,
    ],
)
def test_what_is_true_of_a_short_list_alone_is_not_said_and_the_case_is_worked_out(answer):
    text = refused(SORTED, answer)
    for words in (
        "shifted",
        "the rest is right",
        "should not be there",
        "equal to the first",
        "wrong order",
    ):
        assert words not in text
    assert "the words in order: a b b" in text


def test_a_list_one_too_long_is_worked_out():
    text = refused(SORTED, lambda w: [*sorted(w)[:1], "x", *sorted(w)[1:]] if len(w) > 1 else w)
    assert "1 extra entry" in text
    assert "the words in order" in text


# ---------------------------------------------------------------- True and False, whole numbers


TURNS = lesson("13").check.full_turns


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda last, d: last * 1e4 ** (-np.arange(0, d, 2) / d) >= 6, "larger by 1"),
        (lambda last, d: last * 1e4 ** (-np.arange(0, d, 2) / 512) >= 2 * np.pi, "lacks its minus"),
        (lambda last, d: last * 1e-8 * np.arange(d // 2) / d >= 2 * np.pi, "does not affect"),
    ],
)
def test_what_a_few_whole_numbers_suggest_is_not_said(answer, words):
    assert words not in refused(TURNS, answer)


def test_a_misread_number_is_said_if_it_explains_many_cases():
    text = refused(TURNS, lambda last, d: TURNS.reference(last + 1, d))
    assert "The result would be right if `last` were larger by 1" in text


def tripled(**changes):
    """A check whose written and random cases are 0 and 2, and whose fresh ones are larger."""
    numbers = itertools.chain([2] * RANDOM_CASES, itertools.count(4))
    check = Check(
        reference=lambda n: 3 * n,
        cases=lambda: [(2,), (0,)],
        drawn=lambda chance: (next(numbers),),
        mistakes=[Mistake(lambda n: n * n, "this is the square")],
        verified="tripled",
    )
    return replace(check, **changes)


def stops_at_others(n):
    return {0: 0, 2: 4}[n]


def never_ends_at_others(n):
    while n > 2:
        pass
    return n * n


@pytest.mark.parametrize("answer", [stops_at_others, never_ends_at_others])
def test_a_mistake_that_no_fresh_case_shows_is_not_named(answer, monkeypatch):
    monkeypatch.setattr(time_limit, "SECONDS", 0.1)
    assert "this is the square" in refused(tripled(), lambda n: n**2)
    assert "is the square" not in refused(tripled(), answer)
    assert "this is the square" in refused(tripled(drawn=None), answer)


@pytest.mark.parametrize(("pause", "is_named"), [(0.02, True), (0.3, False)])
def test_fresh_cases_have_one_budget_of_time(pause, is_named, monkeypatch):
    monkeypatch.setattr(judge, "FRESH_SECONDS", 0.4)
    ran = []

    def slow(n):
        end = time.process_time() + pause * (n > 2)
        while time.process_time() < end:
            pass
        ran.append(n)
        return n * n

    assert ("this is the square" in refused(tripled(), slow)) == is_named
    fresh = {n for n in ran if n > 2}
    assert len(fresh) <= 0.4 / pause + 1
    assert len(fresh) >= judge.FEWEST_CASES or not is_named


def test_a_mistake_is_not_named_if_it_alone_stops():
    stops = tripled(mistakes=[Mistake(stops_at_others, "this is a table")])
    assert "this is a table" not in refused(stops, lambda n: n * n)


# ---------------------------------------------------------------- counterfactual references


def error_of_the_mean(x):
    return np.sqrt(x.var(ddof=1)) / np.sqrt(len(x))


def score(x, share):
    return np.log(np.quantile(abs(x), 0.75)) + share**2 * (3 + x.max()) / 2


NUMBERS = Check(
    reference=error_of_the_mean,
    cases=lambda: [(np.array([1.0, 3.0, 8.0]),), (np.array([2.0, 2.0, 7.0, 1.0, 4.0]),)],
    drawn=lambda chance: (chance.numbers(chance.between(3, 11)),),
    mistakes=[],
    verified="the standard error",
)
SCORES = replace(NUMBERS, reference=score, drawn=None, cases=lambda: SCORED)
SCORED = [(np.array([1.0, -3.0, 8.0]), 0.5), (np.array([2.0, -7.0, 1.0, 4.0, 5.0]), 3.0)]


@pytest.mark.parametrize(
    ("check", "answer", "words"),
    [
        (
            NUMBERS,
            lambda x: x.std() / len(x) ** 0.5,
            "divides by n here, but should divide by n − 1",
        ),
        (NUMBERS, lambda x: x.var(ddof=1) / len(x) ** 0.5, "one step is missing: the square root"),
        (NUMBERS, lambda x: x.std(ddof=1) / len(x), "one step is missing: the square root"),
        (
            NUMBERS,
            lambda x: x.std(ddof=1) / np.sqrt(len(x) - 1),
            "n − 1 is used where n, the number of entries, is needed",
        ),
        (NUMBERS, lambda x: x.std(ddof=1), "the division by"),
        (
            SCORES,
            lambda x, s: np.log2(np.quantile(abs(x), 0.75)) + s**2 * (3 + max(x)) / 2,
            "base 2",
        ),
        (SCORES, lambda x, s: np.log(np.quantile(x, 0.75)) + s**2 * (3 + max(x)) / 2, "absolute"),
        (
            SCORES,
            lambda x, s: np.log(np.quantile(abs(x), 0.9)) + s**2 * (3 + max(x)) / 2,
            "the wrong level is used: 0.9 instead of 0.75",
        ),
        (
            SCORES,
            lambda x, s: np.log(np.quantile(abs(x), 0.75)) + s * (3 + max(x)) / 2,
            "`share` is not raised to a power, but should be raised to the power of 2",
        ),
        (
            SCORES,
            lambda x, s: np.log(np.quantile(abs(x), 0.75)) + s**2 * (3 + min(x)) / 2,
            "the minimum is used instead of the maximum",
        ),
    ],
)
def test_a_standard_mistake_is_named_from_one_number(check, answer, words):
    verdict = check.verdict(answer)
    assert not verdict.right
    assert words in verdict.text


def test_no_counterfactual_reference_is_right_in_all_cases_of_an_answer():
    assert NUMBERS.verdict(lambda x: x.std(ddof=1) / len(x) ** 0.5).right
    assert len(NUMBERS.counterfactuals) > 20


# ---------------------------------------------------------------- right in another form


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (lesson("03").check.multiplications, lambda n, d, h: float(4 * n * d * d + 2 * n * n * d)),
        (
            lesson("03").check.multiplications,
            lambda n, d, h: np.int64(4 * n * d * d + 2 * n * n * d),
        ),
        (DOUBLED, lambda x: list(2 * x)),
        (DOUBLED, lambda x: tuple(2 * x)),
        (
            lesson("15").check.linear_mix,
            lambda q, k, v: (q @ k.T / (q @ k.T).sum(axis=1, keepdims=True)) @ v,
        ),
    ],
)
def test_a_right_answer_in_another_form_is_right(check, answer):
    verdict = check.verdict(answer)
    assert verdict.right, verdict.text


def test_half_a_thing_is_no_whole_number():
    text = refused(lesson("07").check.layer_parameters, lambda d, f: d * f / 3)
    assert "should be an integer" in text
