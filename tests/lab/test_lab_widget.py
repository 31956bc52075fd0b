"""The lab on a running Python, without a browser: its traits, and how it answers what a page asks."""

import html
import traceback
from collections.abc import Callable

import ipywidgets
import numpy as np
import pytest
import traitlets

from tests.records import make_record, probabilities
from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.attention.scores import find_sharpest_head
from transformer_lab.lab import LabWidget, lab

SENTENCE = "the cat sees a dog"
NOTHING = {"mute": [], "points": []}
POINT = {"kind": "cross", "layer": 1, "head": 2, "query": 3, "key": 4, "share": 1}


class Fake:
    """Translates word by word into capitals; muting or patching reverses the translation."""

    def __init__(self):
        self.asked: list[tuple] = []
        self.fails: Exception | type[BaseException] | None = None

    def attend(self, source: str, *, mute=(), patch=None) -> AttentionRecord:
        self.asked.append((source, list(mute), patch))
        if self.fails is not None:
            raise self.fails
        words = source.split()
        written = [word.upper() for word in words]
        if mute or patch:
            written.reverse()
        return make_record(
            [*words, "<eos>"],
            ["<bos>", *written],
            [*written, "<eos>"],
            next_tokens=probabilities([*written, "<eos>"], np.random.default_rng(0)),
            muted=frozenset(Head(*head) for head in mute),
        )


@pytest.fixture
def fake():
    return Fake()


@pytest.fixture
def widget(fake):
    return lab(fake, SENTENCE, kernel=True, start="head=c1.1")


@pytest.fixture
def ask(widget, monkeypatch) -> Callable[..., dict]:
    """Ask what the page would ask; what the page would get."""
    sent = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))

    def question(text=SENTENCE, mute=(), points=(), kept=NOTHING, number=7):
        changes = {"mute": [Head.from_code(code)._asdict() for code in mute], "points": [*points]}
        message = {"ask": number, "text": text, "kept": kept, "changes": changes}
        sent.clear()
        widget.hear(widget, message, [])
        (answer,) = sent
        return answer

    return question


def shown(widget):
    return widget.kind, widget.layer, widget.head, widget.pinned


def latest(widget):
    return widget.data["records"][-1]


def test_it_begins_with_the_sharpest_head_of_the_last_kind(fake):
    widget = lab(fake, SENTENCE, kernel=True)
    assert isinstance(widget, LabWidget)
    opened = Head(widget.kind, widget.layer, widget.head)
    assert opened == find_sharpest_head(widget.record, "cross")
    assert widget.pinned == []
    assert fake.asked == [(SENTENCE, [], None)]
    assert latest(widget)["source"] == (*SENTENCE.split(), "<eos>")
    assert isinstance(latest(widget)["weights"], bytes), "a widget sends bytes as they are"
    assert widget.record.written_tokens[0] == "THE"
    assert widget.data["question"] == {"text": SENTENCE, "kept": NOTHING, "changes": NOTHING}


