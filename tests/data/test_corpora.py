"""Real parallel text: files with every fault, splits that share nothing, and apt, real and false."""

import itertools
import os
import random
import re
import shutil
import sys
from pathlib import Path

import pytest

from transformer_lab.data import corpora
from transformer_lab.data import debian as descriptions
from transformer_lab.data.corpora import (
    CorpusUnavailable,
    debian,
)
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.data.text_files import ReadResult, read_pairs

# --- files -----------------------------------------------------------------------------------


@pytest.fixture
def written(tmp_path):
    def write(content: bytes, name: str = "pairs.tsv") -> Path:
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


CAT, DOG = Pair("The cat sleeps.", "Le chat dort."), Pair("A dog barks.", "Un chien aboie.")
CAT_LINE, DOG_LINE = (f"{pair.source}\t{pair.target}".encode() for pair in (CAT, DOG))


@pytest.mark.parametrize(
    "content",
    [
        CAT_LINE + b"\n" + DOG_LINE + b"\n",
        CAT_LINE + b"\n" + DOG_LINE,
        CAT_LINE + b"\r\n" + DOG_LINE + b"\r\n",
        b"\xef\xbb\xbf" + CAT_LINE + b"\n" + DOG_LINE + b"\n",
        CAT_LINE + b"\n" + DOG_LINE + b"\n\n \r\n\n",
        CAT_LINE + b"\tsource 7\n" + b"  " + DOG_LINE + b" \n",
    ],
    ids=["plain", "no last end", "Windows", "mark", "empty at the end", "columns and spaces"],
)
def test_a_tsv_is_read(written, content):
    assert read_pairs(written(content)) == ReadResult([CAT, DOG], 0)


def test_only_a_line_feed_ends_a_line(written):
    odd = Pair("one\u2028two\x0bthree", "un\u2029deux\x85trois")
    path = written(f"{odd.source}\t{odd.target}\n".encode())
    assert read_pairs(path).pairs == [odd]


BAD_LINES = {
    b"no tab at all": "the line has only one column; expected a sentence and its translation, with a tab",
    b"source\t": "one side is empty",
    b" \ttarget": "one side is empty",
    b"": "the line is blank",
    b"caf\xe9\ttarget": "the line contains the byte 0xe9; expected UTF-8",
    b"source\tcaf\xe9": "the line contains the byte 0xe9; expected UTF-8",
}


@pytest.mark.parametrize(("bad", "fault"), BAD_LINES.items())
def test_a_bad_line_of_a_tsv_is_named_or_left_out_and_counted(written, bad, fault):
    path = written(b"\n".join([CAT_LINE, bad, DOG_LINE, bad, CAT_LINE]))
    with pytest.raises(ValueError, match=re.escape(f"{path}, line 2: {fault}")):
        read_pairs(path)
    assert read_pairs(path, skip_bad=True) == ReadResult([CAT, DOG, CAT], 2)


def test_the_faults_of_two_files_are_counted_by_kind_and_told_where_they_are(tmp_path):
    sources = [b"a cat", b"", b"a dog", b"caf\xe9", b"a cow", b"", b"the", b"one pig"]
    targets = [b"un chat", b"un", b"un ch\xe9en", b"un", b"la \xff vache", b"une", b"", b"un porc"]
    for side, lines in (("en", sources), ("fr", targets)):
        (tmp_path / f"own.{side}").write_bytes(b"\n".join(lines))
    found = read_pairs(tmp_path / "own", ("en", "fr"), skip_bad=True)
    assert (len(found.pairs), found.left_out) == (2, 6)
    places = [fault.partition(": ")[0].removeprefix(f"{tmp_path}/") for fault in found.faults]
    assert dict(zip(places, found.faults.values(), strict=True)) == {
        "own.en, line 2": 3,
        "own.fr, line 3": 3,
    }


def test_the_last_line_of_a_tsv_may_be_bad_too(written):
    path = written(CAT_LINE + b"\nsource\t\n")
    with pytest.raises(ValueError, match="line 2: one side is empty"):
        read_pairs(path)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"no tab\n"])
