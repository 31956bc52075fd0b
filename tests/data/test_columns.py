"""Which columns are the pair: by name, by number or the first two, and the same in file and folder."""

import bz2
import csv
import gzip
import json
import lzma
import shutil
import subprocess
import sys
import threading
import zipfile
from unicodedata import normalize

import pytest

from transformer_lab.data import corpus, packed, text_files
from transformer_lab.data.corpus import find_corpus, language_names
from transformer_lab.data.folders import find_text_folder
from transformer_lab.data.pair import Pair
from transformer_lab.data.text_files import PairFile, iterate_pairs, read_pairs

zstd = pytest.importorskip("backports.zstd", exc_type=ImportError)


def word(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number + 100))


PAIRS = [Pair(f"cat {word(i)} sleeps well", f"le chat {word(i)} dort") for i in range(61)]
TURNED = [Pair(pair.target, pair.source) for pair in PAIRS]
TEXTS = [(pair.source, pair.target) for pair in PAIRS]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def table(path, rows, *header):
    lines = [header, *rows] if header else rows
    path.write_text("".join("\t".join(row) + "\n" for row in lines), encoding="utf-8")
    return path


def every_pair(splits):
    return sorted([*splits.train, *splits.validation, *splits.test], key=str)


IDS = [(f"c{i}ab", f"voice_{i}.mp3", *sides) for i, sides in enumerate(TEXTS)]
INDEX = [(str(i), *sides) for i, sides in enumerate(TEXTS)]
TATOEBA = [(str(7 * i), one, str(i), other) for i, (one, other) in enumerate(TEXTS)]
NAMED_BY = {
    "in order": (TEXTS, ("en", "fr"), ("en", "fr"), PAIRS),
    "the other way": (TEXTS, ("en", "fr"), ("fr", "en"), TURNED),
    "in other capitals": (TEXTS, ("EN", "Fr"), ("fr", "en"), TURNED),
    "Common Voice": (
        IDS,
        ("client_id", "path", "sentence", "translation"),
        ("sentence", "translation"),
        PAIRS,
    ),
    "pandas": (INDEX, ("", "en", "fr"), ("en", "fr"), PAIRS),
    "numbers": (TATOEBA, (), ("4", "2"), TURNED),
    "numbers past a header": (INDEX, ("id", "en", "fr"), ("2", "3"), PAIRS),
    "names that are numbers": (TEXTS, ("2", "1"), ("2", "1"), PAIRS),
    "none": (TEXTS, (), None, PAIRS),
    "none, with words in the header": (TEXTS, ("English sentence", "French_text"), None, PAIRS),
    "none, with a header": (TEXTS, ("Source", "Target"), None, PAIRS),
    "a country": (TEXTS, ("pt_BR", "en-US"), None, PAIRS),
}


