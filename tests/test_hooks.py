"""Hooks see and change the seven points of a pass, under the names of the page."""

import math
import re
from pathlib import Path
from typing import get_args

import pytest
import torch

import transformer_lab
from tests.conftest import make_model
from transformer_lab.attention.capture import capture_attention
from transformer_lab.hooks import Hook, Point, use_hooks
from transformer_lab.model.attention import AttentionCore
from transformer_lab.translator import Translator

PAGE = (Path(__file__).parents[1] / "docs" / "look_inside.md").read_text(encoding="utf-8")
INSIDE = [point for point in get_args(Point) if point != "residual"]


def attend_by_hand(query, key, value, mask, change):
    """Equation 1 of §3.2.1, with a function that is asked at each point."""
    query, key, value = change("query", query), change("key", key), change("value", value)
    scores = torch.einsum("bhqd,bhkd->bhqk", query, key) / math.sqrt(query.size(-1))
    scores = change("scores", torch.where(mask, scores, -math.inf))
    weights = change("weights", scores.exp() / scores.exp().sum(dim=-1, keepdim=True))
    return change("output", torch.einsum("bhqk,bhkd->bhqd", weights, value))


def heads(*shape, seed):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def tensors():
    query, key, value = (
        heads(2, 3, 7, 5, seed=1),
        heads(2, 3, 11, 5, seed=2),
        heads(2, 3, 11, 13, seed=3),
    )
    mask = torch.rand(2, 1, 7, 11, generator=torch.Generator().manual_seed(4)) < 0.7
    mask[..., 0] = True
    return query, key, value, mask


@pytest.mark.parametrize("point", INSIDE)
def test_a_hook_sees_its_point_and_what_it_returns_is_used(point, tensors):
    core, seen, expected = AttentionCore(), [], []
    with use_hooks({core: Hook(**{point: seen.append})}):
        same = core(*tensors)
    with use_hooks({core: Hook(**{point: lambda tensor: tensor * 0.5})}):
        changed = core(*tensors)

    def halve(at, tensor):
        if at != point:
            return tensor
        expected.append(tensor)
        return tensor * 0.5

    torch.testing.assert_close(changed, attend_by_hand(*tensors, halve))
    torch.testing.assert_close(seen, expected)
    torch.testing.assert_close(same, attend_by_hand(*tensors, lambda _, tensor: tensor))


@pytest.mark.parametrize("point", INSIDE)
@pytest.mark.parametrize("change", [lambda tensor: tensor[:, :1], lambda tensor: tensor.numpy()])
def test_a_hook_that_returns_something_else_is_named(point, change, tensors):
    core = AttentionCore()
    message = f"result of the {point} hook is .*; expected None or a tensor of shape"
    with (
        use_hooks({core: Hook(**{point: change})}),
        pytest.raises(ValueError, match=message),
    ):
        core(*tensors)


def test_a_point_takes_a_function(as_users_run_it):
    with pytest.raises(ValueError, match="residual is 3; expected a function or None"):
        Hook(residual=3)


def test_hooks_of_blocks_inside_each_other_come_one_after_the_other(tensors):
    core = AttentionCore()
    with (
        use_hooks({core: Hook(output=lambda x: x + 1)}),
        use_hooks({core: Hook(output=lambda x: x * 2)}),
    ):
        both = core(*tensors)
    torch.testing.assert_close(both, (core(*tensors) + 1) * 2)


def test_scores_that_a_hook_hides_altogether_give_weights_of_0(tensors):
    core, seen = AttentionCore(), []
    hide = Hook(scores=lambda scores: torch.full_like(scores, -math.inf), weights=seen.append)
    with use_hooks({core: hide}):
        assert torch.equal(core(*tensors), torch.zeros(2, 3, 7, 13, dtype=torch.float64))
    assert not seen[0].any()


