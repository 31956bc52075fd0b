"""Own tasks: each target is what an independent reader makes of the source, and no source comes twice."""

import random
import re
from datetime import date

import pytest
from dateutil import parser
from roman_numerals import RomanNumeral

from transformer_lab.data import own_task
from transformer_lab.data.corpus import find_corpus
from transformer_lab.data.own_task import (
    ENGLISH,
    amounts,
    backwards,
    dates,
    draw_pairs,
    english_words,
    french_words,
    from_roman,
    german_words,
    heights,
    numbers_in_english,
    numbers_in_french,
    numbers_in_german,
    numbers_without_comma,
    phrasebook,
    pig_latin,
    pig_latin_of,
    spanish_sounds,
    sums,
    times,
    to_roman,
    write_pairs,
)
from transformer_lab.data.pair import Pair
from transformer_lab.data.splits import digits_matter, number_key, split_pairs
from transformer_lab.data.text_files import read_pairs

TASKS = (
    dates,
    numbers_in_english,
    numbers_in_french,
    numbers_in_german,
    numbers_without_comma,
    to_roman,
    from_roman,
    times,
    pig_latin,
    backwards,
    spanish_sounds,
    amounts,
    sums,
    heights,
    phrasebook,
)
NUMBERS = [*range(1_200), 1_999, 2_000, 21_000, 80_000, 71_171, 200_000, 280_080, 999_999]


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_pairs_depend_on_the_seed_alone_and_no_source_comes_twice(task):
    pairs = draw_pairs(task, 50, seed=3)
    assert pairs == draw_pairs(task, 50, seed=3)
    assert pairs != draw_pairs(task, 50, seed=4)
    assert len({pair.source for pair in pairs}) == len(pairs) == 50


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_run_reads_the_file_and_tests_on_sources_that_it_does_not_train_on(task, tmp_path):
    pairs = draw_pairs(task, 600, seed=1)
    path = write_pairs(tmp_path / "pairs.tsv", pairs)
    splits = find_corpus(str(path)).splits(seed=2)
    parts = [{number_key(pair.source) for pair in part} for part in (splits.train, splits.test)]
    assert not parts[0] & parts[1]
    assert 20 <= len(splits.test) <= 40
    read = {
        (pair.source, pair.target)
        for part in (splits.train, splits.validation, splits.test)
        for pair in part
    }
    assert read == {(pair.source, pair.target) for pair in pairs}


def test_a_date_is_read_back_by_dateutil():
    for pair in draw_pairs(dates, 2_000):
        plain = re.sub(r"\bof\b|\bthe\b", "", pair.source)
        if re.match(r"\d{4}/", plain):
            year, month, day = map(int, plain.split("/"))
            assert date(year, month, day).isoformat() == pair.target
        else:
            read = parser.parse(plain, dayfirst=True).date().isoformat()
            assert read == pair.target, pair


def test_a_weekday_is_that_of_the_date():
    for pair in draw_pairs(dates, 500):
        name = re.match(r"[A-Z][a-z]+day", pair.source)
        assert not name or date.fromisoformat(pair.target).strftime("%A") == name.group()


def read_english(words):
    """The number that English words say, by adding and multiplying from the left."""
    total = group = 0
    tens = {w: 10 * i for i, w in enumerate(own_task.ENGLISH_TENS)}
    for word in words.replace("-", " ").split():
        if word == "thousand":
            total, group = total + 1000 * group, 0
        elif word == "hundred":
            group *= 100
        else:
            group += tens[word] if word in tens else ENGLISH.index(word)
    return total + group


def read_french(words):
    """The number that French words say: a score multiplies what is before it if that is four."""
    total = group = 0
    units = {word: i for i, word in enumerate(own_task.FRENCH)}
    tens = dict(
        zip("vingt trente quarante cinquante soixante".split(), range(20, 70, 10), strict=True)
    )
    for word in words.replace("-", " ").replace(" et ", " ").split():
        word = {"cents": "cent", "vingts": "vingt"}.get(word, word)
        if word == "mille":
            total, group = 1000 * (group or 1), 0
        elif word == "cent":
            group = 100 * (group or 1)
        elif word == "vingt" and group % 100 == 4:
            group += 80 - 4
        else:
            group += tens[word] if word in tens else units[word]
    return total + group