@pytest.mark.parametrize("case", NAMED_BY.values(), ids=NAMED_BY)
@pytest.mark.parametrize("form", ["file", "folder", "packed", "csv"])
def test_the_columns_are_those_that_were_meant(tmp_path, case, form):
    rows, header, columns, expected = case
    sides = f"@{','.join(columns)}" if columns else ""
    folder = tmp_path / "set"
    folder.mkdir()
    path = table(folder / "train.tsv", rows, *header)
    name = str(folder if form == "folder" else path)
    if form == "packed":
        name = str(folder / "TRAIN.TSV.GZ")
        (folder / "TRAIN.TSV.GZ").write_bytes(gzip.compress(path.read_bytes()))
    if form == "csv":
        with (folder / "train.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, *rows] if header else rows)
        name = f"csv:{folder / 'train.csv'}"
    splits = find_corpus(name + sides).splits(3)
    assert every_pair(splits) == sorted(expected, key=str)
    assert ("the first line is a header" in splits.form) == bool(header)


REFUSED = {
    "no such name": (
        TEXTS,
        ("en", "fr"),
        ("de", "es"),
        "no column 'de' (its first line reads 'en'",
    ),
    "no header": (TEXTS, (), ("en", "fr"), "no column 'en' (its first line reads 'cat baa sleeps"),
    "one name": (TEXTS, ("en", "fr"), ("en", "de"), "no column 'de'"),
    "a name twice": (TEXTS, ("en", "en"), ("en", "fr"), "more than one column 'en'"),
    "one column twice": (TEXTS, ("en", "fr"), ("EN", "en"), "name the same column"),
    "number 0": (
        TEXTS,
        (),
        ("0", "1"),
        "train.tsv cannot be used; expected columns 1 and 2, because",
    ),
    "number 3": (TEXTS, (), ("1", "3"), "cannot be used; expected columns 1 and 2, because"),
    "one number twice": (
        TEXTS,
        (),
        ("2", "02"),
        "cannot be used; expected columns 1 and 2, because",
    ),
    "numbers first": (
        TATOEBA,
        (),
        None,
        "column 1 holds a number on every line. Did you mean columns 2 and 4?",
    ),
    "an index": (
        INDEX,
        ("", "en", "fr"),
        None,
        "columns 2 and 3? If so, use --source en --target fr",
    ),
    "ids": (
        IDS,
        (),
        None,
        "column 1 holds an id or the name of a file on every line. Did you mean",
    ),
    "an id on most lines": (
        [(str(i) if i != 17 else "x", *sides) for i, sides in enumerate(TEXTS)],
        (),
        None,
        "column 1 holds a number on 60 of 61 lines. Did you mean columns 2 and 3?",
    ),
    "a language": (
        [(a, "eng", b) for a, b in TEXTS],
        (),
        None,
        "column 2 holds 'eng' on every line",
    ),
    "nothing to pair": (
        [(str(i), "eng", a) for i, (a, _) in enumerate(TEXTS)],
        (),
        None,
        "column 1 holds a number on every line; expected a sentence and its translation",
    ),
    "an index alone": (
        [(str(i), a) for i, (a, _) in enumerate(TEXTS)],
        (),
        None,
        "column 1 holds a number on every line; expected a sentence",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("form", ["file", "folder"])
def test_columns_that_cannot_be_meant_are_named_and_nothing_is_trained(tmp_path, case, form):
    rows, header, columns, message = case
    (tmp_path / "set").mkdir()
    path = table(tmp_path / "set" / "train.tsv", rows, *header)
    sides = f"@{','.join(columns)}" if columns else ""
    with pytest.raises(ValueError, match=r"train\.tsv") as error:
        find_corpus(f"{path if form == 'file' else path.parent}{sides}").splits(0, True)
    assert message in str(error.value)


HEADERS = """eng,fra eng_Latn,fra_Latn Englisch,Deutsch translation.en,translation.fr src-en,tgt-fr
0,1 1,2 EN:,FR: en.txt,fr.txt sent_en,sent_fr column1,column2 text_eng,text_fra""".split()


@pytest.mark.parametrize("header", [*HEADERS, "Sentence (EN),Sentence (FR)"])
def test_a_header_is_known_without_names(tmp_path, header):
    path = table(tmp_path / "pairs.tsv", TEXTS, *header.split(","))
    assert read_pairs(path).pairs == PAIRS


NO_SENTENCES = {
    "URLs": lambda i: f"https://x.org/a?id={i}&b=%20",
    "Windows paths": lambda i: rf"C:\audio\{i}.wav",
    "files with spaces": lambda i: f"clip {word(i)}.mp3",
    "ids without digits": lambda i: f"sent_{word(i)}",
    "times": lambda i: f"2024-01-{i % 28 + 1:02} 12:00",
    "brackets": lambda i: f"[{i}]",
    "shares": lambda i: f"{i} %",
    "quotes": lambda i: f'"{i}"',
    "Arabic digits": lambda i: "".join(chr(0x660 + int(d)) for d in str(i)),
    "numbers or nothing": lambda i: str(i) if i % 3 else "NaN",
    "languages": lambda i: ("en", "de", "es")[i % 3],
    "yes and no": lambda i: str(i % 2 == 0),
    "nothing": lambda i: "",
}


@pytest.mark.parametrize("cell", NO_SENTENCES.values(), ids=NO_SENTENCES)
def test_a_first_column_without_sentences_is_told(tmp_path, cell):
    path = table(tmp_path / "pairs.tsv", [(cell(i), *sides) for i, sides in enumerate(TEXTS)])
    with pytest.raises(ValueError, match=r"column 1 holds .*\. Did you mean columns 2 and 3\?"):
        read_pairs(path)
    assert read_pairs(path, ("2", "3")).pairs == PAIRS


def test_numbers_that_do_not_count_upwards_may_be_translated(tmp_path):
    rows = [(str(7 * i % 61), f"{word(7 * i % 61)} times") for i in range(61)]
    assert len(read_pairs(table(tmp_path / "numbers.tsv", rows)).pairs) == 61
    with pytest.raises(
        ValueError, match="column 1 holds a number on every line.* shuffle the lines"
    ):
        read_pairs(table(tmp_path / "sorted.tsv", sorted(rows, key=lambda row: int(row[0]))))


def test_two_columns_of_short_labels_may_be_meant(tmp_path):
    rows = [(("yes", "no")[i % 2], ("oui", "non")[i % 2], "CC-BY 2.0 by Ann") for i in range(61)]
    assert len(read_pairs(table(tmp_path / "pairs.tsv", rows)).pairs) == 61


def test_a_header_without_a_name_for_the_index_is_refused(tmp_path):
    rows = [(f"row {word(i)}", *sides) for i, sides in enumerate(TEXTS)]
    path = table(tmp_path / "of_r.tsv", rows, "en", "fr")
    for columns in (None, ("en", "fr"), ("fr", "en")):
        with pytest.raises(ValueError, match="names 2 columns, but the lines below have 3.*2 --t"):
            read_pairs(path, columns)
    assert read_pairs(path, ("2", "3")).pairs == PAIRS
    with pytest.raises(
        ValueError, match=r"Did you mean columns 2 and 3\? If so, use --source 2 --tar"
    ):
        read_pairs(table(path, INDEX, "en", "fr"))


@pytest.mark.parametrize("header", [(), ("en", "fr")])
def test_a_tab_in_a_text_makes_no_other_pair(tmp_path, header):
    rows = [*TEXTS[:31], ("the cat", "and the dog", "le chat et le chien"), *TEXTS[31:]]
    path = table(tmp_path / "pairs.tsv", [(*row, "", " ") for row in rows], *header)
    with pytest.raises(
        ValueError,
        match="line has 3 columns, but other lines have 2; expected no tabs within a text",
    ):
        read_pairs(path)
    assert read_pairs(path, skip_bad=True).pairs == PAIRS


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_names_are_compared_in_one_form_of_unicode(tmp_path, form):
    there, asked = (normalize(f, "fran\u00e7ais") for f in (form, {"NFC": "NFD"}.get(form, "NFC")))
    path = table(tmp_path / "pairs.tsv", TEXTS, "\u200banglais", there)
    assert read_pairs(path, ("anglais", asked)).pairs == PAIRS
    lines = tmp_path / "pairs.jsonl"
    lines.write_text("".join(json.dumps({"anglais": a, there: b}) + "\n" for a, b in TEXTS))
    assert read_pairs(lines, ("anglais", asked)).pairs == PAIRS


def test_a_first_pair_that_looks_like_words_is_a_pair(tmp_path):
    for first in (
        ("it works", "es geht"),
        ("cat", "chat"),
        ("English", "le chat"),
        ("1", "un"),
        ("Hi.", "Da."),
    ):
        path = table(tmp_path / "pairs.tsv", [first, *TEXTS])
        assert read_pairs(path).pairs == [Pair(*first), *PAIRS]


def test_file_and_folder_have_the_same_pairs_whatever_stands_in_them(tmp_path):
    odd = [('"open quote', "a"), ('"both" b', 'c"d'), ("NA", "null"), ("None", "nan"), ("7", "1,5")]
    (tmp_path / "set").mkdir()
    path = table(tmp_path / "set" / "pairs.tsv", [*odd, *TEXTS])
    expected = sorted([*(Pair(*sides) for sides in odd), *PAIRS], key=str)
    for name in (str(path), str(path.parent), f"hf:{path.parent}", f"stream:{path.parent}"):
        assert every_pair(find_corpus(name).splits()) == expected


def test_csv_has_quotes_commas_and_line_ends_in_a_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('en;fr\n"a; ""b""\nc";d\nx;y\n"open;z\nv;w\n', encoding="utf-8")
    assert list(iterate_pairs(path, ("en", "fr"), is_csv=True, skip_bad=True)) == [
        *(Pair('a; "b" c', "d"), Pair("x", "y"), None, None),
    ]
    with pytest.raises(ValueError, match=r"a\.csv, line 5: the line is not valid CSV"):
        read_pairs(path, ("en", "fr"), is_csv=True)
    with pytest.raises(ValueError, match=r"a\.csv.*no tab.*add --csv"):
        read_pairs(path)
    with pytest.raises(ValueError, match=r"a\.csv.*no tab.*add --csv"):
        read_pairs(path, ("en", "fr"))


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_is_separated_by_what_its_rows_have_alike(tmp_path, separator):
    path = tmp_path / "a.csv"
    rows = [(f"{a}, {b}; so", f"it\tis; {a},,") for a, b in TEXTS]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=separator).writerows([("en", "fr"), *rows])
    expected = [Pair(a, b.replace("\t", " ")) for a, b in rows]
    assert read_pairs(path, ("en", "fr"), is_csv=True).pairs == expected


def test_a_comma_without_quotes_is_no_shorter_sentence(tmp_path):
    path = tmp_path / "a.csv"
    lines = [f"{a},{b}" for a, b in TEXTS]
    path.write_text("\n".join(["en,fr", *lines[:7], "Hello, you,Bonjour", *lines[7:]]))
    assert list(iterate_pairs(path, ("en", "fr"), is_csv=True, skip_bad=True)).index(None) == 7
    with pytest.raises(
        ValueError,
        match="line 9: the line has 3 columns, but earlier lines have 2; expected quotes around",
    ):
        read_pairs(path, ("en", "fr"), is_csv=True)


def test_a_table_all_of_whose_cells_have_quotes_says_so(tmp_path):
    path = table(tmp_path / "r.tsv", [('"a b"', '"c d"')], '"en"', '"fr"')
    with pytest.raises(ValueError, match="quotes enclose its texts, add --csv"):
        read_pairs(path, ("en", "fr"))
    assert read_pairs(path, ("en", "fr"), is_csv=True).pairs == [Pair("a b", "c d")]


def test_text_beside_a_dataset_is_no_table(tmp_path):
    table(tmp_path / "notes.txt", TEXTS)
    assert find_text_folder(str(tmp_path)) is not None
    (tmp_path / "train.parquet").write_bytes(b"PAR1")
    assert find_text_folder(str(tmp_path)) is None


def two_files(folder, stem="corpus", ends=("en", "fr"), packing=""):
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstd.compress}[packing]
    for place, end in enumerate(ends):
        text = "".join(f"{sides[place]}\n" for sides in TEXTS).encode()
        (folder / f"{stem}.{end}{packing}").write_bytes(pack(text))
    return folder / stem


@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
@pytest.mark.parametrize("given", ["", ".en", ".fr"])
def test_two_files_are_read_line_by_line_in_both_directions(tmp_path, packing, given):
    stem = two_files(tmp_path, packing=packing)
    name = f"{stem}{given}{packing if given else ''}"
    assert every_pair(find_corpus(f"{name}@en,fr").splits()) == sorted(PAIRS, key=str)
    assert every_pair(find_corpus(f"{name}@fr,en").splits()) == sorted(TURNED, key=str)


@pytest.mark.parametrize("packing", ["", ".gz"])
def test_what_opus_hands_out_is_read(tmp_path, packing):
    two_files(tmp_path, "Books.en-fr", packing=packing)
    path = tmp_path / "en-fr.txt.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README", "read me")
        archive.writestr("Books.en-fr.xml", "<?xml?>")
        for end in ("en", "fr"):
            archive.write(tmp_path / f"Books.en-fr.{end}{packing}", f"Books.en-fr.{end}{packing}")
    assert read_pairs(path, ("fr", "en")).pairs == TURNED
    with pytest.raises(ValueError, match="expected one table, or two text files"):
        read_pairs(path)
    with pytest.raises(ValueError, match="expected one table, or two text files"):
        read_pairs(path, ("en", "de"))