@pytest.mark.parametrize("changes", [{}, {"positions": "rotary"}, {"num_key_value_heads": 1}])
def test_the_points_of_a_real_pass_follow_from_each_other(changes, ids):
    model, seen = make_model(**changes), {}
    points = {point: (lambda tensor, point=point: seen.update({point: tensor})) for point in INSIDE}
    with capture_attention(model, hooks={("decoder", 1): Hook(**points)}) as capture:
        model(*ids)
    assert {point: tuple(seen[point].shape) for point in INSIDE} == {
        **dict.fromkeys(("query", "key", "value", "output"), (2, 3, 5, 4)),
        **dict.fromkeys(("scores", "weights"), (2, 3, 5, 5)),
    }
    future = torch.ones(5, 5, dtype=torch.bool).triu(1)
    assert (seen["scores"][..., future] == -math.inf).all()
    for at in range(5):
        row = seen["query"][0, 2, at] @ seen["key"][0, 2, : at + 1].T / math.sqrt(4)
        torch.testing.assert_close(seen["scores"][0, 2, at, : at + 1], row)
        torch.testing.assert_close(seen["weights"][0, 2, at, : at + 1], row.softmax(dim=0))
    torch.testing.assert_close(seen["output"], seen["weights"] @ seen["value"])
    torch.testing.assert_close(
        torch.tensor(capture.decoder[1]).double(), seen["weights"], rtol=1e-6, atol=1e-7
    )


@pytest.mark.parametrize(("stack", "side"), [("encoder", "source"), ("decoder", "target")])
def test_residuals_are_what_enters_the_stack_and_what_leaves_each_layer(stack, side, ids):
    model, states, outputs = make_model(), [], []
    layers = getattr(model, stack).layers
    for layer in layers:
        layer.register_forward_hook(lambda module, given, output: outputs.append(output))
    look = Hook(residual=states.append)
    with capture_attention(model, hooks={(stack, i): look for i in (None, *range(len(layers)))}):
        model(*ids)
    embedded = model.embed(getattr(model, f"{side}_embedding"), ids[side == "target"])
    torch.testing.assert_close(states[0], getattr(model, f"{side}_positions")(embedded))
    torch.testing.assert_close(states[1:], outputs)


@pytest.mark.parametrize("layer", [None, 0, 1])
def test_an_encoder_that_gets_the_vectors_of_another_sentence_writes_its_translation(layer, ids):
    model, donor = make_model(), []
    source, target = ids[0][:1], ids[1][:1]
    other = torch.tensor([[5, 20, 9, 9, 14, 4, 17]])
    with capture_attention(model, hooks={("encoder", layer): Hook(residual=donor.append)}):
        expected = model(other, target)
    with capture_attention(model, hooks={("encoder", layer): Hook(residual=lambda _: donor[0])}):
        found = model(source, target)
    torch.testing.assert_close(found, expected)
    assert not torch.allclose(model(source, target), expected)


def test_the_readmes_lines_give_what_they_say():
    (lines,) = re.findall(r"```python\n(states = \[\]\n.*?)```", PAGE, re.DOTALL)
    translator, sentence = Translator.load(device="cpu"), "the cat sleeps"
    names = {"tl": transformer_lab, "translator": translator, "sentence": sentence}
    exec(lines, names)
    assert names["states"][0].shape == (1, 4, translator.model.config.d_model)


def test_attend_calls_the_hooks_for_each_word_and_then_for_the_whole_translation():
    translator, seen = Translator.load(device="cpu"), []
    hook = Hook(key=lambda key: seen.append(key.size(2)))
    record = translator.attend("the cat sleeps", hooks={("decoder", 0): hook})
    words = len(record.target_tokens)
    assert seen == [*range(1, words + 1), words]
    plain = translator.attend("the cat sleeps")
    assert record.written_tokens == plain.written_tokens
    quiet = Hook(output=lambda output: 0 * output)
    places = {("cross", layer): quiet for layer in range(2)}
    assert translator.attend("the cat sleeps", hooks=places).written_tokens != plain.written_tokens


@pytest.mark.parametrize(
    ("place", "hook", "message"),
    [
        (
            ("encoder", 2),
            Hook(),
            r"a key of `hooks` is \('encoder', 2\); expected \('encoder', 0\)",
        ),
        (("cross", None), Hook(), r"a key of `hooks` is \('cross', None\)"),
        (("both", 0), Hook(), "a key of `hooks` is"),
        ("encoder", Hook(), "a key of `hooks` is 'encoder'"),
        (("encoder", 0), print, "expected a Hook, such as"),
        (
            ("encoder", None),
            Hook(scores=print),
            r"there is no point 'scores' at \('encoder', None\); expected 'residual'",
        ),
        (
            ("cross", 1),
            Hook(residual=print),
            "expected 'query', 'key', 'value', 'scores', 'weights' or 'output'",
        ),
    ],
)
def test_places_that_no_hook_can_have_are_named(place, hook, message, as_users_run_it):
    with (
        pytest.raises(ValueError, match=message),
        capture_attention(make_model(), hooks={place: hook}),
    ):
        pass
