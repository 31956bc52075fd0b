"""The tasks of the playground: their targets are right, and the test has nothing that training shows."""

import json
import random
import re
from collections import Counter
from datetime import date
from itertools import islice
from types import SimpleNamespace

import pytest
from playwright.sync_api import Error

from transformer_lab.data.own_task import dates, english_words, french_words, german_words
from transformer_lab.data.tokenizer import WordTokenizer, tokenizer_from_json
from transformer_lab.data.world.grammar import sentences, world
from transformer_lab.lab import playground_page

TASKS = "tasks/tasks.js"
DRAWN = "copy reverse sort partner count brackets dates numbers_en numbers_fr numbers_de".split()
OWN_TEXT = "".join(f"{number}\t{number + 1} {number + 2}\n" for number in range(100))
CLOSING = {"(": ")", "[": "]", "{": "}"}

# The pairs of a task as ids, tokens and texts, with `count` drawn for training; as JSON, which is quick.
TELL = """async ({ TASKS, makeData }, given) => {
    const { name, seed = 0, count = 0, drawn = 1, sizes = {}, options = {} } = given;
    const { makeRandom } = await import("/engine/untrained.js");
    const task = TASKS.find((task) => task.name === name);
    const data = makeData(task, { ...sizes, seed, options });
    const random = makeRandom(drawn);
    const tell = ({ source, target }) => ({
        ids: [source, target],
        tokens: [data.source.tokens(source), data.target.tokens(target)],
        texts: [data.source.decode(source), data.target.decode(target)],
    });
    return JSON.stringify({
        vocabularies: data.vocabularies,
        test: data.test.map(tell),
        train: data.train && data.train.map(tell),
        sampled: Array.from({ length: count }, () => tell(data.sample(random))),
        notes: data.notes,
    });
}"""


def make_data(ask, name: str, **given):
    """The data that the page makes; `given` may have what is named in `TELL`."""
    return json.loads(ask(TASKS, TELL, {"name": name, **given}))


def keys(pairs) -> set[str]:
    """The sources."""
    return {" ".join(pair["tokens"][0]) for pair in pairs}


def close_brackets(source: str) -> str:
    open_ones = []
    for sign in source:
        if sign in CLOSING:
            open_ones.append(sign)
        else:
            assert CLOSING[open_ones.pop()] == sign
    assert open_ones
    return "".join(CLOSING[sign] for sign in reversed(open_ones))


def find_partners(source: str) -> str:
    pairs, asked = source.split(" ? ")
    partners = dict(pairs.split())
    assert len(partners) == len(pairs.split())
    return " ".join(partners[letter] for letter in asked.split())


def count_letters(source: str) -> str:
    return " ".join(f"{letter}{many}" for letter, many in sorted(Counter(source).items()))


def read_date(source: str) -> str:
    """A date in any of the forms, read by the names of months, or by the places of its numbers."""
    names = "jan feb mar apr may jun jul aug sep oct nov dec".split()
    words = re.findall(r"\w+", source)
    numbers = [int(re.sub(r"\D", "", word)) for word in words if word[0].isdigit()]
    year = max(numbers)
    months = [names.index(word[:3]) + 1 for word in words if word[:3] in names]
    days = [number for number in numbers if number != year]
    if not months:
        days, months = (days[:1], days[1:]) if numbers[0] != year else (days[1:], days[:1])
    found = date(year, months[0], days[0])
    if source[:3] in "mon tue wed thu fri sat sun".split():
        assert found.strftime("%a").lower() == source[:3]
    return found.isoformat()


def say_number(words):
    return lambda source: words(int(re.sub(r"\D", "", source)))


ORACLES = {
    "copy": str,
    "reverse": lambda source: source[::-1],
    "sort": lambda source: "".join(sorted(source)),
    "partner": find_partners,
    "count": count_letters,
    "brackets": close_brackets,
    "dates": read_date,
    "numbers_en": say_number(english_words),
    "numbers_fr": say_number(french_words),
    "numbers_de": say_number(german_words),
}


