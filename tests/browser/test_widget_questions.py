"""A live lab's questions and answers, early, late and never; tests stand between the page and Python."""

from dataclasses import replace

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.played import Played, write_page
from tests.browser.screen import HOSTILE, ask, nearest, open_head, serious
from tests.records import WordByWord, make_record, probabilities
from transformer_lab.attention.record import AttentionRecord, Head
from transformer_lab.lab import lab

SENTENCE = "the cat sees a dog"
HEAD = "head=c1.1"
NOTHING = {"mute": [], "points": []}
NOT_GONE_ON = " The last answer is still shown below."
MUTED = "Mute it: set this head's output to 0"


@pytest.fixture
def play(visit_page, tmp_path):
    """Open two views of a widget, and stand between them and Python."""

    def play(translator=None, sentence=SENTENCE, start=HEAD, **options) -> Played:
        widget = lab(translator or WordByWord(), sentence, kernel=True, start=start, **options)
        opened = visit_page(write_page(widget, tmp_path / "live.html"))
        expect(opened.root).to_have_count(2)
        expect(opened.root.nth(1)).to_have_attribute("data-ready", "true")
        return Played(widget, opened.page)

    return play


@pytest.fixture
def live(play) -> Played:
    return play()


def says(view, text):
    """That this stands below the sentence."""
    expect(view.locator(".problem")).to_have_text(text)


def writes(view, text):
    """That this is the translation; where it is changed, each word beside the one before."""
    expect(view.locator(".written")).to_have_text(text)


def mute(view):
    view.get_by_role("button", name="Mute it").click()


def code_of(view) -> str:
    return view.get_by_label("Open a head").input_value()


def open_map(view):
    view.get_by_role("button", name="As a map").click()


def cell(view, row, key):
    return view.locator(f"td[data-row='{row}'][data-key='{key}']")


def check_weights(view, expected):
    """That the table's cells have the colours of these weights."""
    colours = "all => all.map(c => getComputedStyle(c).backgroundColor.match(/\\d+/g).map(Number))"
    cells = view.locator(".weight-map tbody td")
    seen = nearest(np.array(cells.evaluate_all(colours)))[:, None] / 255
    np.testing.assert_allclose(seen.reshape(expected.shape), expected, atol=0.012)


# ---------------------------------------------------------------- what is asked and answered


def test_another_sentence_is_asked_with_enter_or_by_the_button(live):
    first, second = live.views
    box = first.get_by_role("textbox")
    go = first.get_by_role("button", name="Translate")
    expect(go).to_be_hidden()
    box.fill("two dogs")
    says(first, "Press Enter or “Translate”. Until then, you see the last sentence.")
    expect(first.locator("header")).to_have_class("stale")
    assert live.asked == [], "the reader is still writing"
    box.press("Enter")
    says(first, "Python is translating …")
    assert live.answer() == live.asked[0] == {
        "ask": live.asked[0]["ask"],
        "text": "two dogs",
        "kept": NOTHING,
        "changes": NOTHING,
    }  # fmt: skip
    for view in (first, second):
        writes(view, "TWODOGS<eos>")
        says(view, "")
        expect(view.get_by_role("textbox")).to_have_value("two dogs")
    expect(first.locator("header")).not_to_have_class("stale")
    box.fill("  three dogs ")
    go.click()
    assert live.answer()["text"] == "three dogs"
    writes(second, "THREEDOGS<eos>")
    expect(first.locator(".line-view")).to_contain_text("three")


def test_what_is_written_meanwhile_stays_in_the_field(live):
    first, _ = live.views
    box = first.get_by_role("textbox")
    ask(first, "two dogs")
    box.fill("two dogs run")
    live.answer()
    writes(first, "TWODOGS<eos>")
    expect(box).to_have_value("two dogs run")
    box.press("Enter")
    live.answer()
    writes(first, "TWODOGSRUN<eos>")


