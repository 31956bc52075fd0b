"""A folder of a model that somebody made on purpose: right, or one ValueError in one line."""

import json
import math
import resource
import shutil
import struct
from dataclasses import fields

import pytest
import torch

from transformer_lab.config import TransformerConfig
from transformer_lab.data.sentence_pieces import SentencePieceTokenizer
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer, tokenizer_from_json
from transformer_lab.model import Transformer
from transformer_lab.storage.files import expand_path
from transformer_lab.storage.tensors import CheckpointError
from transformer_lab.training.state import State
from transformer_lab.translator import Translator

VALUES = [None, -1, 0, "x", "", 10**6, 10**9, 10**12, 10**30, [1], {}, math.inf, 0.5, True]
FIELDS = [field.name for field in fields(TransformerConfig)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a small model, whose description names no sums that a change would spoil."""
    folder = tmp_path_factory.mktemp("made") / "model"
    torch.manual_seed(0)
    source = BPETokenizer.train(["the cat sees"] * 3, 269)
    target = WordTokenizer([f"word{i}" for i in range(31)])
    config = TransformerConfig(
        source_vocab_size=source.vocab_size,
        target_vocab_size=target.vocab_size,
        tie_source_target=False,
        d_model=6,
        d_ff=7,
        num_heads=3,
        num_encoder_layers=1,
        num_decoder_layers=2,
        max_length=37,
    )
    Translator(Transformer(config), source, target).save(folder)
    path = folder / "config.json"
    described = json.loads(path.read_text())
    del described["sha256"]
    path.write_text(json.dumps(described))
    return folder


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "copy")


def resident():
    """The most memory that this process has ever had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def loads_or_says_why(folder):
    """Whether a folder loads; if not, its error has been looked at."""
    before, said = resident(), None
    try:
        Translator.load(folder, device="cpu")
    except ValueError as error:
        said = str(error)
    assert said is None or ("\n" not in said and len(said) < 800)
    assert said is None or resident() < before + 60_000_000
    return said is None


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_of_the_configuration_that_is_not_the_files_is_one_error(folder, name):
    path = folder / "config.json"
    described = json.loads(path.read_text())
    own = described["model"][name]
    for value in VALUES:
        described["model"][name] = value
        path.write_text(json.dumps(described))
        if loads_or_says_why(folder):
            config = Translator.load(folder, device="cpu").model.config
            assert getattr(config, name) == value
            assert type(getattr(config, name)) is type(own) or value is None or own is None
    del described["model"][name]
    path.write_text(json.dumps(described))
    loads_or_says_why(folder)


@pytest.mark.parametrize("name", ["tie_source_target", "tie_target_output", "recurrent_decoder"])
@pytest.mark.parametrize("value", [None, 1, 0, "no", [], math.nan])
def test_what_is_true_or_false_is_nothing_else(name, value):
    with pytest.raises(ValueError, match=f"{name} is .*; expected True or False"):
        TransformerConfig(source_vocab_size=7, target_vocab_size=7, **{name: value})


@pytest.mark.parametrize("described", [None, 3, "x", [], [["d_model", 3]]])
def test_a_configuration_from_what_is_no_dict_is_one_error(described):
    with pytest.raises(ValueError, match="description of TransformerConfig is .*; expected a dict"):
        TransformerConfig.from_dict(described)


@pytest.mark.parametrize("name", ["format", "model", "about", "sha256"])
def test_a_part_of_the_description_of_another_kind_is_one_error(folder, name):
    path = folder / "config.json"
    described = json.loads(path.read_text())
    for value in VALUES:
        path.write_text(json.dumps({**described, name: value}))
        assert not loads_or_says_why(folder) or value == {}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        bytes(300),
        struct.pack("<Q", 2**62) + bytes(99),
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 99)
        + b'{"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4]}}',
    ],
)
def test_weights_that_are_none_are_one_error(folder, content):
    (folder / "model.safetensors").write_bytes(content)
    assert not loads_or_says_why(folder)


