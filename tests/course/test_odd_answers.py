"""What a check says of an answer that stops, remembers, changes things, or calls the package."""

import numpy as np

from tests.course.every_check import refused
from tests.course.test_check import TWICE
from transformer_lab.course.lessons import lesson


def test_an_error_shows_the_learners_own_line():
    def helper(x):
        return np.zeros(3) + x  # fits the first case, and not the second

    text = refused(TWICE, lambda x: 2 * x + 0 * helper(x))
    assert "of your code" in text
    assert "return np.zeros(3) + x  # fits the first case" in text


def test_an_error_in_reading_says_what_was_returned():
    text = refused(lesson("10").check.beam_step, lambda beams, rows, k: ([1.0], [(1,)]))
    assert "your answer returns a tuple of 2 items" in text
    assert "should return a list of pairs (log-probability, ids)" in text


def test_results_in_another_order_are_named():
    def turned(weights, written, source, word):
        row = weights[written.index(word)]
        return row.max(), source[row.argmax()]

    text = refused(lesson("11").check.looks_at, turned)
    assert (
        "Your answer returns (the weight, the source word), but should return (the source word, "
        "the weight)" in text
    )


def test_wrong_arguments_are_named():
    assert "your answer is called with 3 arguments, which fails" in refused(
        lesson("01").check.attention, lambda q, k: q
    )


def test_a_default_that_is_changed_is_named():
    def remembers(x, seen=[]):  # noqa: B006
        seen.append(1)
        return 2 * x

    assert "your answer changes the default of seen" in refused(TWICE, remembers)


CALLS = [0]


def test_a_global_that_is_changed_is_named():
    def counts(x):
        CALLS.append(1)
        return 2 * x

    assert "your answer changes the global CALLS" in refused(TWICE, counts)


def test_an_answer_that_remembers_is_refused():
    class Once:
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return 2 * x if self.calls <= 2 else 3 * x

    assert "a second call with the same arguments" in refused(TWICE, Once())


def test_an_answer_that_calls_the_package_is_refused():
    from transformer_lab.numpy_reference import softmax

    check = lesson("01").check.softmax
    assert "the package's own `softmax`" in refused(check, lambda scores: softmax(scores))
    assert check.verdict(softmax).right  # to ask about the package itself is no cheating