def test_a_head_is_muted_and_speaks_again(live):
    first, second = live.views
    mute(first)
    expect(first.get_by_role("button", name="Unmute it")).to_be_visible()
    assert live.answer()["changes"]["mute"] == [Head("cross", 0, 0)._asdict()]
    for view in (first, second):
        # Of the unchanged model, and of the changed one.
        expect(view.locator(".written del")).to_have_text(["THE", "CAT", "A", "DOG"])
        expect(view.locator(".written ins")).to_have_text(["DOG", "A", "CAT", "THE"])
        expect(view.locator(".stakes")).to_have_text("Now it writes: DOG A SEES CAT THE <eos>.")
        expect(view.locator(".changes")).to_contain_text("c1.1")
    second.get_by_role("button", name="Unmute it").click()
    assert live.answer()["changes"] == NOTHING
    for view in (first, second):
        expect(view.locator(".written del")).to_have_count(0)
        expect(view.locator(".stakes")).to_have_text("")
    # By the letter, and by "Undo all".
    first.get_by_role("button", name="Where it looks").press("m")
    live.answer()
    first.get_by_role("button", name="Undo every change").click()
    assert live.answer()["changes"] == NOTHING
    expect(first.locator(".changes")).to_be_hidden()


def test_while_an_answer_is_on_its_way_the_last_one_is_described(live):
    first, _ = live.views
    mute(first)
    says(first, "Python is translating …")
    expect(first.locator(".stakes")).to_have_text("")
    expect(first.get_by_role("button", name="Undo every change")).to_have_count(0)
    live.answer()
    open_head(first, "c2.2")
    mute(first)
    expect(first.locator(".stakes")).to_have_text("Now it writes: DOG A SEES CAT THE <eos>.")


def test_a_row_looks_at_one_word_and_shares_are_given_by_slider_and_drag(live):
    """The slider's input events come faster than answers: one is under way, and the newest waits."""
    first, second = live.views
    expected = live.widget.record.weights(Head("cross", 0, 0)).copy()
    open_map(first)
    cell(first, 2, 4).click()
    first.get_by_role("button", name="Make “SEES” look only at “dog”").click()
    point = {"kind": "cross", "layer": 0, "head": 0, "query": 2, "key": 4, "share": 1}
    assert live.answer()["changes"] == {"mute": [], "points": [point]}
    expected[2] = np.eye(6)[4]
    expect(first.locator(".written ins").first).to_have_text("DOG")
    expect(cell(first, 2, 4)).to_have_class("chosen set")
    open_map(second)
    for view in (first, second):
        check_weights(view, expected)
        expect(view.locator(".changes")).to_contain_text("c1.1: “SEES” looks only at “dog” ×")
    first.get_by_role("button", name="Restore its own weights").click()
    assert live.answer()["changes"] == NOTHING
    expect(first.locator(".changes")).to_be_hidden()

    slider = first.get_by_role("slider")
    for value in (30, 40, 50, 60):
        slider.fill(str(value))
    assert [q["changes"]["points"][0]["share"] for q in live.asked[live.heard :]] == [0.3]
    live.answer()
    assert [q["changes"]["points"][0]["share"] for q in live.asked[live.heard :]] == [0.6]
    live.answer()
    says(first, "")
    assert len(live.asked) == live.heard, "those between were never sent"
    expected = live.widget.record.weights(Head("cross", 0, 0))
    assert expected[2, 4] == pytest.approx(0.6)
    check_weights(first, expected)
    expect(first.locator(".share output")).to_contain_text("“dog” has 0.60 of this row")

    box = cell(first, 2, 4).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    live.page.mouse.move(x, y)
    live.page.mouse.down()
    live.page.mouse.move(x, y + 36, steps=3)
    live.page.wait_for_function(f"sent.length > {live.heard}")
    while len(live.asked) > live.heard:
        live.answer()
    live.page.mouse.up()
    (point,) = live.widget.data["question"]["changes"]["points"]
    assert point["share"] == pytest.approx(0.3)
    expect(first.locator(".share output")).to_contain_text("“dog” has 0.30 of this row")
    assert serious(live.page) == []


