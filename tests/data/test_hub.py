"""Datasets of Hugging Face's library: from folders here, as from its hub, which is not asked."""

import json
import sys

import pytest

from tests.data.test_splits import numbered
from transformer_lab.data import hub
from transformer_lab.data.corpora import user_cache_folder
from transformer_lab.data.corpus import find_corpus, language_names
from transformer_lab.data.hub import open_hub_dataset, possible_names
from transformer_lab.data.pair import Pair
from transformer_lab.data.splits import split_pairs
from transformer_lab.data.stored import StoredPairs
from transformer_lab.runs.card import data_rows

datasets = pytest.importorskip("datasets", exc_type=ImportError)

PAIRS = [*numbered(97), Pair("tab\there", "deux\nlignes")]
CLEAN = [*PAIRS[:-1], Pair("tab here", "deux lignes")]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def rows(pairs):
    features = datasets.Features({"translation": datasets.Translation(languages=("en", "fr"))})
    sides = [{"en": pair.source, "fr": pair.target} for pair in pairs]
    return datasets.Dataset.from_dict({"translation": sides}, features=features)


def saved(folder, **parts):
    datasets.DatasetDict({name: rows(pairs) for name, pairs in parts.items()}).save_to_disk(folder)
    return str(folder)


@pytest.mark.parametrize("form", ["dictionary", "one", "JSON", "stream"])
def test_a_folder_is_split_as_a_file_of_its_pairs_is(tmp_path, form):
    folder, kind = tmp_path / "set", ""
    if form == "one":
        rows(PAIRS).save_to_disk(folder)
    elif form == "dictionary":
        saved(folder, train=PAIRS)
    else:
        folder.mkdir()
        lines = (json.dumps({"en": p.source, "fr": p.target}) for p in PAIRS)
        (folder / "train.jsonl").write_text("\n".join(lines))
        kind = "stream:" if form == "stream" else "hf:"
    corpus = find_corpus(f"{kind}{folder}@en,fr")
    splits = corpus.splits(seed=3)
    assert isinstance(splits.train, StoredPairs)
    expected = split_pairs(CLEAN, seed=3)
    for name in ("train", "validation", "test"):
        assert sorted(getattr(splits, name), key=str) == sorted(getattr(expected, name), key=str)
    again = corpus.splits(seed=3)
    assert (list(again.train), again.test) == (list(splits.train), splits.test)
    assert len(list((user_cache_folder() / "corpora").iterdir())) == 1  # it was stored once
    assert language_names(corpus.name) == ("English", "French")


def test_a_translation_may_be_a_plain_structure(tmp_path):
    sides = [{"en": pair.source, "fr": pair.target} for pair in PAIRS]
    datasets.Dataset.from_dict({"translation": sides}).save_to_disk(tmp_path / "set")
    load_splits_and_versions = open_hub_dataset(str(tmp_path / "set"), ("en", "fr"))
    assert list(load_splits_and_versions.pairs("train", skip_bad=False)) == CLEAN


def test_the_other_direction_is_another_corpus(tmp_path):
    folder = saved(tmp_path / "set", train=PAIRS)
    splits = find_corpus(f"{folder}@fr,en").splits()
    turned = {Pair(pair.target, pair.source) for pair in CLEAN}
    assert turned == {*splits.train, *splits.validation, *splits.test}


def test_validation_and_test_of_a_dataset_are_its_own(tmp_path):
    folder = saved(tmp_path / "set", train=PAIRS, validation=CLEAN[:3], test=CLEAN[3:8])
    splits = find_corpus(f"{folder}@en,fr").splits(seed=3)
    assert (splits.validation, splits.test) == (CLEAN[:3], CLEAN[3:8])
    assert list(splits.train) == CLEAN[8:]


@pytest.mark.parametrize("part", ["validation", "test"])
def test_a_part_that_is_there_is_its_own_and_the_other_is_held_out(tmp_path, part, capsys):
    folder = saved(tmp_path / "set", **{"train": PAIRS, part: CLEAN[3:8]})
    splits = find_corpus(f"{folder}@en,fr").splits(seed=3)
    other = splits.test if part == "validation" else splits.validation
    assert getattr(splits, part) == CLEAN[3:8]
    assert len(other) == (len(CLEAN) - 5) // 20
    assert {*splits.train, *other, *CLEAN[3:8]} == set(CLEAN)
    assert len(splits.train) + len(other) + 5 == len(CLEAN)
    assert "left out: 5 from held-out sources" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["validation", "test"])
def test_another_part_is_another_corpus(tmp_path, part):
    parts = {"train": PAIRS, "validation": CLEAN[:3], "test": CLEAN[3:8]}
    folder = saved(tmp_path / "set", **parts)
    find_corpus(f"{folder}@en,fr").splits()
    saved(tmp_path / "set", **parts | {part: CLEAN[10:12]})
    splits = find_corpus(f"{folder}@en,fr").splits()
    assert getattr(splits, part) == CLEAN[10:12]
    assert not {*splits.validation, *splits.test} & set(splits.train)


def test_bad_rows_of_a_part_of_its_own_are_counted(tmp_path):
    folder = saved(tmp_path / "set", train=PAIRS, test=[*CLEAN[3:5], Pair("one", "")])
    splits = find_corpus(f"{folder}@en,fr").splits(skip_bad=True)
    assert splits.test == CLEAN[3:5]
    assert "1 bad in validation and test" in splits.said


