"""The stacks of lesson 05's study: what each kind is, and that the whole grid is stored."""

import pytest
import torch

from transformer_lab.studies.common import store
from transformer_lab.studies.residual_and_norm import stacks
from transformer_lab.studies.residual_and_norm.stacks import (
    GRID,
    KINDS,
    LENGTH,
    NAME,
    SMALL,
    draw_letters,
    make_stack,
)

NORMED = ("post-norm", "no residual, norm after")


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(NAME)
    assert [run["setting"] for run in stored["runs"]] == [*SMALL, *GRID]
    assert stored["command"] == f"python -m {stacks.__name__}"


@pytest.mark.parametrize("kind", KINDS)
def test_with_silent_sublayers_only_a_residual_lets_the_input_through(kind):
    model = make_stack(kind, 3, seed=7)
    for layer in model.stack.layers:
        for last in (layer.self_attention.w_o, layer.feed_forward.w_2):
            torch.nn.init.zeros_(last.weight)
    x = model.embed(draw_letters(5, torch.Generator().manual_seed(0)))
    layers = torch.nn.Sequential(*model.stack.layers)
    with torch.no_grad():
        y = layers(x)
    if kind in ("pre-norm", "no norm"):
        torch.testing.assert_close(y, x)
    elif kind == "post-norm":
        torch.testing.assert_close(
            y, torch.nn.functional.layer_norm(x, x.shape[-1:]), atol=1e-4, rtol=0
        )
    else:
        assert y.abs().max() == 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_out_of_a_layer_is_normalised_where_the_norm_is_last(kind):
    model = make_stack(kind, 2, seed=7)
    x = model.embed(draw_letters(5, torch.Generator().manual_seed(0)))
    with torch.no_grad():
        y = model.stack.layers[0](10 * x)
    is_normal = (y.mean(-1).abs().max() < 1e-5) and (
        (y.std(-1, correction=0) - 1).abs().max() < 1e-3
    )
    assert bool(is_normal) == (kind in NORMED)


def test_kinds_that_begin_with_the_same_seed_have_the_same_projections():
    first, *others = (make_stack(kind, 2, seed=3).state_dict() for kind in KINDS)
    for other in others:
        for name in first.keys() & other.keys():
            torch.testing.assert_close(first[name], other[name], rtol=0, atol=0)


def test_only_a_stack_with_a_norm_has_norms():
    def norms(kind):
        modules = make_stack(kind, 5, seed=0).modules()
        return sum(isinstance(m, torch.nn.LayerNorm) for m in modules)

    assert {kind: norms(kind) for kind in KINDS} == {
        "post-norm": 10,
        "pre-norm": 11,
        "no residual, norm after": 10,
        "no residual, norm before": 11,
        "no norm": 0,
        "neither": 0,
    }


def test_a_run_whose_loss_is_no_number_says_so(monkeypatch):
    monkeypatch.setattr(
        stacks, "draw_letters", lambda count, generator: torch.zeros(count, LENGTH).long() + 1
    )
    setting = {"kind": "neither", "layers": 2, "rate": float("inf"), "steps": 7, "seed": 0}
    found = stacks.run(setting)
    assert found["stopped"] == 2
    assert found["losses"] == []