def test_keys_that_are_faster_than_python_add_up(live):
    """Each step starts from what was asked last, although the answer is still on its way."""
    first, _ = live.views
    open_map(first)
    cell(first, 4, 3).click()
    own = live.widget.record.weights(Head("cross", 0, 0))[4, 3]
    table = first.locator(".weight-map table")
    for _ in range(3):
        table.press("Shift+ArrowUp")
    slider = first.get_by_role("slider")
    assert int(slider.input_value()) == pytest.approx(100 * own + 15, abs=2)
    slider.press("Home")
    for _ in range(2):
        slider.press("ArrowRight")
    expect(slider).to_have_value("2")
    expect(first.locator(".share output")).to_contain_text("“a” has 0.02 of this row")
    while len(live.asked) > live.heard:
        live.answer()
    (point,) = live.widget.data["question"]["changes"]["points"]
    assert (point["query"], point["key"], point["share"]) == (4, 3, 0.02)
    expect(slider).to_have_value("2")
    expect(cell(first, 4, 3)).to_have_attribute("aria-label", "0.02")
    assert len(live.asked) == 2


def test_keep_as_a_compares_with_the_changed_model(live):
    first, second = live.views
    mute(first)
    live.answer()
    first.get_by_role("button", name="From now on, compare").click()
    kept = {"mute": [Head("cross", 0, 0)._asdict()], "points": []}
    assert {"kept": kept, "changes": kept}.items() <= live.answer().items()
    for view in (first, second):
        expect(view.locator(".changes")).to_contain_text("this is A: c1.1")
        expect(view.locator(".written del")).to_have_count(0)
        writes(view, "DOGASEESCATTHE<eos>")
    first.get_by_role("button", name="Unmute it").click()
    assert {"kept": kept, "changes": NOTHING}.items() <= live.answer().items()
    for view in (first, second):
        expect(view.locator(".changes")).to_contain_text("compared with A: c1.1")
        expect(view.locator(".written del")).to_have_text(["DOG", "A", "CAT", "THE"])
        expect(view.locator(".written ins")).to_have_text(["THE", "CAT", "A", "DOG"])
        expect(view.locator(".next .legend")).to_contain_text("A")
    # Another sentence keeps A's muted heads.
    ask(second, "a cat")
    assert live.answer()["kept"] == kept
    second.get_by_role("button", name="Compare with the unchanged model").click()
    assert live.answer()["kept"] == NOTHING
    expect(first.locator(".changes")).to_be_hidden()


# ---------------------------------------------------------------- before and after


class Hesitating:
    """Muting moves the probabilities of each step, most at the fourth; `parts` says what is written."""

    def __init__(self, muted=("un", "chat", "noir", "dort", "<eos>"), *, kept=True):
        self.muted = muted
        self.kept = kept

    def attend(self, source, *, mute=(), patch=None) -> AttentionRecord:
        plain = ("un", "chat", "noir", "dort", "<eos>")
        written = self.muted if mute or patch else plain
        moves = (0.1, 0, 0.05, 0.3, 0.02) if mute or patch else (0, 0, 0, 0, 0)
        steps = tuple(
            ((word, 0.9 - move), ("brun", 0.05 + move), ("<unk>", 0.0004))
            for word, move in zip(written, moves, strict=True)
        )
        return make_record(
            [*source.split(), "<eos>"],
            ["<bos>", *written[:-1]],
            written,
            next_tokens=steps if self.kept else None,
            muted=frozenset(mute),
        )


def test_the_step_that_moved_most_is_opened(play):
    live = play(Hesitating())
    first, second = live.views
    mute(first)
    live.answer()
    for view in (first, second):
        expect(view.locator(".next h3")).to_have_text("Which word comes after “noir”?")
        lines = view.locator(".next li")
        expect(lines).to_contain_text(["dort", "brun"])
        expect(lines.locator(".value")).to_have_text(["0.900 → 0.600", "0.050 → 0.350"])
        expect(view.locator(".stakes")).to_have_text(
            "The translation is the same as with the unchanged model, but the probabilities move."
        )
        expect(view.locator(".step[aria-pressed=true]")).to_have_text("dort")


def test_steps_behind_the_first_other_word_cannot_be_compared(play):
    live = play(Hesitating(("un", "chat", "gris", "court", "<eos>")))
    first, _ = live.views
    mute(first)
    live.answer()
    expect(first.locator(".next h3")).to_have_text("Which word comes after “chat”?")
    values = first.locator(".next li .value")
    # "noir" was not kept among the likeliest of the changed model, whose least was 0.0004.
    expect(values).to_have_text(["0.900 → < 0.001", "< 0.001 → 0.850", "0.050 → 0.100"])
    expect(first.locator(".next .legend")).to_be_visible()
    first.locator(".step").nth(3).click()
    expect(first.locator(".stakes")).to_have_text(
        "Now it writes: un chat gris court <eos>. The two translations differ from word 3 "
        "onwards, so the probabilities of this later word can't be compared."
    )
    expect(values).to_have_text(["0.900", "0.050"])
    expect(first.locator(".next .legend")).to_be_hidden()


