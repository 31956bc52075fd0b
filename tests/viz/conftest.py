"""What tests of pictures share."""

import pytest


@pytest.fixture
def shown(monkeypatch):
    """What was sent to the page: (data, metadata) for each output."""
    sent = []
    for module in ("display", "sliders"):
        monkeypatch.setattr(
            f"transformer_lab.viz.{module}.display",
            lambda data, metadata, raw: sent.append((data, metadata)),
        )
    return sent