def test_a_home_in_a_path_is_found(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    translator = Translator.load("~/copy", device="cpu")
    translator.save("~/again")
    assert (folder.parent / "again" / "config.json").is_file()
    assert Translator.snapshots("~/again") == {}
    with pytest.raises(ValueError, match="the path '~nobody.at.all' cannot be resolved, because"):
        expand_path("~nobody.at.all")


# ---------------------------------------------------------------- tokenizers


def described(change):
    """A tokenizer of byte pairs as JSON, changed."""
    state = json.loads(BPETokenizer.train(["the cat sees"] * 3, 269).to_json())
    change(state["tokenizer"])
    return json.dumps(state)


EXPLODES = {"Regex": "(a|a)*b(a|a)*c|(a+)+$"}
SPLIT = {"type": "Split", "pattern": EXPLODES, "behavior": "Isolated", "invert": False}
REPLACE = {"type": "Replace", "pattern": EXPLODES, "content": " "}
PADDING = {
    "strategy": {"Fixed": 10**9},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "<pad>",
}
TRUNCATION = {"direction": "Right", "max_length": 1, "strategy": "LongestFirst", "stride": 0}
BAD = {
    "split": ({"pre_tokenizer": SPLIT}, "the tokenizer uses the regular expression"),
    "split in a row": (
        {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT]}},
        "the tokenizer uses the regular expression",
    ),
    "replace": ({"normalizer": REPLACE}, "the tokenizer uses the regular expression"),
    "replace in a row": (
        {"normalizer": {"type": "Sequence", "normalizers": [REPLACE]}},
        "the tokenizer uses the regular expression",
    ),
    "decoder": ({"decoder": REPLACE}, "the tokenizer uses the regular expression"),
    "padding": ({"padding": PADDING}, "uses padding, .*; set `padding` to null"),
    "truncation": ({"truncation": TRUNCATION}, "uses truncation, .*; set `truncation` to null"),
    "a model of another kind": (
        {"model": {"type": "x"}},
        "the tokenizer's description cannot be read",
    ),
    "no model": ({"model": None}, "the tokenizer's description cannot be read"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_tokenizer_that_could_not_be_trusted_is_one_error_and_no_panic(capfd, name):
    changes, message = BAD[name]
    with pytest.raises(ValueError, match=message) as error:
        tokenizer_from_json(described(lambda state: state.update(changes))).encode("a" * 60 + "!")
    assert "\n" not in str(error.value)
    assert "panicked" not in capfd.readouterr().err


def test_pieces_whose_ids_have_a_gap_are_refused():
    text = described(lambda state: state["model"]["vocab"].update({"zzz": 10**9}))
    with pytest.raises(
        ValueError, match="the pieces have ids up to 1000000000; expected each id from 0 to"
    ):
        tokenizer_from_json(text)


def test_the_tokenizer_of_the_package_is_read_as_before():
    plain = BPETokenizer.train(["the cat sees"] * 3, 269)
    again = tokenizer_from_json(plain.to_json())
    assert again.encode("a cat " * 7) == plain.encode("a cat " * 7)


@pytest.mark.parametrize(
    "state",
    [
        [],
        3,
        None,
        {},
        {"kind": "bpe"},
        {"kind": "bpe", "tokenizer": []},
        {"kind": "bpe", "tokenizer": "x"},
        {"kind": "word", "words": 3, "joined": []},
        {"kind": "word", "words": [3], "joined": []},
        {"kind": "sentencepiece", "model": 3, "vocabulary": {}},
        {"kind": "sentencepiece", "model": "AAAA", "vocabulary": []},
        {"kind": "sentencepiece", "model": "AAAA", "vocabulary": {"a": "b"}},
    ],
)
def test_a_description_of_another_kind_is_one_error(state):
    with pytest.raises(ValueError, match=".") as error:
        tokenizer_from_json(json.dumps(state))
    assert "\n" not in str(error.value)


PIECES = {"<pad>": 0, "</s>": 1, "<unk>": 2, "a": 3}


@pytest.mark.parametrize(
    ("vocabulary", "added", "message"),
    [
        ({**PIECES, "a": 10**9}, {}, r"vocabulary lacks the id 3; expected each id from 0 to 3"),
        ({**PIECES, "a": 2}, {}, r"vocabulary lacks the id 3; expected each id from 0 to 3"),
        ({**PIECES, "a": -1}, {}, r"vocabulary lacks the id 3; expected each id from 0 to 3"),
        (
            {**PIECES, "a": "3"},
            {},
            r"vocabulary has no integer id for 'a'; expected one for each piece",
        ),
        ({**PIECES, "a": None}, {}, "vocabulary has no integer id for .*; expected one"),
        ({**PIECES, "a": 3.0}, {}, "vocabulary has no integer id for .*; expected one"),
        ({"a": 0}, {}, "vocabulary lacks '.*'; expected it to contain"),
        ([], {}, "vocabulary is of type list; expected a dict from pieces to ids"),
        (PIECES, {}, "the data is not a SentencePiece model|the model has 0 pieces"),
    ],
)
@pytest.mark.parametrize("model", [b"", b"no model"])
def test_pieces_that_are_no_list_of_words_are_refused(model, vocabulary, added, message):
    pytest.importorskip("sentencepiece")
    with pytest.raises(ValueError, match=message) as error:
        SentencePieceTokenizer(model, vocabulary, added)
    assert "\n" not in str(error.value)


# ---------------------------------------------------------------- the states of a run


@pytest.mark.parametrize("name", ["cpu", "cuda"])
@pytest.mark.parametrize("kept", [torch.zeros(5056), torch.zeros((), dtype=torch.uint8)])
def test_random_numbers_of_another_kind_are_named(tmp_path, name, kept):
    weights = {"w": torch.zeros(3)}
    progress = {"step": 0, "epoch": 0, "index": 0, "tokens": 0, "worse": 0}
    progress |= {"seconds": 0.0, "best": math.inf, "history": []}
    random = {"cpu": torch.get_rng_state(), name: kept}
    state = State(progress, weights, weights, {}, None, random)
    with pytest.raises(
        CheckpointError, match=f"random/{name} is not a state of torch's random number generator"
    ):
        State.from_tensors(state.to_tensors(), {"progress": progress}, {"w": (3,)}, tmp_path)
