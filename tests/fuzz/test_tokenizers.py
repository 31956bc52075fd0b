"""Tokenizers: text comes back, JSON comes back, and what is no description is a ValueError."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.cases import cases, jsons, plain, texts, tried
from transformer_lab.data.tokenizer import BPETokenizer, WordTokenizer, tokenizer_from_json

PIECES = BPETokenizer.train(["the cat sees a dog", "l'œuvre est finie, n'est-ce pas ?"] * 3, 300)


@cases(0.035)
@given(st.lists(plain, max_size=5), plain)
def test_words_that_were_learnt_come_back(learnt, text):
    tokenizer = WordTokenizer.train(learnt)
    for known in learnt:
        ids = tokenizer.encode(known)
        assert tokenizer.unknown(known) == []
        if not set(known) & set("'’"):  # what follows an apostrophe is written onto it
            assert tokenizer.encode(tokenizer.decode(ids)) == ids
    ids = tokenizer.encode(text)
    assert ids.count(3) == len(tokenizer.unknown(text))
    assert all(0 <= i < tokenizer.vocab_size for i in ids)
    assert len(tokenizer.tokens(ids)) == len(ids)
    again = tokenizer_from_json(tokenizer.to_json())
    assert (again.encode(text), again.decode(ids)) == (ids, tokenizer.decode(ids))


@cases(0.035)
@given(texts)
def test_pieces_spell_every_text(text):
    ids = PIECES.encode(text)
    assert PIECES.decode(ids) == unicodedata.normalize("NFC", text)
    assert PIECES.encode_batch([text, text]) == [ids, ids]
    assert len(PIECES.tokens(ids)) == len(ids)
    assert all(i > 3 for i in ids), "no text is a special token"


@cases(0.044)
@given(
    texts
    | jsons.map(json.dumps)
    | st.fixed_dictionaries(
        {"kind": st.sampled_from(["word", "bpe", "sentencepiece"])},
        optional=dict.fromkeys(("words", "joined", "tokenizer", "model", "vocabulary"), jsons),
    ).map(json.dumps)
)
def test_what_is_no_description_is_named(text):
    tokenizer, said = tried(tokenizer_from_json, text)
    if said:
        return
    assert tokenizer.encode("a") is not None
    assert tokenizer_from_json(tokenizer.to_json()).vocab_size == tokenizer.vocab_size


def test_fewer_pieces_than_bytes_are_refused():
    with pytest.raises(ValueError, match="expected at least 260"):
        BPETokenizer.train(["a"], 259)