def test_a_zip_of_one_table_is_read(tmp_path):
    table(tmp_path / "fra.txt", TEXTS)
    with zipfile.ZipFile(tmp_path / "fra-eng.zip", "w") as archive:
        archive.write(tmp_path / "fra.txt", "fra.txt")
        archive.writestr("_about.txt", "about")
    assert read_pairs(tmp_path / "fra-eng.zip").pairs == PAIRS


def test_a_folder_of_two_files_has_its_own_parts(tmp_path):
    folder = tmp_path / "set"
    (folder / "dev").mkdir(parents=True)
    two_files(folder, "train")
    for end, text in (("en", "one dog\n"), ("fr", "un chien\n")):
        (folder / "dev" / f"a.{end}").write_text(text)
        (folder / f"test.{end}").write_text(text.replace("o", "u"))
    splits = find_corpus(f"{folder}@en,fr").splits()
    assert list(splits.train) == PAIRS
    assert (splits.validation, splits.test) == (
        [Pair("one dog", "un chien")],
        [Pair("une dug", "un chien")],
    )


@pytest.mark.parametrize("name", ["CORPUS.{}", "CORPUS.{}.GZ", "Corpus.{}.gz"])
def test_two_files_may_be_in_capitals(tmp_path, name):
    for place, end in enumerate(("EN", "FR")):
        text = "".join(f"{sides[place]}\n" for sides in TEXTS).encode()
        packed = gzip.compress(text) if name.lower().endswith("gz") else text
        (tmp_path / name.format(end)).write_bytes(packed)
    for given in (name.split(".")[0], name.format("EN"), name.format("FR")):
        assert read_pairs(tmp_path / given, ("fr", "en")).pairs == TURNED