def test_a_file_without_pairs_is_an_error_even_when_bad_lines_are_skipped(written, content):
    path = written(content)
    with pytest.raises(ValueError, match=re.escape(f"{path} has no readable pairs")):
        read_pairs(path, skip_bad=True)


def test_a_file_whose_lines_are_mostly_bad_is_in_another_form_or_encoding(written):
    good, latin = CAT_LINE + b"\n", "café\tkäfer\n".encode("latin-1")
    message = r"11 of 21 lines are bad; .* contains the byte 0xe9; expected UTF-8.* iconv -f LATIN1"
    with pytest.raises(ValueError, match=message):
        read_pairs(written(10 * good + 11 * latin), skip_bad=True)
    assert read_pairs(written(11 * good + 11 * latin), skip_bad=True).left_out == 11


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.tsv"):
        read_pairs(tmp_path / "nowhere.tsv")


# --- what the splits must be ---------------------------------------------------------------


def sources(pairs) -> set[str]:
    return {" ".join(pair.source.casefold().split()) for pair in pairs}


def assert_disjoint(splits: Splits[Pair]) -> None:
    parts = [sources(split) for split in (splits.train, splits.validation, splits.test)]
    assert all(parts)
    for one, other in itertools.combinations(parts, 2):
        assert not one & other


# --- from lists to pairs ---------------------------------------------------------------------


def record(package: str, digest: str, language: str, body: str) -> str:
    lines = "\n".join(f" {line}" for line in body.strip("\n").split("\n"))
    return f"Package: {package}\nDescription-md5: {digest}\nDescription-{language}: t\n{lines}\n"


def pairs_of(english: str, translated: str) -> list[tuple[str, str]]:
    rows = descriptions.build_rows(
        [record("zorp", "1", "en", english)], [record("zorp", "1", "xx", translated)]
    )
    return [(row.pair.source, row.pair.target) for row in rows]


def test_wrapped_sentences_are_paired_across_line_ends():
    assert pairs_of(
        "Zorp paints small\nhouses. It knows\nmany colours.",
        "Zorp malt kleine Häuser. Es kennt\nviele Farben.",
    ) == [
        ("Zorp paints small houses.", "Zorp malt kleine Häuser."),
        ("It knows many colours.", "Es kennt viele Farben."),
    ]


def test_entries_of_a_list_lose_bullet_and_comma_and_are_paired_one_to_one():
    english = """
It can do this for you:
 - paint a small house,
 - sing a very long song
   without a pause;
.
Everything else comes later."""
    translated = """
Das kann es für euch:
 – ein kleines Haus malen ;
 –\u00a0ein sehr langes Lied ohne
   Pause singen.
.
Alles Weitere folgt später."""
    assert pairs_of(english, translated) == [
        ("It can do this for you:", "Das kann es für euch:"),
        ("paint a small house", "ein kleines Haus malen"),
        ("sing a very long song without a pause", "ein sehr langes Lied ohne Pause singen."),
        ("Everything else comes later.", "Alles Weitere folgt später."),
    ]


def test_a_paragraph_whose_sentences_do_not_match_is_kept_whole():
    assert pairs_of(
        "Zorp paints houses. It sings.\n.\nIt never sleeps.",
        "Zorp malt Häuser und singt.\n.\nEs schläft nie.",
    ) == [
        ("Zorp paints houses. It sings.", "Zorp malt Häuser und singt."),
        ("It never sleeps.", "Es schläft nie."),
    ]


def test_nothing_is_paired_where_paragraphs_do_not_match():
    assert pairs_of("It paints houses.\n.\nIt never sleeps.", "Es malt Häuser.") == []


def test_nothing_is_paired_where_a_list_does_not_match():
    assert pairs_of(
        "It has two:\n - one small house\n - two old cats\nIt never sleeps.\n.\nIt paints houses.",
        "Es hat zwei:\n - ein kleines Haus\nEs schläft nie.\n.\nEs malt Häuser.",
    ) == [("It paints houses.", "Es malt Häuser.")]


def test_text_goes_on_after_an_indented_list():
    assert pairs_of(
        "It has this:\n  - one small house\nIt never sleeps.",
        "Das hat es:\n  - ein kleines Haus\nEs schläft nie.",
    ) == [
        ("It has this:", "Das hat es:"),
        ("one small house", "ein kleines Haus"),
        ("It never sleeps.", "Es schläft nie."),
    ]


