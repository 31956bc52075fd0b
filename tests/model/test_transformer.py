"""The whole model: leaks, teacher forcing, the cache, tying, the start, and exact counts."""

import json
import math
import resource
from typing import get_args

import numpy as np
import pytest
import torch

from tests.conftest import SOURCE_WORDS, make_model, small_config
from transformer_lab.config import Positions, TrainingConfig, TransformerConfig
from transformer_lab.hooks import Hook, use_hooks
from transformer_lab.model import Transformer
from transformer_lab.model.build import build_model, model_class
from transformer_lab.model.decoder_cache import decode_step, prefill
from transformer_lab.model.kv_cache import KVCache
from transformer_lab.model.masks import length_mask, padding_mask
from transformer_lab.model.positions import SinusoidTable
from transformer_lab.model.size import (
    COMPUTED,
    bytes_of_tables,
    check_memory,
    count_parameters,
    num_parameters,
)

POSITIONS = get_args(Positions)


@pytest.mark.parametrize("positions", POSITIONS)
def test_the_future_does_not_leak_into_the_past(positions, ids):
    model = make_model(positions=positions)
    source, target = ids
    changed = target.clone()
    changed[:, 3:] = 7
    before, after = model(source, target), model(source, changed)
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])


def test_padding_of_the_source_changes_nothing(ids):
    model = make_model()
    source, target = ids
    padded = torch.cat([source, torch.zeros(2, 4, dtype=torch.int64)], dim=1)
    torch.testing.assert_close(model(source, target), model(padded, target), rtol=1e-10, atol=1e-12)


def test_a_sentence_translates_the_same_alone_and_in_a_batch(ids):
    model = make_model()
    source, target = ids
    together = model(source, target)[1, :3]
    alone = model(source[1:, :4], target[1:, :3])[0]
    torch.testing.assert_close(together, alone, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("positions", POSITIONS)
def test_cached_steps_equal_one_parallel_pass(positions, norm, ids):
    model = make_model(positions=positions, norm=norm, d_k=6, d_v=5)
    source, target = ids
    parallel = model(source, target)
    cache = prefill(model, source, padding_mask(source, 0))
    for step in range(target.size(1)):
        before = cache
        logits, cache = decode_step(model, target[:, step], cache)
        torch.testing.assert_close(logits, parallel[:, step], rtol=1e-9, atol=1e-11)
        assert (before.length, cache.length) == (step, step + 1)


def test_cache_rows_can_be_reordered_repeated_and_dropped(ids):
    model = make_model()
    source, target = ids
    _, cache = decode_step(model, target[:, 0], prefill(model, source, padding_mask(source, 0)))
    rows = torch.tensor([1, 0, 1])
    logits, _ = decode_step(model, target[rows, 1], cache.select(rows))
    torch.testing.assert_close(logits, model(source, target)[rows, 1], rtol=1e-9, atol=1e-11)


def test_a_past_copies_only_when_its_room_is_used_up():
    past, new = KVCache(), torch.zeros(2, 3, 1, 5)
    past.append(new, new)
    rooms = []
    for _ in range(2, 132):
        past.append(new, new)
        rooms.append(past.key.buffer)
    assert [buffer.tensor.size(2) for buffer in rooms] == [64] * 63 + [128] * 64 + [256] * 3
    assert len({id(buffer) for buffer in rooms}) == 3


@pytest.mark.parametrize("first_room", [1, 2, 64])
def test_a_cache_is_a_value_however_often_its_room_is_used_up(first_room, ids, monkeypatch):
    monkeypatch.setattr("transformer_lab.model.kv_cache.INITIAL_CAPACITY", first_room)
    model = make_model()
    source, target = ids
    other = target.clone()
    other[:, 2:] = 11
    cache = prefill(model, source, padding_mask(source, 0))
    for step in range(2):
        _, cache = decode_step(model, target[:, step], cache)
    # Two continuations of the same cache, step by step beside each other: neither sees the other.
    one, two = cache, cache
    for step in range(2, 5):
        logits, one = decode_step(model, target[:, step], one)
        torch.testing.assert_close(logits, model(source, target)[:, step], rtol=1e-9, atol=1e-11)
        logits, two = decode_step(model, other[:, step], two)
        torch.testing.assert_close(logits, model(source, other)[:, step], rtol=1e-9, atol=1e-11)
    assert (cache.length, one.length, two.length) == (2, 5, 5)


@pytest.mark.parametrize("groups", [None, 2])
@pytest.mark.parametrize("watched", [False, True])
def test_rows_of_one_sentence_read_one_memory(ids, watched, groups):
    model, source = make_model(num_heads=4, d_k=6, d_v=5, num_key_value_heads=groups), ids[0]
    cache = prefill(model, source, padding_mask(source, 0)).reorder(torch.tensor([0, 0, 1, 1]))
    cores = [layer.cross_attention.core for layer in model.decoder.layers]
    with use_hooks({core: Hook() for core in cores} if watched else {}):
        _, cache = decode_step(model, torch.tensor([1, 1, 1, 1]), cache)
        _, cache = decode_step(model, torch.tensor([4, 5, 6, 7]), cache)
        within = cache.reorder(torch.tensor([1, 0, 2, 2]))
        assert within.layers[0].memory is cache.layers[0].memory
        logits, _ = decode_step(model, torch.tensor([8, 9, 8, 9]), within)
        read = torch.tensor([[1, 5, 8], [1, 4, 9], [1, 6, 8], [1, 6, 9]])
        expected = model(source[[0, 0, 1, 1]], read)[:, -1]
        torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-11)
        across = cache.select(torch.tensor([2, 0]), torch.tensor([1, 0]))
        logits, _ = decode_step(model, torch.tensor([8, 9]), across)
        expected = model(source[[1, 0]], torch.tensor([[1, 6, 8], [1, 4, 9]]))[:, -1]
        torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-11)


