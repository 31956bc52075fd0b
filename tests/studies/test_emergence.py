"""Heads through training: the study is whole, and its measures are what they say."""

import numpy as np
import pytest

from transformer_lab.data.world.grammar import world
from transformer_lab.data.world.relations import (
    NOUN_FORMS,
    RELATIVE_CLAUSES,
    find_relations_over_clause,
)
from transformer_lab.studies.common import store
from transformer_lab.studies.finding_the_noun.subspaces import (
    PROJECTIONS,
    head_overlaps,
    subspace_overlap,
)
from transformer_lab.studies.when_heads_appear import emergence
from transformer_lab.translator import Translator

D, M, N = 23, 5, 7


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_a_space_lies_within_itself_whatever_its_basis(rng):
    a = rng.normal(size=(D, M))
    assert subspace_overlap(a, a @ rng.normal(size=(M, M))) == pytest.approx(1)


def test_a_space_within_a_larger_one_overlaps_wholly(rng):
    a = rng.normal(size=(D, N))
    assert subspace_overlap(a, a[:, :M]) == subspace_overlap(a[:, :M], a) == pytest.approx(1)


def test_spaces_at_right_angles_do_not_overlap(rng):
    q, _ = np.linalg.qr(rng.normal(size=(D, M + N)))
    assert subspace_overlap(q[:, :M], q[:, M:]) == pytest.approx(0, abs=1e-12)


def test_one_known_angle():
    a, b = np.array([[1.0], [0], [0]]), np.array([[np.cos(0.3)], [np.sin(0.3)], [0]])
    assert subspace_overlap(a, b) == pytest.approx(np.cos(0.3) ** 2)


def test_random_spaces_overlap_as_promised(rng):
    found = [subspace_overlap(rng.normal(size=(D, M)), rng.normal(size=(D, N))) for _ in range(300)]
    assert np.mean(found) == pytest.approx(N / D, abs=0.02)


def test_overlaps_of_a_model_have_a_number_for_each_layer():
    model = Translator.load(device="cpu").model
    found = head_overlaps(model)
    assert list(found) == list(PROJECTIONS)
    for values in found.values():
        assert len(values) == model.config.num_encoder_layers
        assert all(0 < value < 1 for value in values)


def test_a_noun_reaches_its_verb_over_the_clause():
    pairs = [pair for pair in world(0, seed=0).test if pair.construction in RELATIVE_CLAUSES]
    assert len(pairs) > 50
    for pair in pairs:
        links, words = find_relations_over_clause(pair), pair.source_tokens
        ((pronoun, antecedent),) = links["relative pronoun"]
        ((noun, verb),) = links["subject over a clause"]
        assert noun == antecedent
        assert words[noun] in NOUN_FORMS
        assert words[pronoun] in ("that", "who")
        assert verb > pronoun + 2
        assert len(words) - verb in (2, 3)


def test_the_stored_runs_are_those_of_the_grid():
    stored = store.load("emergence")["runs"]
    assert [entry["setting"] for entry in stored] == emergence.GRID


@pytest.mark.thorough(
    caught_by=[
        "test_overlaps_of_a_model_have_a_number_for_each_layer",
        "test_a_noun_reaches_its_verb_over_the_clause",
    ]
)
def test_a_small_run_has_a_look_at_each_step():
    found = emergence.run(emergence.SMALL)
    assert [look["step"] for look in found["looks"]] == [0, 1, 2]
    assert found["relations"].keys() == found["untrained relations"].keys()
    assert found["subspaces"].keys() == found["untrained subspaces"].keys()
    assert all(0 <= look["plain"] <= 1 for look in found["looks"])
