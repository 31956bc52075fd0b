"""The live explorer without a browser: its traits, and how it answers what a page asks."""

import html
import traceback
from collections.abc import Callable

import ipywidgets
import numpy as np
import pytest
import traitlets

from tests.records import make_record, probabilities
from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.lab import AttentionExplorer

SENTENCE = "the cat sees a dog"


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
def explorer(fake):
    return AttentionExplorer(fake, source=SENTENCE, layer=0)


@pytest.fixture
def ask(explorer, monkeypatch) -> Callable[..., dict]:
    """Ask what the page would ask; what the page would get."""
    sent = []
    monkeypatch.setattr(explorer, "send", lambda content, buffers=None: sent.append(content))

    def question(source=SENTENCE, mute=(), patch=(), number=7):
        message = {"ask": number, "source": source, "mute": [*mute], "patch": [*patch]}
        sent.clear()
        explorer.hear(explorer, message, [])
        (answer,) = sent
        return answer

    return question


def latest(explorer):
    return explorer.data["records"][-1]


def test_it_begins_with_the_last_kind_and_the_first_head(explorer, fake):
    shown = (explorer.kind, explorer.layer, explorer.head, explorer.pinned)
    assert shown == ("cross", 0, 0, [])
    assert fake.asked == [(SENTENCE, [], None)]
    assert latest(explorer)["sentence"] == SENTENCE
    assert latest(explorer)["source"] == (*SENTENCE.split(), "<eos>")
    assert isinstance(latest(explorer)["weights"], bytes), "a widget sends bytes as they are"
    assert explorer.record.written_tokens[0] == "THE"


def test_traits_are_set_and_observed(explorer):
    seen = []
    explorer.observe(lambda change: seen.append((change.name, change.new)))
    explorer.layer = 2
    explorer.head = 1
    explorer.pinned = [3, None]
    assert seen == [("layer", 2), ("head", 1), ("pinned", [3, None])]


@pytest.mark.parametrize("link", [traitlets.link, ipywidgets.link])
def test_two_explorers_are_linked(link, fake):
    one, other = (AttentionExplorer(fake, source=SENTENCE, layer=0) for _ in range(2))
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
        ("kind", "sideways", "kind is 'sideways'; expected one of"),
        ("layer", 3, "layer is 3; expected 0 to 2 for kind 'cross'"),
        ("layer", -1, "layer is -1"),
        ("head", 3, "head is 3; expected 0 to 2 in cross layer 0"),
        ("pinned", [6, 0], r"pinned is \(6, 0\); expected \(\) or .* below \(6, 6\)"),
        ("pinned", [1], r"pinned is \[1\]; expected"),
        ("layer", "first", "an int"),
    ],
)
def test_what_the_record_has_not_got_is_refused_and_changes_nothing(name, value, message, explorer):
    before = getattr(explorer, name)
    with pytest.raises(traitlets.TraitError, match=message):
        setattr(explorer, name, value)
    assert getattr(explorer, name) == before