# ---------------------------------------------------------------- what a task says of itself


def test_every_task_has_a_title_a_question_and_an_example_that_is_right(ask):
    told = ask("tasks/descriptions.js", "({ DESCRIPTIONS }) => DESCRIPTIONS")
    names = [task["name"] for task in told]
    assert names == [*DRAWN, "world", "own"] == list(playground_page.TASKS)
    assert ask(TASKS, "({ TASKS }) => TASKS.map(({ name }) => name)") == names
    assert len({task["title"] for task in told}) == len(told)
    for task in told:
        assert task["question"].endswith("?")
        source, target = task["example"]["source"], task["example"]["target"]
        if task["name"] in ORACLES:
            assert ORACLES[task["name"]](source) == target
        if task["name"] == "world":
            drawn = islice(sentences(seed=0), 8_000)
            assert (source, target) in {(pair.source, pair.target) for pair in drawn}


@pytest.mark.parametrize("name", [*DRAWN, "world"])
def test_an_example_is_made_of_tokens_that_the_task_knows(ask, name):
    read = """async ({ findTask, makeData }, name) => {
        const { DESCRIPTIONS } = await import("/tasks/descriptions.js");
        const { example } = DESCRIPTIONS.find((task) => task.name === name);
        const data = makeData(findTask(name), { test: 20, train: 1000 });
        const { ids, unknown } = data.read(example.source);
        return [ids.at(-1), unknown, data.source.decode(ids), example.source];
    }"""
    end, unknown, text, example = ask(TASKS, read, name)
    assert (end, unknown, text) == (2, [], example)


# ---------------------------------------------------------------- what is drawn


@pytest.mark.parametrize("name", DRAWN)
def test_targets_are_right_and_the_test_is_never_shown(ask, name):
    data = make_data(ask, name, seed=3, count=2_000)
    assert data["train"] is None
    assert data["notes"] == []
    assert len(keys(data["test"])) == len(data["test"]) == 512
    assert not keys(data["test"]) & keys(data["sampled"])
    # Short numbers come again and again, and words of nine letters never.
    assert len(keys(data["sampled"])) > 900
    for pair in data["test"] + data["sampled"]:
        source, target = pair["texts"]
        assert ORACLES[name](source) == target


@pytest.mark.parametrize("name", DRAWN)
def test_python_reads_the_vocabularies_and_writes_the_same_ids_and_texts(ask, name):
    data = make_data(ask, name, count=500)
    for side, vocabulary in enumerate(data["vocabularies"].values()):
        tokenizer = tokenizer_from_json(json.dumps(vocabulary))
        assert json.loads(tokenizer.to_json()) == vocabulary
        for pair in data["test"] + data["sampled"]:
            *ids, end = pair["ids"][side]
            *tokens, _ = pair["tokens"][side]
            assert (end, 3 in ids) == (2, False)
            assert tokenizer.tokens(ids) == tokens
            assert tokenizer.encode(" ".join(tokens)) == ids
            assert tokenizer.decode(ids) == pair["texts"][side]


@pytest.mark.parametrize(
    ("name", "options", "lengths"),
    [
        ("copy", {"shortest": 3, "longest": 7, "letters": 5}, {3, 4, 5, 6, 7}),
        ("sort", {}, {3, 4, 5, 6, 7, 8, 9}),
        ("count", {}, set(range(5, 13))),
        ("brackets", {"shortest": 5, "longest": 6}, {5, 6}),
        ("partner", {"pairs": 6, "asked": 5}, {12}),
        ("numbers_de", {"digits": 3}, {1, 2, 3}),
    ],
)
def test_sources_are_as_long_as_was_chosen(ask, name, options, lengths):
    data = make_data(ask, name, options=options, count=500, sizes={"test": 50})
    assert {len(pair["tokens"][0]) - 1 for pair in data["sampled"]} == lengths
    words = {word for pair in data["sampled"] for word in pair["tokens"][0][:-1]}
    if name == "copy":
        assert words == set("abcde")


