"""A live explorer's questions and answers, early, late and never; the page plays Python."""

import json
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.browser.screen import serious
from tests.records import WordByWord
from transformer_lab.lab.explorer import payload
from transformer_lab.lab.explorer.page import STYLES
from transformer_lab.lab.page.join import script, style
from transformer_lab.lab.page.saved import PAGE

HOST = """
<div id="one"></div><div id="two"></div>
<script type="module">
const values = VALUES;
const listeners = [];
window.sent = [];
window.model = {
  get: (name) => values[name],
  set(name, value) { values[name] = value; this.tell(`change:${name}`); },
  save_changes() {},
  send: (message) => window.sent.push(message),
  on: (event, call) => listeners.push([event, call]),
  off(event, call) { listeners.splice(listeners.findIndex(([e, c]) => e === event && c === call), 1); },
  tell(event, message) { listeners.filter(([e]) => e === event).forEach(([, call]) => call(message)); },
};
window.listening = () => listeners.length;
const module = await import(URL.createObjectURL(new Blob([SCRIPT], { type: "text/javascript" })));
const views = ["one", "two"].map((name) => document.getElementById(name));
window.close = await Promise.all(views.map((el) => module.default.render({ model: window.model, el })));
</script>
"""


def live_data(text: str, unknown: tuple[str, ...] = (), **changes) -> dict:
    """The data of one answer, as Python would make them."""
    data = payload.page_data([replace(WordByWord().attend(text), unknown=unknown)])
    data["records"][0] |= {"sentence": text, "patched": [], **changes}
    return data


@pytest.fixture
def live(visit_page, tmp_path):
    values = {"data": live_data("a cat"), "kind": "cross", "layer": 0, "head": 0, "pinned": []}
    text = {"VALUES": values | {"stills": []}, "SCRIPT": script("explorer/widget.js")}
    body = HOST
    for name, value in text.items():
        body = body.replace(name, json.dumps(value).replace("<", "\\u003c"))
    path = tmp_path / "live.html"
    look = f"<style>{style(*STYLES)}</style>"
    path.write_text(PAGE.format(policy="", title="Live", body=look + body), encoding="utf-8")
    opened = visit_page(path)
    expect(opened.root).to_have_count(2)
    expect(opened.root.nth(1)).to_have_attribute("data-ready", "true")
    return opened


def answer(opened, number, text=None, error=None):
    if text is not None:
        new = live_data(text) | {"answers": number}
        opened.page.evaluate("data => model.set('data', data)", new)
    opened.page.evaluate(
        "message => model.tell('msg:custom', message)", {"answer": number, "error": error}
    )


def test_two_views_of_one_live_explorer_and_an_answer_that_comes_too_late(live):
    page = live.page
    page.clock.install()
    first, second = live.root.all()
    first.get_by_label("Sentence to translate").fill("two dogs")
    page.clock.run_for(400)
    (question,) = page.evaluate("sent")
    assert {"source": "two dogs", "mute": [], "patch": []}.items() <= question.items()
    page.clock.run_for(61_000)
    status = first.get_by_role("status").first
    expect(status).to_contain_text("No answer for 60 s. Is the kernel running?")
    answer(live, question["ask"], "two dogs")
    expect(status).to_have_text("")
    for view in (first, second):
        expect(view.locator(".written")).to_have_text("TWO DOGS <eos>")
        expect(view.get_by_label("Sentence to translate")).to_have_value("two dogs")
    # What one shows the other shows; when they are closed nobody listens any more.
    second.locator(".tile").nth(4).click()
    expect(first.get_by_role("heading")).to_have_text("Cross attention, layer 2, head 2")
    page.evaluate("close.forEach(end => end())")
    assert page.evaluate("listening()") == 0


def test_a_question_that_waits_is_asked_when_the_one_before_it_is_given_up(live):
    page = live.page
    page.clock.install()
    box = live.root.first.get_by_label("Sentence to translate")
    box.fill("two dogs")
    page.clock.run_for(400)
    box.fill("three dogs")
    page.clock.run_for(400)
    assert [q["source"] for q in page.evaluate("sent")] == ["two dogs"]
    page.clock.run_for(61_000)
    asked = page.evaluate("sent")
    assert [q["source"] for q in asked] == ["two dogs", "three dogs"]
    answer(live, asked[1]["ask"], "three dogs")
    expect(live.root.first.locator(".written")).to_have_text("THREE DOGS <eos>")


