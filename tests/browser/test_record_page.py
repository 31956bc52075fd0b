"""The lab on a stored record: what the screen says is what NumPy says, by mouse and by keyboard alone."""

import re

import numpy as np
import pytest
from playwright.sync_api import Locator, expect

from tests.browser.screen import (
    CROSS,
    FIRST,
    GOLD,
    RECORD,
    SNAPSHOTS,
    by_keyboard,
    check_all_lines,
    check_lines,
    check_readout,
    close,
    contrast,
    drawn_lines,
    nearest,
    numbers,
    open_record,
    pixels_of,
    serious,
    shown_head,
    weights_of_canvas,
)
from tests.records import SOURCE, TARGET, WRITTEN, make_record
from tests.thorough import thorough_from
from transformer_lab.attention.record import Head
from transformer_lab.attention.scores import SCORES, available_scores
from transformer_lab.lab import lab
from transformer_lab.lab.page import saved

# ---------------------------------------------------------------- the map


@pytest.mark.parametrize("kind", FIRST)
def test_every_cell_has_its_weight_and_every_row_its_word(kind, as_map):
    as_map.open_head(FIRST[kind])
    queries, keys = RECORD.tokens(kind)
    weights = RECORD.weights(FIRST[kind])
    as_map.page.mouse.move(0, 0)
    seen = as_map.weights()
    close(seen, weights)
    for row, drawn in zip(weights, seen, strict=True):
        best = np.sort(row)
        if best[-1] - best[-2] > 0.03:
            assert row.argmax() == drawn.argmax()
    assert as_map.words("queries") == list(queries)
    assert as_map.words("keys") == list(keys)
    if kind == "decoder":
        hidden = as_map.table.locator("td.unseen").evaluate_all(
            "all => all.map((e) => [Number(e.dataset.row), Number(e.dataset.key)])"
        )
        assert hidden == [[q, k] for q in range(5) for k in range(q + 1, 5)]
    names = {
        "encoder": ("source words that look", "source words that are looked at"),
        "decoder": ("target words that look", "target words that are looked at"),
        "cross": ("target words being written", "source words that are looked at"),
    }
    axes = "The rows are the {}, the columns the {}.".format(*names[kind])
    expect(as_map.root.locator(".axes")).to_contain_text(axes)


def test_small_weights_are_shown_by_their_root(as_map):
    small, note = (
        as_map.button("Make small weights visible"),
        as_map.root.locator(".weight-map .note"),
    )
    small.click()
    close(as_map.weights(), np.sqrt(CROSS))
    expect(note).to_contain_text("The colour shows the square root of the weight")
    small.click()
    close(as_map.weights(), CROSS)
    expect(note).not_to_contain_text("square root")


def test_the_chosen_row_has_its_numbers(as_map):
    for query in (0, 3):
        as_map.row_word(query).click()
        shown = as_map.table.locator("td:not(:empty)")
        found = shown.evaluate_all(
            "all => all.map((e) => [Number(e.dataset.row), Number(e.dataset.key), Number(e.innerText)])"
        )
        assert {row for row, *_ in found} == {query}
        expected = {k: w for k, w in enumerate(CROSS[query]) if w >= 0.045}
        assert {k: w for _, k, w in found} == pytest.approx(expected, abs=0.0056)
    # Where there's no room for a number, a screen reader still hears it.
    expect(as_map.cell(1, 4)).to_have_accessible_name(f"{CROSS[1, 4]:.2f}")


def test_layers_may_have_other_numbers_of_heads(visit_page, tmp_path):
    record = make_record(encoder=(2, 5, 3), decoder=(1,), cross=(7, 2))
    opened = open_record(visit_page, tmp_path, record, "head=e2.5&view=map")
    assert shown_head(opened) == "e2.5"
    close(opened.weights(), record.encoder[1][4])
    options = opened.root.get_by_label("Open a head").locator("option")
    codes = [head.code for kind in FIRST for head in record.heads(kind)]
    assert options.evaluate_all("all => all.map((e) => e.value)") == codes
    opened.go_deeper()
    for head in (Head("cross", 1, 1), Head("decoder", 0, 0)):
        opened.dot(head).click()
        close(opened.weights(), record.weights(head))