ARCHIVES = {
    "one language twice": (("a.en", "b.en"), "expected one table, or two text files"),
    "two corpora": (("a.en", "b.fr"), "expected one table, or two text files"),
    "two parts": (("a.en", "a.fr", "b.en", "b.fr"), "expected one table, or two text files"),
    "capitals": (("x/A.EN", "x/A.FR"), ""),
    "Zstandard": (("a.en.zst", "a.fr.zst"), ""),
}


@pytest.mark.parametrize(("names", "message"), ARCHIVES.values(), ids=ARCHIVES)
def test_a_zip_has_the_two_sides_of_one_corpus(tmp_path, names, message):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for place, name in enumerate(names):
            text = "".join(f"{sides[place % 2]}\n" for sides in TEXTS).encode()
            archive.writestr(name, zstd.compress(text) if name.endswith(".zst") else text)
    if message:
        with pytest.raises(ValueError, match=message):
            read_pairs(tmp_path / "a.zip", ("en", "fr"))
    else:
        assert read_pairs(tmp_path / "a.zip", ("en", "fr")).pairs == PAIRS


def test_a_folder_leaves_no_table_out_without_a_word(tmp_path):
    folder = tmp_path / "set"
    (folder / "en-fr").mkdir(parents=True)
    path = table(folder / "pairs.tsv", TEXTS)
    with zipfile.ZipFile(folder / "pairs.zip", "w") as archive:
        archive.write(path, "pairs.tsv")
    path.unlink()
    assert every_pair(find_corpus(str(folder)).splits()) == sorted(PAIRS, key=str)
    path = table(folder / "en-fr" / "more.tsv", TEXTS)
    with pytest.raises(
        ValueError, match=r"/en-fr/more.tsv is in a subfolder that is not named after a split"
    ):
        find_corpus(str(folder)).splits()
    (folder / "b.json").write_text('{"en": "a", "fr": "b"}')
    with pytest.raises(
        ValueError, match=r"both more.tsv and b.json; expected only one file format"
    ):
        find_corpus(f"{folder}@en,fr").splits()


