"""The Chromium of this machine, in which pages are tested, measured and photographed."""

import os
import shutil


def find_browser() -> str | None:
    """Return the path of $CHROMIUM or of a Chromium on the PATH, or None if there is none.

    The one without windows comes first: nothing here opens a window, and it draws in half the time.
    """
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
    candidates = (shutil.which(name) for name in (os.environ.get("CHROMIUM", ""), *names) if name)
    return next((path for path in candidates if path), None)