def test_an_address_says_what_is_open_and_changed_at_first(fake):
    start = "head=c2.3&row=4&mute=e2.3,e2.3&point=c2.3:3:4:0.50&view=map&step=1"
    widget = lab(fake, SENTENCE, kernel=True, start=start)
    assert (widget.kind, widget.layer, widget.head, widget.pinned) == ("cross", 1, 2, [4, None])
    muted, point = Head("encoder", 1, 2), POINT | {"share": 0.5}
    source, mute, patch = fake.asked[-1]
    assert (source, mute, list(patch)) == (SENTENCE, [muted], [Head("cross", 1, 2)])
    assert widget.data["question"]["changes"] == {"mute": [muted._asdict()], "points": [point]}
    assert widget.data["before"]["written"] == ("THE", "CAT", "SEES", "A", "DOG", "<eos>")
    assert widget.record.muted == {muted}
    assert widget.data["start"] == start, "the rest is for the page"
    words = lab(fake, SENTENCE, kernel=True, start="head=e1.1&row=2&key=5", languages=("a", "b"))
    assert (words.pinned, words.data["languages"]) == ([2, 5], ["a", "b"])


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (
            "head=c9.1",
            r"start refers to c9.1, but the model has no such head; its last heads",
        ),
        ("row=6", "row in start is '6'; expected an integer from 0 to 5"),
        ("row=two", "row in start is 'two'"),
        ("s=a+cat", r"start has the field 's'; expected only"),
        ("a-mute=c1.1", "start has the field 'a-mute'; expected only 'also', 'head'"),
        ("mute=e9.1", "start refers to e9.1, but the model has no such head"),
        ("point=c1.1:0", "point in start is 'c1.1:0'; expected head:query:key:share"),
        ("point=c1.1:0:1:2", "point in start is 'c1.1:0:1:2'; expected .* share from 0 to 1"),
        ("point=c1.1:0:6", r"point is \(0, 6\); expected .* 0 ≤ key ≤ 5"),
        (
            "point=e1.1:6:0",
            r"point is \(6, 0\); expected \(query, key\) with 0 ≤ query ≤ 5 and 0 ≤ key ≤ 5",
        ),
        ("point=c1.1:6:0", "row of a point in start is 6; expected an integer from 0 to 5"),
        ("point=d1.1:2:3", r"point is \(2, 3\); expected \(query, key\) with 0 ≤ key ≤ query"),
    ],
)
def test_a_start_that_does_not_fit_is_one_value_error(start, message, fake, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        lab(fake, SENTENCE, kernel=True, start=start)


def test_the_languages_are_those_of_the_corpus_if_the_translator_says_so(fake):
    assert lab(fake, SENTENCE, kernel=True).data["languages"] == ["source", "target"]
    fake.about = {"corpus": "world"}
    widget = lab(fake, SENTENCE, kernel=True)
    assert widget.data["languages"] == ["English", "French"]
    assert widget.page().data["languages"] == ["English", "French"]


def test_traits_are_set_and_observed(widget):
    seen = []
    widget.observe(lambda change: seen.append((change.name, change.new)))
    widget.layer = 2
    widget.head = 1
    widget.pinned = [3, None]
    assert seen == [("layer", 2), ("head", 1), ("pinned", [3, None])]


@pytest.mark.parametrize("link", [traitlets.link, ipywidgets.link])
def test_two_widgets_are_linked(link, fake):
    one, other = (lab(fake, SENTENCE, kernel=True, start="head=c1.1") for _ in range(2))
    links = [link((one, name), (other, name)) for name in ("kind", "layer", "head", "pinned")]
    one.layer = 2
    other.head = 1
    one.pinned = (4, 2)
    assert (one.layer, one.head, one.pinned) == (other.layer, other.head, other.pinned)
    assert (other.layer, one.head, other.pinned) == (2, 1, [4, 2])
    other.kind = "encoder"  # which has fewer layers
    assert (one.kind, one.layer, other.layer) == ("encoder", 1, 1)
    one.kind, one.layer = "cross", 2
    assert (other.kind, other.layer) == ("cross", 2)
    for each in links:
        each.unlink()
    other.layer = 0
    assert one.layer == 2


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kind", "sideways", "kind is 'sideways'; expected 'encoder', 'decoder' or 'cross'"),
        ("layer", 3, "layer is 3; expected 0 to 2 for kind 'cross'"),
        ("layer", -1, "layer is -1"),
        ("head", 3, "head is 3; expected 0 to 2 in cross layer 0"),
        (
            "pinned",
            [6, 0],
            r"pinned is \[6, 0\]; expected \[\] or .* query is from 0 to 5, and key is .* from 0 to 5",
        ),
        ("pinned", [0, 6], r"pinned is \[0, 6\]; expected"),
        (
            "pinned",
            [None, 3],
            r"pinned is \[None, 3\]; expected .* None, for the whole row",
        ),
        ("pinned", [1], r"pinned is \[1\]; expected"),
        ("layer", "first", "an int"),
    ],
)
def test_what_the_record_has_not_got_is_refused_and_changes_nothing(name, value, message, widget):
    before = getattr(widget, name)
    with pytest.raises(traitlets.TraitError, match=message):
        setattr(widget, name, value)
    assert getattr(widget, name) == before


