"""The open head of the lab as lines, with others over it, and rows that are edited by a drag."""

import re

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.screen import serious
from tests.thorough import thorough_from
from transformer_lab.attention.record import Head
from transformer_lab.data.world.grammar import FAMOUS
from transformer_lab.lab.open_lab import lab

PAIR = FAMOUS[0]
WHO = PAIR.coreference
HEAD = Head("encoder", 1, 2)
ROW, KEY = WHO.decider, WHO.other
ADDRESS = "transformerLab.address"
WEIGHTS = "transformerLab.state.open.weights.map((row) => [...row])"


@pytest.fixture(scope="module")
def lab_page(shipped, tmp_path_factory):
    path = tmp_path_factory.mktemp("where") / "lab.html"
    return lab(shipped, PAIR.source, start=f"head=e2.3&row={ROW}").to_html(path)


@pytest.fixture
def page(visit_page, lab_page):
    return visit_page(lab_page).page


def go(page, address: str) -> None:
    page.evaluate("(address) => { location.hash = address; }", address)


def shared(own: np.ndarray, shares: dict[int, float]) -> np.ndarray:
    """The oracle of an edited row: these keys have their shares, the others what is left, as before."""
    row = own * (1 - sum(shares.values())) / (1 - sum(own[list(shares)]))
    row[list(shares)] = list(shares.values())
    return row


def drawn(page) -> dict[tuple[str, int, int], float]:
    """(head's class, query, key) → weight, as the lines say it by their thickness."""
    read = """(lines) => lines.map((line) => [line.getAttribute("class"),
        ...["y2", "y1", "stroke-width"].map((name) => Number(line.getAttribute(name)))])"""
    lines = page.locator(".line-board line").evaluate_all(read)
    return {
        (name, round(query / 24 - 0.5), round(key / 24 - 0.5)): (width - 0.5) / 5
        for name, query, key, width in lines
    }


def expected_lines(weights: np.ndarray, name: str, rows) -> dict[tuple[str, int, int], float]:
    return {
        (name, q, k): weights[q, k]
        for q in rows
        for k in range(weights.shape[1])
        if weights[q, k] >= 0.01
    }


def drag(page, key: int, *ways: float) -> None:
    """Take a cell of the chosen row and move it up by these CSS pixels, one after the other."""
    cell = page.locator(f".open .weights td[data-row='{ROW}'][data-key='{key}']")
    cell.evaluate("(cell) => cell.scrollIntoView({ block: 'center' })")
    box = cell.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for way in ways:
        page.mouse.move(x, y - way, steps=3)
    page.mouse.up()


def test_the_lines_are_the_weights_of_the_chosen_word(page, shipped):
    weights = shipped.attend(PAIR.source).weights(HEAD)
    assert drawn(page) == pytest.approx(expected_lines(weights, "over-1", [ROW]), abs=1e-3)
    page.locator(".column.query button").nth(4).click()
    page.mouse.move(5, 5)
    assert drawn(page) == pytest.approx(expected_lines(weights, "over-1", [4]), abs=1e-3)
    assert "row=4" in page.evaluate(ADDRESS)
    page.locator(".column.key button").nth(KEY).hover()
    looked = {(q, k) for _, q, k in drawn(page)}
    assert looked == {(q, KEY) for q in np.flatnonzero(weights[:, KEY] >= 0.01)}
    # What each word looked at has of the pinned row stands beside it.
    page.mouse.move(5, 5)
    notes = page.locator(".column.key button").evaluate_all(
        "(all) => all.map((b) => b.dataset.note)"
    )
    assert notes == [f"{weight:.2f}" if weight >= 0.005 else "" for weight in weights[4]]
    page.locator(".column.query button").nth(4).press("Escape")  # lets the word go
    page.mouse.move(5, 5)
    every = expected_lines(weights, "over-1", range(len(weights)))
    strong = dict(sorted(every.items(), key=lambda item: -item[1])[:60])
    assert drawn(page) == pytest.approx(strong, abs=1e-3)


def test_the_lines_are_within_reach_of_the_keyboard(page):
    words = page.locator(".column.query button")
    words.nth(ROW).focus()
    page.keyboard.press("ArrowUp")
    expect(words.nth(ROW - 1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(words.nth(ROW - 1)).to_be_focused()
    assert f"row={ROW - 1}" in page.evaluate(ADDRESS)
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".column.key button").nth(0)).to_be_focused()
    one = len(drawn(page))
    page.keyboard.press("Escape")
    assert len(drawn(page)) > one