def test_one_stack_of_one_token_opens(visit_page, tmp_path):
    """As from a decoder alone; a score that it has not got is a dash."""
    record = make_record(source=(), target=("<bos>",), written=("a",), encoder=(), cross=())
    opened = open_record(visit_page, tmp_path, record, "view=map")
    groups = opened.root.get_by_label("Open a head").locator("optgroup")
    assert groups.evaluate_all("all => all.map((e) => e.label)") == ["Masked self-attention"]
    close(opened.weights(), [[1]])
    expect(opened.root.locator(".weight-map .note")).to_contain_text("previous token –")
    opened.go_deeper()
    show = opened.root.get_by_label("What the heads show")
    show.select_option("previous_token")
    expect(opened.dot(FIRST["decoder"])).to_have_accessible_name(re.compile(r"\(d1\.1\)\.$"))
    expect(opened.root.locator(".written")).to_have_text("a")


@pytest.mark.parametrize("is_alone", ["encoder", "decoder"])
def test_one_stack_alone_opens_and_has_the_whole_width(is_alone, visit_page, tmp_path):
    if is_alone == "encoder":
        record = make_record(target=(), written=(), decoder=(), cross=())
    else:
        record = make_record(source=(), encoder=(), cross=())
    head = Head(is_alone, 1, 1)
    opened = open_record(visit_page, tmp_path, record, f"head={head.code}&view=map")
    close(opened.weights(), record.weights(head))
    expect(opened.root.locator(".next")).to_be_hidden()
    whole, part = (opened.root.locator(s).bounding_box()["width"] for s in ("header", ".open"))
    assert part == pytest.approx(whole, abs=1)
    opened.go_deeper()
    stack = opened.root.locator(".stacks > div").bounding_box()["width"]
    assert stack == pytest.approx(whole, abs=1)
    assert serious(opened.page) == []


def test_gold_is_ringed_at_its_word_and_step(as_map):
    def ringed(name: str) -> list[tuple[int, int]]:
        cells = as_map.table.locator(f"td.ring.{name}")
        found = cells.evaluate_all("all => all.map((e) => [e.dataset.key, e.dataset.row])")
        return [(int(key), int(row)) for key, row in found]

    assert ringed("gold") == list(GOLD)
    assert ringed("referent") == [(1, 2)]
    assert ringed("other") == [(4, 2)]
    # A ring is white beside black, whatever the weight below it.
    pixels = pixels_of(as_map.cell(0, 0)).reshape(-1, 3)
    assert (pixels > 170).all(axis=1).sum() > 40
    assert not (pixels_of(as_map.cell(0, 1)).reshape(-1, 3) > 170).all(axis=1).any()
    orange = abs(pixels_of(as_map.cell(2, 1)).reshape(-1, 3) - [0xFF, 0x9D, 0x4D]).sum(axis=-1)
    assert (orange < 60).sum() > 30
    note = as_map.root.locator(".weight-map .note")
    expect(note).to_contain_text("A white ring marks the word that this one translates")
    as_map.open_head(FIRST["decoder"])
    expect(note).not_to_contain_text("ring")
    assert as_map.table.locator(".ring").count() == 0
    as_map.open_head(FIRST["encoder"])
    expect(note).to_contain_text("The orange ring marks what the pronoun stands for")
    expect(note).not_to_contain_text("white")
    assert (ringed("referent"), ringed("other")) == ([(1, 5)], [(4, 5)])


def test_the_scores_of_the_open_head_stand_below_its_map(as_map):
    head = Head("cross", 1, 2)
    as_map.open_head(head)
    scores = available_scores(RECORD, "cross")
    said = as_map.root.locator(".weight-map .note").inner_text().partition("This head: ")[2]
    assert numbers(said) == pytest.approx(
        [score.compute(RECORD, head) for score in scores], abs=0.0051
    )
    assert re.findall(r"[a-z][a-z ]+[a-z]", said) == [score.label for score in scores]