@pytest.mark.parametrize(
    ("muted", "said"),
    [
        ("un chat noir dort <eos>", "The translation is the same as with the unchanged model."),
        ("un chat gris court <eos>", "Now it writes: un chat gris court <eos>."),
    ],
)
def test_without_probabilities_the_words_are_compared_all_the_same(play, muted, said):
    live = play(Hesitating(tuple(muted.split()), kept=False))
    first, _ = live.views
    expect(first.locator(".next")).to_be_hidden()
    mute(first)
    live.answer()
    expect(first.locator(".stakes")).to_have_text(said)
    for part in ("h3", "ul", ".legend"):
        expect(first.locator(f".next {part}")).to_be_hidden()
    first.get_by_role("button", name="Unmute it").click()
    live.answer()
    expect(first.locator(".next")).to_be_hidden()


def test_a_shorter_answer_is_compared_as_far_as_it_goes(play):
    """No model of ours stops without its end token; somebody else's may."""

    class Stopping(Hesitating):
        def attend(self, source, *, mute=(), patch=None):
            found = super().attend(source, mute=mute, patch=patch)
            if not mute:
                return found
            short = make_record(
                found.source_tokens, ("<bos>", "un"), ("un", "chat"), muted=found.muted
            )
            return replace(short, next_tokens=found.next_tokens[:2])

    live = play(Stopping())
    first, _ = live.views
    mute(first)
    live.answer()
    expect(first.locator(".stakes")).to_have_text("Now it writes: un chat.")
    first.locator(".step").nth(2).click()
    expect(first.locator(".next li .value").first).to_have_text("0.900 → 0.900")


# ---------------------------------------------------------------- what goes wrong


def test_what_python_says_is_wrong_is_said_and_the_last_answer_stays(live):
    first, second = live.views
    mute(first)
    live.answer()
    before = first.locator(".written").inner_text()
    ask(first, "a bad bird")
    live.answer()
    says(first, "there is no such word: 'bad'." + NOT_GONE_ON)
    assert first.locator(".written").inner_text() == before
    expect(first.get_by_role("textbox")).to_have_value("a bad bird")
    expect(first.get_by_role("button", name="Translate")).to_be_visible()
    expect(first.get_by_role("button", name="Unmute it")).to_be_visible()
    says(second, "")
    # What is asked next is of the sentence that is seen.
    open_head(first, "c2.2")
    mute(first)
    question = live.answer()
    assert (question["text"], len(question["changes"]["mute"])) == (SENTENCE, 2)
    expect(first.get_by_role("textbox")).to_have_value("a bad bird")
    # A head that could not be muted is not shown as muted.
    live.widget.translator = None
    open_head(first, "c3.1")
    mute(first)
    live.answer()
    expect(first.locator(".problem")).to_contain_text("AttributeError: ")
    expect(first.get_by_role("button", name=MUTED)).to_be_visible()
    expect(first.locator(".changes button").filter(has_text="muted:")).to_have_count(2)


def test_an_answer_that_comes_too_late_is_welcome(live):
    page = live.page
    page.clock.install()
    first, second = live.views
    ask(first, "two dogs")
    page.clock.run_for(61_000)
    says(first, "No answer for 60 s. Is the kernel running?" + NOT_GONE_ON)
    writes(first, "THECATSEESADOG<eos>")
    live.answer()
    for view in (first, second):
        says(view, "")
        writes(view, "TWODOGS<eos>")
        expect(view.get_by_role("textbox")).to_have_value("two dogs")