def read_german(words):
    """The number that a German word says: split at tausend, hundert and und."""
    units = {w: i for i, w in enumerate(own_task.GERMAN)} | {"eins": 1, "": 0}
    tens = {w: 10 * i for i, w in enumerate(own_task.GERMAN_TENS)}
    if "tausend" in words:
        before, after = words.split("tausend")
        return 1000 * read_german(before) + read_german(after)
    if "hundert" in words:
        before, after = words.split("hundert")
        return 100 * units[before] + read_german(after)
    if words in units:
        return units[words]
    ones, _, ten = words.rpartition("und")
    return units[ones] + tens[ten]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_words_of_a_number_say_that_number(number):
    assert read_english(english_words(number)) == number
    assert read_french(french_words(number)) == number
    assert read_german(german_words(number)) == number


@pytest.mark.parametrize(
    ("number", "french", "german"),
    [
        (21, "vingt et un", "einundzwanzig"),
        (71, "soixante et onze", "einundsiebzig"),
        (77, "soixante-dix-sept", "siebenundsiebzig"),
        (80, "quatre-vingts", "achtzig"),
        (81, "quatre-vingt-un", "einundachtzig"),
        (91, "quatre-vingt-onze", "einundneunzig"),
        (101, "cent un", "einhunderteins"),
        (200, "deux cents", "zweihundert"),
        (201, "deux cent un", "zweihunderteins"),
        (1_000, "mille", "eintausend"),
        (1_001, "mille un", "eintausendeins"),
        (80_000, "quatre-vingt mille", "achtzigtausend"),
        (200_000, "deux cent mille", "zweihunderttausend"),
        (101_001, "cent un mille un", "einhunderteintausendeins"),
    ],
)
def test_numbers_whose_spelling_has_a_rule_of_its_own(number, french, german):
    assert (french_words(number), german_words(number)) == (french, german)


def test_numerals_are_those_of_a_library_both_ways():
    for pair, back in zip(draw_pairs(to_roman, 500), draw_pairs(from_roman, 500), strict=True):
        assert RomanNumeral(int(pair.source)).to_uppercase() == pair.target
        assert (back.source, back.target) == (pair.target, pair.source)


def test_a_spoken_time_is_the_time_that_it_says():
    words = {word: i for i, word in enumerate(ENGLISH)} | {"quarter": 15, "half": 30}
    first = {"morning": 0, "afternoon": 12, "evening": 18}
    for pair in draw_pairs(times, 2_000):
        said, part = re.fullmatch(r"(.*) in the (\w+)", pair.source).groups()
        said = re.sub(r"^(it's|at|meet me at|wake me at) ", "", said)
        if when := re.fullmatch(r"(.+) (past|to) (\w+)", said):
            many = words[when[1]] if when[1] in words else read_english(when[1])
            at = 60 * words[when[3]] + (-many if when[2] == "to" else many)
        else:
            hour, _, rest = said.partition(" ")
            at = 60 * words[hour] + read_english(
                rest.removeprefix("oh ").replace("o'clock", "zero")
            )
        hour, minute = map(int, pair.target.split(":"))
        assert (60 * hour + minute - at) % 720 == 0
        assert first[part] <= hour < (18 if part == "afternoon" else first[part] + 12)


def test_pig_latin_and_words_backwards_have_the_letters_of_the_word():
    words = {"string": "ingstray", "why": "ywhay", "by": "ybay", "yes": "esyay", "am": "amway"}
    assert all(pig_latin_of(word) == said for word, said in words.items())
    for pair in draw_pairs(pig_latin, 500):
        assert by_pattern(pair.source) == pair.target
    for pair in draw_pairs(backwards, 500):
        assert list(reversed(pair.source)) == list(pair.target)


def by_pattern(word):
    start = re.match("[^aeiou]*", word).group()
    return word[len(start) :] + (start or "w") + "ay"


def test_a_spanish_word_has_one_sound_for_each_vowel():
    starts = {
        "que": "keh",
        "gui": "gee",
        "gue": "geh",
        "gu": "goo",
        "ge": "kheh",
        "ce": "seh",
        "co": "koh",
    }
    for pair in draw_pairs(spanish_sounds, 5_000):
        word, sounds = pair.source, pair.target
        assert len(sounds.split("-")) == len(
            re.findall("[aeiou]", re.sub("[qg]u(?=[ei])", "", word))
        )
        start = next((start for start in starts if word.startswith(start)), "")
        assert sounds.startswith(starts.get(start, ""))


