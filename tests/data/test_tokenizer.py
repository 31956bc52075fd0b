"""Both tokenizers: round trips, unknown words, and files that come back as they were."""

from unicodedata import normalize

import pytest

from transformer_lab.data.tokenizer import (
    SPECIAL_TOKENS,
    BPETokenizer,
    WordTokenizer,
    load_tokenizer,
    tokenizer_from_json,
)
from transformer_lab.formats.fast_tokenizer import build_fast_tokenizer

FRENCH = [
    "l'animal n'a pas traversé la rue parce qu'il était trop fatigué",
    "est-ce que la vieille amie d'anne a peur ?",
    "il n'y a pas d'eau aujourd'hui",
]
ENGLISH = ["the animal didn't cross the street", "is the cat tired?", "are the dogs here?"]
ODD = [
    "naïve 🙂 emoji",
    "שלום עולם",
    "العربية",
    "tab\tand\nline",
    "nul\0byte",
    "  two  spaces",
    "",
    "e\u0301",
    "<pad> and <eos>, <bos> or <unk>",
]


@pytest.mark.parametrize("texts", [FRENCH, ENGLISH])
def test_words_round_trip(texts):
    tokenizer = WordTokenizer.train(texts)
    for text in texts:
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_words_are_cut_where_french_elides_and_english_does_not():
    french, english = WordTokenizer.train(FRENCH), WordTokenizer.train(ENGLISH)
    assert french.tokens(french.encode(FRENCH[0]))[:4] == ["l'", "animal", "n'", "a"]
    assert french.tokens(french.encode("aujourd'hui")) == ["aujourd'hui"]
    assert english.tokens(english.encode("didn't")) == ["didn't"]


def test_capitals_full_stops_and_curly_apostrophes_are_forgiven():
    tokenizer = WordTokenizer.train(ENGLISH)
    assert tokenizer.encode("The animal didn’t cross the street.") == tokenizer.encode(ENGLISH[0])


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_an_accent_typed_in_two_ways_is_the_same_word(form):
    texts = [normalize(form, text) for text in FRENCH]
    words, pieces = WordTokenizer.train(texts), BPETokenizer.train(texts, 300)
    assert words.words == WordTokenizer.train(FRENCH).words
    for tokenizer in (words, build_fast_tokenizer(words), pieces, build_fast_tokenizer(pieces)):
        ids = [tokenizer.encode(normalize(f, FRENCH[0])) for f in ("NFC", "NFD")]
        assert len({tuple(getattr(found, "ids", found)) for found in ids}) == 1
    assert words.unknown(normalize("NFD", FRENCH[0])) == []


def test_unknown_words_become_unk_and_are_named():
    tokenizer = WordTokenizer.train(ENGLISH)
    ids = tokenizer.encode("the zebra 🙂 street")
    assert tokenizer.tokens(ids) == ["the", "<unk>", "<unk>", "street"]
    assert tokenizer.unknown("the zebra 🙂 street") == ["zebra", "🙂"]
    assert tokenizer.decode(ids) == "the <unk> <unk> street"


def test_words_are_in_the_order_of_their_counts():
    assert WordTokenizer.train(["b a b", "c b a"]).words == [*SPECIAL_TOKENS, "b", "a", "c"]


def test_special_ids_leave_no_trace_in_text():
    word, pieces = WordTokenizer.train(FRENCH), BPETokenizer.train(FRENCH, 300)
    for tokenizer in (word, pieces):
        ids = tokenizer.encode(FRENCH[2])
        assert tokenizer.decode([1, *ids, 2, 0, 0]) == FRENCH[2]


@pytest.mark.parametrize("text", [*FRENCH, *ENGLISH, *ODD])
def test_pieces_round_trip_any_text(text):
    import unicodedata

    tokenizer = BPETokenizer.train(FRENCH + ENGLISH, 400)
    # Composition is the one change: e + accent comes back as é.
    assert tokenizer.decode(tokenizer.encode(text)) == unicodedata.normalize("NFC", text)
    assert max(tokenizer.encode(text), default=0) < tokenizer.vocab_size
    assert tokenizer.unknown(text) == []


def test_frequent_words_become_one_piece():
    tokenizer = BPETokenizer.train(["the street is wide"] * 9, 300)
    assert tokenizer.tokens(tokenizer.encode("the street")) == [" the", " street"]


def test_one_at_a_time_equals_all_at_once():
    tokenizer = BPETokenizer.train(FRENCH, 300)
    assert tokenizer.encode_batch(FRENCH) == [tokenizer.encode(t) for t in FRENCH]


@pytest.mark.parametrize("kind", ["word", "bpe"])
def test_json_brings_back_the_same_tokenizer(kind, tmp_path):
    texts = FRENCH + ENGLISH
    tokenizer = WordTokenizer.train(texts) if kind == "word" else BPETokenizer.train(texts, 320)
    path = tmp_path / "tokenizer.json"
    path.write_text(tokenizer.to_json(), encoding="utf-8")
    again = load_tokenizer(path)
    assert again.vocab_size == tokenizer.vocab_size
    for text in [*texts, "zebra 🙂"]:
        assert again.encode(text) == tokenizer.encode(text)
        assert again.decode(again.encode(text)) == tokenizer.decode(tokenizer.encode(text))
    assert again.to_json() == tokenizer.to_json()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "description is not valid JSON"),
        ("[]", "description is missing or has the wrong type"),
        ('{"kind": "word"}', "description has no field 'words'"),
        ('{"kind": "word", "words": [], "joined": [null, false]}', "expected a string"),
        ('{"kind": "word", "words": ["a", 7], "joined": []}', "tokenizer is 7; expected a string"),
        ('{"kind": "morse"}', "kind is 'morse'; expected 'word', 'bpe' or 'sentencepiece'"),
        ('{"kind": "bpe", "tokenizer": {"model": 3}}', "description cannot be read"),
    ],
)
def test_a_description_that_does_not_fit_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        tokenizer_from_json(text)


def test_a_vocabulary_smaller_than_all_bytes_is_refused():
    with pytest.raises(ValueError, match="vocab_size is 100; expected at least 260"):
        BPETokenizer.train(FRENCH, 100)


def test_a_word_twice_is_refused():
    with pytest.raises(
        ValueError, match="words contains .the. more than once; expected distinct words"
    ):
        WordTokenizer(["the", "the"])