def test_lines_that_are_shown_as_they_are_stand_alone():
    assert pairs_of(
        "Ask it so:\n  paint a house\n    paint a cat\n  sing a song\nand then wait a while.",
        "Frag es so:\n  male ein Haus\n    male die Katze\n  singe ein Lied\nund warte ein wenig.",
    ) == [
        ("Ask it so:", "Frag es so:"),
        ("paint a house", "male ein Haus"),
        ("paint a cat", "male die Katze"),
        ("sing a song", "singe ein Lied"),
        ("and then wait a while.", "und warte ein wenig."),
    ]


def test_what_is_no_text_is_left_out_and_the_rest_is_composed():
    assert pairs_of(
        "Zorp paints\0 houses. It knows many colours.",
        "Zorp malt Ha\u0308user. Es kennt viele scho\u0308ne Farben.",
    ) == [("It knows many colours.", "Es kennt viele schöne Farben.")]


def test_records_are_paired_by_digest_not_by_name():
    english = [
        record("zorp", "1", "en", "It paints houses."),
        record("zorp", "2", "en", "Nothing."),
    ]
    translated = [
        record("blib", "1", "xx", "Es malt Häuser."),
        record("zorp", "3", "xx", "Nichts."),
    ]
    rows = descriptions.build_rows(["\n".join(english)], ["\n".join(translated)])
    assert rows == [("zorp", Pair("It paints houses.", "Es malt Häuser."))]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("It reads tables (e.g. Lists of names) and more. It writes.", 2),
        ("By J. Smith and others.", 1),
        ("It ends here! Does it? Yes.", 3),
        ("Version 2.0 of it. Then 3.0. The end.", 3),
        ('He said "stop." Then he left.', 2),
        ("Files such as foo.c and etc. or so.", 1),
        ("これは本です。あれは犬です。", 2),
        ("", 1),
    ],
)
def test_sentences_end_where_the_next_one_begins(text, count):
    parts = descriptions.split_sentences(text)
    assert len(parts) == count
    assert "".join("".join(parts).split()) == "".join(text.split())


def test_typography_is_made_even():
    assert pairs_of(
        "It can\u2019t paint\u00a0 houses.", "Je\u22c5n\u2019ai pas pe\u0301che\u0301 de\u00admain."
    ) == [("It can't paint houses.", "Je n'ai pas péché demain.")]


def test_lines_of_scripts_without_spaces_are_joined_without_one():
    assert pairs_of("It paints small houses.", "小さな\n家を塗ります。") == [
        ("It paints small houses.", "小さな家を塗ります。")
    ]


@pytest.mark.parametrize(
    ("english", "translated"),
    [
        ("Zorp paints small houses.", "Zorp paints small houses."),
        ("Zorp Sans Condensed Bold", "Die Zorp Sans Condensed Bold"),
        ("Two words", "Zwei Wörter"),
        ("Look at http://zorp.example for more.", "Mehr steht unter http://zorp.example dort."),
        ("now >>> *** +++ --- go on", "jetzt >>> *** +++ --- mach weiter"),
        ("It paints \ufffd small houses.", "Es malt kleine Häuser."),
        ("It paints houses and sings " * 20, "Es malt Häuser und singt gern " * 20),
    ],
    ids=["identical", "a name", "short", "address", "signs", "broken", "long"],
)
def test_what_is_no_prose_is_left_out(english, translated):
    assert pairs_of(english, translated) == []


def test_a_translation_of_unusual_length_is_left_out():
    usual = [("It paints small houses.", "Es malt kleine Häuser.")] * 3
    odd = [("It sings very long songs at night.", "Es singt."), ("It sings songs.", "Ja, " * 9)]
    english, translated = ("\n.\n".join(side) for side in zip(*usual, *odd, strict=True))
    assert pairs_of(english, translated) == usual[:1]