def test_amounts_sums_and_lengths_are_right():
    for pair in draw_pairs(amounts, 500):
        dollars, cents = pair.source[1:].replace(",", "").split(".")
        said = re.fullmatch(r"(.+) dollars?(?: and (.+) cents?)?", pair.target)
        assert read_english(said[1]) == int(dollars)
        assert read_english(said[2] or "zero") == int(cents)
        assert ("dollars" in pair.target) == (dollars != "1")
    for pair in draw_pairs(sums, 500):
        assert sum(map(int, pair.source.split(" + "))) == int(pair.target)
    for pair in draw_pairs(heights, 500):
        feet, inches = map(float, re.findall(r"[\d.]+", pair.source))
        assert abs(30.48 * feet + 2.54 * inches - int(pair.target.split()[0])) <= 0.5 + 1e-9


def test_a_phrase_has_the_article_of_its_noun():
    pairs = {pair.source: pair.target for pair in draw_pairs(phrasebook, 3_000)}
    start = "where is the "
    nouns = {
        source[len(start) : -1]: target
        for source, target in pairs.items()
        if source.startswith(start)
    }
    assert nouns["house"] == "où est la maison ?"
    assert nouns["animal"] == "où est l'animal ?"
    assert nouns["garden"] == "où est le jardin ?"


def test_one_source_with_two_targets_is_an_error():
    def unsure(draw: random.Random):
        return "01/02/2021", draw.choice(["2021-01-02", "2021-02-01"])

    with pytest.raises(ValueError, match=r"source '01/02/2021' has two targets, '2021-"):
        draw_pairs(unsure, 2)


def test_a_task_that_runs_out_of_pairs_gives_those_that_there_are():
    assert len(draw_pairs(lambda draw: (str(draw.randrange(7)), "x"), 50)) == 7


def test_digits_matter_where_they_are_most_of_what_differs():
    assert digits_matter(draw_pairs(numbers_in_english, 200))
    assert digits_matter(draw_pairs(dates, 5_000))
    assert not digits_matter(draw_pairs(phrasebook, 200))
    splits = split_pairs(draw_pairs(numbers_in_german, 400))
    assert len(splits.test) == 20


@pytest.mark.parametrize(
    "pair", [("a\tb", "c"), ("a", "b\nc"), ("a", "b\r"), ("", "b"), ("a", "  "), ("a", 7)]
)
def test_a_side_that_does_not_fit_into_a_line_is_named(tmp_path, pair):
    with pytest.raises(ValueError, match=r"of pair 2 is .*; expected a string that is not blank"):
        write_pairs(tmp_path / "pairs.tsv", [Pair("one", "un"), Pair(*pair)])
    assert not any(tmp_path.iterdir())


def test_pairs_replace_a_file_only_if_asked(tmp_path):
    path = write_pairs(tmp_path / "pairs.tsv", [Pair("one", "un")])
    with pytest.raises(
        ValueError, match=r"already exists. Choose another name, or .* overwrite=True"
    ):
        write_pairs(path, [Pair("two", "deux")])
    assert path.read_text(encoding="utf-8") == "one\tun\n"
    write_pairs(path, [Pair("two", "deux")], overwrite=True)
    assert path.read_text(encoding="utf-8") == "two\tdeux\n"


@pytest.mark.parametrize("first", [Pair("english", "french"), Pair("none at all", "words")])
def test_a_first_pair_that_looks_like_a_header_is_read_as_a_pair(tmp_path, first):
    pairs = [first] + [Pair(str(7 * i % 61), f"times {i}") for i in range(61)]
    assert read_pairs(write_pairs(tmp_path / "pairs.tsv", pairs)).pairs == pairs


@pytest.mark.parametrize("in_words", [english_words, french_words, german_words])
@pytest.mark.parametrize("number", [-1, 1_000_000])
def test_a_number_that_the_words_do_not_reach_is_an_error(in_words, number):
    with pytest.raises(ValueError, match="number is -?[0-9]+; expected 0 to 999,999"):
        in_words(number)
