"""What is said of an error: the learner's line, what stands in it, and what the error means.

Each error is provoked, since libraries change their words.
"""

import dis
import linecache
import math
import re
from types import SimpleNamespace

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from transformer_lab.course.judge.call_recorder import CallRecorder
from transformer_lab.course.judge.error_reasons import REASONS, find_reason
from transformer_lab.course.judge.errors import (
    MAX_NAMES,
    RecordedAnswer,
    describe_error,
    describe_line,
    describe_size,
    describe_sizes,
    find_learner_frame,
    find_stored_names,
    read_line,
)

PAIR, HALF = [1, 2], 0.5
COUNTS = {"a": 1}
A, B = torch.ones(2, 3, 5), torch.ones(2, 7, 11)


class Early(nn.Module):
    def __init__(self):
        self.layer = nn.Linear(2, 3)


class Parameterless(nn.Module):
    def __init__(self):
        self.weight = nn.Parameter(torch.ones(2))


class Empty(nn.Module):
    def forward(self):
        return self.w_q


def written_in_place():
    x = torch.ones(3, requires_grad=True)
    y = x.softmax(dim=0)
    y[y > 1] = 0
    y.sum().backward()


def nothing():
    pass


def unmade():
    return never_made  # noqa: F821


def too_late(flag=False):
    if flag:
        late = 1
    return late


def endless():
    return endless()


def needs(a, b):
    return a + b


def unpacked():
    a, b = (1, 2, 3)
    return a, b


