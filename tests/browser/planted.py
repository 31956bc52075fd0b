"""What somebody might plant in a page: loads from elsewhere, scripts, and styles that fetch."""

from pathlib import Path

PLANTED = """
<img src="{there}/picture.png"><script src="{there}/script.js"></script>
<script>window.planted = true; fetch("{there}/fetched");</script>
<img src="data:," onerror="window.planted = true">
<link rel="stylesheet" href="{there}/style.css"><style>@import "{there}/imported.css";</style>
<iframe src="{there}/frame.html"></iframe><p style="background: url({there}/back.png)">p</p>
</body>"""


def plant(page: Path, there: str, is_guarded: bool) -> Path:
    """A copy of a page, beside it, that asks `there`; without its policy if it is not guarded."""
    before, _, after = page.read_text("utf-8").rpartition("</body>")
    text = before + PLANTED.format(there=there) + after
    if not is_guarded:  # or a test would pass where nothing was planted
        text = text.replace("Content-Security-Policy", "x")
    path = page.with_name(f"planted_{page.name}")
    path.write_text(text, "utf-8")
    return path