def test_rows_that_move_are_written_in_place(ids):
    model, source = make_model(), ids[0]
    cache = prefill(model, source, padding_mask(source, 0)).reorder(
        torch.tensor([0, 0, 0, 1, 1, 1])
    )
    for words in ([1] * 6, [4, 5, 6, 7, 8, 9]):
        _, cache = decode_step(model, torch.tensor(words), cache)
    room = cache.layers[0].words.key.buffer.tensor.data_ptr()
    moved = cache.copy_rows_(torch.tensor([1, 0, 5]), torch.tensor([0, 1, 3]))
    assert moved.layers[0].words.key.buffer.tensor.data_ptr() == room
    logits, _ = decode_step(model, torch.tensor([11] * 6), moved)
    read = torch.tensor([[1, word, 11] for word in (5, 4, 6, 9, 8, 9)])
    expected = model(source[[0, 0, 0, 1, 1, 1]], read)[:, -1]
    torch.testing.assert_close(logits, expected, rtol=1e-9, atol=1e-11)


def test_a_mask_from_lengths_serves_where_ids_cannot_tell(ids):
    model = make_model()
    source, target = ids
    by_length = model(source, target, length_mask(torch.tensor([7, 4]), 7))
    assert torch.equal(by_length, model(source, target))


def test_a_source_mask_of_numbers_is_refused(ids, as_users_run_it):
    with pytest.raises(ValueError, match="mask.dtype is torch.float64; expected torch.bool"):
        make_model()(*ids, padding_mask(ids[0], 0).double())


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("parts", [(5,), (1, 4), (2, 3), (3, 1, 1)])
def test_a_past_takes_in_any_number_of_words_at_once(parts, positions, ids):
    model = make_model(positions=positions)
    source, target = ids
    memory_mask = padding_mask(source, 0)
    whole = model(source, target)
    past = prefill(model, source, memory_mask).layers
    nothing = torch.empty(2, 0, 12).double()
    logits = [
        model.output(model.decode(words, nothing, memory_mask, past))
        for words in target.split(parts, dim=1)
    ]
    torch.testing.assert_close(torch.cat(logits, dim=1), whole, rtol=1e-9, atol=1e-11)


def test_a_decoder_without_layers_cannot_write_word_by_word(ids):
    model, source = make_model(num_decoder_layers=0), ids[0]
    with pytest.raises(
        ValueError, match="num_decoder_layers is 0; expected at least 1 for decoding"
    ):
        prefill(model, source, padding_mask(source, 0))


def test_a_kind_of_positions_that_nobody_builds_is_an_error():
    config = small_config()
    object.__setattr__(config, "positions", "spiral")  # as if only the Literal had been extended
    with pytest.raises(NotImplementedError, match="positions='spiral'"):
        Transformer(config)