def test_brackets_are_not_all_alike(ask):
    """Some pairs are closed already, and as many as five stay open."""
    data = make_data(ask, "brackets", count=1_000)
    depths = Counter(len(pair["texts"][1]) for pair in data["sampled"])
    assert all(depths[depth] > 20 for depth in range(1, 7))
    assert sum(len(pair["texts"][1]) < len(pair["texts"][0]) for pair in data["sampled"]) > 500


@pytest.mark.parametrize("name", ["reverse", "numbers_fr", "world", "own"])
def test_the_same_seed_gives_the_same_pairs(ask, name):
    given = {"count": 50, "sizes": {"test": 64}}
    if name == "world":
        given["sizes"]["train"] = 500
    if name == "own":
        given["options"] = {"text": OWN_TEXT}
    first, again = (make_data(ask, name, seed=5, **given) for _ in range(2))
    assert first == again
    assert keys(first["test"]) != keys(make_data(ask, name, seed=6, **given)["test"])
    assert first["sampled"] != make_data(ask, name, seed=5, drawn=2, **given)["sampled"]


# ---------------------------------------------------------------- sizes


@pytest.mark.parametrize("name", ["reverse", "numbers_en"])
def test_training_may_be_limited_and_a_smaller_one_is_the_beginning_of_a_larger_one(ask, name):
    many, few = (
        make_data(ask, name, seed=2, count=1_000, sizes={"train": size, "test": 40})
        for size in (900, 30)
    )
    assert len(keys(many["train"])) == 900
    assert [pair["texts"] for pair in few["train"]] == [p["texts"] for p in many["train"][:30]]
    assert [pair["texts"] for pair in few["test"]] == [pair["texts"] for pair in many["test"]]
    assert not keys(many["train"]) & keys(many["test"])
    assert keys(few["sampled"]) == keys(few["train"])
    assert keys(many["sampled"]) < keys(many["train"])


def test_short_numbers_are_seldom_all_in_the_test(ask):
    data = make_data(ask, "numbers_en")
    assert sum(len(source) == 1 for source in keys(data["test"])) <= 5


@pytest.mark.parametrize(
    ("options", "sizes", "train", "test"),
    [
        ({"shortest": 2, "longest": 2, "letters": 10}, {}, 80, 20),
        ({"shortest": 2, "longest": 2, "letters": 26}, {}, 541, 135),
        ({"shortest": 1, "longest": 3, "letters": 26}, {"train": 50, "test": 4_000}, 50, 3_655),
    ],
)
def test_a_task_that_runs_out_of_pairs_says_how_many_there_are(ask, options, sizes, train, test):
    data = make_data(ask, "copy", options=options, sizes=sizes, count=500)
    assert (len(keys(data["train"])), len(keys(data["test"]))) == (train, test)
    assert not keys(data["train"]) & keys(data["test"])
    assert keys(data["sampled"]) <= keys(data["train"])
    assert data["notes"] == [
        f"There are {train:,} different pairs for training and {test:,} for the test."
    ]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sizes": {"train": 0}}, r"train is 0; expected an integer from 1 to 100000"),
        ({"sizes": {"test": 0.5}}, r"test is 0\.5; expected an integer from 1 to 10000"),
        ({"seed": -1}, r"seed is -1; expected an integer from 0 to 2147483647"),
        ({"options": {"length": 3}}, r"no option length; expected shortest, longest, letters"),
        ({"name": "dates", "options": {"year": 1}}, r"dates has no option year; expected none"),
        ({"options": {"longest": 51}}, r"longest is 51; expected an integer from 1 to 50"),
        ({"options": {"shortest": 10}}, r"shortest is 10; expected an integer from 1 to 9"),
        ({"options": {"letters": 27}}, r"letters is 27; expected an integer from 2 to 26"),
        (
            {"options": {"shortest": 1, "longest": 3, "letters": 2}},
            r"Found 14 different pairs; expected at least 20\.",
        ),
        ({"name": "partner", "options": {"asked": 5}}, r"asked is 5; .* from 1 to 4"),
        ({"name": "partner", "options": {"pairs": 11}}, r"pairs is 11; .* from 1 to 10"),
        ({"name": "numbers_en", "options": {"digits": 7}}, r"digits is 7; .* from 2 to 6"),
    ],
)
def test_what_cannot_be_made_is_said(ask, given, said):
    with pytest.raises(Error, match=said):
        make_data(ask, **{"name": "copy"} | given)


