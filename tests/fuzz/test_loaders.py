"""What is read from a disk: right, or one ValueError that names the file or the field."""

import math
from dataclasses import fields

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.cases import cases, jsons, odd, texts, tried
from transformer_lab.config import TrainingConfig, TransformerConfig
from transformer_lab.data.text_files import read_pairs
from transformer_lab.storage.tensors import load_tensors, save_tensors

line = st.binary(max_size=12) | st.tuples(texts, st.sampled_from("\t \n"), texts).map(
    lambda parts: "".join(parts).encode()
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@cases(0.044)
@given(st.lists(line, max_size=6), st.sampled_from([b"\n", b"\r\n"]))
def test_a_corpus_is_read_or_its_bad_line_is_named(folder, lines, end):
    path = folder / "pairs.tsv"
    path.write_bytes(end.join(lines))
    kept, said = tried(read_pairs, path, skip_bad=True)
    if said:
        assert str(path) in said
        with pytest.raises(ValueError, match="pairs.tsv"):
            read_pairs(path)
        return
    assert all(pair.source.strip() and pair.target.strip() for pair in kept.pairs)
    if kept.left_out:
        with pytest.raises(ValueError, match=r"pairs.tsv, line \d+: "):
            read_pairs(path)
    else:
        assert read_pairs(path) == kept


@cases(0.035)
@given(st.data())
def test_a_damaged_checkpoint_is_never_read_as_another(folder, data):
    path = folder / "some.safetensors"
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.ones(5, dtype=torch.float64)}
    save_tensors(path, tensors, {"step": 7})
    whole = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(whole) - 1))
    how = data.draw(st.sampled_from(["flip", "cut", "zero", "add"]))
    if how == "flip":
        whole[at] ^= 1 << data.draw(st.integers(0, 7))
    elif how == "cut":
        del whole[at:]
    elif how == "zero":
        whole[at:] = bytes(len(whole) - at)
    else:
        whole[at:at] = data.draw(st.binary(min_size=1, max_size=9))
    path.write_bytes(bytes(whole))
    read, said = tried(load_tensors, path)
    if said:
        assert str(path) in said
        return
    found, meta = read
    assert meta["step"] == 7  # a flip in the name of the sum itself is no damage to what it sums
    assert found.keys() == tensors.keys()
    assert all(torch.equal(found[name], tensors[name]) for name in tensors)


@cases(0.053)
@given(st.sampled_from([TransformerConfig, TrainingConfig]), st.data())
def test_a_configuration_has_its_kinds_or_names_the_field(kind, data):
    names = [f.name for f in fields(kind)]
    sizes = {"source_vocab_size": 11, "target_vocab_size": 11}
    values = {} if kind is TrainingConfig else sizes
    values |= data.draw(
        st.dictionaries(st.sampled_from([*names, "other"]), odd | jsons, max_size=2)
    )
    config, said = tried(kind.from_dict, values)
    if said:
        assert any(name in said for name in [*names, "other", "number of parameters"])
        return
    for name, value in values.items():
        kept = getattr(config, name)
        assert kept == value or (isinstance(value, float) and math.isnan(value))
    assert kind.from_dict(config.to_dict()) == config