@pytest.mark.parametrize(
    ("name", "packages"),
    {
        "zorpnode": "zorpnode-doc libzorpnode1",
        "zorp": "zorp zorp-data libzorp2 libzorp-dev python3-zorp zorp2.4-doc libzorp5abc",
        "firefox": "firefox-esr firefox-esr-l10n-fr firefox-l10n-de",
        "task": "task-french task-german-desktop",
        "aspell": "aspell-fr aspell-de-1901",
        "fonts": "fonts-zorp fonts-blib-extra",
        "linux": "linux-image-6.1.0-9-amd64 linux-headers-amd64",
        "blib": "golang-github-blib-zorp-dev ruby-blib node-blib r-cran-blib gir1.2-blib-1.0",
    }.items(),
)
def test_packages_that_repeat_each_other_are_of_one_family(name, packages):
    assert {descriptions.family(package) for package in packages.split()} == {name}


# --- the whole way, with lists written here ---------------------------------------------------


def invented(seed: int, count: int) -> list[str]:
    """Sentences that have no word in common but the one that ends them."""
    draw = random.Random(seed)
    syllables = ["".join(s) for s in itertools.product("bdfgklmnprst", "aeiou")]
    word = lambda: "".join(draw.choices(syllables, k=4))  # noqa: E731
    return [" ".join(word() for _ in range(6)).capitalize() + "." for _ in range(count)]


BOILERPLATE = "This package holds what other packages need."
FAMILIES = 120


def lists(language: str = "fr") -> dict[str, str]:
    """A list in English and one in `language`: families of two packages with three sentences."""
    english, translated = [], []
    left, right = (iter(invented(seed, 3 * FAMILIES)) for seed in (1, 2))
    for name in ("z" + sentence.split()[0].lower() for sentence in invented(3, FAMILIES)):
        source = [next(left) for _ in range(3)]
        target = [next(right) for _ in range(3)]
        # A sentence that other families have, and one that differs from theirs in a word.
        source += [BOILERPLATE, f"This package holds the manual pages for {name}."]
        target += ["Voilà ce que cherchent tous les autres.", f"Voilà le manuel qui décrit {name}."]
        for package in (f"lib{name}2", f"{name}-doc"):
            english.append(record(package, package, "en", "\n".join(source)))
            translated.append(record(package, package, language, "\n".join(target)))
    return {"en": "\n".join(english), language: "\n".join(translated)}


APT = """#!{python}
import pathlib, re, sys
root = pathlib.Path(__file__).parent
(root / "calls").open("a").write("x")
configuration = pathlib.Path(sys.argv[sys.argv.index("-c") + 1]).read_text()
state = re.search(r'Dir::State "(.*)"', configuration).group(1)
for path in (root / "lists").iterdir():
    (pathlib.Path(state) / "lists" / path.name).write_bytes(path.read_bytes())
print((root / "complaints").read_text(), file=sys.stderr)
sys.exit(int((root / "code").read_text()))
"""


class FalseApt:
    """An apt-get that is alone on the PATH, and gives what it is told to give."""

    def __init__(self, folder: Path):
        self.folder = folder
        (folder / "lists").mkdir()
        program = folder / "apt-get"
        program.write_text(APT.format(python=sys.executable))
        program.chmod(0o755)
        self.gives({}, code=0)

    def gives(self, texts: dict[str, str], *, code: int = 0, complaints: str = "") -> None:
        (self.folder / "code").write_text(str(code))
        (self.folder / "complaints").write_text(complaints)
        for path in (self.folder / "lists").iterdir():
            path.unlink()
        for language, text in texts.items():
            name = f"mirror_dists_stable_main_i18n_Translation-{language}"
            (self.folder / "lists" / name).write_text(text, encoding="utf-8")
        release = "".join(
            f" 0 0 main/i18n/Translation-{code}.xz\n" for code in ("en", "fr", "pt_BR")
        )
        (self.folder / "lists" / "mirror_dists_stable_InRelease").write_text(release)

    @property
    def calls(self) -> int:
        path = self.folder / "calls"
        return len(path.read_text()) if path.exists() else 0


@pytest.fixture
def apt(tmp_path, monkeypatch):
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return FalseApt(folder)


