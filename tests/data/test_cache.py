"""The cache of corpora is listed and cleared, and nothing else goes with it."""

import json

import pytest

from tests.data.test_splits import numbered
from transformer_lab.command import main as cli
from transformer_lab.data import corpora
from transformer_lab.data.cache import clear_cache, list_cache
from transformer_lab.data.debian import Row
from transformer_lab.data.large import store_corpus
from transformer_lab.storage.lock import LOCK, lock_folder

NAMES = ("0" * 15 + "a", "0" * 15 + "b", "0" * 15 + "c")


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Two seeds of one corpus, another that was not finished, and Debian's texts."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = corpora.user_cache_folder() / "corpora"
    for seed, name in enumerate(NAMES[:2]):
        store_corpus(folder / name, "/my/pairs.tsv", lambda: iter(numbered(97)), seed)
    (folder / NAMES[2] / "ids-0").mkdir(parents=True)
    (folder / NAMES[2] / "ids-0" / "ids.bin").write_bytes(b"half")
    rows = [Row("family", pair) for pair in numbered(5)]
    corpora.write_cache_file(corpora.user_cache_folder() / "debian-fr.tsv", rows)
    return folder


def lines_of(capsys, *arguments: str) -> list[str]:
    assert cli.main(["corpora", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_list_says_what_is_there_and_how_large_it_is(cache, capsys):
    found = {one.path.name: one for one in list_cache()}
    assert set(found) == {*NAMES, "debian-fr.tsv"}
    assert [found[name].seed for name in NAMES] == [0, 1, None]
    assert [found[name].pairs for name in NAMES] == [89, 89, None]
    assert found["debian-fr.tsv"].corpus == "debian:fr"
    size = sum(path.stat().st_size for path in (cache / NAMES[0]).iterdir())
    assert found[NAMES[0]].size == size > 1_000
    assert found[NAMES[0]].corpus == "/my/pairs.tsv"
    lines = lines_of(capsys)
    assert len(lines) == 5
    assert lines[-1].endswith("To delete all of it: python -m transformer_lab corpora --clear")
    assert sum("/my/pairs.tsv" in line for line in lines) == 2
    told = json.loads(lines_of(capsys, "--json")[-1])
    assert sorted(one["size"] for one in told) == sorted(one.size for one in found.values())


def test_all_is_deleted_and_made_again_when_it_is_asked_for(cache, capsys):
    before = list(store_corpus(cache / NAMES[0], "…", lambda: iter(()), 0).train)
    assert lines_of(capsys, "--clear")[-1].startswith("Deleted: 0.0 MB in ")
    assert list_cache() == []
    assert list(cache.iterdir()) == []
    assert lines_of(capsys, "--clear") == lines_of(capsys, "--clear")  # of nothing
    again = store_corpus(cache / NAMES[0], "…", lambda: iter(numbered(97)), 0)
    assert list(again.train) == before


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        (["/my/pairs.tsv"], {NAMES[2], "debian-fr.tsv"}),
        ([NAMES[1]], {NAMES[0], NAMES[2], "debian-fr.tsv"}),
        (["debian:fr", NAMES[2]], {NAMES[0], NAMES[1]}),
    ],
)
def test_some_are_deleted_by_their_names(asked, left, capsys):
    lines_of(capsys, "--clear", *asked)
    assert {one.path.name for one in list_cache()} == left


@pytest.mark.parametrize("name", ["", "..", "/", "*", "/my", "pairs", "\x1b[2J", "../../.."])
def test_a_name_that_there_is_not_deletes_nothing(capsys, name):
    before = list_cache()
    assert cli.main(["corpora", "--clear", NAMES[0], name]) == 1
    (said,) = capsys.readouterr().err.splitlines()
    assert said.startswith(f"error: the cache has no corpus {name!r}. It contains: ")
    assert said.isprintable()
    assert list_cache() == before


def test_what_is_not_ours_stays(cache, tmp_path, capsys):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "pairs.tsv").write_text("mine")
    (cache / "notes").mkdir()
    (cache / "notes" / "thesis.txt").write_text("mine")
    (cache / ("f" * 16)).symlink_to(mine)
    (cache / ("e" * 16)).write_text("no folder")
    (cache / NAMES[2] / "link").symlink_to(mine)
    (cache.parent / "debian-de.tsv").write_text("mine")
    lines_of(capsys, "--clear")
    assert {path.name for path in cache.iterdir()} == {"notes", "f" * 16, "e" * 16}
    assert (cache / "notes" / "thesis.txt").read_text() == "mine"
    assert (mine / "pairs.tsv").read_text() == "mine"
    assert (cache.parent / "debian-de.tsv").read_text() == "mine"


def test_what_somebody_is_preparing_stays(cache, capsys):
    with lock_folder(cache / NAMES[2]):
        assert {one.path.name for one in clear_cache()} == {NAMES[0], NAMES[1], "debian-fr.tsv"}
        assert {path.name for path in (cache / NAMES[2]).iterdir()} == {LOCK, "ids-0"}
        assert lines_of(capsys, "--clear", NAMES[2])[-1].startswith("Deleted: 0.0 MB")
    assert [one.path.name for one in clear_cache()] == [NAMES[2]]


@pytest.mark.parametrize("content", [b"", b"[" * 100_000, b'{"corpus": "\\u001b[2J"}', b"\xff"])
def test_a_damaged_description_is_listed_as_such(cache, capsys, content):
    (cache / NAMES[0] / "about.json").write_bytes(content)
    (line,) = (line for line in lines_of(capsys) if NAMES[0] in line)
    assert line.endswith("(unfinished, damaged or from another version)")


def test_no_name_of_a_corpus_moves_the_terminal(cache, capsys):
    store_corpus(cache / ("d" * 16), "a\x1b[2J\nb", lambda: iter(numbered(50)), 3)
    (line,) = (line for line in lines_of(capsys) if "d" * 16 in line)
    assert line.endswith(r"a\x1b[2J\nb")


def test_what_came_through_a_pipe_is_listed_and_cleared_and_nothing_beside_it(cache):
    piped = corpora.user_cache_folder() / corpora.PIPE_FOLDER
    piped.mkdir()
    ours, other = piped / f"{'0' * 15}d.tsv", piped / "notes.tsv"
    for path in (ours, other):
        path.write_bytes(b"a\tb\n")
    (found,) = [one for one in list_cache() if one.path.parent == piped]
    assert (found.path, found.corpus, found.size) == (ours, f"piped:{ours.stem}", 4)
    assert [one.path for one in clear_cache([found.corpus])] == [ours]
    assert not ours.exists()
    assert other.exists()