def test_four_heads_lie_over_each_other_and_the_address_keeps_them(page, shipped):
    record = shipped.attend(PAIR.source)
    page.locator(".more > summary").click()
    for name in ("e1.1", "e2.1", "e1.3"):
        page.locator(f"[data-control='head {name}']").click(modifiers=["Shift"])
    expect(page.locator(".line-view .legend")).to_contain_text("up to four heads")
    heads = [HEAD, Head("encoder", 0, 0), Head("encoder", 1, 0), Head("encoder", 0, 2)]
    expected = {}
    for number, head in enumerate(heads, 1):
        expected |= expected_lines(record.weights(head), f"over-{number}", [ROW])
    assert drawn(page) == pytest.approx(expected, abs=1e-3)
    # Colours alone would not do for everybody: each head has dashes of its own.
    styles = (
        "(lines) => lines.map((l) => getComputedStyle(l)).map((s) => [s.stroke, s.strokeDasharray])"
    )
    colours, dashes = zip(
        *page.locator(".line-view .legend line").evaluate_all(styles), strict=True
    )
    assert len(set(colours)) == len(set(dashes)) == 4
    page.locator("[data-control='head e1.4']").click(modifiers=["Shift"])
    assert len(drawn(page)) == len(expected)  # a fifth is not taken
    address = page.evaluate(ADDRESS)
    assert "also=e1.1%2Ce2.1%2Ce1.3" in address
    go(page, "#head=e1.1&view=map")
    expect(page.locator(".open .weights")).to_be_visible()
    go(page, address)
    expect(page.locator(".line-view .legend")).to_contain_text("e1.3")
    assert drawn(page) == pytest.approx(expected, abs=1e-3)
    page.get_by_role("button", name=re.compile(r"Remove .*e1\.1")).click()
    assert {name for name, *_ in drawn(page)} == {"over-1", "over-2", "over-3"}
    # A head of another kind has other words: it is opened alone.
    page.locator("[data-control='head c2.3']").click(modifiers=["Shift"])
    expect(page.get_by_label("Open a head")).to_have_value("c2.3")
    assert {name for name, *_ in drawn(page)} == {"over-1"}
    go(page, "#head=e2.3&also=e2.3,c1.1,e9.1,e1.1,e1.1,e1.2,e1.3,e1.4&view=nothing")
    assert page.evaluate("transformerLab.state.heads.length") == 4
    expect(page.locator("[data-control='view lines']")).to_have_attribute("aria-pressed", "true")


def test_a_dragged_cell_takes_its_share_from_the_rest_of_the_row(page, shipped):
    own = shipped.attend(PAIR.source).weights(HEAD)
    go(page, f"#head=e2.3&row={ROW}&step={WHO.target_pronoun}&view=map")
    drag(page, KEY, 30, 60)
    expect(page.locator(".changes")).to_contain_text("to “street”")
    (share,) = re.findall(r"gives ([\d.]+) to “street”", page.locator(".changes").inner_text())
    assert float(share) == pytest.approx(0.5 + own[ROW, KEY], abs=0.011)  # 120 pixels are the whole
    rows = own.copy()
    rows[ROW] = shared(own[ROW], {KEY: float(share)})
    np.testing.assert_allclose(page.evaluate(WEIGHTS), rows, atol=1e-3)
    patched = shipped.attend(PAIR.source, PAIR.target, patch={HEAD: rows}, top=633)
    said = dict(
        re.findall(r"(il|elle)\s+[<\d. ]+ → ([\d.]+)", page.locator(".next ul").inner_text())
    )
    assert set(said) == {"il", "elle"}
    for word, value in said.items():
        assert float(value) == pytest.approx(
            dict(patched.next_tokens[WHO.target_pronoun])[word], abs=3e-3
        )
    expect(page.locator(".share")).to_contain_text(f"its own weight would be {own[ROW, KEY]:.2f}")
    # A second word: what the first was given shrinks like all the others.
    drag(page, 3, 24)
    expect(page.locator(".changes")).to_contain_text("to “cross”")
    both = dict(re.findall(r"gives ([\d.]+) to “(\w+)”", page.locator(".changes").inner_text()))
    street, cross = (
        float(share) for word in ("street", "cross") for share, at in both.items() if at == word
    )
    assert cross == pytest.approx(0.2, abs=0.011)
    assert street == pytest.approx(float(share) * (1 - cross), abs=0.011)
    expected = shared(own[ROW], {KEY: street, 3: cross})
    np.testing.assert_allclose(page.evaluate(WEIGHTS)[ROW], expected, atol=1e-3)
    address = page.evaluate(ADDRESS)
    go(page, "#head=e1.1&view=map")
    expect(page.locator(".changes")).to_be_hidden()
    go(page, address)
    np.testing.assert_allclose(page.evaluate(WEIGHTS)[ROW], expected, atol=1e-3)
    page.get_by_role("button", name=re.compile("“cross” its own weight")).click()
    expect(page.locator(".changes")).not_to_contain_text("cross")
    page.locator(f".open .weights td[data-row='{ROW}'][data-key='{KEY}']").click()
    page.get_by_role("button", name="Restore its own weights").click()
    np.testing.assert_allclose(page.evaluate(WEIGHTS), own, atol=1e-3)