LINES = {
    "one more": ("a b\nc d\n", "e\n", "ends before line 2"),
    "one less": ("a b\n", "e\nf\n", "ends before line 2"),
    "blank on one side": ("a b\n\nc\n", "e\nf\ng\n", "line 2: one side is empty"),
    "blank on both sides": (
        "a b\n\nc\n",
        "e\n\ng\n",
        "line 2: the line is blank",
    ),
}


@pytest.mark.parametrize(("one", "other", "message"), LINES.values(), ids=LINES)
def test_two_files_that_do_not_fit_are_named(tmp_path, one, other, message):
    (tmp_path / "c.en").write_text(one)
    (tmp_path / "c.fr").write_text(other)
    with pytest.raises(ValueError, match=message):
        read_pairs(tmp_path / "c", ("en", "fr"))
    if "empty" in message:
        found = read_pairs(tmp_path / "c", ("en", "fr"), skip_bad=True)
        assert (len(found.pairs), found.left_out) == (2, 1)


def test_two_files_may_end_in_blank_lines_and_hold_tabs(tmp_path):
    (tmp_path / "c.en").write_text("a\tb\nc\n\n \n")
    (tmp_path / "c.fr").write_text("e\nf\r\n")
    assert read_pairs(tmp_path / "c", ("en", "fr")).pairs == [Pair("a b", "e"), Pair("c", "f")]


