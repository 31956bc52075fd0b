"""What tests of pictures share."""

import ipywidgets
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


@pytest.fixture
def panel_of():
    """The part of a live output that is drawn anew; ipywidgets 7 keeps its widgets elsewhere than 8."""

    def found(data):
        view = data["application/vnd.jupyter.widget-view+json"]["model_id"]
        kept = getattr(ipywidgets.widgets.widget, "_instances", None)
        return (ipywidgets.Widget.widgets if kept is None else kept)[view].children[-1]

    return found
