"""What each training of the study is given, and that nothing stands in two of its parts."""

import random

from transformer_lab.data.debian import Row
from transformer_lab.data.pair import Pair, Splits
from transformer_lab.studies.back_translation import back_translation as study
from transformer_lab.studies.common import store
from transformer_lab.studies.common.short_french import is_short

SETTING = {"parallel": 31, "monolingual": 61, "steps": 3, "seed": 5}


def invented_rows():
    """Sixty families with three sentences each, and one sentence that all families have."""
    draw = random.Random(3)
    words = ["".join(draw.choices("bdglmprst", k=2)) + v for v in "aeiou" for _ in range(40)]
    rows = []
    for family in range(60):
        for _ in range(3):
            english = " ".join(draw.choices(words, k=7))
            rows.append(Row(f"f{family}", Pair(english, english.upper())))
        rows.append(Row(f"f{family}", Pair("what all have", "CE QUE TOUS ONT")))
    long = " ".join(draw.choices(words, k=60))
    return [*rows, Row("f1", Pair(long, long.upper()))]


ROWS = invented_rows()
TRAIN = [row.pair for row in ROWS if row.family not in ("f7", "f11")]


def test_parts_share_no_family_no_sentence_and_nothing_with_what_is_held_out():
    family = {row.pair: row.family for row in ROWS}
    for seed in range(5):
        parts = study.split_parts(ROWS, TRAIN, SETTING | {"seed": seed})
        assert 20 < len(parts.parallel) <= 31
        assert 40 < len(parts.monolingual) <= 61
        assert all(is_short(pair) for part in parts for pair in part)
        families = [{family[pair] for pair in part} for part in parts]
        assert not families[0] & families[1]
        assert not (families[0] | families[1]) & {"f7", "f11"}
        for side in ("source", "target"):
            sides = [[getattr(pair, side) for pair in part] for part in parts]
            assert not set(sides[0]) & set(sides[1])
    again = study.split_parts(ROWS, TRAIN, SETTING | {"seed": 4})
    assert again == parts
    assert study.split_parts(ROWS, TRAIN, SETTING) != parts


def test_french_that_has_a_translation_is_not_taken_for_french_without_one():
    twins = [
        Row(f"t{n}", Pair(f"{word} sentence number{word} {n}", "LA MÊME PHRASE"))
        for n, word in enumerate("abcdefghijklmnopqrstuvwxyz")
    ]
    pairs = [row.pair for row in twins]
    parts = study.split_parts(twins, pairs, SETTING | {"parallel": 9, "monolingual": 11})
    assert len(parts.parallel) == 9
    assert parts.monolingual == []


def test_each_training_gets_what_its_name_says(monkeypatch):
    trainings, unseen = [], [row.pair for row in ROWS if row.family in ("f7", "f11")]

    def trained(pairs, tokenizer, steps, seed):
        trainings.append(list(pairs))
        assert (steps, seed) == (3, 5)
        return len(trainings)

    def written(translator, texts):
        assert translator in (1, 2, 3, 4)
        return ["" if n == 2 else f"{translator} {text.lower()}" for n, text in enumerate(texts)]

    monkeypatch.setattr(study, "debian", lambda _: Splits(TRAIN, unseen[:3], unseen[3:]))
    monkeypatch.setattr(study, "debian_rows", lambda _: ROWS)
    monkeypatch.setattr(study, "train_short_french", trained)
    monkeypatch.setattr(study, "translate_greedily", written)
    found = study.run(SETTING)
    parallel, monolingual = study.split_parts(ROWS, TRAIN, SETTING)
    back = [Pair(f"1 {p.target.lower()}", p.target) for p in monolingual]
    del back[2]  # of which nothing was written
    assert trainings[0] == [Pair(p.target, p.source) for p in parallel]
    assert trainings[1] == parallel
    assert trainings[2] == parallel + back
    assert trainings[3] == parallel + monolingual
    assert found["sentences"] == len(unseen)
    assert found["pairs"] == {
        "parallel": len(parallel),
        "back-translated": len(parallel) + len(back),
        "real": len(parallel) + len(monolingual),
    }
    assert found["bleu"].keys() == found["chrf"].keys() == found["pairs"].keys()
    assert found["gains"].keys() == {"back-translated", "real"}


def test_what_was_not_written_is_no_pair():
    made = study.pair_sentences(["a", " ", "", "b"], "wxyz")
    assert made == [Pair("a", "w"), Pair("b", "z")]


def test_what_is_stored_is_the_whole_grid():
    stored = store.load(study.NAME)
    assert [run["setting"] for run in stored["runs"]] == study.GRID
    assert stored["command"] == f"python -m {study.__name__}"