def test_where_another_kind_has_fewer_layers_the_nearest_head_is_opened(widget):
    widget.layer, widget.pinned = 2, [5, 5]
    widget.kind = "encoder"
    assert (widget.kind, widget.layer, widget.pinned) == ("encoder", 1, [5, 5])
    with widget.hold_trait_notifications():
        widget.kind, widget.layer = "cross", 2
    assert (widget.kind, widget.layer) == ("cross", 2)
    widget.layer = 1
    with (
        pytest.raises(traitlets.TraitError, match="layer is 9"),
        widget.hold_trait_notifications(),
    ):
        widget.layer = 9
    assert widget.layer == 1


def test_another_sentence_is_answered_with_its_record(widget, fake, ask):
    assert ask("a cat") == {"answer": 7}
    assert fake.asked[-1] == ("a cat", [], None)
    assert widget.data["answers"] == 7
    assert widget.data["question"] == {"text": "a cat", "kept": NOTHING, "changes": NOTHING}
    assert widget.record.written_tokens == ("A", "CAT", "<eos>")
    assert widget.data["before"] is None, "nothing was changed"


def test_mute_is_passed_on_and_the_unchanged_words_come_with_it(widget, fake, ask):
    assert ask(mute=["c2.3", "e1.2"]) == {"answer": 7}
    assert fake.asked[-1] == (SENTENCE, [Head("cross", 1, 2), Head("encoder", 0, 1)], {})
    before = widget.data["before"]
    assert before["written"] == ("THE", "CAT", "SEES", "A", "DOG", "<eos>")
    assert before["next_tokens"][0][0][0] == "THE", "with their probabilities"
    assert "weights" not in before, "which nobody looks at"
    assert latest(widget)["written"] == ("DOG", "A", "SEES", "CAT", "THE", "<eos>")
    assert sorted(latest(widget)["muted"]) == [("cross", 1, 2), ("encoder", 0, 1)]


def test_the_unchanged_translation_is_made_once(widget, fake, ask):
    for head in (1, 2, 3):
        ask(mute=[f"c1.{head}"])
    assert [mute for _, mute, _ in fake.asked].count([]) == 1
    ask("a cat", mute=["c1.1"])
    ask("a cat")
    assert [source for source, mute, _ in fake.asked if not mute] == [SENTENCE, "a cat"]


def test_what_one_compares_with_may_be_changed_too(widget, fake, ask):
    """ "Keep as A" in the page: what is seen is compared with that model."""
    kept = {"mute": [Head("cross", 0, 1)._asdict()], "points": []}
    ask(kept=kept)
    assert widget.data["before"]["muted"] == [("cross", 0, 1)]
    assert widget.data["before"]["written"][0] == "DOG"
    assert latest(widget)["written"][0] == "THE"
    assert widget.data["question"]["kept"] == kept
    ask(kept=kept, mute=["c1.2"])
    assert widget.data["before"] is None, "there is one model alone"
    assert latest(widget)["written"][0] == "DOG"