# ---------------------------------------------------------------- a place in the map


def check_cross(opened, query, key):
    check_readout(opened.readout, query, key, CROSS, WRITTEN, SOURCE)


def framed(opened) -> tuple[list[str], list[str]]:
    """The words that are set off, beside the rows and above the columns."""
    lit = [opened.table.locator(s).all_inner_texts() for s in ("tr.lit > th", "th.lit")]
    return lit[0], lit[1]


def test_a_cell_that_is_pointed_at_says_its_weight_and_the_strongest_of_its_row(as_map):
    check_cross(as_map, 0, None)
    for query, key in ((2, 4), (4, 6), (0, 0)):
        as_map.cell(query, key).hover()
        check_cross(as_map, query, key)
        assert framed(as_map) == (["le"], []), "nothing is chosen yet"
    as_map.page.mouse.move(5, 5)
    check_cross(as_map, 0, None)


def test_a_press_chooses_a_cell_or_a_row(as_map):
    as_map.cell(3, 2).click()
    as_map.page.mouse.move(5, 5)
    check_cross(as_map, 3, 2)
    assert framed(as_map) == (["chien"], ["sees"])
    as_map.cell(1, 5).hover()
    check_cross(as_map, 1, 5)
    as_map.page.mouse.move(5, 5)
    check_cross(as_map, 3, 2)
    expect(as_map.table.locator("td.chosen")).to_have_count(1)
    as_map.row_word(1).click()
    check_cross(as_map, 1, None)
    assert framed(as_map) == (["chat"], [])
    expect(as_map.table.locator("td.chosen")).to_have_count(0)
    # The row's frame is its first and its last line of pixels.
    orange = abs(pixels_of(as_map.table) - [0xD6, 0x58, 0]).sum(axis=-1) < 24
    top, row = as_map.table.bounding_box(), as_map.row_word(1).bounding_box()
    lines = np.flatnonzero(orange.mean(axis=1) > 0.5)
    for edge in (row["y"], row["y"] + row["height"]):
        assert abs(lines - (edge - top["y"])).min() <= 2


def test_the_keyboard_moves_in_the_map(as_map):
    as_map.table.focus()
    as_map.press("ArrowDown")
    check_cross(as_map, 1, 0)
    as_map.press("ArrowDown", "ArrowRight")
    check_cross(as_map, 2, 1)
    as_map.press("ArrowUp", "ArrowLeft", "ArrowLeft")
    check_cross(as_map, 1, 0)
    as_map.press(*["ArrowDown"] * 9, *["ArrowRight"] * 9)
    check_cross(as_map, 4, 6)
    as_map.press("Enter", "Shift+ArrowUp", "m")
    assert as_map.root.locator(".changes").all_inner_texts() == ["muted: reads the pronoun (c2.2)"]
    close(as_map.weights(), CROSS)  # nothing can be changed
    expect(as_map.table).to_be_focused()
    as_map.press("Tab")
    expect(as_map.table).not_to_be_focused()


def test_only_the_rows_that_have_changed_are_drawn_anew(as_map):
    as_map.page.evaluate(
        "document.querySelectorAll('.weights tr').forEach((e) => { e.old = true; })"
    )
    as_map.table.focus()
    as_map.press("ArrowDown")
    old = as_map.table.locator("tbody tr").evaluate_all("all => all.map((e) => Boolean(e.old))")
    assert old == [False, False, True, True, True]


def test_the_mask_hides_what_cannot_be_chosen(as_map):
    as_map.open_head(FIRST["decoder"])
    as_map.cell(2, 4).click()
    assert framed(as_map) == (["<bos>"], [])
    as_map.cell(2, 2).click()
    as_map.table.focus()
    as_map.press("ArrowRight")
    check_readout(as_map.readout, 2, 2, RECORD.decoder[0][0], TARGET, TARGET)