def test_a_question_that_waits_is_asked_when_the_one_before_it_is_given_up(live):
    page = live.page
    page.clock.install()
    first, _ = live.views
    ask(first, "two dogs")
    ask(first, "three dogs")
    assert [q["text"] for q in live.asked] == ["two dogs"]
    page.clock.run_for(61_000)
    assert [q["text"] for q in live.asked] == ["two dogs", "three dogs"]
    live.heard = 1
    live.answer()
    writes(first, "THREEDOGS<eos>")


def test_a_question_that_cannot_be_sent_is_said_and_the_next_one_is_asked(live):
    """As after a restart of the kernel, whose channel is gone; a new channel answers again."""
    page = live.page
    first, _ = live.views
    page.evaluate(
        "() => { window.works = model.send; model.send = () => { throw Error('no channel') } }"
    )
    ask(first, "a dog")
    gone = "The kernel has been restarted, so it can't answer. Run the cell again."
    says(first, gone + NOT_GONE_ON)
    writes(first, "THECATSEESADOG<eos>")
    mute(first)
    says(first, gone + NOT_GONE_ON)
    expect(first.get_by_role("button", name=MUTED)).to_be_visible()
    page.evaluate("() => { model.send = window.works }")
    ask(first, "a dog runs")
    says(first, "Python is translating …")
    assert [q["text"] for q in live.asked] == ["a dog runs"]


def test_of_many_questions_only_the_newest_is_asked_and_shown(live):
    first, _ = live.views
    mute(first)
    for code in ("c1.2", "c1.3", "c2.1"):
        open_head(first, code)
        mute(first)
    assert [len(q["changes"]["mute"]) for q in live.asked] == [1]
    live.answer()
    assert [len(q["changes"]["mute"]) for q in live.asked] == [1, 4], (
        "those between were never sent"
    )
    says(first, "Python is translating …")
    expect(first.locator(".written del")).to_have_count(0)  # the first answer was dropped
    live.widget.translator = None
    live.answer()
    expect(first.locator(".problem")).to_contain_text("AttributeError")
    # The answer that was dropped is the last one, and Python's.
    expect(first.locator(".written del")).to_have_count(4)
    expect(first.locator(".changes button").filter(has_text="muted:")).to_have_count(1)
    assert live.widget.record.muted == {Head("cross", 0, 0)}
    # An answer to nobody's question changes nothing.
    said = first.locator(".problem").inner_text()
    live.page.evaluate("model.tell('msg:custom', { answer: 3, error: 'Who asked?' })")
    says(first, said)


def test_what_is_taken_back_before_its_answer_is_not_shown_afterwards(live):
    """To mute and to unmute at once: the page must end as the reader left it, and Python too."""
    first, second = live.views
    mute(first)
    first.get_by_role("button", name="Unmute it").click()
    live.answer()
    expect(first.get_by_role("button", name=MUTED)).to_be_visible()
    assert live.answer()["changes"] == NOTHING
    for view in (first, second):
        says(view, "")
        expect(view.locator(".written del")).to_have_count(0)
        expect(view.get_by_role("button", name=MUTED)).to_be_visible()
    assert live.widget.record.muted == set()


def test_what_another_view_has_asked_already_is_still_asked_in_its_turn(live):
    """The second view's answer is the one that the first view's second question waits for."""
    first, second = live.views
    ask(first, "two dogs")
    ask(first, "three dogs")
    live.page.wait_for_timeout(5)  # questions are named by their time
    ask(second, "three dogs")
    for text in ("two dogs", "three dogs", "three dogs"):
        assert live.answer()["text"] == text
        live.page.wait_for_timeout(50)  # until the page has read the answer
    assert len(live.asked) == 3, "what is known is not asked again"
    for view in (first, second):
        says(view, "")
        writes(view, "THREEDOGS<eos>")


def test_of_what_two_views_ask_at_once_both_end_at_the_last(live):
    first, second = live.views
    mute(first)
    live.page.wait_for_timeout(5)
    open_head(second, "c2.2")
    mute(second)
    for _ in range(2):
        live.answer()
        live.page.wait_for_timeout(50)
    assert len(live.asked) == 2
    (muted,) = live.widget.record.muted
    for view in (first, second):
        says(view, "")
        expect(view.locator(".changes button").filter(has_text="muted:")).to_have_count(1)
        expect(view.locator(".changes")).to_contain_text(muted.code)