def families_of(pairs, rows) -> set[str]:
    family = {row.pair: row.family for row in rows if row.pair.source != BOILERPLATE}
    return {family[pair] for pair in pairs if pair in family}


def test_descriptions_are_split_by_family(apt, tmp_path):
    apt.gives(lists())
    splits = debian("fr", cache_folder=tmp_path)
    assert_disjoint(splits)
    rows = corpora.read_cache_file(tmp_path / "debian-fr.tsv")
    assert len({row.family for row in rows}) == FAMILIES
    parts = [families_of(s, rows) for s in (splits.train, splits.validation, splits.test)]
    for one, other in itertools.combinations(parts, 2):
        assert one
        assert not one & other


def test_rows_are_all_pairs_with_their_family(apt, tmp_path):
    apt.gives(lists())
    rows = corpora.debian_rows("fr", cache_folder=tmp_path)
    assert rows == corpora.read_cache_file(tmp_path / "debian-fr.tsv")
    splits = debian("fr", cache_folder=tmp_path)
    held = {pair for part in (splits.train, splits.validation, splits.test) for pair in part}
    assert held <= {row.pair for row in rows}


def test_what_families_share_is_never_held_out(apt, tmp_path):
    apt.gives(lists())
    splits = debian("fr", cache_folder=tmp_path, validation=40, test=40)
    assert BOILERPLATE in {pair.source for pair in splits.train}
    held = [pair.source for pair in (*splits.validation, *splits.test)]
    assert held
    assert BOILERPLATE not in held
    assert not [source for source in held if "manual pages" in source], "near copies are held out"
    assert len(held) <= 80


