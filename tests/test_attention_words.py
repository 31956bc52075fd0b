"""Pieces joined to words, against two plain loops; a record of words comes back as it was."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.records import make_record, probabilities, random_maps
from transformer_lab.attention.record import KINDS, AttentionRecord, Head, Referent
from transformer_lab.attention.words import by_words, join_tokens, step_groups, word_groups
from transformer_lab.data.sentence_pieces import SPACE
from transformer_lab.data.tokenizer import BPETokenizer
from transformer_lab.translator import Translator

# Seven words of eleven pieces, and five steps' words of seven.
SOURCE = (" The", " tro", "phy", " can", "'", "t", " fit", " i", "n", ".", "</s>")
TARGET = ("<pad>", " O", " tro", "f", "éu", " cai", "u")
WRITTEN = (" O", " tro", "f", "éu", " cai", "u", "</s>")
SOURCE_WORDS = ((0,), (1, 2), (3, 4, 5), (6,), (7, 8), (9,), (10,))
READ_WORDS = ((0,), (1,), (2, 3, 4), (5, 6))
WRITTEN_WORDS = ((0,), (1, 2, 3), (4, 5), (6,))


def pieces(**changes) -> AttentionRecord:
    return make_record(SOURCE, TARGET, WRITTEN, **changes)


def slow_join(weights, rows, columns):
    """Each word's row, piece by piece: (heads, words, words)."""
    found = np.zeros((len(weights), len(rows), len(columns)))
    for head, query, key in np.ndindex(*found.shape):
        of_pieces = [sum(float(weights[head, q, k]) for k in columns[key]) for q in rows[query]]
        found[head, query, key] = sum(of_pieces) / len(of_pieces)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_added_over_columns_and_averaged_over_rows(kind):
    record = pieces()
    joined = by_words(record)
    rows, columns = {
        "encoder": (SOURCE_WORDS, SOURCE_WORDS),
        "decoder": (READ_WORDS, READ_WORDS),
        "cross": (WRITTEN_WORDS, SOURCE_WORDS),
    }[kind]
    for before, after in zip(getattr(record, kind), getattr(joined, kind), strict=True):
        np.testing.assert_allclose(after, slow_join(before, rows, columns), atol=1e-6)
        np.testing.assert_allclose(after.sum(axis=-1), 1, atol=1e-6)
        assert after.dtype == before.dtype
    if kind == "decoder":
        assert not any(np.triu(layer, 1).any() for layer in joined.decoder), "a later word is seen"


def test_all_else_that_a_record_knows_is_of_words_too():
    record = pieces(
        next_tokens=probabilities(WRITTEN, np.random.default_rng(0)),
        alignment=((0, 0), (1, 1), (2, 2), (2, 3), (6, 5)),
        referent=Referent(pronoun=8, referent=2, other=6, step=3, decider=9),
        muted=frozenset({Head("cross", 1, 2)}),
        label="step 3",
        unknown=("ï",),
    )
    joined = by_words(record)
    assert joined.source_tokens == ("The", "trophy", "can't", "fit", "in", ".", "</s>")
    assert joined.target_tokens == ("<pad>", "O", "troféu", "caiu")
    assert joined.written_tokens == ("O", "troféu", "caiu", "</s>")
    assert joined.next_tokens == tuple(record.next_tokens[step] for step in (0, 1, 4, 6))
    assert joined.alignment == ((0, 0), (1, 1), (3, 2))
    assert joined.referent == Referent(pronoun=4, referent=1, other=3, step=1, decider=5)
    for name in ("muted", "label", "unknown"):
        assert getattr(joined, name) == getattr(record, name)
    assert by_words(joined) is joined


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ((" a", "b", " c"), ("ab", "c")),
        (("▁a", "b", "▁c"), ("ab", "c")),
        ((" mat", ".", "</s>"), ("mat", ".", "</s>")),
        ((" (", "in", " HTML", "),"), ("(", "in", "HTML", "),")),
        ((" can", "'", "t"), ("can't",)),
        ((" can", "'t"), ("can't",)),
        ((" co", "-", "op", "’", "s"), ("co-op’s",)),
        ((" a", " -", " b", "-", " c"), ("a", "-", "b", "-", "c")),
        ((" 'n", "'", "!"), ("'n", "'", "!")),
        ((" /", "us", "r", "/", "my", "_", "doc"), ("/", "usr", "/", "my_doc")),
        ((" Na", "<unk>", "ve"), ("Na", "<unk>", "ve")),
        ((" a", "-", "<unk>"), ("a", "-", "<unk>")),
        ((">>fr<<", " a", "b"), (">>fr<<", "ab")),
        ((" a", " ", "b", " ", " c"), ("a", "b", "c")),
        ((" ", "<unk>", "org"), ("<unk>", "org")),
        ((" caf", "\ufffd", "\ufffd"), ("caf\ufffd\ufffd",)),
        ((" का", "\u093e", "।"), ("का\u093e", "।")),  # a vowel sign, and a full stop
        (("l'", "animal", "<eos>"), ("l'", "animal", "<eos>")),
        ((), ()),
    ],
)
def test_where_a_word_begins(tokens, words):
    groups = word_groups(tokens)
    assert join_tokens(tokens, groups) == words
    assert [place for group in groups for place in group] == list(range(len(tokens)))