def test_words_that_the_model_does_not_know_are_struck_and_named(play):
    class Unknowing(WordByWord):
        def attend(self, source, **changes):
            words = ["<unk>" if word == "zebra" else word for word in source.split()]
            found = super().attend(" ".join(words), **changes)
            return replace(found, unknown=("zebra",) * words.count("<unk>"))

    live = play(Unknowing())
    first, _ = live.views
    said = first.locator(".read")
    expect(said).to_be_hidden()
    ask(first, "a zebra sees a zebra")
    live.answer()
    expect(said.locator("s")).to_have_text(["<unk>", "<unk>"])
    expect(said).to_contain_text("It doesn't know zebra.")
    expect(said.get_by_role("button")).to_have_count(
        0
    )  # who answers has the vocabulary, not the page
    assert serious(live.page) == []
    ask(first, "a cat")
    live.answer()
    expect(said).to_be_hidden()


# ---------------------------------------------------------------- two views, and Python


def test_two_views_show_the_same_and_closed_ones_listen_no_more(live):
    first, second = live.views
    second.locator(".more > summary").click()
    second.locator("[data-control='head d2.2']").click()
    assert code_of(first) == "d2.2"
    assert live.traits() == ["decoder", 1, 1, []]
    open_map(first)
    cell(first, 3, 1).click()
    assert live.traits() == ["decoder", 1, 1, [3, 1]]
    open_map(second)
    expect(cell(second, 3, 1)).to_have_class("chosen")
    saved = live.page.evaluate("saved")
    assert saved == 2, "each choice was sent to Python once"
    live.page.evaluate("close[0]()")
    assert live.page.evaluate("listening()") == 7
    live.page.evaluate("close[1]()")
    assert live.page.evaluate("listening()") == 0
    expect(live.page.locator(".tl-lab")).to_have_count(0)


def test_python_may_set_the_traits_one_after_the_other(live):
    first, second = live.views
    live.set(kind="encoder")
    assert [code_of(view) for view in live.views] == ["e1.1"] * 2
    live.set(layer=9)
    assert code_of(first) == "e1.1", "there is none"
    live.set(layer=1, head=2, pinned=[3, 5])
    open_map(second)
    for view in (first, second):
        assert code_of(view) == "e2.3"
    expect(cell(second, 3, 5)).to_have_class("chosen")
    live.set(pinned=[2, None])
    expect(second.locator("tr.lit th")).to_have_text("sees")
    expect(second.locator("td.chosen")).to_have_count(0)
    live.set(pinned=[17, 3])  # on its way, from a longer sentence
    expect(second.locator("tr.lit th")).to_have_text("<eos>")
    assert live.traits()[3] == [17, 3], "another view may show the longer sentence already"
    assert live.page.evaluate("saved") == 0, "Python isn't told what it said"
    live.set(pinned=[])
    expect(first.locator("svg line")).not_to_have_count(0)
    assert live.traits() == ["encoder", 1, 2, []]


def test_a_pin_of_python_follows_to_a_longer_sentence(live):
    first, _ = live.views
    ask(first, "one two three four five six seven")
    live.answer()
    live.set(pinned=[7, 7])
    open_map(first)
    expect(cell(first, 7, 7)).to_have_class("chosen")
    live.widget.pinned = [7, 7]
    ask(first, "a cat")
    live.answer()
    assert live.widget.pinned == []
    live.set(pinned=live.widget.pinned)
    expect(first.locator("tr.lit th")).to_have_count(1)
    assert live.traits()[3] in ([], [2, None], [2, 2])


def test_a_head_that_the_next_answer_lacks_is_closed(live):
    first, second = live.views
    open_head(first, "c3.2")
    small = make_record(decoder=(1,), cross=(1,))
    live.widget.translator.attend = lambda source, **_: small
    for view in (first, second):
        view.locator(".more > summary").click()
        view.get_by_label("What the heads show").select_option("sharpness")
    ask(first, "a cat")
    live.answer()
    for view in (first, second):
        writes(view, "lechatvoitchien<eos>")
        assert code_of(view) == "c1.1"