def test_a_seed_chooses_the_families_and_a_split_can_be_repeated(apt, tmp_path):
    apt.gives(lists())
    first, again, other = (debian("fr", cache_folder=tmp_path, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert sources(first.test) != sources(other.test)


def test_the_second_call_reads_the_cache(apt, tmp_path, capsys):
    apt.gives(lists())
    first = debian("fr")
    assert re.fullmatch(r"fetching package descriptions \(fr\).*\n", capsys.readouterr().err)
    assert [path.name for path in (tmp_path / "cache/transformer_lab").iterdir()] == [
        "debian-fr.tsv"
    ]
    apt.gives({}, code=100)
    assert debian("fr") == first
    assert apt.calls == 1
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("damage", [lambda b: b[:-100], lambda b: b"", lambda b: b"\xff" + b[1:]])
def test_a_damaged_cache_is_fetched_again(apt, tmp_path, capsys, damage):
    apt.gives(lists())
    first = debian("fr", cache_folder=tmp_path)
    path = tmp_path / "debian-fr.tsv"
    path.write_bytes(damage(path.read_bytes()))
    capsys.readouterr()
    assert debian("fr", cache_folder=tmp_path) == first
    assert apt.calls == 2
    assert f"{path} is damaged" in capsys.readouterr().err


def test_a_cache_that_cannot_be_written_is_told_and_no_more(apt, tmp_path):
    apt.gives(lists())
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match=r"debian-fr\.tsv cannot be written"):
        assert debian("fr", cache_folder=tmp_path / "file").train


def test_a_file_of_somebody_elses_is_no_cache_and_stays(apt, tmp_path):
    apt.gives(lists())
    path = tmp_path / "debian-fr.tsv"
    path.write_text("mine\tà moi\n")
    with pytest.warns(
        UserWarning, match=r"cannot be written \(the file was written by another program\)"
    ):
        assert debian("fr", cache_folder=tmp_path).train
    assert path.read_text() == "mine\tà moi\n"


def test_an_interrupted_write_leaves_nothing(monkeypatch, tmp_path):
    def fail(*_: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", fail)
    with pytest.raises(OSError, match="no space"):
        corpora.write_cache_file(tmp_path / "debian-fr.tsv", [])
    assert not list(tmp_path.iterdir())


def assert_names_the_world(error: pytest.ExceptionInfo[CorpusUnavailable]) -> None:
    assert "\n" not in str(error.value)
    assert "The corpus `world` needs neither" in str(error.value)


def test_without_apt_the_error_names_the_default(apt, tmp_path):
    (apt.folder / "apt-get").unlink()
    with pytest.raises(CorpusUnavailable, match="no apt-get") as error:
        debian("fr", cache_folder=tmp_path)
    assert_names_the_world(error)


@pytest.mark.parametrize(
    ("given", "complaints"),
    [
        ({}, "E: Failed to fetch http://mirror/InRelease  Could not resolve 'mirror'\nE: Some"),
        ({"en": ""}, "E: Failed to fetch http://mirror/i18n/Translation-fr.xz  404"),
        ({"fr": ""}, "E: Failed to fetch http://mirror/i18n/Translation-en.xz  404"),
        ({"en": "", "fr": ""}, "E: Failed to fetch http://mirror/extra/i18n/Translation-fr  404"),
        ({}, ""),
    ],
    ids=["no network", "no French", "no English", "a part", "silent"],
)
@pytest.mark.parametrize("release", [True, False])
def test_a_failed_fetch_names_the_default_and_leaves_no_cache(
    apt, tmp_path, given, complaints, release
):
    apt.gives(given, code=100, complaints=complaints)
    if not release:
        (apt.folder / "lists/mirror_dists_stable_InRelease").unlink()
    with pytest.raises(CorpusUnavailable, match="apt-get could not fetch the lists") as error:
        debian("fr", cache_folder=tmp_path / "kept")
    assert_names_the_world(error)
    if complaints:
        assert "Failed to fetch" in str(error.value)
    assert not (tmp_path / "kept").exists()


def test_an_apt_that_does_not_start_or_end_names_the_default(apt, tmp_path, monkeypatch):
    (apt.folder / "apt-get").write_text("#!/nowhere/at/all\n")
    with pytest.raises(CorpusUnavailable, match="could not be started") as error:
        debian("fr", cache_folder=tmp_path)
    assert_names_the_world(error)
    (apt.folder / "apt-get").write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    monkeypatch.setattr(descriptions, "LONGEST_FETCH", 0.2)
    with pytest.raises(CorpusUnavailable, match="more than") as error:
        debian("fr", cache_folder=tmp_path)
    assert_names_the_world(error)


def test_another_mirror_may_fail(apt, tmp_path):
    apt.gives(
        lists(), code=100, complaints="E: Failed to fetch https://other/dists/x/InRelease  404"
    )
    assert debian("fr", cache_folder=tmp_path).train


def test_a_language_that_the_mirrors_do_not_have_is_an_error_that_lists_those_they_have(
    apt, tmp_path
):
    apt.gives({"en": "", "fr": ""})
    with pytest.raises(ValueError, match="language is 'tlh'; expected 'fr' or 'pt_BR', because"):
        debian("tlh", cache_folder=tmp_path)


@pytest.mark.parametrize("language", ["", "en", "../fr", "french", "pt-BR", 'fr"; x', "FR"])
def test_what_is_no_language_code_does_not_reach_apt(apt, tmp_path, language):
    with pytest.raises(ValueError, match=r"^language is .*expected a code such as 'fr'"):
        debian(language, cache_folder=tmp_path)
    assert apt.calls == 0


def test_lists_of_a_language_with_a_country_are_found_under_the_name_that_apt_gives_them(
    apt, tmp_path
):
    texts = lists("pt_BR")
    apt.gives({"en": texts["en"], "pt%5fBR": texts["pt_BR"]})
    assert debian("pt_BR", cache_folder=tmp_path).test


def test_a_language_with_too_little_text_is_an_error(apt, tmp_path):
    english = record("zorp", "1", "en", "It paints small houses.")
    apt.gives({"en": english, "fr": record("zorp", "1", "fr", "Il peint des maisons.")})
    with pytest.raises(ValueError, match="the corpus has 1 distinct source sentence in 1 group"):
        debian("fr", cache_folder=tmp_path)


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/transformer_lab"),
        ("linux", {"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/transformer_lab"),
        ("darwin", {"HOME": "/h"}, "/h/Library/Caches/transformer_lab"),
        ("win32", {"LOCALAPPDATA": "/l"}, "/l/transformer_lab"),
    ],
)
def test_the_cache_is_where_the_system_wants_it(monkeypatch, platform, variables, expected):
    monkeypatch.setattr(sys, "platform", platform)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert corpora.user_cache_folder() == Path(expected)


# --- the real apt ----------------------------------------------------------------------------

needs_apt = pytest.mark.skipif(not shutil.which("apt-get"), reason="there is no apt-get here")


@needs_apt
def test_the_real_apt_reads_a_mirror_of_its_own_and_touches_nothing_else(tmp_path, monkeypatch):
    mirror = tmp_path / "mirror/dists/stable"
    (mirror / "main/i18n").mkdir(parents=True)
    release = "Suite: stable\nCodename: stable\nComponents: main\nArchitectures: amd64\n"
    release += "Date: Sat, 01 Jan 2022 00:00:00 UTC\nSHA256:\n"
    for language, text in lists().items():
        path = mirror / f"main/i18n/Translation-{language}"
        path.write_text(text, encoding="utf-8")
        data = path.read_bytes()
        release += (
            f" {corpora.hashlib.sha256(data).hexdigest()} {len(data)} main/i18n/{path.name}\n"
        )
    (mirror / "Release").write_text(release)
    sources_list = tmp_path / "sources.list"
    sources_list.write_text(f"deb [trusted=yes] file:{tmp_path}/mirror stable main\n")
    configuration = tmp_path / "apt.conf"
    configuration.write_text(
        f'Dir::Etc::sourcelist "{sources_list}";\nDir::Etc::sourceparts "/dev/null";\n'
        f'APT::Update::Post-Invoke {{"touch {tmp_path}/hook";}};\n'
        'Acquire::Languages "none";\nAcquire::GzipIndexes "true";\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(configuration))
    before = [state(path) for path in ("/var/lib/apt/lists", "/var/cache/apt")]
    splits = debian("fr", cache_folder=tmp_path / "cache")
    assert_disjoint(splits)
    assert not (tmp_path / "hook").exists()
    assert [state(path) for path in ("/var/lib/apt/lists", "/var/cache/apt")] == before
    with pytest.raises(
        ValueError, match="language is 'de'; expected 'fr', because this machine's mirrors"
    ):
        debian("de", cache_folder=tmp_path / "cache")
    (mirror / "main/i18n/Translation-fr").write_text("half of it")
    shutil.rmtree(tmp_path / "cache")
    with pytest.raises(CorpusUnavailable, match=r"Failed to fetch .*Translation-fr"):
        debian("fr", cache_folder=tmp_path / "cache")


def state(folder: str) -> dict[str, int]:
    paths = Path(folder).iterdir() if os.path.isdir(folder) else ()
    return {path.name: path.stat().st_mtime_ns for path in paths}


@pytest.mark.parametrize("place", ["own/test", "own"])
def test_lines_that_a_test_file_of_ones_own_leaves_out_are_printed(tmp_path, capsys, place):
    """The two files, and the folder that holds nothing else."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/test.en").write_bytes(b"a cat\nbad \xff\na cow\n\nthe pig\n")
    (tmp_path / "own/test.fr").write_bytes(b"un chat\nun\nune vache\nun\nle porc\n")
    read_test = find_corpus(f"{tmp_path / place}@en,fr").read_test
    assert [pair.source for pair in read_test(True)] == ["a cat", "a cow", "the pig"]
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "test.en, line 2: the line contains the byte 0xff" in said[0]
    assert "test.en, line 4: one side is empty" in said[1]
    with pytest.raises(ValueError, match=r"test.en, line 2: .*skip_bad"):
        read_test(False)


def test_a_mistyped_file_is_answered_with_the_one_that_is_there(tmp_path):
    for name in ("test.en", "test.de", "pairs.tsv"):
        (tmp_path / name).write_text("a cat\n")
    for asked, there in (("tset@en,de", "test"), ("pairs.tvs", "pairs.tsv")):
        with pytest.raises(ValueError, match=rf"exists\. Did you mean {tmp_path / there}\?"):
            find_corpus(f"{tmp_path}/{asked}")
    for asked in ("something", "nowhere/pairs.tsv"):
        with pytest.raises(ValueError, match="a file or folder that exists$"):
            find_corpus(f"{tmp_path}/{asked}")
