"""The device of these tests: the CPU, or what TEST_DEVICE names, as `python -m benchmarks.gpu` does."""

import os

import pytest
import torch


@pytest.fixture(scope="session")
def device() -> torch.device:
    return torch.device(os.environ.get("TEST_DEVICE", "cpu"))
