"""The playground on the screen: what it says about a training run is what the run did."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.screen import Opened, serious
from transformer_lab.lab.playground_page import playground
from transformer_lab.studies.in_the_playground import guided_experiments
from transformer_lab.translator import Translator

QUICK = "#task=reverse&width=16&heads=2&steps=300"
MOMENTS = range(0, 301, 10)
"""The steps at which a run of 300 shows what it can do."""


class Play:
    """An open playground, as a reader works with it."""

    def __init__(self, opened: Opened):
        self.opened, self.page = opened, opened.page
        self.status = self.page.locator(".status")
        self.train = self.button(re.compile("^Train"))
        self.slider = self.page.get_by_role("slider")
        self.typed = self.page.get_by_label("Try one of your own")
        self.answers = self.page.locator(".try li")
        self.runs = self.page.locator(".run")

    def button(self, name) -> object:
        return self.opened.root.get_by_role("button", name=name, exact=True)

    def go(self, address: str) -> None:
        """Change the page's address, and wait until the page has heard of it."""
        self.page.evaluate(
            """(hash) => new Promise((done) => {
                addEventListener("hashchange", () => setTimeout(done), { once: true });
                location.hash = hash;
            })""",
            address,
        )

    def finish(self) -> None:
        """Train to the end."""
        self.train.click()
        self.wait_for("Done")

    def wait_for(self, text) -> None:
        """Until every run's status says so."""
        for status in self.status.all():
            expect(status).to_contain_text(text, timeout=60_000)

    def cells(self, run: int = 0) -> list[list[float]]:
        """The weights of a run's large map, by row."""
        rows = self.runs.nth(run).locator(".large tbody tr").all()
        return [[float(w) for w in row.locator("td").evaluate_all(WEIGHTS)] for row in rows]

    def axis(self, side: str) -> list[str]:
        return self.runs.first.locator(f".large {side} th").all_inner_texts()


WEIGHTS = "all => all.map((cell) => cell.style.getPropertyValue('--weight'))"


