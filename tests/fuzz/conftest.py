"""Fuzzing meets the package's own errors, as users do."""

import pytest


@pytest.fixture(autouse=True)
def _users_errors(as_users_run_it):
    """The tests' checks of argument types are off."""
