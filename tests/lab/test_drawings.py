"""Drawings as Python makes them: their data, their words, and what is refused."""

import json
import re

import numpy as np
import pytest

from transformer_lab.lab import attention_player
from transformer_lab.lab.page.drawing import list_kinds

WORDS = ["a", "b", "c"]
RANDOM = np.random.default_rng(7)
QUERY, KEY = RANDOM.normal(size=(2, 3, 5))
VALUE = RANDOM.normal(size=(3, 2))


def parts(drawing):
    """The words and the data of a drawing's page."""
    html = drawing._repr_mimebundle_()["text/html"]
    found = re.fullmatch(
        rf'<div data-{drawing.kind}="(\w+)">(<p data-step="-1">.*?</p>)</div>\n<style>.*</style>\n'
        r'<script type="application/json" data-of="\1">(.*?)</script>\n'
        rf'<script type="module">.*mount{drawing.kind.title()}\("\1"\);\n</script>',
        html,
        re.DOTALL,
    )
    assert found, "the words come first, and the script behind them"
    return found[2], json.loads(found[3])


def test_a_player_has_the_matrices_and_words_that_say_what_is_seen():
    words, data = parts(attention_player(WORDS, QUERY, KEY, VALUE, row=1))
    for name, given in (("query", QUERY), ("key", KEY), ("value", VALUE)):
        assert np.array_equal(data[name], given)
    scores = QUERY[1] @ KEY.T
    assert f"b looks most at {WORDS[scores.argmax()]}" in words


def test_it_is_saved_as_one_page_and_never_over_another(tmp_path):
    drawing = attention_player(["</script>", "<b>", "c"], QUERY, KEY, VALUE)
    path = drawing.to_html(tmp_path / "player.html")
    text = path.read_text(encoding="utf-8")
    assert text.count("</script>") == 2
    assert not re.search(r"https?://(?!www\.w3\.org)", text)
    with pytest.raises(ValueError, match=r"player.html already exists. Choose another name"):
        drawing.to_html(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"query": QUERY[:2]}, "query has 2 rows; expected 3, one for each word"),
        ({"inputs": KEY[:2]}, "inputs has 2 rows; expected 3"),
        ({"features": ["x"]}, "`features` has 1 name; expected either none or 5, one for each"),
        ({"gives": "xyz"}, "`gives` has 3 names; expected either none or 2, one for each"),
        ({"row": 3}, "row is 3; expected 0 to 2"),
        ({"value": VALUE[:2]}, "value"),
        ({"key": KEY[:, :4]}, "key"),
    ],
)
def test_what_does_not_fit_is_named(changes, message, as_users_run_it):
    given = {"query": QUERY, "key": KEY, "value": VALUE} | changes
    with pytest.raises(ValueError, match=message):
        attention_player(WORDS, **given)


def test_each_kind_has_a_drawing_or_is_a_slider_or_a_quiz():
    assert {"frames", "player", "quiz"} <= set(list_kinds())
