"""The door for text: what is none is refused by every caller in the same way, and twins are one."""

import json
import unicodedata

import pytest

from tests.conftest import make_model
from tests.data.hostile import NO_TEXTS, NOT_TEXT, TWINS
from transformer_lab.data.pair import Pair
from transformer_lab.data.splits import source_key, split_pairs
from transformer_lab.data.text import check_visible_text, escape_for_terminal, join_for_terminal
from transformer_lab.data.text_files import pair_from_row, read_pairs
from transformer_lab.data.tokenizer import WordTokenizer
from transformer_lab.evaluation.bleu import exact_match, exact_match_by_group, score, sentence_chrf
from transformer_lab.translator import Translator


@pytest.fixture(scope="module")
def translator():
    words = ["caf\u00e9", "noir", "\u1ec7", "x", "\uac00", "\ub098", "\u00e5", "the", "cat"]
    tokenizer = WordTokenizer(words)
    size = tokenizer.vocab_size
    return Translator(make_model(source_vocab_size=size, target_vocab_size=size), *[tokenizer] * 2)


@pytest.mark.parametrize("text", NO_TEXTS.values(), ids=NO_TEXTS)
def test_what_the_translator_refuses_the_readers_refuse(translator, tmp_path, text):
    with pytest.raises(ValueError, match="source is|source contains"):
        translator.translate(["the cat", text][1])
    assert translator.find_refusals(["the cat", text]).keys() == {1}
    row = {"source": text, "target": "un"}
    with pytest.raises(ValueError, match=r"row 3: one side (is|contains)") as error:
        pair_from_row(row, ("source", "target"), "row 3")
    assert str(error.value).isascii()  # what cannot be seen is shown escaped
    path = tmp_path / "pairs.jsonl"
    path.write_text(json.dumps(row) + "\n" + json.dumps({**row, "source": "the cat"}))
    with pytest.raises(ValueError, match="line 1"):
        read_pairs(path)
    assert read_pairs(path, skip_bad=True).pairs == [Pair("the cat", "un")]
    if text.isascii() or "\ud800" not in text:
        table = tmp_path / "pairs.tsv"
        table.write_text(f"the cat\tun\n{text}\tdeux\ntrois\t{text}\n", encoding="utf-8")
        assert read_pairs(table, skip_bad=True).left_out == 2
        with pytest.raises(
            ValueError,
            match=r"line 2: .*\. To leave out bad lines, use --skip-bad, or skip_bad=True",
        ):
            read_pairs(table)


@pytest.mark.parametrize("value", NOT_TEXT, ids=repr)
def test_what_is_no_text_is_one_error(translator, value, as_users_run_it):
    with pytest.raises(ValueError, match=r"line 7 is .*; expected a string"):
        check_visible_text("line 7", value)
    with pytest.raises(ValueError, match="source is"):
        translator.translate([value])
    fault = "field 'fr' is None" if value is None else "field 'fr' is of type"
    with pytest.raises(ValueError, match=f"{fault}.*; expected text in the fields"):
        pair_from_row({"en": "the cat", "fr": value}, ("en", "fr"), "row 1")


@pytest.mark.parametrize("value", [None, b"the cat"])
def test_sources_that_are_no_texts_are_named(translator, value, as_users_run_it):
    with pytest.raises(ValueError, match="sources is .*; expected a string or a list of strings"):
        translator.translate(value)


@pytest.mark.parametrize("twins", TWINS)
def test_twins_are_one_text_for_reader_key_translator_and_scores(translator, tmp_path, twins):
    one, other = twins
    assert one != other
    assert (
        check_visible_text("x", one)
        == check_visible_text("x", other)
        == unicodedata.normalize("NFC", other)
    )
    assert source_key(one) == source_key(other)
    (tmp_path / "a.tsv").write_text(f"{one}\t{other}\n{other}\t{one}\n", encoding="utf-8")
    assert len(set(read_pairs(tmp_path / "a.tsv").pairs)) == 1
    assert translator.encode(one) == translator.encode(other)
    assert translator.read_source(other).unknown == ()
    assert translator.score(one, other) == translator.score(other, one)
    assert exact_match([one], [other]) == exact_match_by_group(["g"], [one], [other])["g"] == 1
    assert score([one], [other]) == score([one], [one]) == score([other], [one])
    assert sentence_chrf(one, other) == pytest.approx(100)


def test_twins_never_straddle_a_split():
    letters = "b\u00e9 d\u00e8 f\u00ea g\u00f4 k\u00fc l\u00e0 m\u00ee".split()
    sources = [f"{a}{b} {c}" for a in letters for b in letters for c in letters]
    forms = ("NFC", "NFD")
    pairs = [Pair(unicodedata.normalize(form, s), form) for s in sources for form in forms]
    pairs += [Pair(s.replace(" ", "\u200b "), "zero-width") for s in sources]
    splits = split_pairs(pairs, seed=5)
    parts = [splits.train, splits.validation, splits.test]
    seen = [{source_key(pair.source) for pair in part} for part in parts]
    assert len(sources) * 3 == sum(map(len, parts))
    assert not seen[0] & seen[1] | seen[0] & seen[2] | seen[1] & seen[2]
    assert [len(part) for part in parts[1:]] == [3 * 17, 3 * 17]


def test_one_reading_says_what_is_unknown_and_what_is_refused(translator):
    reading = translator.read_source("the zebra x")
    assert (reading.unknown, reading.refusal, len(reading.ids)) == (("zebra",), "", 4)
    nothing = translator.read_source("zebra zebu", 3)
    assert nothing.unknown == ("zebra", "zebu")
    assert nothing.refusal.startswith("source 3 is 'zebra zebu', but the model knows none of")
    assert nothing.ids == []
    assert translator.find_refusals(["zebra"]) == {0: translator.read_source("zebra").refusal}
    (told,) = translator.translate("the zebra x", beam_size=1)
    assert told.unknown == reading.unknown


def test_invisible_words_are_shown_escaped():
    assert escape_for_terminal("caf\u00e9 \u732b") == "caf\u00e9 \u732b"
    assert escape_for_terminal("\u200b\x1b[2J\u3164") == "\\u200b\\x1b[2J\\u3164"
    assert join_for_terminal(["a", "\u200b"]) == "a, \\u200b"


def test_words_joined_by_marks_that_languages_need_are_kept():
    persian = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
    assert check_visible_text("x", persian) == persian