def test_where_another_kind_has_fewer_layers_the_nearest_head_is_opened(explorer):
    explorer.layer, explorer.pinned = 2, [5, 5]
    explorer.kind = "encoder"
    assert (explorer.kind, explorer.layer, explorer.pinned) == ("encoder", 1, [5, 5])
    with explorer.hold_trait_notifications():
        explorer.kind, explorer.layer = "cross", 2
    assert (explorer.kind, explorer.layer) == ("cross", 2)
    explorer.layer = 1
    with (
        pytest.raises(traitlets.TraitError, match="layer is 9"),
        explorer.hold_trait_notifications(),
    ):
        explorer.layer = 9
    assert explorer.layer == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "sideways"}, "kind is 'sideways'"),
        ({"layer": 5}, "layer is 5"),
        ({"pinned": (9, 9)}, "pinned is"),
    ],
)
def test_a_start_that_does_not_fit_is_one_value_error(arguments, message, fake, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        AttentionExplorer(fake, source=SENTENCE, **arguments)


def test_another_sentence_is_answered_with_its_record(explorer, fake, ask):
    assert ask("a cat") == {"answer": 7}
    assert fake.asked[-1] == ("a cat", [], None)
    assert explorer.data["answers"] == 7
    assert latest(explorer)["sentence"] == "a cat"
    assert explorer.record.written_tokens == ("A", "CAT", "<eos>")
    assert "before" not in latest(explorer), "nothing was changed"


def test_mute_is_passed_on_and_the_unchanged_translation_comes_with_it(explorer, fake, ask):
    assert ask(mute=[["cross", 1, 2], ["encoder", 0, 1]]) == {"answer": 7}
    assert fake.asked[-1] == (SENTENCE, [Head("cross", 1, 2), Head("encoder", 0, 1)], {})
    assert latest(explorer)["before"] == ("THE", "CAT", "SEES", "A", "DOG", "<eos>")
    assert latest(explorer)["written"] == ("DOG", "A", "SEES", "CAT", "THE", "<eos>")
    assert sorted(latest(explorer)["muted"]) == [("cross", 1, 2), ("encoder", 0, 1)]


def test_the_unchanged_translation_is_made_once(explorer, fake, ask):
    for head in range(3):
        ask(mute=[["cross", 0, head]])
    assert [mute for _, mute, _ in fake.asked].count([]) == 1
    ask("a cat", mute=[["cross", 0, 0]])
    ask("a cat")
    assert [source for source, mute, _ in fake.asked if not mute] == [SENTENCE, "a cat"]


def test_a_pointed_row_becomes_a_patch_of_the_whole_head(explorer, fake, ask):
    rows = [
        {"kind": "cross", "layer": 1, "head": 2, "query": 3, "key": 4},
        {"kind": "cross", "layer": 1, "head": 2, "query": 0, "key": 5},
        {"kind": "decoder", "layer": 0, "head": 0, "query": 2, "key": 1},
    ]
    plain = explorer.record
    assert ask(patch=rows) == {"answer": 7}
    patch = fake.asked[-1][2]
    assert set(patch) == {Head("cross", 1, 2), Head("decoder", 0, 0)}
    expected = plain.weights(Head("cross", 1, 2)).copy()
    expected[3], expected[0] = np.eye(6)[4], np.eye(6)[5]
    np.testing.assert_array_equal(patch[Head("cross", 1, 2)], expected)
    np.testing.assert_array_equal(patch[Head("decoder", 0, 0)][2], np.eye(6)[1])
    assert latest(explorer)["patched"] == rows
    assert latest(explorer)["before"] == plain.written_tokens


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"query": 6}, r"patch is (6, 4); expected (query, key) below (6, 6)."),
        ({"key": -1}, r"patch is (3, -1); expected (query, key) below (6, 6)."),
        (
            {"kind": "decoder", "key": 5},
            "patch is (3, 5); expected key at most query: the decoder sees no later word.",
        ),
        ({"layer": 3}, "layer is 3; expected 0 to 2 for kind 'cross'."),
        ({"kind": "sideways"}, "kind is 'sideways'; expected one of"),
    ],
)
def test_a_patch_that_does_not_fit_is_said(changes, reason, explorer, ask):
    row = {"kind": "cross", "layer": 1, "head": 2, "query": 3, "key": 4} | changes
    before = explorer.data
    assert ask(patch=[row])["error"].startswith(reason)
    assert explorer.data is before


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
def test_a_failing_translator_is_quoted_and_the_last_answer_stays(
    error, reason, explorer, fake, ask
):
    before, record = explorer.data, explorer.record
    fake.fails = error
    assert ask("zzz") == {"answer": 7, "error": reason}
    assert explorer.data is before
    assert explorer.record is record
    fake.fails = None
    assert ask("a cat", number=8) == {"answer": 8}


@pytest.mark.parametrize(
    "message",
    [
        {"ask": 1},
        {"ask": 1, "source": SENTENCE, "mute": [["cross"]], "patch": []},
        {"ask": 1, "source": SENTENCE, "mute": 5, "patch": []},
        {"ask": 1, "source": SENTENCE, "mute": [], "patch": [{}]},
        {"ask": 1, "source": SENTENCE, "mute": [], "patch": [3]},
        {"ask": 1, "source": None, "mute": [], "patch": []},
    ],
)
def test_a_malformed_question_is_answered_with_a_reason(message, explorer, monkeypatch):
    sent = []
    monkeypatch.setattr(explorer, "send", lambda content, buffers=None: sent.append(content))
    before = explorer.data
    explorer.hear(explorer, message, [])
    ((answer),) = sent
    assert answer["answer"] == 1
    assert answer["error"].endswith(".")
    assert explorer.data is before


@pytest.mark.parametrize("message", [None, "hello", {}, {"answer": 3}, ["ask"]])
def test_what_is_no_question_is_left_alone(message, explorer, monkeypatch):
    monkeypatch.setattr(explorer, "send", lambda *a: pytest.fail("nobody asked"))
    explorer.hear(explorer, message, [])


