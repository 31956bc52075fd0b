"""The words that the page draws sentences from are those of Python's bilingual world."""

from tools.world_words import WORDS, javascript, simplify, write
from transformer_lab.data.world.lexicon import ADJECTIVES, NOUNS, VERBS
from transformer_lab.data.world.phrases import fixed_phrase


def test_the_words_in_the_page_are_those_of_python():
    assert WORDS.read_text(encoding="utf-8") == javascript()


def test_a_word_is_written_as_its_name_a_phrase_as_its_texts_and_a_set_in_order():
    scene = (VERBS["écrire"], ADJECTIVES["old"], NOUNS["owl"], frozenset("bca"), 0.5)
    assert simplify({"of": scene}) == {"of": ["écrire", "old", "owl", ["a", "b", "c"], 0.5]}
    assert simplify(fixed_phrase("last week", "la:1 semaine:1 dernière:0")) == [
        "last week",
        "la semaine dernière",
    ]


def test_a_table_with_rows_has_one_on_each_line():
    assert write([["é", ["a"]], ["b", []]]) == '[\n    ["é",["a"]],\n    ["b",[]],\n  ]'
    assert write({"a": ["b", "c"]}) == '{"a":["b","c"]}'