def test_an_address_says_how_the_page_begins(play):
    start = "head=c2.3&row=2&key=4&mute=e1.1&point=c2.3:2:4:0.75&view=map&also=c1.1,c3.2,e1.1"
    live = play(start=start, languages=("English", "CAPITALS"))
    for view in live.views:
        assert code_of(view) == "c2.3"
        expect(cell(view, 2, 4)).to_have_class("chosen set")
        expect(cell(view, 2, 4)).to_have_text(".75")
        expect(view.locator(".changes")).to_contain_text("muted: ")
        expect(view.locator(".changes")).to_contain_text("c2.3: “SEES” gives 0.75 to “dog” ×")
        expect(view.get_by_label("English sentence")).to_have_value(SENTENCE)
    first, second = live.views
    first.get_by_role("button", name="Where it looks").click()
    expect(first.locator(".line-view .legend")).to_contain_text("c1.1")
    expect(first.locator(".line-view .legend > span")).to_have_count(3)
    expect(second.locator(".weight-map")).to_be_visible()
    first.get_by_role("button", name="Undo every change").click()
    assert live.answer()["changes"] == NOTHING


# ---------------------------------------------------------------- snapshots


def snapshots(count=2):
    words = [*SENTENCE.split(), "<eos>"]
    return [
        make_record(
            words, ("<bos>", "x", f"y{i}"), ("x", f"y{i}", "<eos>"), label=f"step {i}", seed=i
        )
        for i in range(count)
    ]


def test_at_a_snapshot_nothing_can_be_changed_and_nothing_is_lost(play):
    live = play(snapshots=snapshots())
    first, second = live.views
    slider = first.get_by_label("Moment in training")
    assert slider.input_value() == "2"
    expect(first.locator(".moments output")).to_have_text("record 3")
    mute(first)
    live.answer()
    expect(first.locator(".written ins")).to_have_count(4)
    slider.fill("1")
    expect(first.locator(".moments output")).to_have_text("step 1")
    writes(first, "xy1<eos>")
    expect(first.locator(".stakes")).to_have_text("")
    for name in ("Mute it", "Unmute it", "Undo"):
        expect(first.get_by_role("button", name=name)).to_have_count(0)
    first.locator(".tabs button").first.press("m")
    open_map(first)
    cell(first, 1, 2).click()
    expect(first.get_by_role("button", name="look only at")).to_have_count(0)
    expect(first.locator(".share input")).to_be_hidden()
    assert len(live.asked) == 1
    expect(second.locator(".written ins")).to_have_count(4)  # the other view is where it was
    slider.fill("2")
    expect(first.locator(".written ins")).to_have_count(4)
    expect(first.get_by_role("button", name="Unmute it")).to_be_visible()
    assert len(live.asked) == 1, "nobody had to be asked"


def test_a_question_that_fails_at_a_snapshot_leaves_the_reader_there(play):
    live = play(snapshots=snapshots())
    first = live.views[0]
    slider = first.get_by_label("Moment in training")
    slider.fill("0")
    expect(first.locator(".moments output")).to_have_text("step 0")
    ask(first, "bad dog")
    live.answer()
    expect(first.locator(".problem")).to_contain_text("The last answer is still shown below.")
    assert slider.input_value() == "0"
    expect(first.locator(".moments output")).to_have_text("step 0")
    expect(first.get_by_role("button", name="Mute it")).to_have_count(0)


def test_another_sentence_drops_the_snapshots_and_the_first_one_brings_them_back(play):
    live = play(snapshots=snapshots())
    first, second = live.views
    slider = first.get_by_label("Moment in training")
    slider.fill("0")
    writes(first, "xy0<eos>")
    ask(first, "a cat")
    live.answer()
    for view in live.views:
        writes(view, "ACAT<eos>")
        expect(view.locator(".moments")).to_be_hidden()
    mute(first)
    live.answer()
    expect(first.locator(".written ins")).to_have_count(2)
    first.get_by_role("button", name="Undo every change").click()
    live.answer()
    ask(second, SENTENCE)
    live.answer()
    for view in live.views:
        writes(view, "THECATSEESADOG<eos>")
        expect(view.get_by_label("Moment in training")).to_have_value("2")


# ---------------------------------------------------------------- pieces, hostile tokens, other models