@pytest.mark.parametrize(
    ("source_target", "target_output"), [(True, True), (True, False), (False, True), (False, False)]
)
def test_each_tie_shares_one_matrix_and_its_gradient(source_target, target_output, ids):
    changes = {"source_vocab_size": 29} if source_target else {}
    ties = {"tie_source_target": source_target, "tie_target_output": target_output}
    model = make_model(**changes, **ties)
    assert (model.source_embedding.weight is model.target_embedding.weight) == source_target
    assert (model.output.weight is model.target_embedding.weight) == target_output
    expected = 3 - source_target - target_output
    names = [n for n, _ in model.named_parameters() if "embedding" in n or n == "output.weight"]
    assert len(names) == expected
    model(*ids).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_the_start_is_the_papers():
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.base(1_009, 1_009))
    assert model.target_embedding.weight.std().item() == pytest.approx(512**-0.5, rel=0.01)
    layer = model.encoder.layers[0]
    bound = math.sqrt(6 / (512 + 2048))
    assert layer.feed_forward.w_1.weight.abs().max().item() == pytest.approx(bound, rel=0.01)
    assert all(p.eq(0).all() for n, p in model.named_parameters() if n.endswith("w_q.bias"))
    assert layer.add_norm_1.layer_norm.eps == 1e-5


def test_embeddings_are_scaled_by_the_root_of_d_model(ids):
    model = make_model()
    embedded = model.embed(model.source_embedding, ids[0])
    torch.testing.assert_close(
        embedded[0, 3], model.source_embedding.weight[ids[0][0, 3]] * 12**0.5
    )


def attention_count(d: int) -> int:
    return 4 * (d * d + d)


@pytest.mark.parametrize(
    ("config", "total"),
    [(TransformerConfig.base(), 63_119_496), (TransformerConfig.big(), 214_282_376)],
)
def test_parameter_counts_are_exact_and_itemised(config, total):
    # From the formulas of §3, not from the code: a layer is attention (4 projections
    # with biases), feed-forward (2), and LayerNorms (scale and shift each).
    d, ff, words = config.d_model, config.d_ff, 37_000
    feed_forward = d * ff + ff + ff * d + d
    encoder = 6 * (attention_count(d) + feed_forward + 2 * 2 * d)
    decoder = 6 * (2 * attention_count(d) + feed_forward + 3 * 2 * d)
    with torch.device("meta"):
        counts = count_parameters(Transformer(config))
    assert counts["source_embedding"] == words * d
    assert "target_embedding" not in counts  # it is the source embedding
    assert counts["encoder"] == encoder
    assert counts["decoder"] == decoder
    assert counts["output"] == words  # the bias; the matrix is the embedding's
    assert counts["total"] == words * d + encoder + decoder + words == total


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"num_heads": 5}, "num_heads is 5; expected a divisor of d_model=12"),
        ({"norm": "middle"}, "norm is 'middle'; expected 'post' or 'pre'"),
        ({"positions": "magic"}, "positions is 'magic'; expected 'sinusoidal', 'learned'"),
        ({"dropout": 1.0}, r"dropout is 1.0; expected a number in \[0, 1\)"),
        ({"dropout": "0.1"}, r"dropout is '0.1'; expected a number in \[0, 1\), not a string"),
        ({"d_model": "12"}, "d_model is '12'; expected an integer of at least 1"),
        ({"num_heads": True}, "num_heads is True; expected an integer of at least 1"),
        ({"max_length": 7.5}, "max_length is 7.5; expected an integer of at least 1"),
        ({"d_ff": 0}, "d_ff is 0; expected an integer of at least 1"),
        ({"positions": "rotary", "d_k": 5}, "d_k is 5; expected an even number"),
        (
            {"tie_source_target": True},
            "source_vocab_size is 23, but target_vocab_size is 29; expected equal sizes",
        ),
        ({"pad_id": SOURCE_WORDS}, "pad_id is 23; expected 0 to 22, because both vocabularies"),
    ],
)
def test_a_configuration_that_does_not_fit_names_the_field(changes, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        small_config(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"max_steps": 0}, "max_steps is 0; expected an integer of at least 1"),
        ({"peak_rate": -1.0}, "peak_rate is -1.0; expected a finite number above 0 or None"),
        ({"label_smoothing": 1.0}, r"label_smoothing is 1.0; expected a number in \[0, 1\)"),
        ({"patience": 0}, "patience is 0; expected None or an integer"),
        ({"precision": "fp8"}, "precision is 'fp8'; expected 'auto', 'fp32' or 'bf16'"),
    ],
)
def test_a_training_configuration_that_does_not_fit_names_the_field(
    changes, message, as_users_run_it
):
    with pytest.raises(ValueError, match=message):
        TrainingConfig(**changes)


def test_numbers_of_numpy_are_numbers(as_users_run_it):
    config = small_config(d_model=np.int64(12), dropout=np.float32(0.5))
    assert config == small_config(d_model=12, dropout=0.5)
    training = TrainingConfig(max_steps=np.int32(7), peak_rate=np.float64(0.25))
    assert json.loads(json.dumps([config.to_dict(), training.to_dict()]))[1]["max_steps"] == 7


