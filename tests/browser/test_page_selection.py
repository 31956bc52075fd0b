"""What is looked at, asked and changed in a page: the modules that hold it, without a page to draw."""

from typing import Any

import numpy as np
import pytest

from tests.browser.screen import RECORD, SNAPSHOTS
from tests.records import make_record
from transformer_lab.attention.record import Head
from transformer_lab.lab.explorer.payload import page_data, record_data

SELECT = """async ({ Selection }, data) => {
    const [{ Values }, { readRecords }] = await Promise.all([import("/values.js"), import("/record.js")]);
    const values = new Values({ kind: "cross", layer: 0, head: 0, pinned: [] });
    const selection = new Selection(values);
    const told = [];
    const now = () => ["kind", "layer", "head", "pinned", "chosen"].map((name) => selection[name]);
    selection.watch((reach) => told.push(reach));
    const records = await readRecords(data);
    selection.show(records, {});
    STEPS
}"""


def selected(ask, steps: str, *records) -> Any:
    return ask("selection.js", SELECT.replace("STEPS", steps), page_data(records))


def test_panels_hear_how_far_a_change_reaches_and_nothing_of_no_change(ask):
    steps = """
    selection.look([2, 3]); selection.look([2, 3]); selection.look(null); selection.look(null);
    selection.pin([1, 1]); selection.openHead(2, 1); selection.change("palette", "root");
    selection.openKind("encoder"); selection.openRecord(0); values.set("layer", 1);
    selection.close(); values.set("layer", 0);
    return told"""
    assert selected(ask, steps, *SNAPSHOTS, RECORD) == [
        *("records", "place", "place", "place"),
        *("head", "head", "head", "record", "head"),
    ]


def test_what_is_pointed_at_comes_before_what_is_pinned(ask):
    steps = """
    const seen = [now()];
    selection.pin([3, 2]); seen.push(now());
    selection.look([1, null]); seen.push(now());
    selection.look(null); seen.push(now());
    selection.look([4, 6]); selection.pin([3, 2]); seen.push(now());
    return seen.map(([, , , pinned, chosen]) => [pinned, chosen])"""
    assert selected(ask, steps, RECORD) == [
        [None, None],
        [[3, 2], [3, 2]],
        [[3, 2], [1, None]],
        [[3, 2], [3, 2]],
        [None, None],
    ]


def test_a_pinned_step_stays_where_rows_are_steps(ask):
    steps = """
    const pins = [];
    const open = (kind) => { selection.openKind(kind); pins.push(selection.pinned); };
    selection.pin([3, 2]); open("decoder"); open("cross"); open("encoder");
    selection.pin([6, 6]); open("cross");
    return pins"""
    assert selected(ask, steps, RECORD) == [[3, None], [3, None], None, None]


def test_another_record_shows_the_nearest_that_it_has(ask):
    small = make_record(("a", "b"), ("<bos>",), ("c",), encoder=(2,), decoder=(1,), cross=())
    steps = """
    selection.openHead(2, 2); selection.pin([4, 6]); selection.openRecord(0);
    return [now(), selection.tokens, selection.scores.length > 0]"""
    now, tokens, scored = selected(ask, steps, small, RECORD)
    assert now == ["decoder", 0, 0, None, None]
    assert tokens == {"queries": ["<bos>"], "keys": ["<bos>"]}
    assert scored


def test_values_that_come_one_after_the_other_are_waited_for(ask):
    """Python sets the kind, then the layer: between them there is no such head."""
    steps = """
    selection.openHead(2, 2);
    values.set("layer", 9);
    const between = selection.map === undefined && told.length;
    values.set("layer", 1);
    const after = [...told];
    values.set("layer", 9);
    await new Promise((done) => setTimeout(done, 20));
    return [between, after, told, now().slice(0, 3)]"""
    between, after, told, now = selected(ask, steps, RECORD)
    assert between == 2, "nobody was told"
    assert after == ["records", "head", "head"]
    assert told == [*after, "head"]
    assert now == ["cross", 2, 2], "the nearest head"


def test_a_map_is_the_selections_by_its_kind_layer_and_head(ask):
    steps = """
    selection.openKind("encoder"); selection.openHead(1, 2); selection.change("sort", "entropy");
    const { map, sortedBy, scores } = selection;
    return [Array.from({ length: map.rows }, (_, q) => map.row(q)), sortedBy.name, scores.length]"""
    weights, name, scores = selected(ask, steps, RECORD)
    np.testing.assert_allclose(weights, RECORD.weights(Head("encoder", 1, 2)), atol=0.0006)
    assert name == "entropy"
    assert scores == len(record_data(RECORD)["scores"]["encoder"])


# ---------------------------------------------------------------- questions and changes

QUESTIONS = """({ Questions }) => {
    window.told = [];
    const tell = (what) => (value) => told.push([what, value ?? null]);
    window.q = new Questions(tell("send"), tell("answered"), tell("unanswered"));
    window.sent = () => told.filter(([what]) => what === "send").map(([, number]) => number);
}"""


@pytest.fixture
def questions(ask):
    """Somebody who asks, in `window.q`; what is sent and heard is written down in `window.told`."""
    ask("explorer/questions.js", QUESTIONS)
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


def test_heads_are_muted_and_rows_pointed_until_they_are_forgotten(ask):
    function = """({ Interventions }) => {
        const latest = { muted: [["cross", 1, 1]] };
        const changes = new Interventions({ latest });
        const seen = [];
        const note = () => {
            const { mute, patch, isEmpty } = changes;
            seen.push([[...mute], [...patch], isEmpty]);
        };
        const row = { kind: "cross", layer: 0, head: 2, query: 3, key: 1 };
        note();
        changes.toggleMute("encoder", 0, 1); note();
        changes.toggleMute("cross", 1, 1); changes.toggleMute("encoder", 0, 1); note();
        changes.point(row); changes.point({ ...row, query: 2 }); changes.point({ ...row, key: 4 });
        note();
        changes.unpoint(changes.patch[1]); note();
        changes.forget(); note();
        return seen;
    }"""
    row = {"kind": "cross", "layer": 0, "head": 2, "query": 3, "key": 1}
    other, moved = row | {"query": 2}, row | {"key": 4}
    muted = [["cross", 1, 1]]
    assert ask("explorer/interventions.js", function) == [
        [muted, [], False],
        [[*muted, ["encoder", 0, 1]], [], False],
        [[], [], True],
        [[], [other, moved], False],
        [[], [other], False],
        [muted, [], False],
    ]
