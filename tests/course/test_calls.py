"""What an answer gives to what it calls: the first call that differs is named, and how."""

import numpy as np
import pytest
import torch
from torch import nn

from transformer_lab.course.calls import MOST, Call, Calls, first_other_call
from transformer_lab.course.cases import draw
from transformer_lab.course.check import Check

X, Y = draw(3, 5, seed=1), draw(3, 5, seed=2)


def calls(*named):
    return [Call(name, tuple(given)) for name, *given in named]


WANTED = calls(("embed", X), ("inner", Y), ("inner", X), ("norm", X + Y))


@pytest.mark.parametrize(
    ("got", "said"),
    [
        (calls(("embed", X)), "`inner` is never called"),
        (calls(("embed", Y)), "what `embed` gets is not right"),
        (calls(("embed", X.T)), "its shape is (5, 3); asked is (3, 5) (right, but axes 0 and 1"),
        (calls(("embed", 2 * X)), "all numbers are 2 times as large"),
        (calls(("embed", X), ("inner", Y)), "`inner` is called once; 2 calls are asked"),
        (
            calls(("embed", X), ("inner", Y), ("inner", Y)),
            "what `inner`, in call 2, gets is not right; until there all is right (embed, inner)",
        ),
        (calls(("embed", X, X)), "2 arguments, where 1 are asked"),
        (WANTED, "what `embed`, `inner`, `norm` get is right; look at what comes behind"),
    ],
)
def test_the_first_call_that_differs_is_named(got, said):
    assert said in first_other_call(got, WANTED)


def test_nothing_is_said_where_nothing_is_called_or_too_much():
    assert first_other_call(WANTED, []) is None
    assert first_other_call([*WANTED, *WANTED], WANTED) is None
    assert first_other_call(WANTED[:1] * MOST, WANTED) is None


def test_what_is_no_array_is_not_compared():
    kept = Calls()
    kept.keep("f", [object(), X])
    assert kept.kept[0].given[0] is None
    assert first_other_call(kept.kept, calls(("f", None, X))).startswith("what `f` gets is right")
    assert "is not right: argument 2" in first_other_call(kept.kept, calls(("f", None, X.T)))


def test_what_is_kept_does_not_change_with_what_was_given():
    kept, x = Calls(), X.copy()
    kept.around("f", lambda given: given)(x)
    x *= 0
    np.testing.assert_array_equal(kept.kept[0].given[0], X)


def test_a_function_in_a_loop_without_end_is_kept_so_often():
    kept = Calls()
    called = kept.around("f", len)
    for _ in range(MOST + 7):
        called([1, 2, 3])
    assert len(kept.kept) == MOST


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
    kept, module = Calls(), Two()
    kept.watch(module)
    module(torch.ones(3, 5))
    assert [call.name for call in kept.kept] == ["first", "second"]


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
    assert f"what {part} gets is not right" in verdict.text
