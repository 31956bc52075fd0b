"""What lesson 15's study counts; nothing here asserts a time."""

import pytest
import torch

from transformer_lab.data.pair import Pair
from transformer_lab.studies.common import store
from transformer_lab.studies.common.grid import hash_setting
from transformer_lab.studies.common.memory import (
    available_bytes,
    measure_peak_bytes,
    run_in_fresh_process,
)
from transformer_lab.studies.residual_and_norm import gradient_reach
from transformer_lab.studies.what_attention_costs import attention_ways, gpu, layer_kinds

pytestmark = pytest.mark.slow


def test_a_round_measures_everything_by_turns():
    found = attention_ways.time_by_length([7, 13])
    assert set(found) == {*attention_ways.WAYS, "projections", "scores and mix"}
    assert all(len(seconds) == 2 and min(seconds) > 0 for seconds in found.values())


def test_what_does_not_fit_is_left_out(monkeypatch):
    monkeypatch.setattr(
        attention_ways, "available_bytes", lambda device: 4 * attention_ways.count_matrix_bytes(7)
    )
    found = attention_ways.time_by_length([7, 13])
    missing = {name for name, seconds in found.items() if seconds[1] is None}
    assert missing == {"explicit", "scores and mix"}
    assert attention_ways.measure_peak("explicit", 13) is None


@pytest.mark.parametrize("name", layer_kinds.LAYERS)
def test_layers_keep_the_shape_and_see_the_past(name):
    torch.manual_seed(0)
    layer = layer_kinds.LAYERS[name](attention_ways.HEADS * 3)
    x = torch.randn(2, 11, attention_ways.HEADS * 3, requires_grad=True)
    out = layer(x)
    assert out.shape == x.shape
    out[0, 5].sum().backward()
    seen = x.grad[0].abs().sum(-1) > 0
    reads_everything = name == "attention"
    assert seen[6:].any().item() == reads_everything
    past = 3 if name == "convolution" else 6
    assert seen[6 - past : 6].all()
    assert not seen[: 6 - past].any()
    layer_kinds.run_training_step(layer, x.detach())


def test_reach_is_the_jacobians_norm():
    torch.manual_seed(0)
    layer = layer_kinds.LSTMLayer(gradient_reach.REACH_WIDTH).double()
    torch.manual_seed(1)
    found = gradient_reach.measure_reach(layer, 5)
    torch.manual_seed(1)
    x = torch.randn(1, 5, gradient_reach.REACH_WIDTH, dtype=torch.float64)
    jacobian = torch.autograd.functional.jacobian(lambda x: layer(x)[0, -1], x)[:, 0, 0]
    assert found == pytest.approx(jacobian.norm().item() / gradient_reach.REACH_WIDTH**0.5)


@pytest.mark.parametrize("n", [2, 3, 5, 17, 64])
def test_stacks_are_as_deep_as_it_takes_and_no_deeper(n):
    for layers, name in (
        (gradient_reach.count_plain_layers(n), "convolutions, as many as it takes"),
        (gradient_reach.count_dilated_layers(n), "dilated convolutions"),
    ):
        stack = gradient_reach.make_stacks(n)[name].double()
        assert sum(isinstance(part, layer_kinds.Convolution) for part in stack) == layers
        past = sum(part.past for part in stack if isinstance(part, layer_kinds.Convolution))
        last = next(
            part.past for part in reversed(stack) if isinstance(part, layer_kinds.Convolution)
        )
        assert past >= n - 1 > past - last


@pytest.mark.thorough(
    caught_by=["test_a_round_measures_everything_by_turns", "test_there_is_memory"]
)
def test_a_fresh_process_counts_what_a_call_asks_for():
    # The first call of a process also reads code, some 7 MiB of it; more or less with the load.
    asked = 256 * 2**20
    for found in (run_in_fresh_process(ask, asked), run_in_fresh_process(ask, 2 * asked)):
        assert asked <= found + 2**20 <= asked + 24 * 2**20
        asked *= 2


def ask(size):
    return measure_peak_bytes(lambda: torch.ones(size, dtype=torch.uint8))


def test_there_is_memory():
    assert available_bytes() > 2**20


def test_the_exact_ways_are_exact_and_the_others_are_not():
    for found in attention_ways.measure_errors(seed=3).values():
        assert max(found[way] for way in ("explicit", "fused", "chunked")) < 2e-6
        assert min(found[way] for way in ("local", "linear")) > 0.1


def test_what_a_gpu_took_is_stored_for_every_setting():
    stored = store.load(gpu.NAME)["runs"]
    assert [run["setting"] for run in stored] == gpu.GRID
    assert [run["hash"] for run in stored] == [hash_setting(setting) for setting in gpu.GRID]


def test_a_layer_and_translators_are_measured_as_they_are_stored(monkeypatch):
    monkeypatch.setattr(gpu, "LAYER_TOKENS", 24)
    stored = store.load(gpu.NAME)["runs"]
    layer = gpu.measure_layer({"device": "cpu", "length": 12})
    assert set(layer) == set(stored[0]["result"])
    assert set(layer["milliseconds"]) == set(layer_kinds.LAYERS)
    pairs = tuple(Pair("a cat", "un chat") for _ in range(4))
    size = {"device": "cpu", "preset": "tiny", "precision": "fp32", "tokens": 20}
    found = gpu.measure_translators(size, gpu.encode_examples(pairs, "tiny"))
    assert set(found) == set(stored[-1]["result"])
    assert found["Transformer"]["times_as_long"] == 1
    assert found["LSTM"]["fastest"] >= found["LSTM"]["rate"]