def test_configuration_survives_json_and_names_unknown_fields():
    config = small_config(norm="pre", d_k=4)
    assert TransformerConfig.from_dict(config.to_dict()) == config
    with pytest.raises(ValueError, match="has no field 'heads'"):
        TransformerConfig.from_dict({**config.to_dict(), "heads": 3})
    with pytest.raises(ValueError, match="TransformerConfig lacks 'target_vocab_size'"):
        TransformerConfig.from_dict({"source_vocab_size": 5})


@pytest.mark.parametrize(
    "changes",
    [
        *(
            {"positions": positions, "max_length": 31, "d_k": 6}
            for positions in get_args(Positions)
        ),
        {"norm": "pre", "tie_target_output": False},
        {"tie_source_target": True, "source_vocab_size": 29},
        {"tie_source_target": True, "source_vocab_size": 29, "tie_target_output": False},
        {"d_k": 5, "d_v": 7, "num_key_value_heads": 1},
        {"recurrent_decoder": True, "num_encoder_layers": 0},
        {"recurrent_decoder": True, "num_decoder_layers": 5, "positions": "learned"},
        {"num_encoder_layers": 1, "num_decoder_layers": 0, "norm": "pre"},
    ],
)
def test_parameters_are_counted_without_building_the_model(changes):
    config = small_config(**changes)
    before = torch.get_rng_state()
    count = counted(config)
    assert torch.equal(torch.get_rng_state(), before)
    model = build_model(config)
    assert count == count_parameters(model)["total"] == sum(p.numel() for p in model.parameters())


def counted(config):
    return num_parameters(model_class(config), config)


def test_the_meta_device_is_noticed_with_pytorch_2_6_too(monkeypatch):
    """There, `get_default_device` does not know of `with torch.device(...)`, and counting never ended."""
    monkeypatch.setattr(torch, "get_default_device", lambda: torch.device("cpu"))
    model = make_model()
    assert counted(model.config) == count_parameters(model)["total"]


def test_a_part_that_somebody_adds_is_counted_too(monkeypatch):
    """The count is of the model itself: a description beside it once lacked what a new kind has."""

    class Biases(torch.nn.Module):
        def __init__(self, config):
            super().__init__()
            self.table = torch.nn.Embedding(config.num_heads, 13)

        def forward(self, query, key):
            return query, key, self.table.weight.sum(1)[:, None, None]

    before = counted(small_config())
    monkeypatch.setattr("transformer_lab.model.encoder.score_positions", Biases)
    assert counted(small_config()) == before + 2 * 3 * 13


def test_a_deep_model_is_counted_at_once(monkeypatch):
    built = []
    monkeypatch.setattr(
        "transformer_lab.model.size.count_parameters",
        lambda model: built.append(model.config) or count_parameters(model),
    )
    deep = counted(small_config(num_encoder_layers=10_000, num_decoder_layers=9_999))
    shallow = [counted(small_config(num_encoder_layers=n)) for n in (1, 2)]
    less = counted(small_config(num_encoder_layers=1, num_decoder_layers=1))
    more = counted(small_config(num_encoder_layers=1, num_decoder_layers=2))
    assert deep == less + 9_999 * (shallow[1] - shallow[0]) + 9_998 * (more - less)
    assert {c.num_encoder_layers for c in built} == {c.num_decoder_layers for c in built} == {1}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"d_model": 10**9, "num_heads": 1},
            "d_model × num_heads × d_k is .*; expected at most 1,000,0",
        ),
        ({"d_ff": 10**12}, "d_model × d_ff is"),
        ({"target_vocab_size": 10**30}, "d_model × target_vocab_size is"),
        ({"d_k": 10**12}, "d_model × num_heads × d_k is"),
        ({"d_v": 10**12}, "d_model × num_heads × d_v is"),
        ({"positions": "learned", "max_length": 10**12}, "d_model × max_length is"),
        (
            {"recurrent_decoder": True, "d_model": 10**7, "d_k": 1, "d_v": 1, "num_heads": 1},
            "d_model × d_model is",
        ),
        ({"num_encoder_layers": 10**6}, "num_encoder_layers is 1000000; expected at most 10,000"),
    ],
)
def test_sizes_that_no_machine_has_are_refused_before_memory_is_asked_for(changes, message):
    with pytest.raises(ValueError, match=message):
        small_config(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"d_model": 2 * 10**9, "d_ff": 10},
            "the model has .* parameters.*, because no more fit into memory",
        ),
        ({"d_ff": 10**9}, "the model has .* parameters.*, because no more fit into memory"),
        (
            {"source_vocab_size": 10**10},
            "the model has .* parameters.*, because no more fit into memory",
        ),
        ({"positions": "learned", "max_length": 10**10}, "the model has .* parameters"),
        (
            {"d_model": 10**7, "d_ff": 2, "max_length": 10**9, "num_encoder_layers": 0},
            "the model and its position tables need .* bytes of memory, but this machine has only",
        ),
        (
            {"d_k": 10**7, "d_model": 2, "d_ff": 2, "max_length": 10**9, "positions": "rotary"},
            "the model and its position tables need .* bytes of memory, but this machine has only",
        ),
    ],
)
@pytest.mark.parametrize("build", [Transformer, build_model])
def test_a_model_that_is_larger_than_the_memory_is_refused(build, changes, message, monkeypatch):
    monkeypatch.setattr("transformer_lab.model.size.total_memory", lambda: 10**10)
    config = small_config(**{"num_heads": 1, "d_k": 1, "d_v": 1, **changes})
    before = resident()
    with pytest.raises(ValueError, match=message) as error:
        build(config)
    assert resident() < before + 50_000_000
    assert "\n" not in str(error.value)


