"""What is looked at in a stored record, and what is asked of Python: without a page to draw."""

from typing import Any

import numpy as np
import pytest

from tests.browser.screen import RECORD, SNAPSHOTS
from tests.records import make_record
from transformer_lab.attention.record import Head
from transformer_lab.lab.record_data import page_data

STATE = """async ({ State }, data) => {
    const [{ RecordAnswerer }, { readRecords }, { formatAddress }] = await Promise.all(
        ["lab/answerers/record.js", "record.js", "lab/address.js"].map((name) => import(`/${name}`)));
    const state = new State(new RecordAnswerer(await readRecords(data)), { languages: ["A", "B"] });
    const code = ({ kind, layer, head }) => `${kind[0]}${layer + 1}.${head + 1}`;
    const now = () => [code(state.head), state.showsAll ? null : state.row, state.key, state.step];
    state.follow("");
    STEPS
}"""


def looked(ask, steps: str, *records) -> Any:
    return ask("lab/state.js", STATE.replace("STEPS", steps), page_data(records or [RECORD]))


def test_at_first_all_words_are_seen_in_a_head_of_the_last_kind(ask):
    steps = "const seen = [now()]; state.follow('head=c2.1&row=3&key=4'); return [...seen, now()]"
    assert looked(ask, steps) == [["c3.1", None, None, 0], ["c2.1", 3, 4, 3]]


def test_who_watches_hears_of_each_change_and_none_is_a_deed(ask):
    """Back in the browser undoes what changes the model, and in a record nothing does."""
    steps = """
    const told = [];
    state.watch((isDeed) => told.push(isDeed));
    const count = (act) => { const before = told.length; act(); return told.length - before; };
    return [[
        () => state.choose(2, 3), () => state.letGo(), () => state.openStep(1),
        () => state.openHead({ kind: "encoder", layer: 0, head: 1 }), () => state.show("map"),
        () => state.openMoment(0), () => state.joinPieces(true),
        () => state.toggleMute(state.head),
    ].map(count), told.some(Boolean)]"""
    assert looked(ask, steps, *SNAPSHOTS, RECORD) == [[1] * 7 + [0], False]


def test_nothing_can_be_changed_and_what_was_muted_is_known(ask):
    steps = """
    state.toggleMute({ kind: "encoder", layer: 0, head: 0 });
    state.choose(2, 3);
    return [state.canChange, state.canShare, state.isChanged, state.mute, state.muted.map(code)]"""
    assert looked(ask, steps) == [False, False, False, [], ["c2.2"]]


def test_the_step_is_the_row_where_rows_are_steps(ask):
    steps = """
    const seen = [];
    const open = (kind, row) => {
        state.openHead({ kind, layer: 0, head: 0 });
        if (row != null) state.choose(row, null);
        seen.push([state.row, state.step]);
    };
    state.choose(3, 2); seen.push([state.row, state.step]);
    open("decoder"); open("encoder"); open("encoder", 6); open("cross");
    state.openStep(1); seen.push([state.row, state.step]);
    return seen"""
    assert looked(ask, steps) == [[3, 3], [3, 3], [0, 3], [6, 3], [3, 3], [1, 1]]


def test_no_word_is_pinned_until_one_is_pressed_and_after_it_is_let_go(ask):
    steps = """
    const seen = [now()];
    for (const act of [() => state.choose(4, 6), () => state.letGo(), () => state.openStep(2)]) {
        act(); seen.push(now()); }
    return seen"""
    assert looked(ask, steps) == [
        ["c3.1", None, None, 0],
        ["c3.1", 4, 6, 4],
        ["c3.1", None, None, 4],
        ["c3.1", 2, None, 2],
    ]


def test_another_record_shows_the_nearest_that_it_has(ask):
    small = make_record(("a", "b"), ("<bos>",), ("c",), encoder=(2,), decoder=(1,), cross=())
    steps = """
    state.openHead({ kind: "cross", layer: 2, head: 2 }); state.choose(4, 6);
    state.openMoment(0);
    const early = [now(), state.getMapTokens(state.head.kind), state.also];
    state.openMoment(1);
    return [...early, now()[0]]"""
    assert looked(ask, steps, small, RECORD) == [
        ["d1.1", 0, 0, 0],
        {"rows": ["<bos>"], "keys": ["<bos>"]},
        [],
        "d1.1",
    ]


def test_a_map_is_that_of_the_open_head_at_the_moment_that_is_seen(ask):
    steps = """
    state.openHead({ kind: "encoder", layer: 1, head: 2 });
    const read = () => state.open.weights.map((row) => [...row]);
    const last = read();
    state.openMoment(0);
    return [last, read(), state.answerer.moments]"""
    last, first, moments = looked(ask, steps, *SNAPSHOTS, RECORD)
    head = Head("encoder", 1, 2)
    np.testing.assert_allclose(last, RECORD.weights(head), atol=0.0006)
    np.testing.assert_allclose(first, SNAPSHOTS[0].weights(head), atol=0.0006)
    assert moments == ["step 100", "step 200", "step 300"]


