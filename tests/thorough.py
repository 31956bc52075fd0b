"""Cases of which `make test` runs the first ones, and `make test-all` every one.

Test modules with many expensive cases of one kind use it. For a whole test there is
`@pytest.mark.thorough(caught_by=[...])`.
"""

from collections.abc import Iterable
from typing import Any

import pytest


def thorough_from(number: int, cases: Iterable[Any]) -> list[Any]:
    """The cases for `pytest.mark.parametrize`, of which those from this number on are thorough.

    Use it where a fault shows in the first cases as well: in what all cases share.

    Args:
        number: How many of the first cases `make test` runs, too.
        cases: A value each, or a tuple of values where a case has several arguments.
    """
    mark = pytest.mark.thorough(caught_by=["the first cases"])
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=[mark] * (place >= number)
        )
        for place, case in enumerate(cases)
    ]