# ---------------------------------------------------------------- dates and numbers, as in Python


def test_every_day_is_written_as_python_writes_it(ask):
    """Each day of the hundred years; the forms take turns, so that all of them come every 11 days."""
    write = """({ writeDate, DATE_FORMS }, days) => JSON.stringify(Array.from({ length: days },
        (_, number) => writeDate(number, DATE_FORMS[number % DATE_FORMS.length])))"""
    found = json.loads(ask("tasks/dates.js", write, 36_500))
    for number, texts in enumerate(found):
        draw = SimpleNamespace(
            randrange=lambda _, number=number: number,
            choice=lambda forms, number=number: forms[number % len(forms)],
        )
        assert tuple(texts) == dates(draw)
    assert len(found) == 36_500


@pytest.mark.parametrize(
    ("write", "words"),
    [("writeEnglish", english_words), ("writeFrench", french_words), ("writeGerman", german_words)],
)
def test_numbers_have_the_words_that_python_gives_them(ask, write, words):
    draw = random.Random(0)
    numbers = [*range(10_000), *(draw.randrange(10_000, 1_000_000) for _ in range(3_000)), 999_999]
    numbers += [thousands * 1000 for thousands in range(10, 1000)]
    found = ask(
        "tasks/numbers.js",
        f"({{ {write} }}, given) => JSON.stringify(given.map((n) => {write}(n)))",
        numbers,
    )
    found = json.loads(found)
    space = "" if words is german_words else " "
    written = zip(numbers, (space.join(tokens) for tokens in found), strict=True)
    assert next(((n, text) for n, text in written if text != words(n)), None) is None
    if space:
        tokens = WordTokenizer.train(space.join(parts) for parts in found).words
        assert {word for parts in found for word in parts} == set(tokens[4:])


@pytest.mark.parametrize("name", ["dates", "numbers_en", "numbers_fr", "numbers_de"])
def test_the_vocabularies_have_all_words_and_no_others(ask, name):
    """The words of 20,000 pairs; only a few of them are rare enough to be missed."""
    data = make_data(ask, name, count=20_000)
    for side, vocabulary in enumerate(data["vocabularies"].values()):
        used = {word for pair in data["sampled"] for word in pair["tokens"][side]} - {"<eos>"}
        assert used <= set(vocabulary["words"])
        assert len(set(vocabulary["words"]) - used) <= 3


# ---------------------------------------------------------------- the world


def test_the_world_has_the_pairs_and_tokenizers_that_python_makes(ask):
    data = make_data(ask, "world", seed=4, sizes={"train": 3_000, "test": 200})
    splits = world(3_000, 0, 200, seed=4)
    sides = ("source", "target")
    for side, vocabulary in zip((0, 1), data["vocabularies"].values(), strict=True):
        tokenizer = WordTokenizer.train(getattr(pair, sides[side]) for pair in splits.train)
        assert json.loads(tokenizer.to_json()) == vocabulary
        for name in ("train", "test"):
            texts = [getattr(pair, sides[side]) for pair in getattr(splits, name)]
            assert [pair["ids"][side] for pair in data[name]] == [
                [*tokenizer.encode(text), 2] for text in texts
            ]
            assert [pair["texts"][side] for pair in data[name]] == [
                tokenizer.decode(tokenizer.encode(text)) for text in texts
            ]


