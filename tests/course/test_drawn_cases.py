"""What cases are drawn from, and that drawn cases alone refuse nearly all known mistakes."""

import numpy as np
import pytest
import torch

from tests.course.every_check import drawing
from transformer_lab.course.judge.check import RANDOM_CASES
from transformer_lab.course.judge.random_values import ONE_IN, SIZES, RandomValues
from transformer_lab.course.lessons import lesson, lesson_numbers


@pytest.mark.parametrize("seed", range(50))
def test_no_two_sizes_of_a_case_are_equal(seed):
    chance = RandomValues(seed)
    sizes = [*chance.batch(), *chance.sizes(2), *chance.sizes(2)]
    assert len(set(sizes)) == len(sizes)
    assert set(sizes) <= {1, *SIZES}
    assert (1 in sizes) == (seed % ONE_IN == ONE_IN - 1)


@pytest.mark.parametrize("seed", range(50))
def test_what_is_drawn_keeps_what_it_says(seed):
    chance = RandomValues(seed)
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
    drawn = [RandomValues(seed) for seed in range(30)]
    assert {len(chance.batch()) for chance in drawn} == {0, 1, 2}
    assert len({chance.between(0, 9) for chance in drawn}) >= 8
    assert torch.equal(RandomValues(3).tensor(2, 3), RandomValues(3).tensor(2, 3))
    assert not torch.equal(RandomValues(3).tensor(2, 3), RandomValues(4).tensor(2, 3))


@pytest.mark.thorough(
    caught_by=["tests/course/every_check.py::test_who_knows_the_written_cases_by_heart_is_refused"]
)
@pytest.mark.slow
def test_of_the_known_mistakes_drawn_cases_alone_refuse_nearly_all():
    passed, count = [], 0
    checks = [c for number in lesson_numbers() for c in vars(lesson(number).check).items()]
    for name, check in checks:
        alone = drawing(check, range(RANDOM_CASES))
        for mistake in check.mistakes:
            count += 1
            if alone.judge(alone.known_outcomes(mistake.answer)).right:
                passed.append((name, mistake.hint))
    assert len(passed) <= 0.03 * count, passed
