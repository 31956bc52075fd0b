"""Relations of the grammar's English: as a teacher would mark them, and sound on thousands."""

import pytest

from transformer_lab.data.world.grammar import FAMOUS, WorldPair, world
from transformer_lab.data.world.relations import CLAUSES, NOUN_FORMS, RELATIONS, find_relations

MARKED = [
    (
        "past",
        "the boy read a boring poem",
        "the>boy a>poem",
        "boring>poem",
        "boy>read",
        "poem>read",
    ),
    (
        "habit",
        "these two kings rarely close their small green chests",
        "these>kings their>chests",
        "small>chests green>chests",
        "kings>close",
        "chests>close",
    ),
    (
        "present_negation",
        "our uncle isn't washing seven scarves",
        "our>uncle",
        "",
        "uncle>washing",
        "scarves>washing",
    ),
    (
        "indirect_object",
        "her sister gave an old hat to my brother",
        "her>sister an>hat my>brother",
        "old>hat",
        "sister>gave",
        "hat>gave",
    ),
    (
        "because_first",
        "because it was closed , we didn't enter that museum",
        "that>museum",
        "",
        "we>enter",
        "museum>enter",
    ),
    ("description", "the bears weren't limping", "the>bears", "", "", ""),
]


@pytest.mark.parametrize(("construction", "sentence", "links"), [(c, s, m) for c, s, *m in MARKED])
def test_it_marks_what_a_teacher_would(construction, sentence, links):
    words = tuple(sentence.split())
    found = find_relations(WorldPair(words, (), (), construction, None))
    for name, wanted in zip(RELATIONS, links, strict=True):
        pairs = [pair.split(">") for pair in wanted.split()]
        assert found[name] == tuple((words.index(a), words.index(b)) for a, b in pairs), name


def test_the_famous_sentence_has_its_four():
    assert find_relations(FAMOUS[0]) == {
        "determiner": ((0, 1), (4, 5)),
        "adjective": (),
        "subject": ((1, 3),),
        "object": ((5, 3),),
    }


def test_links_are_sound_in_thousands_of_sentences():
    pairs = world(5_000, seed=1).train
    for pair in pairs:
        found, words = find_relations(pair), pair.source_tokens
        for name in ("determiner", "adjective"):
            assert all(a < b and words[b] in NOUN_FORMS for a, b in found[name])
        assert len(found["subject"]) == (pair.construction in CLAUSES)
        assert all(noun < verb for noun, verb in found["subject"])
        assert all(verb < noun and words[noun] in NOUN_FORMS for noun, verb in found["object"])
        assert all((verb,) == tuple(v for _, v in found["subject"]) for _, verb in found["object"])