# ---------------------------------------------------------------- the learner's own pairs

READ_PAIRS = """({ readPairs }, [text, unit]) => {
    const { pairs, units, notes } = readPairs(text, unit);
    return JSON.stringify({
        pairs: pairs.map(({ source, target }) => [source, target]), units, notes,
    });
}"""
OWN = "tasks/own.js"


def lines(*first: str, separator: str = "\t", count: int = 30) -> str:
    """These lines and others below them."""
    return "\n".join([*first, *(f"s{number}{separator}t{number}" for number in range(count))])


def read_own(ask, text: str, unit: str = "auto"):
    return json.loads(ask(OWN, READ_PAIRS, [text, unit]))


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        (lines("Ab\tc d.", separator="\t"), [["a", "b"], ["c", "␣", "d"]]),
        (lines("\r\n  \nab\tcd\thttps://example.org"), [["a", "b"], ["c", "d"]]),
        (lines("a,b;c", separator=";"), [["a", ",", "b"], ["c"]]),
        (lines("a,b", separator=","), [["a"], ["b"]]),
        (lines('"a, ""b""" , "c,d"', separator=","), [[*'a,␣"b"'], [*"c,d"]]),
        (lines('"a\tb"'), [['"', "a"], ["b", '"']]),
        (lines("\ufeffé\tb\u202e\u0000"), [["é"], ["b"]]),
        (lines("<b>\t</script>"), [[*"<b>"], [*"</script>"]]),
        (lines("😀é\tİ"), [["😀", "é"], ["i", "\u0307"]]),
    ],
)
def test_a_line_is_read(ask, text, pairs):
    found = read_own(ask, text, "letters")
    assert found["pairs"][0] == pairs
    assert len(found["pairs"]) == 31
    assert found["notes"] == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (lines("a\tb", "", "a"), "line 3 has no tab; expected a source, a tab and a target"),
        ("one two\n" * 30, "line 1 has no tab; expected a source, a tab and a target"),
        (lines("a\tb", "\tb"), "line 2 has an empty source; expected a source, a tab and a"),
        (lines("a\t ..."), "line 1 has an empty target; expected a source, a tab and a target"),
        (lines("a;b;c", separator=";"), 'line 1 has more than one semicolon; .* needs "quotes"'),
        (lines("a,b", "a;b", separator=","), "line 2 has no comma; expected a source, a comma"),
        ("", r"Found 0 different pairs; expected at least 20\."),
        (
            lines("x\t" + "y " * 61, "s3\tz", count=19),
            r"Found 19 .* at least 20\. 1 pair was left out, because a side may have at most "
            r"60 words or letters\. 1 pair was left out, because each source is used once\.",
        ),
        ("a" * 5_000_001, "the text has 5,000,001 characters; expected at most 5,000,000"),
    ],
)
def test_what_cannot_be_read_is_said(ask, text, said):
    with pytest.raises(Error, match=said):
        read_own(ask, text)


def test_a_unit_that_there_is_not_is_said(ask):
    with pytest.raises(Error, match="unit is pieces; expected auto, letters, words"):
        read_own(ask, lines(), "pieces")


def test_what_is_left_out_is_said(ask):
    text = "".join(f"{number}\tb\n" for number in range(50_003)) + "7\tc\n7\td\n"
    found = read_own(ask, text)
    assert len(found["pairs"]) == 50_000
    assert found["notes"] == [
        "2 pairs were left out, because each source is used once.",
        "3 pairs were left out, because at most 50,000 pairs are used.",
    ]