def test_a_folder_is_found_again_from_elsewhere_and_its_place_is_not_told(tmp_path, monkeypatch):
    saved(tmp_path / "set", train=PAIRS)
    monkeypatch.chdir(tmp_path)
    corpus = find_corpus("hf:set@en,fr")
    assert corpus.name == f"hf:{tmp_path / 'set'}@en,fr"
    assert data_rows({"corpus": corpus.name}, corpus.splits())[0] == ("corpus", "`hf:set@en,fr`")


@pytest.mark.parametrize("kind", ["hf", "stream"])
def test_a_folder_whose_files_have_changed_is_another_corpus(tmp_path, kind):
    folder = tmp_path / "set"  # the cache lies beside it
    folder.mkdir()
    for pairs in (numbered(97)[:60], numbered(97)[37:]):
        lines = (json.dumps({"en": p.source, "fr": p.target}) for p in pairs)
        (folder / "train.jsonl").write_text("\n".join(lines))
        splits = find_corpus(f"{kind}:{folder}@en,fr").splits()
        assert {*splits.train, *splits.validation, *splits.test} == set(pairs)


def test_a_row_without_a_side_is_named_or_left_out(tmp_path, capsys):
    folder = saved(tmp_path / "set", train=[*PAIRS, Pair("one", "")])
    corpus = find_corpus(f"{folder}@en,fr")
    with pytest.raises(ValueError, match="train, row 99: one side is empty"):
        corpus.splits()
    splits = corpus.splits(skip_bad=True)
    assert len(splits.train) + len(splits.validation) + len(splits.test) == len(PAIRS)
    assert "left out: 1 bad" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            None,
            r"no columns were chosen for .*, which has 'en' and 'fr'. Choose one with --source",
        ),
        (("en", "de"), r"column is 'de'; expected 'en' or 'fr'"),
    ],
)
def test_languages_that_are_not_there_are_an_error(tmp_path, columns, message):
    folder = saved(tmp_path / "set", train=PAIRS)
    with pytest.raises(ValueError, match=message):
        open_hub_dataset(folder, columns)


def test_a_dataset_without_train_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"has no split 'train', only 'test'"):
        open_hub_dataset(saved(tmp_path / "set", test=PAIRS), ("en", "fr"))


def test_what_cannot_be_had_is_one_error(monkeypatch):
    asked = []

    def nowhere(*parts):
        asked.append(parts)
        raise ConnectionError("no network")

    monkeypatch.setattr(datasets, "load_dataset_builder", nowhere)
    message = "wmt14/de-en cannot be opened with the package `datasets`: no network"
    with pytest.raises(ValueError, match=message):
        find_corpus("stream:wmt14/de-en@en,de").splits()
    assert asked == [("wmt14", "de-en")]  # without a network there is nothing else to try


def test_a_name_that_is_none_is_read_the_other_way(monkeypatch):
    """The hub is not asked: what it would answer is put in its place."""
    known, asked = [("me/az-to",)], []

    def on_the_hub(*parts):
        asked.append(parts)
        if parts not in known:
            raise FileNotFoundError(f"no dataset {parts}")
        return "a builder"

    monkeypatch.setattr(datasets, "load_dataset_builder", on_the_hub)
    assert hub.load_builder(possible_names("me/az-to")) == "a builder"
    assert asked == [("me", "az-to"), ("me/az-to",)]
    with pytest.raises(FileNotFoundError, match=r"no dataset \('you', 'az-to'\)"):
        hub.load_builder(possible_names("you/az-to"))


def test_without_the_library_it_is_said_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(
        ValueError, match=r'Install it with pip install "transformer-lab\[corpora\]"'
    ):
        find_corpus("hf:wmt14/de-en@en,de").splits()


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("wmt14/de-en", ("wmt14", "de-en")),
        ("opus_books/en-fr", ("opus_books", "en-fr")),
        ("kde4/en_fr", ("kde4", "en_fr")),
        ("ted_hrlr/az_to_en", ("ted_hrlr", "az_to_en")),
        ("iwslt2017/iwslt2017-de-en", ("iwslt2017", "iwslt2017-de-en")),
        ("Helsinki-NLP/opus_books/en-fr", ("Helsinki-NLP/opus_books", "en-fr")),
        ("Helsinki-NLP/opus-100", ("Helsinki-NLP/opus-100",)),
        ("owner/zh-en-small", ("owner/zh-en-small",)),
        ("me/my-data", ("me/my-data",)),
        ("wmt/wmt14", ("wmt/wmt14",)),
        ("opus_books", ("opus_books",)),
    ],
)
def test_a_name_on_the_hub_has_a_configuration_or_none(name, parts):
    assert possible_names(name)[0] == parts
    assert len(possible_names(name)) == (2 if name.count("/") == 1 else 1)


def test_rows_are_read_in_groups(tmp_path, monkeypatch):
    folder = saved(tmp_path / "set", train=PAIRS)
    monkeypatch.setattr(hub, "ROWS_AT_ONCE", 7)
    assert list(open_hub_dataset(folder, ("en", "fr")).pairs("train", skip_bad=False)) == CLEAN
