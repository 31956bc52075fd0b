"""Each check draws cases besides those written by hand: to know these by heart is not enough."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from tests.course.right_answers import RIGHT
from tests.course.test_check import CHECKS, RIGHT_IN_ANOTHER_WAY
from transformer_lab.course.chance import SIZES, Chance
from transformer_lab.course.check import DRAWN

OTHERS = range(DRAWN, DRAWN + 20)
"""Seeds that no check itself draws with."""
ANSWERS = [*RIGHT, *((name.partition(":")[0], f) for name, f in RIGHT_IN_ANOTHER_WAY.items())]
MOVES = {"09.training_step": ("loss_of",)}
"""What an answer is asked to change."""


@pytest.fixture(params=CHECKS)
def name(request):
    return request.param


def drawing(check, seeds):
    """The check with drawn cases alone."""
    return replace(check, cases=lambda: [check.drawn(Chance(seed)) for seed in seeds], drawn=None)


def test_every_check_draws_and_its_reference_can_do_what_is_drawn(name):
    check = drawing(CHECKS[name], OTHERS)
    for outcome in check.known_outcomes(check.reference):
        assert outcome.error is None
        assert outcome.changed == MOVES.get(name, ())
        assert not any(np.isnan(r).any() for r in outcome.results if r.dtype.kind == "f")


def test_a_seed_draws_the_same_case_twice(name):
    one, other = drawing(CHECKS[name], (7,)), drawing(CHECKS[name], (7,))
    assert one.words_for(one.made[0]) == other.words_for(other.made[0])
    (a,), (b,) = one.known_outcomes(one.reference), other.known_outcomes(other.reference)
    assert a.equals(b, 0.0)


def test_who_knows_the_written_cases_by_heart_is_refused(name):
    check = CHECKS[name]
    right = check.known_outcomes(check.reference)
    written, drawn = right[:-DRAWN], right[-DRAWN:]
    for known in written:
        assert not check.judge([*written, *[known] * DRAWN]).right
    assert check.judge([*written, *drawn]).right


@pytest.mark.parametrize(("name", "answer"), ANSWERS, ids=lambda x: getattr(x, "__name__", x))
def test_no_right_answer_is_refused_whatever_is_drawn(name, answer):
    verdict = drawing(CHECKS[name], OTHERS).verdict(answer)
    assert verdict.right, verdict.text


def test_of_the_known_mistakes_drawn_cases_alone_refuse_nearly_all():
    passed, count = [], 0
    for name, check in CHECKS.items():
        alone = drawing(check, range(DRAWN))
        for mistake in check.mistakes:
            count += 1
            if alone.judge(alone.known_outcomes(mistake.answer)).right:
                passed.append((name, mistake.hint))
    assert len(passed) <= 0.03 * count, passed


# ---------------------------------------------------------------- what cases are drawn from


@pytest.mark.parametrize("seed", range(50))
def test_no_two_sizes_of_a_case_are_equal(seed):
    chance = Chance(seed)
    sizes = [*chance.batch(), *chance.sizes(2), *chance.sizes(2)]
    assert len(set(sizes)) == len(sizes)
    assert set(sizes) <= set(SIZES)


@pytest.mark.parametrize("seed", range(50))
def test_what_is_drawn_keeps_what_it_says(seed):
    chance = Chance(seed)
    assert chance.between(3, 5) in (3, 4, 5)
    assert 0.5 <= chance.real(0.5, 0.75) <= 0.75
    np.testing.assert_allclose(chance.weights(3, 5).sum(axis=-1), 1.0)
    assert chance.mask(3, 5, 7).any(dim=-1).all()
    assert len(set(chance.different(4, 7))) == 4
    pad_id, in_front = chance.between(0, 8), bool(seed % 2)
    ids = chance.padded(5, 7, 9, pad_id, in_front)
    words = ids != pad_id
    assert words.any(dim=1).all()
    assert words.all(dim=1).any()
    assert ((ids >= 0) & (ids < 9)).all()
    ordered = words if in_front else words.flip(1)
    assert (ordered.int().diff(dim=1) >= 0).all()  # no hole in a sentence


def test_special_ids_and_leading_dimensions_vary():
    drawn = [Chance(seed) for seed in range(30)]
    assert {len(chance.batch()) for chance in drawn} == {0, 1, 2}
    assert len({chance.between(0, 9) for chance in drawn}) >= 8
    assert torch.equal(Chance(3).tensor(2, 3), Chance(3).tensor(2, 3))
    assert not torch.equal(Chance(3).tensor(2, 3), Chance(4).tensor(2, 3))