def test_what_is_pinned_at_first_is_shown(visit_page, tmp_path):
    opened = open_record(visit_page, tmp_path, RECORD, "head=e2.3&row=5&key=3&view=map")
    assert shown_head(opened) == "e2.3"
    check_readout(opened.readout, 5, 3, RECORD.weights(Head("encoder", 1, 2)), SOURCE, SOURCE)


def test_a_word_that_stands_twice_is_named_with_its_place(visit_page, tmp_path):
    words = ("the", "cat", "and", "the", "dog", ".", "<eos>")
    record = make_record(source=words, target=(), written=(), decoder=(), cross=())
    opened = open_record(visit_page, tmp_path, record, "view=map")
    opened.cell(3, 0).hover()
    assert opened.readout.startswith("The weight of “the” (word 1) is ")
    assert "“the” (word 4) looks most at " in opened.readout
    opened.cell(1, 4).hover()
    assert opened.readout.startswith("The weight of “dog” is ")


# ---------------------------------------------------------------- lines


def test_a_head_as_lines_by_mouse(opened):
    expect(opened.root.locator(".axes")).to_contain_text(
        "On the left are the source words that are looked at, on the right the target words"
    )
    check_all_lines(opened, CROSS)
    side = opened.root.get_by_role("group", name="Queries: the target words being written")
    assert side.get_by_role("button").all_inner_texts() == list(WRITTEN)
    other = opened.root.get_by_role("group", name="Keys: the source words that are looked at")
    assert other.get_by_role("button").all_inner_texts() == list(SOURCE)
    side.get_by_text("chat", exact=True).hover()
    check_lines(opened, CROSS, 1)
    notes = other.get_by_role("button").evaluate_all("all => all.map((e) => e.dataset.note)")
    assert notes == [f"{w:.2f}" if w >= 0.005 else "" for w in CROSS[1]]
    other.get_by_text("dog", exact=True).hover()
    column = {(q, 4): w for q, w in enumerate(CROSS[:, 4]) if w >= 0.01}
    assert {(q, k): w for q, k, w in drawn_lines(opened)} == pytest.approx(column, abs=0.001)
    side.get_by_text("voit", exact=True).click()
    opened.page.mouse.move(5, 5)
    check_lines(opened, CROSS, 2)
    opened.show("as a map")
    close(opened.weights(), CROSS)
    check_cross(opened, 2, None)


def test_a_head_as_lines_by_keyboard(opened):
    opened.show("as a map")
    by_keyboard(opened.button("Where it looks"))
    queries, keys = (opened.root.locator(f".column.{side} button") for side in ("query", "key"))
    opened.button("As a map").focus()
    opened.press("Tab", "Tab")  # the words looked at come first
    expect(queries.first).to_be_focused()
    check_lines(opened, CROSS, 0)
    opened.press("ArrowDown", "ArrowDown")
    expect(queries.nth(2)).to_be_focused()
    check_lines(opened, CROSS, 2)
    opened.press("Enter")
    expect(queries.nth(2)).to_be_focused()
    opened.press("ArrowLeft")
    expect(keys.first).to_be_focused()
    opened.press("ArrowRight", "Escape")
    check_all_lines(opened, CROSS)
    opened.press("Tab")
    expect(opened.root.locator(".more > summary")).to_be_focused()


def test_heads_are_drawn_over_each_other(opened):
    opened.go_deeper()
    other = Head("cross", 2, 1)
    opened.dot(other).click(modifiers=["Shift"])
    names = opened.root.locator(".line-view .legend > span").all_inner_texts()
    assert [re.search(r"\((c\d.\d)\)", name)[1] for name in names] == ["c1.1", "c3.2"]
    opened.root.locator(".column.query button").nth(3).click()
    opened.page.mouse.move(5, 5)
    lines = opened.root.locator(".line-board > svg line.over-2")
    assert lines.count() == (RECORD.weights(other)[3] >= 0.01).sum()
    opened.root.get_by_role("button", name="Remove").click()
    check_lines(opened, CROSS, 3)


# ---------------------------------------------------------------- all heads