def test_a_folder_of_two_files_says_how_they_are_read(tmp_path):
    (tmp_path / "set").mkdir()
    two_files(tmp_path / "set", "train")
    for sides in ("", "@en,de"):
        with pytest.raises(
            ValueError,
            match=r"Give two suffixes, such as en and fr, with --source and .* with FOLDER@",
        ):
            find_corpus(f"{tmp_path / 'set'}{sides}").splits()
    with pytest.raises(
        ValueError,
        match=r"give their suffixes, such as en and fr, with --source and --target, or with NAME@",
    ):
        find_corpus(f"{tmp_path / 'set' / 'train'}@en,de")


def test_json_lines_may_be_called_json(tmp_path):
    path = tmp_path / "a.json"
    path.write_text("".join(json.dumps({"en": a, "fr": b}) + "\n" for a, b in TEXTS))
    assert read_pairs(path, ("en", "fr")).pairs == PAIRS


def test_one_of_two_files_says_how_both_are_read(tmp_path):
    stem = two_files(tmp_path)
    with pytest.raises(
        ValueError, match=r"give their suffixes, such as en and fr, with --source and --target"
    ):
        find_corpus(str(stem))
    with pytest.raises(ValueError, match="of a corpus, name both sides, such as en and fr, with"):
        find_corpus(f"{stem}.en").splits()


def test_a_pipe_is_read_once_and_kept(tmp_path):
    content = table(tmp_path / "a.tsv", TEXTS, "en", "fr").read_bytes()
    names = []
    for number in range(2):
        pipe = tmp_path / f"pipe{number}"
        corpus.os.mkfifo(pipe)
        threading.Thread(target=pipe.write_bytes, args=(content,)).start()
        names.append(find_corpus(f"{pipe}@fr,en").name)
    assert names[0] == names[1]
    for _ in range(2):
        assert every_pair(find_corpus(names[0]).splits()) == sorted(TURNED, key=str)


@pytest.mark.parametrize("before", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_json_lines_are_known_in_a_pipe(tmp_path, before, pack):
    lines = "".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in TEXTS)
    corpus.os.mkfifo(tmp_path / "pipe")
    write = (tmp_path / "pipe").write_bytes
    threading.Thread(target=write, args=(pack(before + lines.encode()),)).start()
    assert every_pair(find_corpus(str(tmp_path / "pipe")).splits()) == sorted(PAIRS, key=str)


def test_a_table_in_a_pipe_may_begin_with_a_brace(tmp_path):
    corpus.os.mkfifo(tmp_path / "pipe")
    content = "".join(f"{{{a}\t{{{b}\n" for a, b in TEXTS).encode()
    threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,)).start()
    assert len(every_pair(find_corpus(str(tmp_path / "pipe")).splits())) == 61


@pytest.mark.parametrize("name", ["/dev/null", "/dev/zero", "", "a\0b"])
def test_a_device_is_no_corpus(name):
    with pytest.raises(ValueError, match="expected 'world'"):
        find_corpus(name)