def resident() -> int:
    """The most memory that this process has ever had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def test_where_nothing_is_allocated_a_model_may_be_of_any_size():
    config = small_config(d_ff=10**9, num_heads=1)
    with torch.device("meta"):
        model = Transformer(config)
    assert count_parameters(model)["total"] == counted(config) > 10**11


@pytest.mark.parametrize("changes", [{}, {"positions": "rotary", "d_k": 6}, {"positions": "none"}])
def test_the_tables_of_positions_are_what_is_counted(changes):
    config = small_config(**{"max_length": 31, **changes})
    tables = [m for m in build_model(config).modules() if isinstance(m, SinusoidTable)]
    rows = 31 * tables[0].table.size(1) if tables else 0
    kept = sum(4 * table.table.numel() for table in tables)
    assert bytes_of_tables(config) == kept + COMPUTED * rows


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"d_k": 1, "d_v": 1, "d_ff": 10, "d_model": 2 * 10**9},
            "because no more fit into memory",
        ),
        ({"d_ff": 10**10, "num_encoder_layers": 97}, "at most 1,000,000,000,000"),
        (
            {"max_length": 10**12, "d_model": 10**9, "d_k": 1, "d_v": 1, "d_ff": 1},
            "no more fit into",
        ),
    ],
)
def test_a_configuration_that_is_larger_than_the_memory_is_refused(changes, message):
    with pytest.raises(ValueError, match=f"the model has .* parameters.*{message}"):
        check_memory(Transformer, small_config(num_heads=1, **changes))


@pytest.mark.parametrize(
    "same", [("pad", "eos"), ("pad", "unk"), ("bos", "eos"), ("bos", "unk"), ("eos", "unk")]
)
@pytest.mark.parametrize("number", [0, 7])
def test_special_ids_that_mean_two_things_are_refused(same, number):
    ids = {f"{name}_id": number for name in same}
    with pytest.raises(ValueError, match="are both .*; only pad_id and bos_id may be equal"):
        small_config(**{"pad_id": 17, "bos_id": 13, "eos_id": 11, "unk_id": 5, **ids})


def test_padding_may_begin_a_target_as_in_marians_models():
    assert small_config(pad_id=7, bos_id=7).bos_id == 7
    with pytest.raises(ValueError, match="pad_id and eos_id are both 7; only"):
        small_config(pad_id=7, bos_id=7, eos_id=7)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        ([[1, 2], [3, 4]], "list"),
        (None, "None"),
        (torch.tensor([1, 2]), r"torch.int64 tensor of shape \(2,\)"),
        (torch.ones(2, 5), r"torch.float32 tensor of shape \(2, 5\)"),
        (torch.ones(2, 5, dtype=torch.bool), r"torch.bool tensor of shape \(2, 5\)"),
    ],
)
@pytest.mark.parametrize("side", ["source", "target"])
def test_what_are_no_ids_is_named_on_either_side(ids, side, wrong, found, as_users_run_it):
    model, given = make_model(), dict(zip(("source", "target"), ids, strict=True))
    with pytest.raises(
        ValueError, match=f"{side} is .*{found}.*; expected an int64 or int32 tensor"
    ):
        model(**given | {side: wrong})
    memory, mask = model.encode(ids[0], padding_mask(ids[0], 0)), padding_mask(ids[0], 0)
    with pytest.raises(ValueError, match=f"{side} is .*{found}"):
        model.encode(wrong, mask) if side == "source" else model.decode(wrong, memory, mask)