def test_a_pin_leaves_when_the_next_sentence_is_shorter(explorer, ask):
    explorer.pinned = [5, 5]
    ask("a cat")
    assert explorer.pinned == []
    explorer.layer = 1
    assert explorer.page().start == {"kind": "cross", "layer": 1, "head": 0, "pinned": []}


def test_a_head_that_the_next_model_lacks_is_closed(explorer, ask, fake, monkeypatch):
    explorer.layer, explorer.head = 2, 1
    small = make_record(decoder=(1,), cross=(1,))
    monkeypatch.setattr(fake, "attend", lambda source, **_: small)
    ask("a cat")
    assert (explorer.kind, explorer.layer, explorer.head) == ("cross", 0, 0)


def test_snapshots_stay_as_long_as_their_sentence(fake, monkeypatch):
    snapshots = [make_record(label=f"step {i}", seed=i) for i in range(2)]
    explorer = AttentionExplorer(fake, source=SENTENCE, layer=0, snapshots=snapshots)
    monkeypatch.setattr(explorer, "send", lambda *a, **k: None)
    assert [record["label"] for record in explorer.data["records"]] == ["step 0", "step 1", None]
    assert len(explorer.page().records) == 3
    question = {"ask": 1, "mute": [], "patch": []}
    explorer.hear(explorer, question | {"source": "a cat"}, [])
    assert len(explorer.data["records"]) == len(explorer.page().records) == 1
    explorer.hear(explorer, question | {"source": SENTENCE}, [])
    assert len(explorer.data["records"]) == 3


def test_a_pin_of_a_longer_snapshot_is_no_error(fake):
    """The page may be at a snapshot whose translation is longer than the record's."""
    long = make_record(target=("<bos>", *"abcdefghij"), written=(*"abcdefghij", "<eos>"))
    explorer = AttentionExplorer(fake, source=SENTENCE, layer=0, snapshots=[long])
    explorer.pinned = [10, 2]
    explorer.layer = 1
    assert (explorer.pinned, explorer.layer) == ([10, 2], 1)


def test_heads_are_muted_from_the_start(fake):
    explorer = AttentionExplorer(fake, source=SENTENCE, mute=[Head("cross", 0, 1)])
    assert latest(explorer)["muted"] == [("cross", 0, 1)]
    assert latest(explorer)["before"] == ("THE", "CAT", "SEES", "A", "DOG", "<eos>")
    assert explorer.record.muted == {Head("cross", 0, 1)}


def test_a_first_sentence_that_fails_is_the_translators_own_error(fake):
    fake.fails = ValueError("source is ''; expected at least one word")
    with pytest.raises(ValueError, match="at least one word") as caught:
        AttentionExplorer(fake, source="")
    assert "attend" in "".join(traceback.format_tb(caught.tb))


def test_its_output_is_a_view_a_picture_and_words(explorer):
    data, _ = explorer._repr_mimebundle_()
    view = data["application/vnd.jupyter.widget-view+json"]
    assert view["model_id"] == explorer.model_id
    assert data["text/plain"].startswith("Cross attention of 9 heads in 3 layers")
    assert "data:image/webp" in data["text/html"]
    assert "run this cell for the live explorer" in data["text/html"]
    assert "<img alt=" in data["text/html"]
    assert "<script" not in data["text/html"]


def test_it_displays_itself_as_a_widget_and_beside_it_a_picture(explorer, monkeypatch):
    """As two outputs: of one, JupyterLab says "model not found" and shows no picture."""
    shown = []
    monkeypatch.setattr(
        "transformer_lab.lab.explorer.widget.display",
        lambda data, raw: shown.append(data),
    )
    explorer._ipython_display_()
    explorer._ipython_display_()
    live, still = shown[:2]
    assert live["application/vnd.jupyter.widget-view+json"]["model_id"] == explorer.model_id
    assert "data:image" not in str(live)
    assert f'alt="{html.escape(still["text/plain"])}"' in still["text/html"]
    (name,) = explorer.stills
    assert f'<div data-still="{name}">' in still["text/html"]
    assert shown[3]["text/html"] == still["text/html"], "the same picture has the same name"


def test_its_page_is_what_is_shown_now(explorer, ask, tmp_path):
    ask("a cat", mute=[["cross", 1, 0]])
    explorer.kind, explorer.head, explorer.pinned = "decoder", 1, [2, 0]
    page = explorer.page()
    assert page.start == {"kind": "decoder", "layer": 0, "head": 1, "pinned": [2, 0]}
    assert page.records == (explorer.record,)
    assert "CAT" in page.to_html(tmp_path / "a.html").read_text()