def test_a_side_is_read_word_by_word_if_most_of_its_texts_have_spaces(ask):
    text = "".join(f"{number}\tit's {number}, or so\n" for number in range(20)) + "a b\tc\n"
    found = read_own(ask, text)
    assert found["units"] == ["letters", "words"]
    assert found["pairs"][12] == [["1", "2"], ["it's", "12", ",", "or", "so"]]
    assert found["pairs"][20] == [["a", "␣", "b"], ["c"]]
    assert read_own(ask, text, "letters")["units"] == ["letters", "letters"]
    assert read_own(ask, text, "words")["pairs"][20] == [["a", "b"], ["c"]]


ROWS = [(f"Row {number}", f"l'«É» n° {number}, voilà: <b> ?") for number in range(60)]


@pytest.mark.parametrize("unit", ["letters", "words"])
def test_python_reads_the_learners_pairs_as_the_page_does(ask, unit):
    text = "\n".join("\t".join(row) for row in ROWS)
    data = make_data(ask, "own", options={"text": text, "unit": unit})
    assert (len(data["train"]), len(data["test"])) == (48, 12)
    assert data["notes"] == ["There are 48 different pairs for training and 12 for the test."]
    numbers = [int(re.search(r"\d+", pair["texts"][0]).group()) for pair in data["train"]]
    for side, vocabulary in enumerate(data["vocabularies"].values()):
        tokenizer = tokenizer_from_json(json.dumps(vocabulary))
        texts = [ROWS[number][side] for number in numbers]
        if unit == "words":
            assert json.loads(WordTokenizer.train(texts).to_json()) == vocabulary
        else:
            texts = [" ".join(text.replace(" ", "␣")) for text in texts]
        for text, pair in zip(texts, data["train"], strict=True):
            assert [*tokenizer.encode(text), 2] == pair["ids"][side]
            assert tokenizer.decode(pair["ids"][side]) == pair["texts"][side]


def test_rare_words_of_a_large_text_are_unknown(ask):
    text = "".join(f"all of {number}\tof {number % 5} all\n" for number in range(12_000))
    data = make_data(ask, "own", options={"text": text}, sizes={"test": 100})
    assert data["vocabularies"]["source"]["words"][:2] == ["all", "of"]
    assert len(data["vocabularies"]["source"]["words"]) == 8_000
    assert data["notes"] == [
        "The source has 11,902 different words; the model knows the 8,000 most frequent ones."
    ]
    assert any("<unk>" in pair["tokens"][0] for pair in data["train"])


# ---------------------------------------------------------------- what somebody types

READ_TYPED = """({ TASKS, makeData }, { name, options = {}, text }) => {
    const data = makeData(TASKS.find((task) => task.name === name), { test: 20, options });
    const { ids, unknown } = data.read(text);
    return [data.source.tokens(ids), unknown];
}"""


@pytest.mark.parametrize(
    ("given", "tokens", "unknown"),
    [
        ({"name": "copy", "text": " Kat ze"}, "k a t z e", []),
        ({"name": "copy", "text": "k2z"}, "k <unk> z", ["2"]),
        ({"name": "partner", "text": "A3 d7 ? a z"}, "a3 d7 ? a <unk>", ["z"]),
        ({"name": "numbers_fr", "text": "7 083"}, "7 ␣ 0 8 3", []),
        ({"name": "numbers_en", "text": "7,083"}, "7 , 0 8 3", []),
        (
            {"name": "dates", "text": "the 3rd of Octobre, 1987"},
            "the 3rd of <unk> , 1987",
            ["octobre"],
        ),
        ({"name": "own", "options": {"text": OWN_TEXT}, "text": "9 x"}, "9 <unk>", ["x"]),
        ({"name": "copy", "text": ""}, "", []),
    ],
)
def test_typed_text_becomes_the_tokens_of_the_task(ask, given, tokens, unknown):
    assert ask(TASKS, READ_TYPED, given) == [[*tokens.split(), "<eos>"], unknown]