class Pieces:
    """Reads and writes pieces of words."""

    READ = ("the", " un", "bel", "iev", "able", " cat", "<eos>")
    WRITTEN = ("le", " ch", "at", " in", "croy", "able", "<eos>")

    def attend(self, source, *, mute=(), patch=None) -> AttentionRecord:
        return make_record(
            self.READ,
            ("<bos>", *self.WRITTEN[:-1]),
            self.WRITTEN,
            next_tokens=probabilities(self.WRITTEN, np.random.default_rng(0)),
            muted=frozenset(mute),
        )


def test_pieces_are_joined_to_words_and_pins_are_shared_of_pieces_alone(play):
    live = play(Pieces(), "the unbelievable cat")
    first, second = live.views
    open_map(first)
    cell(first, 2, 3).click()
    first.get_by_role("button", name="Make “at” look only at “iev”").click()
    live.answer()
    said = "c1.1: “at” looks only at “iev” ×"
    expect(first.locator(".changes")).to_contain_text(said)
    first.get_by_role("button", name="Words").click()
    assert len(live.asked) == 1, "Python isn't asked for that"
    expect(first.locator(".weight-map thead th")).to_have_text(
        ["the", "unbelievable", "cat", "<eos>"]
    )
    expect(first.locator(".changes")).to_contain_text(said)
    first.locator(".weight-map th[data-row='2']").click()
    expect(first.locator("td.set")).to_have_count(0)  # the third piece is not the third word
    cell(first, 1, 2).click()
    expect(first.get_by_role("button", name="look only at")).to_have_count(0)
    assert live.traits()[3] == [2, 3], "Python counts pieces"
    open_head(first, "c2.1")
    assert code_of(second) == "c2.1"
    first.get_by_role("button", name="Pieces").click()
    expect(first.locator(".weight-map thead th")).to_have_count(7)
    # Words in one view, pieces in the other: an answer joins them again.
    second.get_by_role("button", name="Words").click()
    first.get_by_role("button", name="Undo every change").click()
    live.answer()
    writes(second, "lechatincroyable<eos>")
    expect(second.locator(".step")).to_have_count(4)
    expect(first.locator(".step")).to_have_count(7)


def test_hostile_tokens_are_words_and_nothing_else(play):
    class Hostile:
        def attend(self, source, *, mute=(), patch=None):
            written = HOSTILE[:5][:: -1 if mute or patch else 1]
            return make_record(
                HOSTILE,
                HOSTILE[4:9],
                written,
                next_tokens=probabilities(written, np.random.default_rng(0)),
                muted=frozenset(mute),
                unknown=(HOSTILE[1],),
                label="<b>last</b>",
            )

    hostile = "</script><img src=x onerror=alert(1)>"
    moments = [make_record(HOSTILE, ("<bos>",), ("a",), label="</script>")]
    live = play(Hostile(), hostile, snapshots=moments, languages=("<i>a</i>", "<b>b</b>"))
    first, second = live.views
    mute(first)
    live.answer()
    open_map(first)
    cell(first, 1, 1).click()
    first.get_by_role("button", name="look only at").click()
    live.answer()
    ask(second, hostile + "\\u202e")
    live.answer()
    for view in live.views:
        expect(view.locator(".written ins")).not_to_have_count(0)
        expect(view.locator(".read")).to_contain_text(HOSTILE[1])
        assert view.locator("img, i i, bdi b").count() == 0
    assert live.page.locator("img").count() == 0


def test_pictures_beside_a_live_lab_are_seen_when_it_has_gone(live):
    page = live.page
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p data-still=0a1b>still</p>')")
    still = page.get_by_text("still", exact=True)
    expect(still).to_be_visible()
    live.set(stills=["ffff", "0a1b"])
    expect(still).to_be_hidden()
    page.evaluate("['one', 'two'].forEach(name => document.getElementById(name).remove())")
    expect(still).to_be_visible()


def test_where_the_record_cannot_be_read_the_still_picture_remains(visit_page, tmp_path, browser):
    widget = lab(WordByWord(), SENTENCE, kernel=True)
    path = write_page(widget, tmp_path / "live.html")
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("delete globalThis.DecompressionStream")
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_function("typeof listening === 'function' && listening() === 0")
    expect(page.locator(".tl-lab")).to_have_count(0)
    assert len(errors) == 1
    context.close()