@pytest.mark.parametrize("way", ["list", "mouse", "keyboard"])
def test_a_head_is_opened(way, as_map):
    head = Head("cross", 2, 1)
    if way == "list":
        as_map.open_head(head)
    else:
        as_map.go_deeper()
        (Locator.click if way == "mouse" else by_keyboard)(as_map.dot(head))
        expect(as_map.dot(head)).to_have_attribute("aria-pressed", "true")
        assert as_map.root.locator(".dot[aria-pressed=true]").count() == 1
    assert shown_head(as_map) == "c3.2"
    close(as_map.weights(), RECORD.cross[2][1])


def test_every_head_is_drawn_small_under_its_name(opened):
    opened.go_deeper()
    assert opened.root.locator(".dot").count() == 23
    for kind in FIRST:
        for head in RECORD.heads(kind):
            dot = opened.dot(head)
            close(weights_of_canvas(dot.locator("canvas")), RECORD.weights(head))
            is_muted = head in RECORD.muted
            expect(dot).to_have_accessible_name(
                re.compile(rf"\({head.code}\){', muted' * is_muted}\.$")
            )
            if not is_muted:
                pixels = pixels_of(dot.locator("canvas"))
                assert nearest(pixels[len(pixels) // 2, pixels.shape[1] // 2]) >= 0


@pytest.mark.parametrize("heads", [4, 8])
def test_the_maps_of_a_layer_stand_on_one_line_with_six_layers_too(heads, visit_page, tmp_path):
    record = make_record(encoder=(heads,) * 6, decoder=(heads,) * 6, cross=(heads,) * 6)
    opened = open_record(visit_page, tmp_path, record)
    opened.go_deeper()
    for head in (Head("encoder", 5, 0), Head("cross", 0, 0), Head("decoder", 3, 0)):
        layer = [head._replace(head=number) for number in range(heads)]
        tops = {round(opened.dot(one).locator("canvas").bounding_box()["y"]) for one in layer}
        assert len(tops) == 1
    assert opened.root.locator(".all-heads").bounding_box()["height"] < 3000


@pytest.mark.parametrize("name", thorough_from(1, ["aer", "entropy", "mean_distance"]))
def test_heads_are_coloured_by_a_score_which_stands_below_them(name, opened):
    (score,) = (score for score in SCORES if score.name == name)
    opened.go_deeper()
    opened.root.get_by_label("What the heads show").select_option(name)
    heads = [head for kind in FIRST for head in RECORD.heads(kind)]
    scores = {
        head: score.compute(RECORD, head) if head.kind in score.kinds else None for head in heads
    }
    known = {head: value for head, value in scores.items() if value is not None}
    most = max(known.values())
    for head in heads:
        dot = opened.dot(head)
        value = scores[head]
        expect(dot.locator(".number")).to_have_text("" if value is None else f"{value:.2f}")
        share = float(dot.evaluate("e => e.style.getPropertyValue('--share')"))
        dark = 0 if value is None else value / most if score.best == "high" else 1 - value / most
        assert share == pytest.approx(dark, abs=0.001)
        if value is not None:
            assert f"{score.label} {value:.2f}" in dot.get_attribute("aria-label")
    best = max(known, key=lambda head: known[head] * (1 if score.best == "high" else -1))
    worst = min(known, key=lambda head: known[head] * (1 if score.best == "high" else -1))
    paint = [pixels_of(opened.dot(head))[6, 6] for head in (best, worst)]
    assert contrast(*paint) > 1.02, "the better, the darker"
    note = opened.root.locator(".all-heads > .note")
    expect(note).to_contain_text(f"{score.label}: {score.means}.")
    expect(note).to_contain_text(f"dark is {score.best}")
    own = [value for head, value in known.items() if head.kind == "cross"]
    if own:
        expect(note).to_contain_text(f"Cross-attention: {min(own):.2f} to {max(own):.2f}.")


def test_the_scores_that_a_record_has_can_be_chosen_and_no_other(opened, visit_page, tmp_path):
    def offered(page) -> list[str]:
        page.go_deeper()
        options = page.root.get_by_label("What the heads show").locator("optgroup option")
        return options.evaluate_all("all => all.map((e) => e.value)")

    everything = {score.name for kind in FIRST for score in available_scores(RECORD, kind)}
    assert set(offered(opened)) == everything
    encoder = make_record(target=(), written=(), decoder=(), cross=())
    plain = open_record(visit_page, tmp_path, encoder)
    assert offered(plain) == [score.name for score in available_scores(encoder, "encoder")]


def test_one_row_in_every_head_of_a_kind(opened):
    opened.root.locator(".column.query button").nth(3).click()
    opened.go_deeper()
    opened.root.get_by_text("The row of “chien” in every head").click()
    table = opened.root.locator(".every-head table")
    lines = table.locator("tbody tr")
    expect(lines).to_have_count(9)
    for line, head in zip(lines.all(), RECORD.heads("cross"), strict=True):
        weights = RECORD.weights(head)[3]
        names = line.locator("td").evaluate_all(
            "all => all.map((e) => Number(e.innerText || e.ariaLabel))"
        )
        np.testing.assert_allclose(names, weights, atol=0.0057)
    lines.nth(5).get_by_role("button").click()
    assert shown_head(opened) == "c2.3"


# ---------------------------------------------------------------- steps and training


def check_step(opened, step):
    """The words of the step, each as likely as the record has it."""
    pressed = opened.root.locator(".written [aria-pressed=true]")
    assert pressed.all_inner_texts() == [WRITTEN[step]]
    panel = opened.root.locator(".next")
    title = f"Which word comes after “{TARGET[step]}”?" if step else "Which word comes first?"
    expect(panel.locator("h3")).to_have_text(title)
    rows = panel.get_by_role("listitem").all()
    for row, (token, probability) in zip(rows, RECORD.next_tokens[step], strict=True):
        expect(row.locator(".token")).to_have_text(token)
        value = float(row.locator(".value").inner_text())
        assert value == pytest.approx(probability, abs=0.00051)
        track, bar = (row.locator(part).bounding_box()["width"] for part in (".track", "i"))
        assert bar / track == pytest.approx(probability, abs=0.02)
    assert panel.locator("li.taken .token").all_inner_texts() == [WRITTEN[step]]


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_decoding_is_stepped_through(way, opened):
    steps = opened.root.locator(".written button")
    check_step(opened, 0)
    if way == "mouse":
        steps.nth(3).click()
        opened.page.mouse.move(5, 5)
    else:
        steps.first.focus()
        opened.press("ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft")
        expect(steps.nth(3)).to_be_focused()
    check_step(opened, 3)
    check_lines(opened, CROSS, 3)
    # The step stays where the rows are the steps too.
    opened.open_head(FIRST["decoder"])
    check_step(opened, 3)
    check_lines(opened, RECORD.decoder[0][0], 3)
    # And a row that is pressed is the step, unless rows are words of the source.
    opened.root.locator(".column.query button").nth(1).click()
    check_step(opened, 1)
    opened.open_head(FIRST["encoder"])
    opened.root.locator(".column.query button").nth(4).click()
    check_step(opened, 1)


def test_without_probabilities_there_is_no_panel_for_them(visit_page, tmp_path):
    opened = open_record(visit_page, tmp_path, make_record())
    expect(opened.root.locator(".next")).to_be_hidden()
    opened.root.locator(".written button").nth(2).click()
    assert opened.root.locator(".written [aria-pressed=true]").all_inner_texts() == ["voit"]


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
def test_heads_are_watched_through_training(way, as_map):
    slider = as_map.root.get_by_label("Moment in training")
    name = as_map.root.locator(".moments output")
    expect(name).to_have_text("step 300")
    head = Head("cross", 2, 1)
    as_map.open_head(head)
    as_map.go_deeper()
    if way == "mouse":
        box = slider.bounding_box()
        as_map.page.mouse.click(box["x"] + 8, box["y"] + box["height"] / 2)
    else:
        slider.focus()
        as_map.press("ArrowLeft", "ArrowLeft")
        expect(slider).to_be_focused()
    expect(name).to_have_text("step 100")
    expect(slider).to_have_attribute("aria-valuetext", "step 100")
    assert shown_head(as_map) == "c3.2"
    close(as_map.weights(), SNAPSHOTS[0].cross[2][1])
    canvas = as_map.dot(Head("cross", 0, 2)).locator("canvas")
    close(weights_of_canvas(canvas), SNAPSHOTS[0].cross[0][2])
    expect(as_map.root.locator(".next")).to_be_hidden()  # the snapshot has no probabilities
    expect(as_map.root.locator(".changes")).to_be_hidden()  # and no head was muted then
    slider.focus()
    as_map.press("End")
    expect(name).to_have_text("step 300")
    close(as_map.weights(), RECORD.cross[2][1])
    close(weights_of_canvas(canvas), RECORD.cross[0][2])


def test_snapshots_of_other_lengths_and_depths_show_the_nearest(visit_page, tmp_path):
    """An untrained model's translation may be longer, and its pin lies outside of the shorter one."""
    words = tuple("abcdefghijk")
    long = make_record(target=("<bos>", *words[:-1]), written=words, cross=(3,), label="early")
    page = lab(RECORD, start="head=c3.3&view=map", snapshots=[long])
    opened = visit_page(page.to_html(tmp_path / "a.html"))
    slider = opened.root.get_by_label("Moment in training")
    slider.focus()
    opened.press("Home")
    assert shown_head(opened) == "c1.3"
    assert opened.words("queries") == list(words)
    close(opened.weights(), long.cross[0][2])
    opened.row_word(10).click()
    assert opened.readout.startswith("“k” looks most at ")
    slider.focus()
    opened.press("End")
    assert opened.words("queries") == list(WRITTEN)
    assert opened.readout.startswith("“<eos>” looks most at ")


# ---------------------------------------------------------------- the address


def test_a_page_of_its_own_keeps_its_address_and_follows_it(opened, visit_page, full_page):
    page = opened.page
    expect(page).to_have_url(re.compile(r"#head=c1\.1&step=0$"))
    opened.show("as a map")
    opened.open_head(Head("encoder", 1, 2))
    opened.cell(5, 3).click()
    address = re.compile(r"#head=e2\.3&view=map&row=5&key=3&step=0$")
    expect(page).to_have_url(address)
    page.reload()
    expect(opened.root).to_have_attribute("data-ready", "true")
    expect(page).to_have_url(address)
    check_readout(opened.readout, 5, 3, RECORD.encoder[1][2], SOURCE, SOURCE)
    page.evaluate("location.hash = '#head=d2.1&row=3'")
    check_lines(opened, RECORD.decoder[1][0], 3)
    assert shown_head(opened) == "d2.1"


def test_an_address_that_names_what_is_not_there_opens_the_page_all_the_same(opened):
    opened.page.evaluate("location.hash = '#head=e9.9&row=77&view=numbers&mute=c1.1&s=hi&also=<b>'")
    expect(opened.root.get_by_label("Open a head")).to_have_value("c1.1")
    check_lines(opened, CROSS, 4)
    assert opened.root.locator(".changes").inner_text() == "muted: reads the pronoun (c2.2)"


def test_of_two_records_on_a_page_none_takes_the_address(visit_page, tmp_path):
    other = make_record(seed=5)
    pages = [lab(record, start="head=c1.1&view=map") for record in (RECORD, other)]
    body = "\n".join(page._repr_mimebundle_()["text/html"] for page in pages)
    path = tmp_path / "two.html"
    path.write_text(saved.PAGE.format(policy="", title="Two", body=body), encoding="utf-8")
    opened = visit_page(path)
    first, second = opened.root.all()
    second.get_by_label("Open a head").select_option("e1.1")
    first.locator("th[data-row='1']").click()
    opened.page.wait_for_timeout(300)  # an address is written a little later
    assert opened.page.url == path.as_uri()
