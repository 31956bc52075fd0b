"""The anchors of headings, as JupyterLab makes them: one link works there and on the site."""

import re


def jupyterlab_anchor(heading: str) -> str:
    """The heading with hyphens for spaces, and all else as it is."""
    return re.sub(r"\s", "-", heading)
