"""The README's lines of Python do what it says."""

import re
from pathlib import Path

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_lines_of_python_translate_and_write_a_page(tmp_path, monkeypatch, capsys):
    (lines,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (said,) = re.findall(r'The translator says "… (.*?)"', README)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(lines, names)
    assert said.replace("*", "") in capsys.readouterr().out
    for page in ("lab.html", "play.html"):
        assert "<html" in (tmp_path / page).read_text(encoding="utf-8")[:500]
    # The head that it tells you to mute is named by what it does in a hundred unseen sentences.
    assert '"e2.3": "finds the noun"' in (tmp_path / "lab.html").read_text(encoding="utf-8")
    exec(
        lines.replace("tired", "wide")
        .replace("lab.html", "wide.html")
        .replace("play.html", "2.html"),
        names,
    )
    assert "elle" in capsys.readouterr().out