def test_a_pointed_row_becomes_a_patch_of_its_head(widget, fake, ask):
    points = [
        POINT,
        POINT | {"query": 0, "key": 5, "share": 0.25},
        {"kind": "decoder", "layer": 0, "head": 0, "query": 2, "key": 1, "share": 1},
    ]
    plain = widget.record
    assert ask(points=points) == {"answer": 7}
    patch = fake.asked[-1][2]
    assert set(patch) == {Head("cross", 1, 2), Head("decoder", 0, 0)}
    own = np.random.default_rng(5).dirichlet(np.ones(6), (1, 6))
    expected = own.copy()
    expected[0, 3] = np.eye(6)[4]
    expected[0, 0] *= 0.75 / (1 - own[0, 0, 5])
    expected[0, 0, 5] = 0.25
    np.testing.assert_allclose(patch[Head("cross", 1, 2)](own, 0), expected, rtol=1e-6)
    np.testing.assert_array_equal(patch[Head("decoder", 0, 0)](own, 0)[0, 2], np.eye(6)[1])
    assert widget.data["question"]["changes"]["points"] == points
    assert widget.data["before"]["written"] == plain.written_tokens


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"kind": "encoder", "query": 6},
            "point is (6, 4); expected (query, key) with 0 ≤ query ≤ 5 and 0 ≤ key ≤ 5.",
        ),
        (
            {"query": -1},
            "point is (-1, 4); expected (query, key) with query ≥ 0 and 0 ≤ key ≤ 5.",
        ),
        ({"key": -1}, "point is (3, -1); expected (query, key) with query ≥ 0 and 0 ≤ key ≤ 5."),
        (
            {"kind": "decoder", "key": 5},
            "point is (3, 5); expected (query, key) with 0 ≤ key ≤ query, because the decoder "
            "cannot see later words.",
        ),
        ({"layer": 3}, "layer is 3; expected 0 to 2 for kind 'cross'."),
        ({"kind": "sideways"}, "kind is 'sideways'; expected 'encoder', 'decoder' or 'cross'"),
        ({"share": 1.25}, "share is 1.25; expected a number from 0 to 1."),
        ({"share": None}, "share is None; expected a number from 0 to 1."),
    ],
)
def test_a_point_that_does_not_fit_is_said(changes, reason, widget, ask):
    before = widget.data
    assert ask(points=[POINT | changes])["error"].startswith(reason)
    assert widget.data is before


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("source is ''; expected a word"), "source is ''; expected a word."),
        (RuntimeError("out of memory.\n"), "RuntimeError: out of memory."),
        (KeyError("zzz"), "KeyError: 'zzz'."),
        (ValueError(), "ValueError."),
        (ZeroDivisionError(), "ZeroDivisionError."),
        (KeyboardInterrupt(), "Interrupted."),
    ],
)  # fmt: skip
def test_a_failing_translator_is_quoted_and_the_last_answer_stays(error, reason, widget, fake, ask):
    before, record = widget.data, widget.record
    fake.fails = error
    assert ask("zzz") == {"answer": 7, "error": reason}
    assert widget.data is before
    assert widget.record is record
    fake.fails = None
    assert ask("a cat", number=8) == {"answer": 8}


@pytest.mark.parametrize(
    "changes",
    [
        {"text": None},
        {"kept": None},
        {"changes": {"mute": [["cross"]], "points": []}},
        {"changes": {"mute": 5, "points": []}},
        {"changes": {"mute": [], "points": [{}]}},
        {"changes": {"mute": [], "points": [3]}},
        {"changes": {"mute": []}},
        {"changes": 7},
    ],
)
def test_a_malformed_question_is_answered_with_a_reason(changes, widget, monkeypatch):
    sent = []
    monkeypatch.setattr(widget, "send", lambda content, buffers=None: sent.append(content))
    before = widget.data
    question = {"ask": 1, "text": SENTENCE, "kept": NOTHING, "changes": NOTHING}
    widget.hear(widget, question | changes, [])
    (answer,) = sent
    assert answer["answer"] == 1
    assert answer["error"].endswith(".")
    assert widget.data is before


@pytest.mark.parametrize("message", [None, "hello", {}, {"answer": 3}, ["ask"]])
def test_what_is_no_question_is_left_alone(message, widget, monkeypatch):
    monkeypatch.setattr(widget, "send", lambda *a: pytest.fail("nobody asked"))
    widget.hear(widget, message, [])


def test_a_pin_leaves_when_the_next_sentence_is_shorter(widget, ask):
    widget.pinned = [5, 5]
    ask("a cat")
    assert widget.pinned == []
    widget.layer = 1
    assert widget.page().data["start"] == "head=c2.1"


def test_a_head_that_the_next_model_lacks_is_closed(widget, ask, fake, monkeypatch):
    widget.layer, widget.head = 2, 1
    small = make_record(decoder=(1,), cross=(1,))
    monkeypatch.setattr(fake, "attend", lambda source, **_: small)
    ask("a cat")
    assert (widget.kind, widget.layer, widget.head) == ("cross", 0, 0)