def test_pieces_of_our_own_tokenizer_join_to_the_words_that_were_split_at_spaces():
    texts = ["the animal didn't cross the wide street", "a co-operative of naïve cafés in März"]
    tokenizer = BPETokenizer.train(texts, 300)
    for text in texts:
        tokens = tokenizer.tokens(tokenizer.encode(text))
        assert len(tokens) > len(text.split())
        assert len(word_groups(tokens)) == len(text.split())
    tokens = tokenizer.tokens(tokenizer.encode(texts[0]))
    assert join_tokens(tokens, word_groups(tokens)) == tuple(texts[0].split())


def test_the_shipped_model_reads_words_and_its_record_stays_as_it_is():
    record = Translator.load(device="cpu").attend("the animal didn't cross the street")
    assert by_words(record) is record


def test_one_language_may_be_of_words_and_the_other_of_pieces():
    record = make_record(SOURCE, ("<bos>", "le", "chat"), ("le", "chat", "<eos>"))
    joined = by_words(record)
    assert joined.written_tokens == record.written_tokens
    assert joined.decoder == record.decoder
    np.testing.assert_allclose(
        joined.cross[0],
        slow_join(record.cross[0], [(0,), (1,), (2,)], SOURCE_WORDS),
        atol=1e-6,
    )


@pytest.mark.parametrize(
    ("target", "written"),
    [
        (("<pad>", " O", " tro"), (" O", " tro", "f")),  # cut within a word
        (("<pad>",), (" O",)),
        ((" The", " ani", "mal"), (" ani", "mal", "…")),  # a decoder alone
        (("Th", "is", " one"), ("is", " one", "…")),
        ((), ()),
    ],
)
def test_a_translation_that_was_cut_has_as_many_words_read_as_written(target, written):
    record = make_record(SOURCE, target, written, cross=(), decoder=(2,) if target else ())
    read, steps = step_groups(record)
    assert len(read) == len(steps)
    for groups in (read, steps):
        assert [i for group in groups for i in group] == list(range(len(target)))
    joined = by_words(record)
    assert len(joined.target_tokens) == len(joined.written_tokens) == len(read)
    assert by_words(joined) is joined


def test_no_piece_is_lost_or_doubled_whatever_the_tokens_are():
    rng = np.random.default_rng(5)
    signs = [*"ab'-._1", " ", " a", " '", "<unk>", "", "\ufffd", SPACE, "\n"]
    for _ in range(300):
        tokens = tuple(rng.choice(signs, size=rng.integers(0, 13)))
        groups = word_groups(tokens)
        assert [i for group in groups for i in group] == list(range(len(tokens)))
        names = join_tokens(tokens, groups)
        assert word_groups(names) == tuple((i,) for i in range(len(names)))
        assert Counter("".join(tokens).replace(" ", "")) >= Counter("".join(names))


def test_a_piece_that_sees_nothing_is_left_out_of_its_words_mean():
    record = pieces()
    (layer,) = random_maps(np.random.default_rng(3), (2,), 11, 11)
    layer[:, [2, 9]] = 0  # one piece of "trophy", and the full stop
    joined = by_words(replace(record, encoder=(layer,))).encoder[0]
    columns = [layer[:, 1][:, list(group)].sum(axis=-1) for group in SOURCE_WORDS]
    np.testing.assert_allclose(joined[:, 1], np.stack(columns, axis=-1), atol=1e-6)
    assert not joined[:, 5].any()


def test_half_precision_stays():
    record = pieces()
    half = replace(record, encoder=tuple(layer.astype(np.float16) for layer in record.encoder))
    assert {layer.dtype for layer in by_words(half).encoder} == {np.dtype(np.float16)}