PRODUCT = "the rows of the left side and the columns of the right side must have the same length"
PROVOKED = [
    (lambda: nn.Linear(3, 5)(torch.ones(2, 7)), PRODUCT, "here they are 7 and 3 long"),
    (lambda: A @ B, PRODUCT, "here they are 5 and 7 long"),
    (lambda: A.numpy() @ B.numpy(), PRODUCT, "here they are 5 and 7 long"),
    (lambda: np.dot(np.ones((2, 3)), np.ones((5, 7))), PRODUCT, "here they are 3 and 5 long"),
    (lambda: torch.ones(2, 3) + torch.ones(2, 5), "axis 1 has length 3", "and 5 on the other"),
    (
        lambda: np.ones((2, 3)) + np.ones((5, 3)),
        "axis −2 (counted from the end) has length 2",
        "and 5 on the other",
    ),
    (lambda: torch.ones(12).reshape(5, 7), "the product of the new sizes must be 12"),
    (lambda: np.ones(12).reshape(5, 7), "the product of the new sizes must be 12"),
    (lambda: A.sum(dim=3), "there are 3 axes, numbered 0 to 2 or −3 to −1"),
    (lambda: A.numpy().sum(axis=3), "there are 3 axes, numbered 0 to 2 or −3 to −1"),
    (lambda: A[2], "there are 2 entries, so the last index is 1"),
    (lambda: A.numpy()[2], "there are 2 entries, so the last index is 1"),
    (lambda: np.ones((2, 3))[0, 0, 0], "fewer axes than indices in the brackets"),
    (lambda: torch.ones(2, 3)[0, 0, 0], "fewer axes than indices in the brackets"),
    (lambda: PAIR[5], "the list has no entry at that index"),
    (lambda: bool(torch.ones(3) > 0), "need a single one"),
    (lambda: bool(np.ones(3) > 0), "need a single one"),
    (lambda: np.exp(torch.ones(3, requires_grad=True)), "torch.exp"),
    (
        lambda: nn.Linear(3, 5)(torch.ones(2, 3, dtype=torch.float64)),
        "single and double precision are mixed",
    ),
    (lambda: A @ A.double().transpose(1, 2), "single and double precision are mixed"),
    (lambda: A.transpose(1, 2).view(-1), "Use reshape"),
    (Early, "super().__init__()"),
    (Parameterless, "super().__init__()"),
    (lambda: nothing().shape, "have a `return`?"),
    (lambda: nothing() + 1, "have a `return`?"),
    (unmade, "`never_made` is not an argument"),
    (too_late, "`late` gets its value on a line"),
    (endless, "never stops calling itself"),
    (lambda: range(3 / 2), "an integer is needed here"),
    (lambda: PAIR[HALF], "an integer is needed here"),
    (lambda: np.ones(3)[np.ones(2)], "an integer is needed here"),
    (lambda: np.ones(3).unsqueeze(0), "PyTorch's tensors may"),
    (lambda: A.astype(float), "NumPy's arrays may"),
    (lambda: PAIR.shape, "np.array or torch.tensor"),
    (lambda: Empty()(), "this Empty has no .w_q. If this is your class"),
    (lambda: needs(1), "must also pass 'b'"),
    (unpacked, "the number of names on the left"),
    (lambda: PAIR - 1, "the types list and int cannot be combined in this way"),
    (lambda: PAIR + 1, "the types list and int cannot be combined in this way"),
    (lambda: len(HALF), "Are two arguments swapped?"),
    (lambda: list(7), "use range(n)"),
    (lambda: range(np.ones((2, 3))), "an array is given where an integer is needed"),
    (
        lambda: np.repeat(4, np.ones((2, 3), dtype=int)),
        "an array is given where an integer is needed",
    ),
    (
        lambda: np.zeros((2, 3)).__setitem__(0, np.ones(5)),
        "room for an array of shape (3), but",
        "has shape (5)",
    ),
    (
        lambda: torch.zeros(2, 3).__setitem__(0, torch.ones(5)),
        "room for length 3, but",
        "has length 5",
    ),
    (lambda: [a + b for a, b in PAIR], "a single int cannot be unpacked"),
    (lambda: [a + b for a, b in [None]], "have a `return`?"),
    (lambda: PAIR * [3], "To put two of them together"),
    (lambda: (1, 2)[5], "the tuple has no entry at that index"),
    (lambda: "word"[7], "the string has no character at that index"),
    (lambda: COUNTS["b"], "the dict has no such key"),
    (lambda: COUNTS[1:2], "a dict cannot be sliced"),
    (lambda: PAIR * HALF, "a whole number of times"),
    (lambda: PAIR * np.float64(HALF), "np.array"),
    (lambda: {}.get(PAIR), "a list can change, so it cannot be in a set"),
    (lambda: np.tile(A.numpy(), 2, axis=0), "has no argument `axis`"),
    (
        lambda: np.max(A, axis=-1, keepdims=True),
        "dim instead of axis, and keepdim instead of keepdims",
    ),
    (lambda: torch.exp(np.ones(3)), "a PyTorch function was given a NumPy array"),
    (lambda: math.exp(np.ones(3)), "the functions in math take one number"),
    (lambda: A.numpy().transpose(1, 2), "swapaxes(1, 2)"),
    (lambda: np.zeros(2, 3), "in their own brackets"),
    (lambda: A.numpy().sum(-2, -1), "in their own brackets"),
    (lambda: A.numpy().view(3, 5, 7), "more arguments than it takes"),
    (lambda: needs(1, 2, 3), "more arguments than it takes"),
    (lambda: 10 ** -np.arange(1, 3), "Are brackets missing"),
    (lambda: A[torch.ones(3, 5, dtype=torch.bool)], "does not broadcast a mask"),
    (lambda: nn.Module()(A), "Is def forward indented"),
    (lambda: A - A.max(dim=-1), "amax"),
    (lambda: A @ nn.Linear(5, 7), "call a layer"),
    (lambda: (1, 2).append(3), "a tuple cannot change"),
    (lambda: {"params": []}.grad, 'a dict that holds its parameters in a list, group["params"]'),
    (lambda: (A, A).shape, "this is a tuple"),
    (written_in_place, "Make a new one with masked_fill or where"),
    (lambda: np.ones(3).__iadd__(np.ones((2, 3))), "Make a new array with x = x + y"),
    (
        lambda: torch.cat([torch.ones(2, 3), torch.ones(2, 5)]),
        "must have the same length",
        "they are joined along axis 0",
    ),
    (
        lambda: np.concatenate([np.ones((2, 3)), np.ones((2, 5))]),
        "the same length along all others",
    ),
    (lambda: A[0].gather(1, A[0]), "takes the logits first"),
    (lambda: A.gather(1, torch.ones(2, 3, dtype=torch.long)), "takes the logits first"),
    (lambda: F.cross_entropy(A, torch.ones(2, 3, dtype=torch.long)), "axis 1 to be the vocabulary"),
    (
        lambda: F.cross_entropy(A.flatten(0, 1), torch.ones(2, 3, dtype=torch.long)),
        "6 long for the logits and 2 for the ids",
    ),
    (lambda: PAIR.norm(), "a list, which has no .norm"),
    (lambda: nn.utils.clip_grad_norm_([PAIR], 1.0), "If the list contains lists, join those first"),
    (lambda: torch.exp([A, A]), "where one tensor is needed"),
    (lambda: COUNTS.a, 'd["key"]'),
    (lambda: torch.square(nothing()), "have a `return`?"),
    (lambda: torch.ones(2, dtype=torch.long).softmax(0), "where floats are needed"),
    (lambda: torch.stack([torch.ones(2), torch.ones(3)]), "parts of the same shape"),
    (lambda: torch.stack([]), "the list is empty"),
    (lambda: torch.cat([]), "the list is empty"),
    (
        lambda: torch.einsum("ij,jk->ik", A[0], A[0]),
        "the letter j stands for two different lengths, 5 and 3",
    ),
    (lambda: torch.ones(3, 5) @ torch.ones(7, 5), "have length 5, so the right side", "with .T"),
    (lambda: PAIR < HALF, "a list cannot be compared with a number"),
    (lambda: A.narrow(1, 1, 3), "narrow takes a start and a length"),
    (lambda: HALF.sum(), "a single number, which has no .sum"),
    (lambda: A(B), "this is not a function"),
    (lambda: nothing.mean(), "a function, which has no .mean"),
    (lambda: A.numpy().sum(axis=(0, -3)), "one axis is given twice"),
    (lambda: A.sum(dim=(0, -3)), "one axis is given twice"),
    (lambda: torch.tensor([[1, 2], [3]]), "but these differ. Are all rows padded?"),
    (lambda: HALF[0], "this has type float"),
    (lambda: math.square(2), "there is no square in math"),
    (lambda: range(PAIR), "a list is given where an integer is needed"),
    (lambda: A[torch.ones(2)], "contains floats"),
    (lambda: PAIR.index(7), "and the right list?"),
    (lambda: list(nn.Linear(2, 3)), "a value of type Linear cannot be looped over"),
    (lambda: print(*len), "a value of type builtin_function_or_method cannot be looped over"),
    (lambda: torch.full((2, 0.5), 1), "such as (3, 5)"),
    (lambda: torch.ones(2, dtype=torch.long).mul_(0.5), "Convert that tensor with .float() first"),
    (lambda: torch.ones(2, dtype=torch.long).mean(), "Convert them to floats with .float()"),
    (lambda: np.quantile(0.95, np.array([2.0])), "and then a fraction from 0 to 1"),
    (lambda: A.item(), "where a single number is needed"),
    (lambda: A.sum().backward(), "no gradient can flow back from this tensor"),
    (lambda: 1 / 0, "the divisor is 0"),
    (lambda: 2.5 ^ 2, "^ does not mean a power in Python. Write ** instead"),
    (lambda: np.ones(3) ^ 2, "^ does not mean a power in Python. Write ** instead"),
    (lambda: math.sqrt(-1), "there is no finite result"),
]