def test_snapshots_stay_as_long_as_their_sentence(fake, monkeypatch):
    snapshots = [make_record(label=f"step {i}", seed=i) for i in range(2)]
    widget = lab(fake, SENTENCE, kernel=True, start="head=c1.1", snapshots=snapshots)
    monkeypatch.setattr(widget, "send", lambda *a, **k: None)
    assert [record["label"] for record in widget.data["records"]] == ["step 0", "step 1", None]
    assert len(widget.page().data["records"]) == 3
    question = {"ask": 1, "kept": NOTHING, "changes": NOTHING}
    widget.hear(widget, question | {"text": "a cat"}, [])
    assert len(widget.data["records"]) == len(widget.page().data["records"]) == 1
    widget.hear(widget, question | {"text": SENTENCE}, [])
    assert [record["label"] for record in widget.data["records"]] == ["step 0", "step 1", None]


def test_a_pin_of_a_longer_snapshot_is_no_error(fake):
    """The page may be at a snapshot whose translation is longer than the record's."""
    long = make_record(target=("<bos>", *"abcdefghij"), written=(*"abcdefghij", "<eos>"))
    widget = lab(fake, SENTENCE, kernel=True, start="head=c1.1", snapshots=[long])
    widget.pinned = [10, 2]
    widget.layer = 1
    assert (widget.pinned, widget.layer) == ([10, 2], 1)
    # The picture and the page are of the latest record, which has no such row.
    assert "<img" in widget.still()["text/html"]
    assert "row=" not in widget.page().data["start"]


def test_a_first_sentence_that_fails_is_the_translators_own_error(fake):
    fake.fails = ValueError("source is ''; expected at least one word")
    with pytest.raises(ValueError, match="at least one word") as caught:
        lab(fake, "", kernel=True)
    assert "attend" in "".join(traceback.format_tb(caught.tb))


def test_its_output_is_a_view_a_picture_and_words(widget):
    data, _ = widget._repr_mimebundle_()
    view = data["application/vnd.jupyter.widget-view+json"]
    assert view["model_id"] == widget.model_id
    assert data["text/plain"].startswith("Cross attention of 9 heads in 3 layers")
    assert "data:image/webp" in data["text/html"]
    assert "run this cell for the live lab" in data["text/html"]
    assert "<img alt=" in data["text/html"]
    assert "<script" not in data["text/html"]


def test_it_displays_itself_as_a_widget_and_beside_it_a_picture(widget, monkeypatch):
    """As two outputs: of one, JupyterLab says "model not found" and shows no picture."""
    shown = []
    monkeypatch.setattr(
        "transformer_lab.lab.widget.display",
        lambda data, raw: shown.append(data),
    )
    widget._ipython_display_()
    widget._ipython_display_()
    live, still = shown[:2]
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == widget.model_id
    assert "data:image" not in str(live)
    assert f'alt="{html.escape(still["text/plain"])}"' in still["text/html"]
    (name,) = widget.stills
    assert f'<div data-still="{name}">' in still["text/html"]
    assert shown[3]["text/html"] == still["text/html"], "the same picture has the same name"


def test_its_page_is_what_is_shown_now(widget, ask, tmp_path):
    ask("a cat", mute=["c2.1"])
    widget.kind, widget.head, widget.pinned = "decoder", 1, [2, 0]
    page = widget.page()
    assert page.data["start"] == "head=d1.2&row=2&key=0"
    assert (page.record, page.kind) == (widget.record, "decoder")
    assert [record["muted"] for record in page.data["records"]] == [[("cross", 1, 0)]]
    assert "CAT" in page.to_html(tmp_path / "a.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sentences": [SENTENCE]},
            r"sentences is \['the cat sees a dog'\]; expected one sentence",
        ),
        ({"sentences": SENTENCE, "examples": [("a", "b")]}, r"examples cannot be used"),
    ],
)
def test_what_only_a_page_can_do_is_refused(options, message, fake):
    with pytest.raises(ValueError, match=message):
        lab(fake, **options, kernel=True)
