"""What a study stores of each step of a training."""

import pytest
import torch

from transformer_lab.studies.common.step_record import StepRecord
from transformer_lab.training.trainer import StepReport

pytestmark = pytest.mark.slow


def test_steps_are_noted_in_groups_and_a_rest_is_left_out():
    record = StepRecord()
    steps = ((2.0, 5.0), (4.0, 3.0), (1.0, 2.0), (2.0, 7.0), (9.0, 9.0))
    for step, (loss, norm) in enumerate(steps, start=1):
        record(StepReport(step, torch.tensor(loss), torch.tensor(norm), 1e-3, 320, 0.1))
    assert record.summarize(2) == {"losses": [3.0, 1.5], "largest_gradient_norms": [5.0, 7.0]}
    assert record.losses[-1] == 9.0