def test_a_drag_ends_at_the_whole_row_and_at_nothing_of_it(page, shipped):
    own = shipped.attend(PAIR.source).weights(HEAD)
    go(page, f"#head=e2.3&row={ROW}&step={WHO.target_pronoun}&view=map")
    drag(page, KEY, 200)
    expect(page.locator(".changes")).to_contain_text("looks only at “street”")
    np.testing.assert_allclose(page.evaluate(WEIGHTS)[ROW], np.eye(len(own))[KEY], atol=1e-6)
    drag(page, KEY, -200)
    expect(page.locator(".changes")).to_contain_text("gives 0.00 to “street”")
    expected = shared(own[ROW], {KEY: 0.0})
    np.testing.assert_allclose(page.evaluate(WEIGHTS)[ROW], expected, atol=1e-3)
    # A press without a move is a choice and no change; so is one in another row.
    page.get_by_role("button", name="Undo every change").click()
    drag(page, 3, 2)
    expect(page.locator("td.chosen")).to_have_attribute("data-key", "3")
    expect(page.locator(".changes")).to_be_hidden()


def test_the_keyboard_changes_a_weight_too(page, shipped):
    own = shipped.attend(PAIR.source).weights(HEAD)[ROW]
    go(page, f"#head=e2.3&row={ROW}&step={WHO.target_pronoun}&view=map")
    page.locator(f".open .weights td[data-row='{ROW}'][data-key='{KEY}']").click()
    page.locator(".open .weights").focus()
    for _ in range(3):
        page.keyboard.press("Shift+ArrowUp")
    expect(page.locator(".open .weights")).to_be_focused()
    page.keyboard.press("Shift+ArrowDown")
    share = page.evaluate(WEIGHTS)[ROW][KEY]
    assert share == pytest.approx(own[KEY] + 0.1, abs=0.011)
    np.testing.assert_allclose(page.evaluate(WEIGHTS)[ROW], shared(own, {KEY: share}), atol=1e-3)


def test_shares_of_an_address_that_are_more_than_the_row_are_scaled(page):
    go(
        page,
        f"#head=e2.3&row={ROW}&point=e2.3:{ROW}:1:0.90,e2.3:{ROW}:2:0.90,d1.1:1:0:0,d1.1:1:1:0",
    )
    row = page.evaluate(WEIGHTS)[ROW]
    assert row[1] == row[2] == pytest.approx(0.5)
    assert sum(row) == pytest.approx(1)
    # Nothing for every word is no row: it stays as it is.
    masked = page.evaluate("transformerLab.state.now.maps.decoder[0][0].map((row) => [...row])")
    np.testing.assert_allclose(np.sum(masked, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("theme", thorough_from(1, ["light", "dark"]))
def test_an_accessibility_checker_finds_nothing_serious_in_lines_and_edits(
    visit_page, lab_page, theme
):
    page = visit_page(lab_page, color_scheme=theme).page
    go(page, f"#head=e2.3&row={ROW}&key={KEY}&point=e2.3:{ROW}:{KEY}:0.50&also=e1.1,e1.2,e2.4")
    assert serious(page) == []
    page.locator("[data-control='view map']").click()
    assert serious(page) == []


@pytest.mark.parametrize("width", thorough_from(1, [390, 736, 1280]))
def test_the_lines_are_not_wider_than_the_screen(visit_page, lab_page, width):
    page = visit_page(lab_page, viewport={"width": width, "height": 800}).page
    go(page, f"#head=e2.3&row={ROW}&also=e1.1,e1.2,e2.4")
    expect(page.locator(".line-board").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
