"""What an answer gives to what it calls: the first call that differs is named, and how."""

import numpy as np
import pytest
import torch
from torch import nn

from transformer_lab.course.judge.call_recorder import (
    MAX_CALLS,
    Call,
    CallRecorder,
    find_first_wrong_call,
)
from transformer_lab.course.judge.cases import random_array
from transformer_lab.course.judge.check import Check

X, Y = random_array(3, 5, seed=1), random_array(3, 5, seed=2)


def calls(*named):
    return [Call(name, tuple(given)) for name, *given in named]


WANTED = calls(("embed", X), ("inner", Y), ("inner", X), ("norm", X + Y))


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (calls(("embed", X)), "`inner` is never called"),
        (calls(("embed", Y)), "The argument of `embed` is wrong"),
        (
            calls(("embed", X.T)),
            "has shape (5, 3), but should have (3, 5). The numbers are right, but axes 0 and 1",
        ),
        (calls(("embed", 2 * X)), "All numbers are twice what they should be"),
        (calls(("embed", X), ("inner", Y)), "`inner` is called once, but should be called 2 times"),
        (
            calls(("embed", X), ("inner", Y), ("inner", Y)),
            "In call 2, the argument of `inner` is wrong. The earlier calls to `embed` and "
            "`inner` are right",
        ),
        (calls(("embed", X, X)), "`embed` gets 2 arguments, but should get 1"),
        (
            WANTED,
            "`embed`, `inner` and `norm` get the right arguments, so look at what you do with "
            "their results",
        ),
    ],
)
def test_the_first_call_that_differs_is_named(got, said):
    assert said in find_first_wrong_call(got, WANTED)


def test_what_gets_the_right_thing_and_gives_another_is_named_before_what_follows():
    want = [Call("inner", (X,), returned=Y), Call("norm", (X + Y,))]
    got = [Call("inner", (X,), returned=1.1 * Y), Call("norm", (X + 1.1 * Y,))]
    said = find_first_wrong_call(got, want)
    assert "`inner` gets the right arguments but returns a wrong result" in said
    assert "norm" not in said


def test_a_call_too_many_with_something_else_is_said_to_be_needless():
    want = calls(("inner", X), ("norm", X + Y))
    again = calls(("inner", X), ("inner", Y), ("norm", X + Y * Y))
    by_rows = calls(*(("inner", row) for row in X[:2]), ("norm", X + Y * Y))
    assert find_first_wrong_call(again, want) == "`inner` is called twice, but one call is enough"
    assert "enough" not in find_first_wrong_call(by_rows, want)
    with_the_same = calls(("inner", X), ("inner", X), ("norm", X + Y * Y))
    assert "he argument of `norm` is wrong" in find_first_wrong_call(with_the_same, want)


def test_another_layer_of_pytorch_is_named_by_its_class():
    want = [Call("norm", (X,), layer="LayerNorm")]
    got = [Call("norm", (X.T,), layer="BatchNorm1d")]
    assert find_first_wrong_call(got, want) == "`norm` is a BatchNorm1d, but should be a LayerNorm"
    assert find_first_wrong_call([Call("norm", (X,), layer="GroupNorm")], want).startswith(
        "`norm` gets the right arguments"
    )


def test_what_a_part_gives_is_recorded_and_which_layer_it_is():
    kept, module = CallRecorder(), Two()
    kept.hook_parts(module)
    with torch.no_grad():
        module(torch.ones(3, 5))
        np.testing.assert_allclose(kept.calls[0].returned, module.first(torch.ones(3, 5)))
    assert kept.calls[1].layer == "Linear"
    called = kept.wrap_function("f", lambda x: 2 * x)
    called(X)
    np.testing.assert_array_equal(kept.calls[-1].returned, 2 * X)
    assert kept.calls[-1].layer == ""


def test_what_gets_a_function_is_not_blamed_for_what_it_gives():
    kept = CallRecorder()
    kept.wrap_function("add_norm", lambda x, sublayer: sublayer(x))(X, lambda x: 2 * x)
    kept.wrap_function("inner", lambda x, mask: 2 * x)(X, None)
    assert kept.calls[0].returned is None
    np.testing.assert_array_equal(kept.calls[1].returned, 2 * X)


def test_nothing_is_said_where_nothing_is_called_or_too_much():
    assert find_first_wrong_call(WANTED, []) is None
    assert find_first_wrong_call([*WANTED, *WANTED], WANTED) is None
    assert find_first_wrong_call(WANTED[:1] * MAX_CALLS, WANTED) is None


def test_what_is_no_array_is_not_compared():
    kept = CallRecorder()
    kept.record("f", [object(), X])
    assert kept.calls[0].given[0] is None
    assert find_first_wrong_call(kept.calls, calls(("f", None, X))).startswith(
        "`f` gets the right arguments"
    )
    assert "Argument 2 of `f` has shape" in find_first_wrong_call(
        kept.calls, calls(("f", None, X.T))
    )


def test_what_is_kept_does_not_change_with_what_was_given():
    kept, x = CallRecorder(), X.copy()
    kept.wrap_function("f", lambda given: given)(x)
    x *= 0
    np.testing.assert_array_equal(kept.calls[0].given[0], X)


def test_a_function_in_a_loop_without_end_is_kept_so_often():
    kept = CallRecorder()
    called = kept.wrap_function("f", len)
    for _ in range(MAX_CALLS + 7):
        called([1, 2, 3])
    assert len(kept.calls) == MAX_CALLS


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.drop = nn.Linear(5, 7), nn.Linear(7, 2), nn.Dropout(0.0)

    def forward(self, x):
        return self.second(self.drop(self.first(x)).relu())


class Negative(Two):
    def forward(self, x):
        return self.second(-self.first(x).relu())


def test_the_parts_of_a_module_are_watched_if_they_have_parameters():
    kept, module = CallRecorder(), Two()
    kept.hook_parts(module)
    module(torch.ones(3, 5))
    assert [call.name for call in kept.calls] == ["first", "second"]


@pytest.mark.parametrize("wrong", ["class", "function"])
def test_a_check_says_what_a_part_gets(wrong):
    def run(answer, x):
        torch.manual_seed(3)
        return answer()(x)

    of_class = Check(
        reference=Two,
        cases=lambda: [(torch.tensor(X).float(),)],
        run=run,
        mistakes=[],
        verified="x",
    )
    of_function = Check(
        reference=lambda x, norm: norm(x + 1),
        cases=lambda: [(X, lambda x: x**3)],
        mistakes=[],
        verified="x",
    )
    verdict = (
        of_class.verdict(Negative)
        if wrong == "class"
        else of_function.verdict(lambda x, norm: norm(x + 1 + (x > 0)))
    )
    part = "`second`" if wrong == "class" else "`norm`"
    assert not verdict.right
    assert f"The argument of {part} is wrong" in verdict.text
