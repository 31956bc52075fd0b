"""Files of pairs: the same pairs from every form, and every fault is named."""

import gzip
import json
import sys

import pytest

from transformer_lab.data.pair import Pair
from transformer_lab.data.text_files import iterate_pairs, read_pairs

zstd = pytest.importorskip("backports.zstd", exc_type=ImportError)

PAIRS = [Pair("the cat sleeps", "le chat dort"), Pair("naïve — 猫", "ingénu"), Pair("a b", "c")]
TSV = "".join(f"{p.source}\t{p.target}\n" for p in PAIRS).encode()
ROWS = [{"source": p.source, "target": p.target} for p in PAIRS]
NAMED = [{"id": 7, "translation": {"en": p.source, "fr": p.target, "de": "…"}} for p in PAIRS]


def checked(content):
    return zstd.compress(content, options={zstd.CompressionParameter.checksum_flag: 1})


def as_lines(rows):
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("pairs.txt", TSV, None),
        ("pairs.tsv.gz", gzip.compress(TSV), None),
        ("pairs.tsv.zst", zstd.compress(TSV), None),
        ("two.tsv.gz", gzip.compress(TSV[:30]) + gzip.compress(TSV[30:]), None),
        ("two.zst", zstd.compress(TSV[:30]) + zstd.compress(TSV[30:]), None),
        ("pairs.jsonl", as_lines(ROWS), None),
        ("pairs.ndjson.gz", gzip.compress(as_lines(ROWS)), None),
        ("pairs.jsonl.zst", zstd.compress(as_lines(NAMED)), ("en", "fr")),
        ("named.jsonl", as_lines([row["translation"] for row in NAMED]), ("en", "fr")),
    ],
)
def test_every_form_has_the_same_pairs(tmp_path, name, content, columns):
    (tmp_path / name).write_bytes(content)
    asked = () if columns is None else (columns,)
    assert read_pairs(tmp_path / name, *asked).pairs == PAIRS


def test_spaces_and_line_ends_in_json_become_one_space(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(as_lines([{"source": " a\tb\nc ", "target": "d\r\n e"}]))
    assert read_pairs(tmp_path / "a.jsonl").pairs == [Pair("a b c", "d e")]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"no json", "the line is not JSON; expected one object per line"),
        (b"[" * 100_000, "the line is not JSON"),
        (
            b"3",
            "the value is of type int; expected an object with text in the fields 'source' and",
        ),
        (b'{"source": "a"}', r"there is no field 'target', only 'source'"),
        (b'{"source": "a", "target": 3}', "field 'target' is of type int; expected text"),
        (b'{"source": "a", "target": " "}', "one side is empty"),
        (
            b'{"translation": {"en": "a", "fr": "b"}}',
            r"there is no field 'source', only 'en' and 'fr'",
        ),
        (
            b'{"source": "a", "target": "\\ud800"}',
            r"one side is '\\ud800'; expected text that can be encoded in UTF-8",
        ),
    ],
)
def test_a_bad_line_of_json_is_named_or_left_out(tmp_path, line, message):
    path = tmp_path / "pairs.jsonl"
    path.write_bytes(as_lines(ROWS[:1]) + line + b"\n" + as_lines(ROWS[1:]))
    with pytest.raises(ValueError, match=f"pairs.jsonl, line 2: {message}"):
        read_pairs(path)
    assert list(iterate_pairs(path, skip_bad=True)) == [PAIRS[0], None, *PAIRS[1:]]


@pytest.mark.parametrize("kind", ["gz", "zst"])
@pytest.mark.parametrize("fault", ["cut", "changed", "another file"])
def test_a_damaged_packing_is_named(tmp_path, kind, fault):
    pack = {"gz": gzip.compress, "zst": checked}
    packed = bytearray(pack[kind](TSV * 100))
    if fault == "cut":
        packed = packed[: len(packed) // 2]
    elif fault == "changed":
        packed[len(packed) // 2] ^= 255
    path = tmp_path / f"pairs.{kind}"
    path.write_bytes(TSV if fault == "another file" else packed)
    with pytest.raises(ValueError, match=f"pairs.{kind} cannot be unpacked: "):
        read_pairs(path)


def test_without_the_library_a_zst_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "backports.zstd", None)
    monkeypatch.delattr(sys.modules["backports"], "zstd")
    (tmp_path / "a.zst").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r'Install it with pip install "transformer-lab\[corpora\]"'
    ):
        read_pairs(tmp_path / "a.zst")