SAID = """() => {
    globalThis.said = [];
    const look = () => {
        const now = document.querySelector(".runs [role=status]")?.textContent;
        if (now !== undefined && now !== globalThis.said.at(-1)) globalThis.said.push(now);
    };
    new MutationObserver(look).observe(document.querySelector(".runs"),
        { childList: true, subtree: true, characterData: true });
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return playground().to_html(tmp_path_factory.mktemp("playground") / "play.html")


@pytest.fixture
def play(visit_page, file):
    """Open the playground at an address."""

    def play(address: str = QUICK, **options) -> Play:
        opened = Play(visit_page(file, **options))
        opened.go(address)
        return opened

    return play


def count_workers(page: Page, expected: int) -> None:
    """Fail unless there are soon as many workers as that; the browser tells of an ended one later."""
    for _ in range(100):
        if len(page.workers) == expected:
            return
        page.wait_for_timeout(50)
    assert len(page.workers) == expected


# ---------------------------------------------------------------- training


def test_a_run_says_how_far_it_is_and_shows_what_it_writes(play):
    opened = play("#task=reverse&steps=300")
    expect(opened.runs).to_have_count(0)
    opened.page.evaluate(SAID)
    opened.train.click()
    count_workers(opened.page, 1)
    opened.wait_for("Done")
    said = r"Done: (\d+(\.\d+)?)% of 512 unseen examples are right after 300 steps and \d+\.\d seconds\."
    assert re.fullmatch(said, opened.status.inner_text())
    first, *moments, last = opened.page.evaluate("said")
    assert (first, last) == ("Getting ready …", opened.status.inner_text())
    told = r"Step \d+: \d+(\.\d+)?% right when it writes on its own, after \d+\.\d seconds\."
    assert all(re.fullmatch(told, text) for text in moments)
    steps = [int(text.split()[1].rstrip(":")) for text in moments]
    assert steps == sorted(set(steps)), "a screen reader hears of each moment once"
    assert len(steps) > 3
    assert set(steps) <= set(MOMENTS)
    rows = opened.page.locator(".examples tbody tr").all()
    assert len(rows) == 6
    marked = 0
    for row in rows:
        given, written, answer = row.locator("td").all()
        right = given.inner_text()[::-1]
        pieces = [
            (piece.inner_text(), piece.evaluate("e => e.localName"))
            for piece in written.locator("> *").all()
        ]
        if pieces[-1][0] == "…":
            assert len(pieces) - 1 < len(right)
            pieces.pop()
            marked += 1
        for place, (letter, tag) in enumerate(pieces):
            assert (tag == "mark") is (letter != right[place : place + 1])
            marked += tag == "mark"
        is_right = "".join(letter for letter, _ in pieces) == right
        assert answer.inner_text() == ("✓" if is_right else right)
        assert (row.get_attribute("class") == "right") is is_right
    assert marked > 0, "after 300 steps it still makes mistakes"


def test_the_maps_have_weights_that_sum_to_one_and_words_at_both_sides(play):
    opened = play()
    opened.finish()
    given = opened.page.locator(".examples tbody td").first.inner_text()
    asked, looked_at = [*given[::-1], "end"], [*given, "end"]
    sides = {
        "Decoder: looking at what it was given": (asked, looked_at),
        "Decoder: looking at what it has written": (asked, ["start", *given[::-1]]),
        "Encoder": (looked_at, looked_at),
    }
    seen = []
    for kind, (rows, columns) in sides.items():
        for head in (1, 2):
            button = opened.button(f"{kind}, layer 1, head {head}")
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
            expect(opened.page.locator(".layer [aria-pressed=true]")).to_have_count(1)
            assert opened.axis("tbody") == rows
            assert opened.axis("thead") == columns
            cells = opened.cells()
            assert [sum(row) for row in cells] == pytest.approx([1] * len(rows), abs=1e-4)
            assert cells not in seen
            seen.append(cells)
            if kind == "Decoder: looking at what it has written":
                later = [w for i, row in enumerate(cells) for w in row[i + 1 :]]
                assert later == [0] * len(later), "the mask hides what comes next"
    labels = opened.page.locator(".large tbody td").evaluate_all(
        "all => all.map((cell) => Number(cell.ariaLabel))"
    )
    assert labels == pytest.approx([w for row in seen[-1] for w in row], abs=0.006)


def test_the_slider_goes_back_in_time_and_forward_again(play):
    opened = play()
    opened.finish()
    done, last = opened.status.inner_text(), opened.cells()
    opened.slider.press("Home")
    expect(opened.status).to_contain_text("Step 0: 0% right")
    expect(opened.slider).to_have_attribute("aria-valuetext", "step 0")
    first = opened.cells()
    assert first != last
    opened.slider.press("ArrowRight")
    expect(opened.status).to_contain_text("Step 10: ")
    assert opened.cells() not in (first, last)
    opened.slider.press("End")
    expect(opened.status).to_have_text(done)
    assert opened.cells() == last


def test_two_runs_have_the_same_seed_and_the_same_data(play):
    opened = play(f"{QUICK}&but=mask:false")
    opened.finish()
    count_workers(opened.page, 2)
    assert opened.page.locator(".run h3").all_inner_texts() == [
        "Your model",
        "The same, without a mask, so it sees the answer",
    ]
    given = [
        run.locator("tbody td:first-child:not([aria-label])").all_inner_texts()
        for run in opened.runs.all()
    ]
    assert len(given[0]) == 6
    assert given[0] == given[1]
    opened.slider.press("Home")
    # The same random numbers at the beginning: where no mask is, the heads look alike.
    opened.button("Encoder, layer 1, head 1").first.click()
    assert opened.cells(0) == opened.cells(1)
    opened.button("Decoder: looking at what it has written, layer 1, head 1").first.click()
    assert opened.cells(0) != opened.cells(1)


def test_the_arrows_go_from_head_to_head_and_tab_goes_past_them(play):
    opened = play()
    opened.finish()
    first = opened.button("Encoder, layer 1, head 1")
    first.click()
    chosen = opened.page.locator(".layer [aria-pressed=true]")
    for key, name in (
        ("ArrowRight", "Encoder, layer 1, head 2"),
        ("ArrowDown", "Decoder: looking at what it has written, layer 1, head 1"),
        ("ArrowUp", "Encoder, layer 1, head 2"),
        ("ArrowLeft", "Encoder, layer 1, head 1"),
        ("ArrowLeft", "Encoder, layer 1, head 1"),  # there is none before it
    ):
        opened.page.keyboard.press(key)
        expect(chosen).to_have_attribute("aria-label", name)
        expect(chosen).to_be_focused()
    opened.page.keyboard.press("Tab")
    expect(opened.page.locator(".large")).to_be_focused()


def test_every_example_has_its_maps(play):
    opened = play(f"{QUICK}&but=positions:none")
    opened.finish()
    whose = opened.page.locator(".maps > .note > span")
    buttons = opened.runs.first.locator(".examples button")
    seen = []
    for button in buttons.all():
        button.click()
        expect(button).to_be_focused()
        given = button.inner_text()
        expect(whose).to_have_text([f"“{given}”"] * 2)
        expect(opened.page.locator(".examples [aria-pressed=true]")).to_have_text([given] * 2)
        assert opened.axis("tbody") == [*given[::-1], "end"]
        assert opened.axis("thead") == [*given, "end"]
        seen.append(opened.cells())
    assert len(seen) == 6
    assert all(seen.count(cells) == 1 for cells in seen)


def test_layers_have_numbers_where_there_are_several(play):
    opened = play("#task=reverse&width=16&heads=2&layers=2&steps=300")
    opened.train.click()
    layers = opened.page.locator(".layer > span")
    expect(layers).to_have_text(["layer 1", "layer 2"] * 3)


def test_the_chart_has_a_scale_for_the_loss(play):
    opened = play()
    opened.finish()
    top = max(float(text) for text in opened.page.locator(".chart .scale").all_text_contents())
    assert 3 < top < 6, "about log 30 before anything is learned"


def test_results_of_other_settings_are_marked(play):
    opened = play("#task=reverse&width=16&steps=300")
    note = opened.page.get_by_text("You have changed the settings since.")
    opened.finish()
    expect(note).to_be_hidden()
    opened.page.locator(".settings > summary").click()
    for control, other in (("width", "64"), ("seed", "3")):
        menu = opened.page.locator(f"[data-control={control}]")
        chosen = menu.input_value()
        menu.select_option(label=other)
        expect(note).to_be_visible()
        menu.select_option(label=chosen)
        expect(note).to_be_hidden()
    opened.page.locator("[data-control=seed]").select_option(label="3")
    opened.finish()
    expect(note).to_be_hidden()


# ---------------------------------------------------------------- the reader's own


def test_a_run_that_takes_minutes_says_so_and_offers_the_smallest_model(play):
    opened = play("#task=reverse&width=128&layers=4&steps=9000")  # a quarter of an hour, or more
    notice = opened.page.get_by_text(
        re.compile(r"^This will take about \d+ more minutes on your device")
    )
    expect(notice).to_be_hidden()
    opened.train.click()
    expect(notice).to_be_visible(timeout=60_000)
    opened.button("Take the smallest model, and train it").click()
    expect(notice).to_be_hidden()
    assert "width=16" in opened.page.url
    assert "layers" not in opened.page.url
    opened.wait_for("Step ")
    opened.button("Stop the training").click()
    opened.wait_for("Stopped ")
    count_workers(opened.page, 1)


def test_an_answer_follows_the_model_while_it_learns(play):
    opened = play()
    opened.train.click()
    expect(opened.status).to_contain_text("Step")
    opened.typed.fill("gdkat")
    opened.wait_for("Done")
    told = opened.answers.inner_text()
    opened.typed.fill("")
    opened.typed.fill("gdkat")
    expect(opened.answers).to_have_text(told)
    note = opened.page.locator(".try > .note")
    expect(note).to_have_text("")
    opened.slider.press("Home")
    expect(note).to_have_text(
        "These are the answers of the model as it is now, not as it was at that step."
    )
    expect(opened.answers).to_have_text(told)


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("abcdefghij", "That's longer than anything it has learned from."),
        ("ab", "That's shorter than anything it has learned from."),
        ("abc", None),
        ("abcdefghi", None),
    ],
)
def test_a_word_of_another_length_than_those_it_knows_gets_a_note(play, text, note):
    opened = play()
    opened.finish()
    opened.typed.fill(text)
    expect(opened.answers).to_have_count(1)
    expect(opened.answers.locator("small")).to_have_text([f" {note}"] if note else [])


UNKNOWN = """async ({ Training }) => {
    const lines = Array.from({ length: 60 }, (_, i) =>
        `${"abcde"[i % 5]}${"fghij"[i % 7 % 5]}${i},word${i} end`);
    const options = { text: lines.join(" \\n") };
    const training = new Training({ task: "own", options, train: null, seed: 0, steps: 1,
        batch: 4, curve: "line", model: { d_model: 16, num_heads: 1 }, training: {} }, () => {});
    const { learner, data } = training;
    const answer = (source) => data.test.find((pair) => pair.source === source).target;
    learner.write = (sources) => sources.map(answer);
    const { written, ids } = await training.try(10);
    const names = training.describe().shown[0].words.right;
    return { written, unknown: ids.map((one) => one.includes(3)), names, notes: training.listNotes() };
}"""


def test_a_word_that_the_model_does_not_know_is_never_right(ask):
    """Every `word…` of the test is one that training lacks, even where it writes what it should."""
    found = ask("playground/training.js", UNKNOWN)
    assert found["unknown"] == [True] * 10
    assert found["written"] == 0
    assert found["names"] == ["?", "end", "end"]
    assert any("A “?” is a word that" in note for note in found["notes"])


# ---------------------------------------------------------------- the address


def test_what_is_chosen_is_in_the_address_and_the_address_chooses(play):
    opened = play("#task=sort")
    page = opened.page
    task, second = page.locator("[data-control=task]"), page.get_by_label("Compare it with")
    expect(task).to_have_value("Sort")
    task.select_option("Dates")
    page.locator("summary").click()
    page.locator("[data-control=heads]").select_option("8")
    second.select_option("the same model, without any sense of order")
    address = page.evaluate("location.hash")
    assert address == "#task=dates&heads=8&but=positions%3Anone"
    opened.go("#task=reverse")
    expect(task).to_have_value("Reverse")
    expect(second).to_have_value("nothing")
    opened.go(address)
    expect(task).to_have_value("Dates")
    expect(page.locator("[data-control=heads]")).to_have_value("8")
    expect(second).to_have_value("the same model, without any sense of order")
    page.reload()
    expect(task).to_have_value("Dates")
    page.goto(page.url.partition("#")[0])  # or the address counts as another request


@pytest.mark.parametrize(
    "address",
    [
        "#task=<b>&heads=3&steps=1e9&but=mask:maybe&seed=-1&experiment=none",
        "#but=heads:4&seed=12345678",  # four are there anyway
        "#task=reverse&experiment=answer",  # without its change
        "#__proto__=1&constructor=2&but=toString:1",
        "#%ff%",
    ],
)
def test_what_an_address_names_wrongly_is_as_at_the_beginning(play, address):
    opened = play("#task=sort&heads=1")
    opened.go(address)
    assert opened.page.evaluate("location.hash.length") > 0
    expect(opened.page.locator("[data-control=task]")).to_have_value("Reverse")
    expect(opened.page.get_by_label("Compare it with")).to_have_value("nothing")
    expect(opened.page.locator("[data-control=heads]")).to_have_value("4")
    expect(opened.page.locator("[data-control=steps]")).to_have_value("1,500")
    expect(opened.page.locator(".experiment")).to_be_hidden()


POSSIBLE = """async ({ SETTINGS, isPossible }) => {
    const { completeModel } = await import("./learning/config.js");
    const found = [];
    for (const [width] of SETTINGS.width.options) {
        for (const [heads] of SETTINGS.heads.options) {
            let works = true;
            try {
                completeModel({ d_model: width, num_heads: heads, source_vocab_size: 7,
                    target_vocab_size: 5 });
            } catch { works = false; }
            found.push([isPossible({ width, heads }), works]);
        }
    }
    return found;
}"""


def test_only_models_that_can_be_made_can_be_chosen(ask, play):
    found = ask("playground/settings.js", POSSIBLE)
    assert len(found) == 16
    assert [True, False] not in found
    assert [False, True] not in found
    opened = play("#task=reverse&width=16")
    page = opened.page
    page.locator("summary").first.click()
    heads = page.locator("[data-control=heads] option")
    assert heads.evaluate_all("all => all.map(({ disabled }) => disabled)") == [False] * 3 + [True]
    compared = page.get_by_label("Compare it with").locator("option").all_inner_texts()
    assert "the same model, with two heads" in compared
    assert "the same model, with eight heads" not in compared


def test_another_seed_is_another_run_and_stands_in_the_address(play):
    opened = play(f"{QUICK}&but=mask:false&experiment=answer")
    opened.page.locator("summary").first.click()
    seed = opened.page.locator("[data-control=seed]")
    expect(seed).to_have_value("0")
    seed.select_option("3")
    expect(opened.page.get_by_role("region", name="An experiment")).to_be_visible()
    assert "seed=3" in opened.page.evaluate("location.hash")
    opened.go(f"{QUICK}&seed=41")  # which the menu hasn't got by itself
    expect(seed).to_have_value("41")
    given = []
    for value in ("41", "5"):
        seed.select_option(value)
        opened.finish()
        given.append(opened.page.locator(".examples button").all_inner_texts())
    assert given[0] != given[1]


# ---------------------------------------------------------------- pause, stop, again

LONG = "#task=reverse&width=16&heads=2&steps=9000"
LATER = re.compile("Step [1-9]")


def steps_of(status) -> int:
    return int(re.search(r"(\d[\d,]*)", status.inner_text())[0].replace(",", ""))


def test_a_pause_holds_a_run_until_it_goes_on(play):
    opened = play(LONG)
    opened.train.click()
    expect(opened.status).to_contain_text(LATER)
    opened.button("Pause").click()
    go_on = opened.button("Go on")
    expect(go_on).to_be_visible()
    opened.page.wait_for_timeout(300)  # for what was said before
    held = opened.status.inner_text()
    opened.page.wait_for_timeout(1000)
    assert opened.status.inner_text() == held
    go_on.click()
    expect(opened.status).not_to_have_text(held)
    opened.button("Stop the training").click()
    opened.wait_for("Stopped")
    for name in ("Pause", "Go on", "Stop the training"):
        expect(opened.button(name)).to_be_hidden()


def test_a_stopped_run_says_so_and_its_model_can_be_tried(play):
    opened = play(LONG)
    opened.train.click()
    expect(opened.status).to_contain_text(LATER)
    opened.button("Stop the training").click()
    opened.wait_for(re.compile(r"Stopped after [\d,]+ steps and \d+\.\d seconds\."))
    expect(opened.button("Stop the training")).to_be_hidden()
    opened.page.wait_for_timeout(500)  # the worker may have taken some more steps, which it tells
    told = opened.status.inner_text()
    assert 300 <= steps_of(opened.status) < 9000
    opened.typed.fill("abc")
    expect(opened.answers).to_have_count(1)
    assert opened.status.inner_text() == told
    opened.slider.press("Home")
    expect(opened.status).to_contain_text("Step 0")


def test_another_run_ends_the_workers_of_the_one_before(play):
    opened = play(f"{LONG}&but=mask:false")
    opened.train.click()
    expect(opened.status.first).to_contain_text("Step")
    count_workers(opened.page, 2)
    opened.button("Train again").click()
    count_workers(opened.page, 2)
    opened.go(LONG)
    opened.button("Train again").click()
    count_workers(opened.page, 1)
    expect(opened.status).to_have_count(1)
    expect(opened.status).to_contain_text("Step")


def hide(page: Page, is_hidden: bool) -> None:
    page.evaluate(
        """(hidden) => {
            Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
            document.dispatchEvent(new Event("visibilitychange"));
        }""",
        is_hidden,
    )


def test_a_hidden_page_rests_and_then_goes_on_unless_the_reader_has_paused_it(play):
    opened = play(LONG)
    opened.train.click()
    expect(opened.status).to_contain_text("Step")
    hide(opened.page, True)
    go_on, pause = opened.button("Go on"), opened.button("Pause")
    expect(go_on).to_be_visible()
    hide(opened.page, False)
    expect(pause).to_be_visible()
    pause.click()
    hide(opened.page, True)
    hide(opened.page, False)
    expect(go_on).to_be_visible()
    opened.page.wait_for_timeout(200)
    expect(go_on).to_be_visible()
    opened.button("Stop the training").click()
    hide(opened.page, True)
    hide(opened.page, False)
    opened.wait_for("Stopped")


def test_a_run_that_is_stopped_in_a_long_step_says_that_its_model_is_gone(play):
    opened = play("#task=reverse&width=128&layers=4&steps=300")
    opened.train.click()
    expect(opened.status).to_contain_text(re.compile("Step [1-9]"), timeout=60_000)
    opened.page.evaluate("""() => {
        const { setTimeout } = globalThis;
        globalThis.setTimeout = (act, wait) => setTimeout(act, wait === 100 ? 0 : wait);
    }""")
    opened.button("Stop the training").click()
    opened.wait_for("so there’s no model left to try or to save.")
    expect(opened.typed).to_be_hidden()
    expect(opened.button("Save the model as a file")).to_be_hidden()


STOPPED = """async ({ Training }, { stopAt }) => {
    const { DESCRIPTIONS } = await import("./tasks/descriptions.js");
    const { beginWith, makeSpec } = await import("./playground/settings.js");
    const task = DESCRIPTIONS.find(({ name }) => name === "reverse");
    const settings = { ...beginWith(task), width: 16, steps: 3 };
    const said = [];
    const training = new Training(makeSpec(task, settings, { seed: 0 }), (one) => said.push(one));
    const { learner } = training;
    let count = 0;
    const { write } = learner;
    learner.write = (...given) => {
        if (learner.steps === stopAt[0] && ++count === stopAt[1]) training.stop();
        return write.apply(learner, given);
    };
    await training.run();
    return { said: said.map(({ kind, step }) => [kind, step]), typed: training.write("abc") };
}"""


@pytest.mark.parametrize(
    ("stop_at", "kinds"),
    [
        # At each moment 64 examples are tried, 32 at a time, and 512 at the end.
        ((0, 1), ["ready", "stopped"]),
        ((2, 2), ["ready", "moment", "step", "moment", "step", "stopped"]),
        ((3, 5), ["ready", *["moment", "step"] * 3, "moment", "stopped"]),
    ],
)
def test_a_run_that_is_stopped_while_it_is_tried_says_nothing_half_counted(ask, stop_at, kinds):
    found = ask("playground/training.js", STOPPED, {"stopAt": stop_at})
    assert [kind for kind, _ in found["said"]] == kinds
    assert found["said"][-1] == ["stopped", stop_at[0]]
    assert isinstance(found["typed"]["text"], str)


# ---------------------------------------------------------------- one's own texts


def test_a_model_answers_what_somebody_types(play):
    opened = play(f"{QUICK}&but=heads:1")
    expect(opened.typed).to_be_hidden()
    opened.finish()
    opened.typed.fill("abcde")
    expect(opened.answers).to_have_count(2)
    first, second = opened.answers.all_inner_texts()
    assert re.fullmatch(r"Your model: [a-z]+", first)
    assert re.fullmatch(r"The other one: [a-z]+", second)
    opened.typed.fill("a7<b>é")
    expect(opened.answers.first).to_have_text("Your model: It has never seen “7”, “<”, “>”, “é”.")
    assert opened.answers.locator("b").count() == 0
    opened.typed.fill("a" * 62)
    expect(opened.answers.first).to_contain_text("That's too long: it reads at most 61 letters")
    opened.typed.fill("")
    expect(opened.answers).to_have_count(0)


def make_pairs(count: int) -> list[str]:
    """Words, and the same words from the last letter to the first."""
    letters = "abcdefgh"
    words = [letters[i % 8] + letters[i // 8 % 8] + letters[i // 64 % 8] for i in range(count)]
    return [f"{word}\t{word[::-1]}" for word in words]


OWN = "#task=own&width=16&heads=2&steps=300"


def test_ones_own_pairs_are_learned(play):
    opened = play(OWN)
    box, text = opened.page.get_by_label("Your pairs"), "\n".join(make_pairs(200))
    file = {"name": "pairs.tsv", "mimeType": "text/plain", "buffer": text.encode()}
    opened.page.get_by_label("Open a file of pairs").set_input_files(file)
    expect(box).to_have_value(text)
    opened.finish()
    assert re.match(r"Done: \d+ of 40 unseen examples", opened.status.inner_text()), (
        "few are counted"
    )
    expect(opened.page.locator(".chart figcaption")).to_contain_text("(40 examples each time)")
    for row in opened.page.locator(".examples tbody tr").all():
        given, _, right = row.locator("td").all_inner_texts()
        assert right in ("✓", given[::-1])
    assert opened.axis("thead")[-1] == "end"


def test_a_file_in_another_encoding_is_refused_and_what_was_there_stays(play):
    opened = play(OWN)
    box, alert = opened.page.get_by_label("Your pairs"), opened.page.locator(".own .problem")
    box.fill("ab\tba")
    for name, encoding in (("old.tsv", "latin-1"), ("wide.tsv", "utf-16")):
        file = {
            "name": name,
            "mimeType": "text/plain",
            "buffer": "käfer\tescarabajo".encode(encoding),
        }
        opened.page.get_by_label("Open a file of pairs").set_input_files(file)
        expect(alert).to_contain_text(f"{name} isn’t in UTF-8. Save it in UTF-8")
        expect(box).to_have_value("ab\tba")
    file = {"name": "new.tsv", "mimeType": "text/plain", "buffer": "käfer\tbug".encode()}
    opened.page.get_by_label("Open a file of pairs").set_input_files(file)
    expect(box).to_have_value("käfer\tbug")
    expect(alert).to_have_text("")


def test_hostile_pairs_are_text(play):
    opened = play(OWN)
    bad = ["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "a\u0000b\u202ec"]
    pairs = [f"{bad[i % 3]}{word}" for i, word in enumerate(make_pairs(60))]
    opened.page.get_by_label("Your pairs").fill("\n".join(pairs))
    opened.finish()
    assert opened.page.locator(".tl-playground :is(img, script)").count() == 0
    given = opened.page.locator(".examples tbody td:first-child").all_inner_texts()
    assert any("<" in text for text in given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Found 0 different pairs; expected at least 20."),
        ("\n".join(make_pairs(5)), "Found 5 different pairs; expected at least 20."),
        (
            "\n".join([*make_pairs(30), "nothing here"]),
            "line 31 has no tab; expected a source, a tab",
        ),
    ],
)
def test_what_is_wrong_with_ones_own_pairs_is_said_and_can_be_mended(play, text, message):
    opened = play(OWN)
    box = opened.page.get_by_label("Your pairs")
    box.fill(text)
    opened.train.click()
    opened.wait_for(message)
    expect(opened.status).to_be_in_viewport()
    count_workers(opened.page, 0)
    for part in (".chart", ".examples", ".maps", ".try", ".back", "[data-control=save]"):
        expect(opened.page.locator(part)).to_be_hidden()
    box.fill("\n".join(make_pairs(60)))
    opened.finish()


# ---------------------------------------------------------------- saving


def test_python_loads_what_is_saved_and_answers_the_same(play, tmp_path):
    opened = play("#task=reverse&steps=300")
    opened.finish()
    told = []
    for text in ("gdkat", "abcabc", "zyx"):
        opened.typed.fill(text)
        expect(opened.answers).to_have_count(1)
        opened.page.wait_for_timeout(100)
        told.append(opened.answers.inner_text())
    with opened.page.expect_download() as info:
        opened.button("Save the model as a file").click()
    assert info.value.suggested_filename == "reverse.safetensors"
    path = tmp_path / "reverse.safetensors"
    info.value.save_as(path)
    translator = Translator.load(path, device="cpu")
    found = translator.translate(["g d k a t", "a b c a b c", "z y x"], beam_size=1, max_length=10)
    assert [one.translation for one in found] == told
    assert translator.about["steps"] == 300


UPLOAD = "Go on with a model that you trained on this task and saved"


def test_a_saved_model_goes_on_where_it_was(play, tmp_path):
    opened = play()
    opened.finish()
    first, last = opened.cells(), opened.page.locator(".examples").inner_text()
    with opened.page.expect_download() as info:
        opened.button("Save the model as a file").click()
    path = tmp_path / "reverse.safetensors"
    info.value.save_as(path)
    upload = opened.page.get_by_label(UPLOAD)
    upload.set_input_files(path)
    opened.wait_for("Step")
    opened.wait_for("Done")
    assert opened.page.locator(".examples").inner_text() != last
    opened.slider.press("Home")
    expect(opened.page.locator(".examples")).to_have_text(re.compile("Given"))
    assert opened.page.locator(".examples").inner_text() == last
    assert [w for row in opened.cells() for w in row] == pytest.approx(
        [w for row in first for w in row], abs=1e-5
    )
    opened.go(QUICK.replace("reverse", "count"))
    upload.set_input_files(path)
    opened.wait_for(
        "The letters or words that the model in this file knows aren't the ones that this task uses."
    )
    upload.set_input_files({"name": "a.safetensors", "mimeType": "", "buffer": b"12345"})
    opened.wait_for("not a safetensors file: it has no header")
    opened.finish()


def test_a_model_that_python_has_not_got_is_not_saved_and_the_page_says_why(play):
    opened = play(f"{QUICK}&mask=false")
    opened.finish()
    opened.button("Save the model as a file").click()
    expect(opened.page.get_by_role("alert")).to_have_text(
        "It can't be saved: this model was trained without a causal mask; expected all of the "
        "paper's parts, because the model in Python has them."
    )
    opened.wait_for("Done")
    opened.typed.fill("abc")
    expect(opened.answers).to_have_count(1)
    opened.finish()
    expect(opened.page.get_by_role("alert")).to_have_text("")


# ---------------------------------------------------------------- learn


TINY = {"task": "reverse", "width": 16, "heads": 1, "steps": 3}
LEARN = """async (options) => {
    const moments = [];
    try {
        const watch = ({ step }) => moments.push(step);
        const result = await transformerLab.learn({ ...options, watch });
        return { result, moments };
    } catch (error) {
        return { problem: `${error.name}: ${error.message}` };
    }
}"""


def test_learn_says_how_a_run_went_and_a_seed_gives_the_same(play):
    page = play().page
    found, again, other = (page.evaluate(LEARN, {**TINY, "seed": seed}) for seed in (1, 1, 2))
    result = found["result"]
    assert sorted(result) == ["exact", "loss", "seconds", "steps", "written"]
    assert result["steps"] == 3
    assert found["moments"] == [0, 1, 2, 3]
    assert 2 < result["loss"] < 4, "about log 27"
    assert all(0 <= result[name] <= 1 for name in ("exact", "written"))
    for name in ("loss", "exact", "written"):
        assert again["result"][name] == result[name]
    assert other["result"]["loss"] != result["loss"]
    count_workers(page, 0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": "fly"}, 'Error: there is no task "fly"; expected copy, reverse,'),
        ({"colour": 1}, "Error: there is no setting colour; expected positions, mask,"),
        ({"heads": 3}, "Error: d_model is 16; expected a multiple of 12"),
        ({"task": "own", "options": {"text": "a"}}, "Error: line 1 has no tab"),
    ],
)
def test_learn_names_what_is_wrong(play, options, message):
    page = play().page
    assert page.evaluate(LEARN, {**TINY, **options})["problem"].startswith(message)
    count_workers(page, 0)


def test_without_webassembly_plain_loops_learn_the_same(play):
    page = play().page
    expected = page.evaluate(LEARN, TINY)["result"]
    page.evaluate("""() => {
        const Old = Blob;
        globalThis.Blob = function (parts, options) {
            return new Old(["globalThis.WebAssembly = undefined;", ...parts], options);
        };
    }""")
    found = page.evaluate(LEARN, TINY)["result"]
    assert found["loss"] == pytest.approx(expected["loss"], abs=1e-4)


# ---------------------------------------------------------------- for everyone


def test_by_keyboard_alone_a_run_is_made_and_looked_at(play):
    opened = play()
    page = opened.page
    for _ in range(5):
        page.keyboard.press("Tab")
        if opened.train.evaluate("button => button === document.activeElement"):
            break
    expect(opened.train).to_be_focused()
    page.keyboard.press("Enter")
    opened.wait_for("Done")
    expect(opened.train).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        if opened.slider.evaluate("slider => slider === document.activeElement"):
            break
    expect(opened.slider).to_be_focused()
    page.keyboard.press("ArrowLeft")
    expect(opened.status).to_contain_text("Step 290")
    expect(opened.slider).to_be_focused()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_playground_can_be_used_by_everyone(play, scheme):
    opened = play(f"{QUICK}&but=mask:false&experiment=answer", color_scheme=scheme, bypass_csp=True)
    opened.page.locator("summary").click()
    assert serious(opened.page) == []
    opened.finish()
    assert serious(opened.page) == []


WIDE = "#task=dates&width=16&heads=2&steps=300&but=mask:false"


@pytest.mark.parametrize("width", [390, 640])  # 640 is a screen of 1280 at 200%
def test_on_a_narrow_screen_nothing_is_cut_off(play, width):
    opened = play(WIDE, viewport={"width": width, "height": 800}, reduced_motion="reduce")
    opened.page.locator("summary").click()
    opened.train.click()
    assert opened.page.evaluate("document.getAnimations().length") == 0
    opened.wait_for("Done")
    assert opened.page.evaluate("document.documentElement.scrollWidth") <= width
    for control in opened.page.locator("select, button, input, textarea").all():
        if control.is_visible():
            box = control.bounding_box()
            assert 0 <= box["x"] <= box["x"] + box["width"] <= width


def test_in_forced_colours_the_maps_can_be_seen(play):
    opened = play(forced_colors="active")
    opened.finish()
    cells = opened.page.locator(".large tbody td").evaluate_all(
        """all => all.map((cell) =>
            [Number(cell.style.getPropertyValue("--weight")), getComputedStyle(cell).backgroundColor])"""
    )
    assert max(cells)[1] != min(cells)[1]
    chosen = opened.page.locator(".layer [aria-pressed=true]")
    assert chosen.evaluate("button => getComputedStyle(button).outlineStyle") == "solid"


# ---------------------------------------------------------------- experiments


def test_an_experiment_asks_trains_and_tells_what_came_out(play):
    opened = play()
    page, card = opened.page, opened.page.get_by_role("region", name="An experiment")
    expect(card).to_be_hidden()
    opened.button("What if it can see the answer while it learns?").click()
    expect(card).to_be_visible()
    assert page.evaluate("location.hash") == "#task=reverse&but=mask%3Afalse&experiment=answer"
    expect(card.get_by_role("radio")).to_have_count(3)
    expect(page.get_by_label("Compare it with")).to_have_value(re.compile("without a mask"))
    # The same, with fewer steps.
    opened.go(f"{QUICK}&but=mask:false&experiment=answer")
    expect(card).to_be_visible()
    card.get_by_label("It makes no difference.").check()
    card.get_by_role("button", name="Find out").click()
    expect(card).to_contain_text("You expected: It makes no difference.")
    opened.wait_for("Done")
    shares = [re.search(r"Done: (\S+%)", text)[1] for text in opened.status.all_inner_texts()]
    result = card.locator(".result")
    expect(result).to_contain_text(
        f"Your model got {shares[0]} of the unseen examples right, and the other one {shares[1]}"
    )
    expect(result).to_contain_text("You expected something else. In our ten runs")
    for number in (0, 1):  # those heads are open that show the reason
        pressed = opened.runs.nth(number).locator(".layer [aria-pressed=true]")
        expect(pressed).to_have_attribute("data-control", "head decoder 0 0")
    page.locator("summary").click()
    page.locator("[data-control=heads]").select_option("1")
    expect(card).to_be_hidden()
    assert "experiment" not in page.evaluate("location.hash")


def test_the_study_repeats_the_experiments_that_the_page_offers(ask):
    """The same tasks, settings and changes, so that the stored runs are those of the page."""
    offered = ask("playground/experiments.js", "({ EXPERIMENTS }) => EXPERIMENTS")
    found = {
        one["name"]: (
            one["task"],
            one.get("settings", {}),
            {one["change"]["name"]: one["change"]["value"]} if "change" in one else {},
        )
        for one in offered
    }
    assert found == guided_experiments.EXPERIMENTS
    assert all(0 <= one["usual"] < len(one["options"]) for one in offered)
