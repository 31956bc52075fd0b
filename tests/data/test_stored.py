"""Stored corpora: what is read from files is what is read from memory, and nothing torn counts."""

import hashlib
import json
import os
import random
import re
import shutil
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.data.test_corpora import assert_disjoint
from tests.data.test_splits import numbered
from tests.thorough import thorough_from
from transformer_lab.data import corpus, large, stored
from transformer_lab.data.batching import Batches, collate, encode_pairs
from transformer_lab.data.corpus import fingerprint
from transformer_lab.data.large import store_corpus
from transformer_lab.data.own_task import (
    dates,
    draw_pairs,
    numbers_in_english,
    phrasebook,
    write_pairs,
)
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.splits import number_key, source_key, split_pairs
from transformer_lab.data.stored import (
    StoredBatches,
    StoredExamples,
    store_examples,
    verify_folder,
)
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer


def is_whole(folder: Path) -> bool:
    try:
        verify_folder(folder)
    except ValueError:
        return False
    return True


def some(count=307, seed=3):
    """Pairs of 1 to 20 words, some of them repeated, with sources that differ in signs alone."""
    rng = random.Random(seed)
    names = [pair.source.split()[0] for pair in numbered(97)]
    pairs = [
        Pair(" ".join(rng.choices(names, k=n)), " ".join(rng.choices(names, k=max(1, n - 1))))
        for n in (rng.randint(1, 20) for _ in range(count))
    ]
    repeated = rng.sample(pairs, 23)
    again = [Pair(pair.source.upper() + " !", pair.target) for pair in rng.sample(pairs, 11)]
    pairs += repeated + again
    rng.shuffle(pairs)
    return pairs


def kept(folder: Path, pairs, seed=0, held=None) -> Splits[Pair]:
    return store_corpus(folder, "these", lambda: iter(pairs), seed, lambda: held or {})


@pytest.mark.parametrize("seed", [0, 5])
def test_the_splits_are_those_of_a_corpus_in_memory(tmp_path, seed):
    pairs = some()
    splits, expected = kept(tmp_path / "a", pairs, seed), split_pairs(pairs, seed=seed)
    for name in ("train", "validation", "test"):
        assert sorted(getattr(splits, name), key=str) == sorted(getattr(expected, name), key=str)
    assert_disjoint(splits)
    order = {pair: i for i, pair in reversed(list(enumerate(pairs)))}
    assert [order[pair] for pair in splits.train] == sorted(order[pair] for pair in splits.train)