def test_the_likeliest_words_have_their_probabilities_and_others_none(ask):
    steps = """
    const words = state.comparison.probabilities.map((step) => [...step].flatMap((p, id) =>
        p ? [[state.answerer.getWord(id), p]] : []));
    return [words, state.now.written.map((id) => state.answerer.getWord(id))]"""
    found, written = looked(ask, steps)
    assert written == list(RECORD.written_tokens)
    for step, expected in zip(found, RECORD.next_tokens, strict=True):
        assert dict(step) == pytest.approx(dict(expected), abs=1e-6)


def test_of_a_record_without_them_no_probability_is_known(ask):
    assert looked(ask, "return state.comparison.probabilities", make_record()) is None


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("head=c1.2", "#head=c1.2&step=0"),
        ("head=d2.1&row=3", "#head=d2.1&row=3&step=3"),
        ("head=e2.3&row=6&key=4&step=2", "#head=e2.3&row=6&key=4&step=2"),
        ("head=c1.2&also=c3.1,c1.2,e1.1,c9.9&view=map", "#head=c1.2&also=c3.1&view=map&step=0"),
        ("head=e9.1&row=1", "#head=c3.1&row=1&step=1"),
        ("head=c1.1&row=99&key=99", "#head=c1.1&row=4&key=6&step=4"),
        ("head=d1.1&row=2&key=4", "#head=d1.1&row=2&key=2&step=2"),
        ("row=-1&key=1.5&view=<b>&step=x&s=hi&mute=c1.1", "#head=c3.1&step=0"),
        ("head=__proto__&view=constructor", "#head=c3.1&step=0"),
    ],
)
def test_an_address_is_followed_as_far_as_there_is_what_it_names(ask, address, expected):
    """And what is kept of it, followed once more, stays as it is."""
    steps = f"""
    state.follow({address!r});
    const kept = formatAddress(state);
    state.follow(kept.slice(1));
    return [kept, formatAddress(state)].map(decodeURIComponent)"""
    assert looked(ask, steps) == [expected, expected]


# ---------------------------------------------------------------- questions

QUESTIONS = """({ Questions }) => {
    window.told = [];
    const tell = (what) => (value) => told.push([what, value ?? null]);
    window.q = new Questions(tell("send"), tell("answered"), tell("unanswered"));
    window.sent = () => told.filter(([what]) => what === "send").map(([, number]) => number);
}"""


@pytest.fixture
def questions(ask):
    """Somebody who asks, in `window.q`; what is sent and heard is written down in `window.told`."""
    ask("lab/answerers/questions.js", QUESTIONS)
    ask.page.clock.install()
    yield ask.page
    ask.page.evaluate("q.close()")


def told(page) -> list[str]:
    return [what for what, _ in page.evaluate("told")]


def test_of_many_questions_the_newest_waits_and_those_between_are_dropped(questions):
    questions.evaluate("for (let i = 0; i < 5; i++) q.ask()")
    assert told(questions) == ["send"]
    questions.evaluate("q.hear({ answer: sent()[0], error: 'old' })")
    assert told(questions) == ["send", "send"], "the old answer was for nobody"
    questions.evaluate("q.hear({ answer: sent()[1] })")
    first, second = questions.evaluate("sent()")
    assert second >= first + 4, "four more were asked, and those between were not sent"
    assert questions.evaluate("told.at(-1)") == ["answered", None]
    questions.evaluate("q.hear({ answer: sent()[0] }); q.hear({ answer: 3 }); q.hear({})")
    assert told(questions) == ["send", "send", "answered"]


def test_an_answer_is_stale_as_soon_as_something_newer_is_typed(questions):
    questions.evaluate("q.ask()")
    assert not questions.evaluate("q.isStale(sent()[0])")
    questions.evaluate("q.renew()")
    assert questions.evaluate("q.isStale(sent()[0])")
    questions.evaluate("q.hear({ answer: sent()[0], error: 'No.' })")
    assert told(questions) == ["send"]
    assert not questions.evaluate("q.isStale(undefined)"), "what Python shows unasked"


def test_patience_ends_and_a_late_answer_is_welcome(questions):
    questions.evaluate("q.ask()")
    questions.clock.run_for(59_000)
    assert told(questions) == ["send"]
    questions.clock.run_for(2_000)
    assert questions.evaluate("told.at(-1)") == ["unanswered", 60]
    questions.evaluate("q.hear({ answer: sent()[0], error: 'No.' })")
    assert questions.evaluate("told.at(-1)") == ["answered", "No."]
    questions.evaluate("q.ask(); q.ask()")
    questions.clock.run_for(61_000)
    assert told(questions)[3:] == ["send", "send"], "the one that waits is asked then"