def test_json_in_capitals_is_read_and_names_that_are_not_there_are_told(tmp_path):
    path = tmp_path / "PAIRS.JSONL"
    path.write_text("".join(json.dumps({"en": a, "fr": b}) + "\n" for a, b in TEXTS))
    assert read_pairs(path, ("fr", "en")).pairs == TURNED
    with pytest.raises(
        ValueError,
        match=r"there is no field 'source', only 'en' and 'fr'.*--source and --target",
    ):
        read_pairs(path)
    with pytest.raises(
        ValueError,
        match=r"no readable pairs; .*Number of bad lines: 61. The first: .*there is no field 'de'",
    ):
        read_pairs(path, ("en", "de"), skip_bad=True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf_16_is_refused_as_a_whole(tmp_path, encoding):
    path = tmp_path / "pairs.tsv"
    path.write_bytes("".join(f"{a}\t{b}\n" for a, b in TEXTS).encode(encoding))
    with pytest.raises(ValueError, match="is in UTF-16; expected UTF-8.*iconv"):
        read_pairs(path, skip_bad=True)


@pytest.mark.parametrize(
    ("name", "begins", "message"),
    [
        ("a.tmx", b"", r"is a TMX file. To convert it: cat .*a.tmx \| python -c"),
        ("A.TMX.GZ", gzip.compress(b""), "is a TMX file"),
        ("a.json", b'[{"en": "a"}]', r"single JSON value.*jq -c '\.\[\]'"),
        ("a.tsv", b"a\tb\rc\td\r", r"ends its lines with \\r only.*tr '\\r' '\\n'"),
        ("a.jsonl", '{"source": "a", "target": "b"}\n'.encode("utf-16-le"), "is in UTF-16"),
        ("a.xml", b'<?xml version="1.0"?>\n<tmx/>', "is a TMX file"),
        ("a.po", b'msgid "a"', "is a PO file.*a.po > unpacked.po.*po2csv unpacked.po pairs.csv"),
        ("a.xlf", b"", "is an XLIFF file"),
        ("a.xlsx", b"PK\3\4", "is a spreadsheet. Save it as CSV"),
        ("a.parquet", b"PAR1", "Put the file into a folder, and pass the path of that folder"),
        ("a.zip", b"PK\3\4", "cannot be unpacked"),
        ("a.tar.gz", gzip.compress(bytes(257) + b"ustar"), r"a tar archive.*gzip -dc .* \| tar -x"),
        ("a.tsv.bz2", bz2.compress(b"a\tb\n"), "is a bzip2 file; expected UTF-8 text"),
        ("a.tsv.xz", lzma.compress(b"a\tb\n"), "is an xz file; expected UTF-8 text"),
        ("a.pdf", b"%PDF-1.7\n", "is a PDF file; expected UTF-8 text"),
        ("a.bin", b"\1" + bytes(97), "is a binary file; expected UTF-8 text"),
        ("a.xml", b"\xef\xbb\xbf<?xml version='1.0'?>\n<xliff version='1.2'>", "is an XLIFF file"),
        ("a.xml", b"<?xml version='1.0'?>\n<resources>", "neither TMX nor XLIFF"),
        (
            "a.txt",
            b'# x\nmsgid ""\nmsgstr ""\n',
            "is a PO file. To convert it, run `cat .*a.txt > u",
        ),
    ],
)
def test_another_form_is_refused_with_the_way_to_convert_it(tmp_path, name, begins, message):
    (tmp_path / name).write_bytes(begins)
    with pytest.raises(ValueError, match=message):
        find_corpus(str(tmp_path / name)).splits(0, True)


@pytest.mark.parametrize("packing", ["", ".gz", ".zip"])
def test_the_line_that_converts_tmx_does_so(tmp_path, packing):
    units = "".join(
        f"<tu><tuv xml:lang='en'><seg>{a}</seg></tuv><tuv xml:lang='fr'><seg>le <hi>chat</hi>"
        f"{b[7:]}</seg></tuv></tu>"
        for a, b in TEXTS
    )
    content = f"<?xml version='1.0'?><tmx><body>{units}</body></tmx>".encode()
    path = tmp_path / f"it's.tmx{packing}"
    path.write_bytes(gzip.compress(content) if packing == ".gz" else content)
    if packing == ".zip":
        if shutil.which("unzip") is None:
            pytest.skip("unzip is not installed")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("en-fr.tmx", content)
    with pytest.raises(ValueError, match="is a TMX file") as error:
        read_pairs(path)
    line = str(error.value).split("To convert it: ")[1].replace("python -c", f"{sys.executable} -c")
    subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True)
    assert read_pairs(tmp_path / "pairs.tsv").pairs == PAIRS


def test_a_line_without_end_is_bad_and_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(packed, "LONGEST_LINE", 1_009)
    monkeypatch.setattr(text_files, "LONGEST_LINE", 1_009)
    path = tmp_path / "pairs.tsv"
    rows = [TEXTS[0], ("x" * 5_003, "y"), TEXTS[1], ("x", "y" * 1_008)]
    table(path, rows)
    assert list(iterate_pairs(path, skip_bad=True)) == [PAIRS[0], None, PAIRS[1], None]


def test_numbers_of_columns_are_no_languages():
    assert language_names("/a/b.tsv@2,3") == ("source", "target")
    assert language_names("csv:/a/b.csv@EN,fr") == ("English", "French")


def test_the_identity_changes_with_any_of_the_files(tmp_path):
    stem = two_files(tmp_path)
    before = PairFile(stem, ("en", "fr")).cache_key
    (tmp_path / "corpus.fr").write_text("un\n")
    assert PairFile(stem, ("en", "fr")).cache_key != before