def text_of(error):
    return f"{type(error).__name__}: {error}"


def error_of(function):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        function()
    return caught.value


@pytest.mark.parametrize("number", range(len(PROVOKED)))
def test_an_error_is_explained(number):
    function, *expected = PROVOKED[number]
    error = error_of(function)
    said = find_reason(text_of(error), read_line(*find_learner_frame(error)))
    assert said
    for part in expected:
        assert part in said


def test_every_reason_is_provoked():
    texts = [text_of(error_of(f)) for f, *_ in PROVOKED]
    unused = [p for p, _ in REASONS if not any(re.search(p, text) for text in texts)]
    assert unused == []


def test_an_unknown_error_has_no_reason():
    assert find_reason("the moon is full") is None


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "n = x.shape[3]",
            "the shape has one entry for each axis, counted from 0, so none at that index",
        ),
        (
            "n = x.size()[3]",
            "the shape has one entry for each axis, counted from 0, so none at that index",
        ),
        ("pair = pieces[i], pieces[i + 1]", "the tuple has no entry at that index"),
        ("", "the tuple has no entry at that index"),
    ],
)
def test_a_tuple_is_called_a_shape_only_where_the_line_reads_one(line, words):
    assert words in find_reason("IndexError: tuple index out of range", line)


@pytest.mark.parametrize(
    "line",
    [
        "raise KeyError('no such word')",
        'if True: raise KeyError("no such word")',
        "if counts[word] < 0: raise KeyError(word)",
    ],
)
def test_a_learners_own_error_is_not_explained(line):
    assert find_reason("KeyError: 'no such word'", line) is None


@pytest.mark.parametrize(
    "line",
    ["seen.remove(2)", "seen.remove(ids[0])", 'd.pop("a")', 'del d["a"]', "if x: del d[a]", ""],
)
def test_get_is_advised_only_where_a_key_is_looked_up(line):
    assert find_reason("KeyError: 'a'", line) is None


@pytest.mark.parametrize("line", ["return counts[a]", "counts[a] += 1", "x = tables[0][a]"])
def test_get_is_advised_where_a_key_is_looked_up(line):
    assert "get(key, 0)" in find_reason("KeyError: 'a'", line)


def test_a_slice_of_a_dict_is_explained_in_all_versions_of_python():
    said = find_reason("KeyError: slice(1, 2, None)", "first = counts[1:2]")
    assert "a dict cannot be sliced" in said


def test_a_linear_layer_is_not_told_to_transpose():
    said = find_reason(text_of(error_of(lambda: nn.Linear(7, 5)(torch.ones(2, 5)))), "y = layer(x)")
    assert ".T" not in said
    assert "For a Linear" in said