def test_a_question_that_cannot_be_sent_is_said_and_the_next_one_is_asked(live):
    """As after a restart of the kernel, whose channel is gone; a new channel answers again."""
    page = live.page
    view = live.root.first
    cannot = "() => { window.works = model.send; model.send = () => { throw Error('no channel') } }"
    page.evaluate(cannot)
    view.get_by_label("Sentence to translate").fill("a dog")
    status = view.get_by_role("status").first
    expect(status).to_contain_text("Run the cell again. The last answer is still shown.")
    expect(view.locator(".written")).to_have_text("A CAT <eos>")
    page.evaluate("() => { model.send = window.works }")
    view.get_by_label("Sentence to translate").fill("a dog runs")
    expect(status).to_have_text("Python is translating …")
    assert page.evaluate("sent.map((message) => message.source)") == ["a dog runs"]


def test_of_many_questions_only_the_newest_is_asked_and_shown(live):
    page = live.page
    page.clock.install()
    first = live.root.first
    mute = first.get_by_role("button", name="Mute this head")
    mute.click()
    for tile in (1, 2, 3):
        first.locator(".tile").nth(tile).click()
        mute.click()
    (question,) = page.evaluate("sent")
    assert question["mute"] == [["cross", 0, 0]]
    answer(live, question["ask"], "a stale cat")
    asked = page.evaluate("sent")
    assert [len(q["mute"]) for q in asked] == [1, 4], "those between were never sent"
    assert first.locator(".written").inner_text() == "A CAT <eos>"
    answer(live, asked[1]["ask"], error="No.")
    expect(first.get_by_role("status").first).to_have_text("No. The last answer is still shown.")
    expect(first.locator(".written")).to_have_text("A STALE CAT <eos>")
    expect(first.locator(".interventions")).to_contain_text("Nothing is changed.")
    # An answer to nobody's question changes nothing.
    answer(live, 3, error="Who asked?")
    expect(first.get_by_role("status").first).to_have_text("No. The last answer is still shown.")


def test_words_that_the_model_does_not_know_are_struck_and_named(live):
    first = live.root.first
    said = first.locator(".unknown")
    expect(said).to_be_hidden()
    words = ("zebra", "<b>gnu</b>", "zebra")
    live.page.evaluate("data => model.set('data', data)", live_data("a zebra", words))
    expect(said.locator("s")).to_have_text(["<b>gnu</b>", "zebra"])
    expect(said).to_contain_text("are no words of this model")
    assert serious(live.page) == []
    live.page.evaluate("data => model.set('data', data)", live_data("a gnu", ("gnu",)))
    expect(said).to_have_text("gnu is no word of this model: it has read <unk> in place.")
    live.page.evaluate("data => model.set('data', data)", live_data("a cat"))
    expect(said).to_be_hidden()


def test_python_may_set_the_kind_and_the_pin_one_after_the_other(live):
    page = live.page
    long = live_data("one two three four five six seven")
    page.evaluate("data => model.set('data', data)", long)
    first = live.root.first
    expect(first.locator(".queries .label")).to_have_count(8)
    page.evaluate("model.set('pinned', [7, 7])")
    expect(first.locator(".readout")).to_contain_text("<eos> → <eos>")
    first.locator(".queries .label").nth(6).hover()
    page.evaluate("data => model.set('data', data)", live_data("a cat"))
    expect(first.locator(".queries .label")).to_have_count(3)
    page.evaluate("model.set('pinned', [7, 7])")  # on its way, from before
    expect(first.locator(".readout")).to_contain_text("Point at")
    page.evaluate("model.set('layer', 9)")
    page.evaluate("model.set('layer', 1)")
    expect(first.get_by_role("heading")).to_have_text("Cross attention, layer 2, head 1")


def test_pictures_beside_a_live_explorer_are_seen_when_it_has_gone(live):
    page = live.page
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<p data-still=0a1b>still</p>')")
    still = page.get_by_text("still", exact=True)
    expect(still).to_be_visible()
    page.evaluate("model.set('stills', ['ffff', '0a1b'])")
    expect(still).to_be_hidden()
    page.evaluate("['one', 'two'].forEach(name => document.getElementById(name).remove())")
    expect(still).to_be_visible()


def test_the_picture_on_the_screen_is_never_given_back(live):
    """Between an answer and its own picture, the tiles still show the one before."""
    live.page.evaluate("""() => {
        const giveBack = URL.revokeObjectURL;
        window.givenBack = [];
        URL.revokeObjectURL = (url) => {
            const shown = [...document.querySelectorAll('.tiles')].some((tiles) =>
                tiles.style.getPropertyValue('--picture').includes(url));
            givenBack.push(shown);
            giveBack.call(URL, url);
        };
    }""")
    for text in ("two dogs", "three dogs"):
        data = live_data(text)
        live.page.evaluate("data => model.set('data', data)", data)
        expect(live.root.first.locator(".written")).to_have_text(f"{text.upper()} <eos>")
    live.page.wait_for_function("givenBack.length >= 4")  # two answers in two views
    live.page.evaluate("close.forEach(end => end())")
    given_back = live.page.evaluate("givenBack")
    assert len(given_back) >= 6
    assert not any(given_back)