def test_a_stored_pair_is_found_by_its_place(tmp_path):
    train = kept(tmp_path / "a", some()).train
    assert list(train) == [train[i] for i in range(len(train))]
    assert train[-1] == list(train)[-1]
    assert train.sample(10) == list(train)[:: -(-len(train) // 10)]
    assert len(train.sample(10)) <= 10
    assert fingerprint(train) == fingerprint(list(train)) != fingerprint(list(train)[1:])
    with pytest.raises(IndexError):
        train[len(train)]
    with pytest.raises(TypeError, match="expected an integer"):
        train[:3]


def test_what_is_left_out_is_counted_by_its_reason(tmp_path, capsys):
    good = numbered(50)
    bad = [
        Pair(" ".join(["word"] * 251), " ".join(["mot"] * 251)),
        Pair("x" * 1_001, "long"),
        Pair("one", " ".join(["dix"] * 10)),
        None,
        None,
    ]
    splits = kept(tmp_path / "a", [*good, *bad, good[7], Pair("one", " ".join(["neuf"] * 9))])
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == (
        "these: 57 pairs; left out: 2 bad, 1 repeated, 2 with more than 250 words or a word of "
        "more than 1000 letters, 1 with more than 9 times as many words on one side as on the other"
    )
    assert len(splits.train) + len(splits.validation) + len(splits.test) == 51
    kept(tmp_path / "a", [])  # it is not read again, and says the same
    assert capsys.readouterr().err.splitlines() == [said]


def test_what_a_corpus_holds_out_itself_is_not_trained_on(tmp_path):
    pairs = numbered(60)
    test = [pairs[5], Pair("new", "neuf")]
    held = {"validation": [Pair(pairs[3].source.upper() + ".", "…")], "test": test}
    splits = kept(tmp_path / "a", pairs, held=held)
    assert (splits.validation, splits.test) == (held["validation"], test)
    assert list(splits.train) == [pair for i, pair in enumerate(pairs) if i not in (3, 5)]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_pairs_are_an_error_and_leave_nothing_that_counts(tmp_path, count):
    with pytest.raises(
        ValueError, match=f"corpus 'these' has {count} distinct source sentences?; expected"
    ):
        kept(tmp_path / "a", numbered(50)[:count])
    assert not is_whole(tmp_path / "a")


def test_a_large_corpus_of_mostly_bad_lines_is_refused_too(tmp_path):
    lines = [*numbered(10), *[None] * 11]
    with pytest.raises(ValueError, match="these: 11 of 21 lines are bad; expected at most half"):
        store_corpus(tmp_path / "a", "these", lambda: iter(lines), 0)
    assert not is_whole(tmp_path / "a")


def test_a_corpus_that_changes_while_it_is_read_is_an_error(tmp_path):
    readings = iter([numbered(50), numbered(49)])
    with pytest.raises(
        ValueError, match="changed while it was being read; .* found 50 pairs, and the second 49"
    ):
        store_corpus(tmp_path / "a", "these", lambda: iter(next(readings)), 0)


TOKENIZERS = {
    "words": lambda pairs: (
        WordTokenizer.train(p.source for p in pairs),
        WordTokenizer.train(p.target for p in pairs),
    ),
    "pieces": lambda pairs: (
        (BPETokenizer.train([p.source + " " + p.target for p in pairs], 307),) * 2
    ),
}


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("at_once", [7, 10_000])
def test_the_ids_are_those_of_the_pairs_in_memory(tmp_path, monkeypatch, kind, at_once):
    monkeypatch.setattr(stored, "CHUNK_SIZE", at_once)
    train = kept(tmp_path / "a", some()).train
    tokenizers = TOKENIZERS[kind](train)
    expected = [e for e in encode_pairs(list(train), *tokenizers, 1, 2) if e.length <= 13]
    examples = store_examples(train, tokenizers, 13, 1, 2)
    assert 0 < len(examples) == len(expected) < len(train)
    assert list(examples) == expected
    assert examples[-1] == expected[-1]
    assert examples.about["left_out"] == len(train) - len(expected)


def test_ids_too_large_for_two_bytes_have_four(tmp_path):
    class Far(WordTokenizer):
        vocab_size = (1 << 16) + 4

        def encode(self, text):
            return [(1 << 16) + i for i in super().encode(text)]

    train = kept(tmp_path / "a", numbered(50)).train
    tokenizers = (Far(["sleeps"]), WordTokenizer(["dort"]))
    examples = store_examples(train, tokenizers, 13, 1, 2)
    assert examples[0].source == [(1 << 16) + 3, (1 << 16) + 4, 2]


@pytest.fixture
def examples(tmp_path) -> StoredExamples:
    train = kept(tmp_path / "a", some()).train
    return store_examples(train, TOKENIZERS["words"](train), 23, 1, 2)


def test_one_pool_has_the_batches_of_memory(examples):
    ours, plain = StoredBatches(examples, 101, 5), Batches(list(examples), 101, 5)
    assert ours.epoch(1) == plain.epoch(1)
    for mine, other in zip(*(b.iterate_from(0, 3) for b in (ours, plain)), strict=False):
        assert mine[:2] == other[:2]
        assert torch.equal(mine[2].source, other[2].source)
        assert torch.equal(mine[2].target, other[2].target)
        if mine[0] == 2:
            break


def test_pools_hold_every_example_once_and_go_on_from_any_place(examples, monkeypatch):
    monkeypatch.setattr(stored, "POOL", 50)
    batches = StoredBatches(examples, 101, 5)
    pools = list(batches.pools(0))
    assert len(pools) == -(-len(examples) // 50) > 3
    assert [place % len(pools) for pool in pools for g in pool for place in {s.place for s in g}]
    first = [{sketch.place % len(pools) for group in pool for sketch in group} for pool in pools]
    assert all(len(rest) == 1 for rest in first)  # every n-th of the corpus
    assert {rest.pop() for rest in first} == set(range(len(pools)))
    key = lambda example: (example.source, example.target)  # noqa: E731
    for epoch in (0, 1):
        seen = [e for group in batches.epoch(epoch) for e in group]
        assert sorted(seen, key=key) == sorted(examples, key=key)
    assert batches.epoch(0) != batches.epoch(1)
    assert batches.epoch(0) != StoredBatches(examples, 101, 6).epoch(0)
    size = len(batches.epoch(0))
    whole = list(islice(batches.iterate_from(0, 0), size + 3))
    rest = list(islice(batches.iterate_from(0, size - 2), 5))
    assert [(e, i) for e, i, _ in rest] == [(0, size - 2), (0, size - 1), (1, 0), (1, 1), (1, 2)]
    for (_, _, one), (_, _, other) in zip(whole[size - 2 :], rest, strict=True):
        assert torch.equal(one.source, other.source)
    group = batches.epoch(0)[2]
    assert torch.equal(collate(group).target, whole[2][2].target)


def changed_byte(path: Path) -> None:
    """The size stays, and so does the time of the last change."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def made_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


DAMAGES = {
    "a bit": changed_byte,
    "shorter": lambda path: path.write_bytes(path.read_bytes()[:-8]),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0" * 8),
    "empty": lambda path: path.write_bytes(b""),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "gone": Path.unlink,
    "a folder": made_a_folder,
}


def all_made(folder: Path):
    """Everything that is read of a stored corpus."""
    splits = kept(folder, some())
    (pieces, _) = corpus.train_shared_bpe(splits.train, 307)
    examples = store_examples(splits.train, (pieces, pieces), 23, 1, 2)
    parts = [list(part) for part in (splits.train, splits.validation, splits.test, examples)]
    return [*parts, pieces.to_json(), fingerprint(splits.train)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> tuple[Path, list]:
    folder = tmp_path_factory.mktemp("whole") / "a"
    return folder, all_made(folder)


def folders(root: Path) -> list[Path]:
    return [root, *sorted(root.glob("*-*"))]


@pytest.mark.parametrize("damage", thorough_from(3, DAMAGES.values()), ids=DAMAGES)
def test_what_is_not_as_it_was_made_is_prepared_again_and_said_to_be(
    whole, tmp_path, damage, capsys
):
    tried = 0
    for inner in ("", "pieces-*", "ids-*"):
        (original,) = whole[0].glob(inner) if inner else (whole[0],)
        for name in sorted(path.name for path in original.iterdir() if path.is_file()):
            shutil.copytree(whole[0], tmp_path / "a", dirs_exist_ok=True)
            path = tmp_path / "a" / original.relative_to(whole[0]) / name
            damage(path)
            with pytest.raises(ValueError, match=re.escape(str(path.parent))) as error:
                verify_folder(path.parent)
            capsys.readouterr()
            assert all_made(tmp_path / "a") == whole[1]
            said = [
                line for line in capsys.readouterr().err.splitlines() if "prepared again" in line
            ]
            was_finished = path.parent.joinpath("about.json") != path or damage != Path.unlink
            assert said == [f"{error.value}. The folder is being prepared again."] * was_finished
            assert all_made(tmp_path / "a") == whole[1]
            assert "prepared again" not in capsys.readouterr().err
            shutil.rmtree(tmp_path / "a")
            tried += 1
    assert tried == 10


FORGED = {
    "many pairs": {"pairs": 10**15},
    "no pairs": {"pairs": 0},
    "fewer than none": {"pairs": -1},
    "a number of pairs in words": {"pairs": "many"},
    "another type of ids": {"dtype": "float64"},
    "a type that there is not": {"dtype": "uint17"},
    "no sums": {"sha256": {}},
    "no files": {"sha256": None},
    "another's file": {"sha256": {"../../secret": "0" * 64}},
    "another count of what was left out": {"said": "300 pairs"},
}
ODD = {
    "no object": b"[1, 2]",
    "a number": b"7",
    "null": b"null",
    "without anything": b"{}",
    "very deep": b"[" * 100_000,
    "not UTF-8": b"\xff\xfe{}",
    "infinite": b'{"seal": 1e999, "pairs": Infinity}',
    "a number too long to read": b'{"pairs": ' + b"9" * 5_000 + b"}",
}


def odd_descriptions(about: bytes) -> dict[str, bytes]:
    forged = {name: {**json.loads(about), **change} for name, change in FORGED.items()}
    return ODD | {name: json.dumps(content).encode() for name, content in forged.items()}


@pytest.mark.parametrize("name", [*FORGED, *ODD])
def test_no_description_is_believed_that_was_not_written_here(whole, tmp_path, name, capsys):
    for number, original in enumerate(folders(whole[0])):
        shutil.copytree(whole[0], tmp_path / "a", dirs_exist_ok=True)
        folder = folders(tmp_path / "a")[number]
        about = folder / "about.json"
        about.write_bytes(odd_descriptions((original / "about.json").read_bytes())[name])
        said = f"{about} is damaged, or was written by another program"
        with pytest.raises(ValueError, match=re.escape(said)):
            verify_folder(folder)
        assert all_made(tmp_path / "a") == whole[1]
        assert (
            f"{said}. The folder is being prepared again." in capsys.readouterr().err.splitlines()
        )
        shutil.rmtree(tmp_path / "a")


def test_what_was_stored_for_another_corpus_is_not_taken(whole, tmp_path):
    kept(tmp_path / "b", numbered(50))
    shutil.copytree(whole[0], tmp_path / "a")
    for path in (tmp_path / "b").iterdir():
        shutil.copy(path, tmp_path / "a")
    assert all_made(tmp_path / "a") == whole[1]


def test_what_changes_while_it_is_used_is_one_clear_error(examples):
    path = examples.folder / "ids.bin"
    path.write_bytes(path.read_bytes()[:-2])
    with pytest.raises(ValueError, match=r"ids.bin has become shorter since it was opened"):
        list(examples)
    path.unlink()
    with pytest.raises(ValueError, match=r"ids.bin is gone. Was the cache cleared"):
        examples.read([0])


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "pairs.tsv").write_bytes(b"half a li")
    (folder / "ids-0").mkdir()
    splits = kept(folder, numbered(50))
    assert len(splits.train) == 46
    assert not (folder / "ids-0").exists()


def test_others_wait_until_a_corpus_is_made(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    reading = []

    def read():
        reading.append(1)
        return iter(some(1_009))

    def store(_):
        return list(store_corpus(tmp_path / "a", "these", read, 0).train)

    with ThreadPoolExecutor(5) as pool:
        found = list(pool.map(store, range(5)))
    assert all(pairs == found[0] for pairs in found)
    assert len(reading) == 2  # one of them read it, twice


def test_the_order_of_sources_is_that_of_their_whole_sums():
    sources = [f"{name} sleeps" for name in ("a", "b", "c", "d", "e", "f", "g")]
    by_place = sorted(sources, key=lambda source: large.hash_key(source_key(source), 3))
    splits = split_pairs([Pair(s, "…") for s in sources], seed=3, validation=2, test=3)
    assert sorted(by_place[:3]) == sorted(p.source for p in splits.test)
    assert sorted(by_place[3:5]) == sorted(p.source for p in splits.validation)


@pytest.mark.parametrize("task", [numbers_in_english, dates, phrasebook])
def test_digits_count_in_a_stored_corpus_as_they_do_in_memory(tmp_path, task):
    pairs = draw_pairs(task, 400)
    splits, expected = kept(tmp_path / "a", pairs), split_pairs(pairs)
    for name in ("train", "validation", "test"):
        assert sorted(getattr(splits, name), key=str) == sorted(getattr(expected, name), key=str)
    (tmp_path / "folder").mkdir()
    write_pairs(tmp_path / "folder" / "train.tsv", pairs)
    folder = corpus.find_corpus(str(tmp_path / "folder")).splits()
    assert sorted(folder.test, key=str) == sorted(expected.test, key=str)


def test_a_number_of_a_test_set_is_not_trained_on_where_digits_count(tmp_path):
    pairs = draw_pairs(numbers_in_english, 400)
    held = {"test": pairs[:30], "validation": pairs[30:60]}
    splits = kept(tmp_path / "a", pairs, held=held)
    tested = {number_key(pair.source) for pair in pairs[:60]}
    assert [p for p in pairs if number_key(p.source) not in tested] == list(splits.train)


def test_a_description_says_what_it_describes(examples):
    about = json.loads((examples.folder / "about.json").read_text())
    assert about["pairs"] == len(examples)
    ids = (examples.folder / "ids.bin").read_bytes()
    assert len(ids) == 2 * sum(map(sum, np.asarray(examples.lengths).tolist()))
    assert about["sha256"]["ids.bin"] == hashlib.sha256(ids).hexdigest()