def test_a_weight_is_said_to_be_stored_by_rows():
    text = text_of(error_of(lambda: torch.ones(3, 5) @ torch.ones(7, 5)))
    assert "(out, in)" in find_reason(text, "logits = states @ weight")


def takes_none(x, d_k=None):
    return x * d_k


def spoils_its_argument(x, d_k=None):
    d_k = nothing()
    return x * d_k


def calls_another(x, d_k=None):
    return takes_none(x)


def calls_who_spoils_it(x):
    return spoils_what_an_inner_function_reads(x, 2)


def spoils_what_an_inner_function_reads(x, d_k):
    d_k = nothing()

    def later():
        return d_k

    return x * d_k, later


def calls_a_method(x):
    return Scaled().scale(x, None)


class Scaled:
    def scale(self, x, d_k):
        self.d_k = d_k
        return x * d_k


def sorts_in_place(x, d_k=None):
    y = x.sort()
    return y[0]


def uses_no_gradient(x):
    return (x.grad**2).sum()


def uses_no_gradient_by_name(x):
    gradient = x.grad
    return gradient.norm()


def gets_what_is_not_there(x):
    return x.get("b") + 1


def never_returns(x):
    made = nothing()
    return made + x.get("a", 0)


@pytest.mark.parametrize(
    ("function", "given", "words"),
    [
        (
            takes_none,
            (3,),
            "the argument `d_k` is None here, because not every case passes a value",
        ),
        (
            takes_none,
            (3, None),
            "the argument `d_k` is None here, because not every case passes a value",
        ),
        (calls_another, (3,), "the argument `d_k` is None here, because the caller does not pass"),
        (spoils_its_argument, (3, 2), "have a `return`?"),
        (sorts_in_place, ([3, 1],), "append, sort and the like"),
        (uses_no_gradient, (A,), "In the last case, leave that parameter out"),
        (uses_no_gradient_by_name, (A,), "In the last case, leave that parameter out"),
        (gets_what_is_not_there, (COUNTS,), "get(key, 0) returns 0"),
        (never_returns, (COUNTS,), "have a `return`?"),
        (calls_who_spoils_it, (3,), "have a `return`?"),
        (calls_a_method, (3,), "the argument `d_k` is None here, because the caller does not pass"),
    ],
)
def test_a_none_that_was_given_lacks_no_return(function, given, words):
    watched = RecordedAnswer(CallRecorder().watch(function))
    assert words in describe_error(error_of(lambda: watched(*given)), watched)


@pytest.mark.parametrize(
    ("name", "value", "stored"),
    [
        ("STORE_DEREF", "a", ["a"]),
        ("STORE_FAST_STORE_FAST", ("a", "b"), ["a", "b"]),
        ("STORE_FAST_LOAD_FAST", ("a", "b"), ["a"]),
        ("STORE_ATTR", "a", []),
        ("LOAD_FAST", "a", []),
    ],
)
def test_the_steps_of_all_pythons_that_set_a_variable_are_known(monkeypatch, name, value, stored):
    step = SimpleNamespace(opname=name, argval=value)
    monkeypatch.setattr(dis, "get_instructions", lambda code: [step])
    assert list(find_stored_names(nothing.__code__)) == stored


def test_the_line_is_the_learners_own_and_says_what_stands_in_it():
    source = (
        "def answer(x, rows):\n    half = x.size(1) // 2\n    return x.reshape(rows, half, 7)\n"
    )
    linecache.cache["<cell>"] = (len(source), None, source.splitlines(keepends=True), "<cell>")
    place = {}
    exec(compile(source, "<cell>", "exec"), place)
    frame, line = find_learner_frame(error_of(lambda: place["answer"](torch.ones(3, 5), 11)))
    assert line == 3
    said = describe_line(frame, line)
    assert said.startswith(
        "\n  on line 3 of your code: return x.reshape(rows, half, 7)\n  at that point, "
    )
    assert said.endswith("x has shape (3, 5), rows is 11, half is 2")


def test_sizes_are_few_and_of_local_names_alone():
    known = {f"x{n}": torch.ones(n, 2) for n in range(9)} | {
        "f": len,
        "text": "word",
        "ids": [1, 2],
    }
    said = list(
        describe_sizes("x.f = f(text, ids, gone, " + ", ".join(f"x{n}" for n in range(9)), known)
    )
    assert said[0] == "ids has length 2"
    assert said[1] == "x0 has shape (0, 2)"
    assert len(said) == MAX_NAMES


@pytest.mark.parametrize("value", [len, "word", {1: 2}, nn.Linear(2, 3), object()])
def test_what_has_no_shape_is_not_told(value):
    assert describe_size(value) == ""
