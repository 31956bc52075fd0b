"""What all checks have in common, tried on one small check and on some of the lessons'."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from transformer_lab.course.judge.check import Check, Mistake
from transformer_lab.course.keys import lesson_key
from transformer_lab.course.lessons import lesson, lesson_numbers


def check_named(name):
    """The check of a lesson, by a name such as 08.merge."""
    number, _, of_lesson = name.partition(".")
    return vars(lesson(number).check)[of_lesson]


def test_each_lesson_has_the_tests_of_its_checks():
    folders = Path(__file__).parent.glob("lesson_*/test_checks.py")
    assert sorted(lesson_key(path.parent) for path in folders) == list(lesson_numbers())


# ---------------------------------------------------------------- the machinery, on one small check

TWICE = Check(
    reference=lambda x: 2 * x,
    cases=lambda: [(np.arange(3.0),), (np.arange(10.0).reshape(2, 5),)],
    mistakes=[Mistake(lambda x: x * x, "you squared it")],
    verified="doubled",
    results=("the double",),
)


def nothing(x):
    2 * x


def in_place(x):
    x *= 2
    return x


def only_rows(x):
    return 2 * x if x.ndim == 1 else x.T


def stops(x):
    raise KeyError("no such word")


def library_stops(x):
    return torch.as_tensor([1, 2]).softmax(0)


@pytest.mark.parametrize(("given", "named"), [(np.ones(3), "a result"), (7, "7")])
def test_what_is_no_function_is_named(given, named):
    verdict = TWICE.verdict(given)
    assert not verdict.right
    assert f"this is {named}, not a function. Pass the function itself" in verdict.text


def test_a_check_that_is_only_looked_at_says_how_to_call_it():
    assert repr(TWICE) == "<a check: call it with your function, as in check.softmax(softmax)>"


def test_a_hint_without_a_number_is_the_first(capsys):
    check_named("01.softmax").hint()
    assert capsys.readouterr().out.startswith("Hint 1: ")


def test_the_inputs_are_shown_where_the_results_differ():
    """In the second sentence, whose scores are near 1,000, and not in the first."""
    softmax = check_named("01.softmax")
    shown = softmax.verdict(lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)).text
    lines = [line for line in shown.splitlines() if line.startswith("scores[1]")]
    assert all(float(number) > 990 for number in lines[0].split()[1:])


def test_a_library_that_lacks_a_function_is_no_stub():
    text = TWICE.verdict(library_stops).text
    assert text.startswith("Not yet: ")
    assert "where floats are needed" in text


def test_an_index_that_is_met_first_does_not_hide_a_known_mistake():
    def read(order):
        return lambda x: [x[n] for n in order(range(len(x) + 2))][-1] if x.size > 5 else x * 0

    known = replace(TWICE, mistakes=[Mistake(read(list), "you read beyond the end")])
    assert known.verdict(read(lambda places: places[::-1])).text.startswith(
        "Not yet: you read beyond the end"
    )


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda x: x * x, "you squared it"),
        (lambda x: 2 * x + (x == 2) * 0.5, "entry [2] of the double is 4.5, but should be 4"),
        (
            lambda x: np.where(x > 8, np.nan, 2 * x),
            "entry [1, 4] of the double is nan, but should be 18",
        ),
        (lambda x: 2 * x[:2], "the double has shape (2,), but should have (3,)"),
        (lambda x: (2 * x, x), "your answer returns 2 values, but should return only the double"),
        (lambda x: x > 0, "the double has dtype bool, but should have dtype float64"),
        (nothing, "your answer returns nothing. Is there a `return`?"),
        (in_place, "your answer changes x in place"),
        (only_rows, "the double has shape (5, 2), but should have (2, 5)"),
        (stops, "your answer raises KeyError: 'no such word'"),
    ],
)
def test_an_answer_on_no_list_gets_the_smallest_failing_case(answer, words):
    verdict = TWICE.verdict(answer)
    assert not verdict.right
    assert words in verdict.text
    assert "seen with x of shape" in verdict.text


def test_the_smallest_failing_case_is_the_one_shown():
    assert "seen with x of shape (2, 5)" in TWICE.verdict(only_rows).text
    assert "seen with x of shape (3,)" in TWICE.verdict(stops).text


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        (
            "06.shift_right",
            lambda t, b: torch.cat([t[:, :1] * 0.0 + b, t[:, :-1]], 1),
            "should consist of integers",
        ),
        ("07.layer_parameters", lambda d, f: d * d / 3, "should be an integer"),
        (
            "06.sees",
            lambda f, x: torch.stack(
                [
                    (f(x + torch.eye(len(x)).double()[:, j : j + 1] * e) - f(x))[:, 0].abs() > 1e-9
                    for j in range(len(x))
                    for e in [torch.eye(x.shape[1]).double()[0]]
                ],
                1,
            ),
            "entry [0, 0] of the map is",
        ),
    ],
)
def test_what_only_looks_right_is_not(name, answer, words):
    verdict = check_named(name).verdict(answer)
    assert not verdict.right
    assert words in verdict.text


def test_a_module_among_the_arguments_is_named_by_its_kind():
    verdict = lesson("07").check.forward.verdict(lambda model, source, target: source)
    assert "seen with model (a Transformer), source of shape (1, 3)" in verdict.text


def test_calling_a_check_prints_the_verdict_and_returns_nothing(capsys):
    assert TWICE(lambda x: x + x) is None
    assert capsys.readouterr().out == "Right: doubled (2 cases).\n"


def test_what_an_answer_prints_appears_for_the_first_case_and_for_the_one_that_fails(capsys):
    def prints(x):
        print("got", x.shape)
        return 2 * x if x.ndim == 1 else x

    TWICE(lambda x: print("got", x.shape) or x + x)
    assert capsys.readouterr().out == "got (3,)\nRight: doubled (2 cases).\n"
    TWICE(prints)
    first, *_, before, last = capsys.readouterr().out.splitlines()
    assert (first, before) == ("got (3,)", "In this case, your answer printed:")
    assert last == "got (2, 5)"


def test_an_answer_that_prints_without_end_keeps_little_of_it():
    def prints(x):
        for _ in range(10):
            print("x" * 3_000)
        return x if x.ndim > 1 else 2 * x

    assert 0 < len(TWICE.verdict(prints).printed) < 20_000


def test_numbers_of_the_notebook_in_place_of_the_arguments_are_told(monkeypatch):
    monkeypatch.setitem(globals(), "Q", np.ones((3, 5)))
    for answer in (lambda q: Q * 2, lambda q: np.array([Q[0] for _ in range(2)])):  # noqa: F821
        assert (
            "your answer reads `Q`, which was made elsewhere in the notebook, but not its "
            "argument `q`" in TWICE.verdict(answer).text
        )
    for answer in (lambda q: q * Q.mean(), lambda q: [one + 0 for one in [q]]):  # noqa: F821
        assert "made elsewhere" not in TWICE.verdict(answer).text


def test_what_is_known_is_run_once_however_many_answers_are_compared_with_it():
    ran = []

    def squares(x):
        ran.append(len(x))
        return x * x

    check = replace(TWICE, mistakes=[Mistake(squares, "you squared it")])
    for answer in (lambda x: 3 * x, lambda x: 4 * x, lambda x: x * x):
        assert not check.verdict(answer).right
    assert ran == [3, 2]  # the second case, too, as the last answer was like it in the first


def test_an_answer_cannot_spoil_the_cases_of_the_next():
    TWICE.verdict(in_place)
    assert TWICE.verdict(lambda x: 2 * x).right


def test_a_size_of_0_explains_no_factor():
    """A count that is wrong by a factor, where one of the numbers given is 0."""
    counts = Check(
        reference=lambda n, more: 6 * n * (more + 1),
        cases=lambda: [(2, 3), (5, 0), (7, 2)],
        mistakes=[],
        verified="counted",
    )
    text = counts.verdict(lambda n, more: 6 * n * (more + 1) * (n + 1)).text
    assert "this check cannot say in what way" not in text
    assert "the result" in text


# ---------------------------------------------------------------- what no exercise asks for


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            lambda x: {"double": 2 * x},
            "the double is a dict, but should be an array of shape (3,)",
        ),
        (
            lambda x: lambda: 2 * x,
            "the double is a function, but should be an array of shape (3,)",
        ),
        (lambda x: [2.0, {1: 2}, 4.0], "your answer returns a list of 3 items"),
        (lambda x: np.array([{1: 2}, 2.0]), "the double contains a dict, but should be an array"),
        (lambda x: (None,), "the double is None. Is there a `return`?"),
        (lambda x: np.array([[1, 2], [3, None]], dtype=object), "the double contains None"),
        (
            lambda x: ([[1.0, 2.0], [3.0, {1: 2}]],),
            "the double contains a dict, but should be an array",
        ),
        (lambda x: np.array([1, [2.0, [nothing]]], dtype=object), "contains a function"),
        (
            lambda x: np.array([1, 2], dtype=object),
            "the double is an array with dtype object, but should be",
        ),
    ],
)
def test_what_cannot_be_compared_is_described_with_what_is_asked(answer, words):
    verdict = TWICE.verdict(answer)
    assert not verdict.right
    assert words in verdict.text
    assert "cannot be compared" not in verdict.text


def test_a_result_named_by_a_clause_is_singular():
    text = lesson("07").check.encoder_input.verdict(lambda *given: range(3)).text
    assert "what the first layer gets is a range, but should be an array" in text


def test_a_dict_in_the_place_of_several_results_is_told_how_many_are_asked():
    size = lesson("14").check.attention_size
    text = size.verdict(lambda *given: dict(zip("ab", size.reference(*given), strict=True))).text
    assert (
        "your answer returns a dict, but should return 2 values: d_k and the number of parameters"
        in text
    )


def test_one_of_several_results_that_is_none_lacks_no_return():
    halves = replace(
        TWICE, reference=lambda x: (2 * x, x), mistakes=[], results=("the double", "the numbers")
    )
    text = halves.verdict(lambda x: (2 * x, None)).text
    assert "the numbers are None, but should be an array of shape (3,)" in text
    assert "return`" not in text
    assert "your answer returns nothing. Is there a `return`?" in halves.verdict(nothing).text


def test_a_layer_without_a_return_is_asked_for_one():
    class Layer(lesson("05").check.encoder_layer.reference):
        def forward(self, x):
            super().forward(x)

    text = lesson("05").check.encoder_layer.verdict(Layer).text
    assert "the result is None. Is there a `return`?" in text


def test_whoever_changes_what_the_sub_layer_gave_may_change_x():
    def add_norm(x, sublayer, norm):
        y = sublayer(x)
        y += x
        return norm(y)

    verdict = check_named("05.add_norm").verdict(add_norm)
    assert not verdict.right
    assert "your answer changes x in place" in verdict.text


def test_lists_of_tensors_are_shown_by_their_kind():
    verdict = lesson("10b").check.reordered.verdict(lambda cache, parents: cache)
    assert (
        "cache (a list of 1 item (a tuple of 2 items (a tensor of shape (3, 2, 2, 5)"
        in verdict.text
    )
