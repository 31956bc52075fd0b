"""Drawings of mechanism: what their modules compute, against NumPy, and what a reader does with them."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import expect

from tests.browser.screen import serious
from tests.drawings import DRAWINGS, slabs_arguments, stepper_record, stream_arguments
from tests.thorough import thorough_from
from transformer_lab.numpy_reference import (
    layer_norm,
    merge_heads,
    scaled_dot_product_attention,
    split_heads,
)

STEPS = ".steps [data-control^='step ']"


@pytest.fixture
def draw(browser, tmp_path):
    """Open a drawing's saved page; at the end no error may have come, and nothing been fetched."""
    contexts, found = [], []

    def draw(name, **options):
        path = DRAWINGS[name]().to_html(tmp_path / f"{name}{len(contexts)}.html")
        still = {"viewport": {"width": 760, "height": 900}, "reduced_motion": "reduce"}
        context = browser.new_context(**still | options)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: found.append(str(error)))
        page.on("console", lambda m: m.type == "error" and found.append(m.text))
        page.on("request", lambda request: found.append(request.url))
        page.goto(path.as_uri())
        expect(page.locator(".tl-lesson")).to_have_attribute("data-theme", "light")
        found.remove(path.as_uri())
        root = page.locator(".tl-lesson")
        return SimpleNamespace(page=page, root=root, step=lambda i: root.locator(STEPS).nth(i))

    yield draw
    assert found == []
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", thorough_from(1, DRAWINGS))
@pytest.mark.parametrize("width", thorough_from(1, [760, 390]))
def test_each_step_fits_its_page_says_something_new_and_is_clean(draw, name, width):
    at = draw(name, viewport={"width": width, "height": 900})
    texts = []
    for i in range(at.root.locator(STEPS).count()):
        at.step(i).click()
        expect(at.step(i)).to_have_attribute("aria-current", "step")
        texts.append(at.root.locator(".said").inner_text())
        assert at.page.evaluate("document.documentElement.scrollWidth") <= width
        assert serious(at.page) == []
    assert "" not in texts
    assert len(set(texts)) == len(texts) > 2


@pytest.mark.parametrize("name", DRAWINGS)
def test_arrows_go_through_the_steps_and_every_control_is_reached_by_tab(draw, name):
    at = draw(name)
    count = at.root.locator(STEPS).count()
    at.step(0).focus()
    for i in range(1, count):
        at.page.keyboard.press("ArrowRight")
        expect(at.step(i)).to_be_focused()
    at.page.keyboard.press("ArrowLeft")
    expect(at.step(count - 2)).to_be_focused()
    wanted = at.root.locator("button:not(:disabled):visible, input:visible").count()
    at.page.locator("body").evaluate("() => document.activeElement.blur()")
    reached = set()
    for _ in range(wanted + 2):
        at.page.keyboard.press("Tab")
        reached.add(at.page.evaluate("document.activeElement?.dataset?.control ?? null"))
    assert len(reached - {None}) == wanted


@pytest.mark.parametrize("name", DRAWINGS)
def test_without_a_script_its_words_stay(browser, tmp_path, name):
    drawing = DRAWINGS[name]()
    path = drawing.to_html(tmp_path / "still.html")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(path.as_uri())
    expect(page.get_by_text(drawing.alt, exact=True)).to_be_visible()
    context.close()


# ---------------------------------------------------------------- heads as slabs

ALL = "({ multiHeadAttention }, [given, swap]) => multiHeadAttention(given, swap)"


@pytest.mark.parametrize("swap", [True, False])
def test_slabs_are_what_numpy_makes_of_them(ask, swap):
    x, query, key, value, output = slabs_arguments()
    names = ("x", "query", "key", "value", "output")
    given = {name: a.tolist() for name, a in zip(names, slabs_arguments(), strict=True)}
    found = ask("lesson/slabs_numbers.js", ALL, [given, swap])
    whole = [x @ np.concatenate(list(w), axis=1) for w in (query, key, value)]
    n, h, d = len(x), len(query), query.shape[2]

    def slabs(matrix):
        return split_heads(matrix[None], h)[0] if swap else matrix.reshape(h, n, d)

    mixed, weights = scaled_dot_product_attention(*(slabs(matrix) for matrix in whole))
    merged = merge_heads(mixed[None])[0] if swap else mixed.reshape(n, h * d)
    wanted = dict(zip("QKV", whole, strict=True))
    wanted |= dict(zip("qkv", map(slabs, whole), strict=True))
    wanted |= {"weights": weights, "mixed": mixed, "merged": merged, "result": merged @ output}
    assert set(found) == set(wanted)
    for name, numbers in wanted.items():
        np.testing.assert_allclose(found[name], numbers, atol=1e-12, err_msg=name)
    by_loop = "({ attendHeadByHead }, given) => attendHeadByHead(given)"
    loop = ask("lesson/slabs_numbers.js", by_loop, given)
    assert (np.abs(loop - merged @ output).max() < 1e-12) == swap


def test_merging_undoes_slabs_in_both_ways(ask):
    both = "({ splitHeads, mergeHeads }, [m, swap]) => mergeHeads(splitHeads(m, 3, swap), swap)"
    matrix = np.arange(5 * 6).reshape(5, 6).tolist()
    for swap in (True, False):
        assert ask("lesson/slabs_numbers.js", both, [matrix, swap]) == matrix


def test_a_reshape_alone_shows_whose_numbers_a_head_has(draw):
    at = draw("slabs")
    at.step(4).click()
    first = at.root.locator(".slab").first
    rows = first.locator("tbody th")
    assert rows.all_inner_texts() == ["w0", "w1", "w2", "w3", "w4"]
    at.root.get_by_role("button", name="reshape alone").click()
    assert rows.all_inner_texts() == ["w0", "w0", "w0", "w1", "w1"]
    colours = first.locator("td.tinted").evaluate_all(
        "all => all.map((cell) => cell.style.getPropertyValue('--of'))"
    )
    assert len(set(colours)) == 3
    at.step(8).click()
    off = re.search(r"off by up to ([\d.]+)\.$", DRAWINGS["slabs"]().alt)[1]
    expect(at.root.locator(".sum")).to_contain_text(f"from the loop: {float(off):g}")
    at.root.get_by_role("button", name="reshape, then swap").click()
    expect(at.root.locator(".sum")).to_contain_text("less than 1e-12")


def test_a_word_chosen_in_one_matrix_is_lit_in_all(draw):
    at = draw("slabs")
    at.step(5).click()
    at.root.locator(".slab").nth(1).get_by_role("button", name="w3").first.click()
    lit = at.root.locator("tr.lit th").all_inner_texts()
    assert lit == ["w3"] * 9
    expect(at.root.locator(".sum")).to_contain_text("Head 1, row 3")


def by_reshape_alone(n: int = 5, h: int = 3) -> list[list[str]]:
    """For each head the words of which its rows have numbers: one piece of a word in each row."""
    owners = np.repeat(np.arange(n), h).reshape(h, n)
    return [[f"w{word}" for word in rows] for rows in owners]


def test_by_a_reshape_alone_each_matrix_of_a_slab_names_the_words_that_it_has(draw):
    at = draw("slabs")
    for step, matrices in ((5, "qkw"), (6, "wvo")):
        at.step(step).click()
        at.root.get_by_role("button", name="reshape alone").click()
        for head, words in enumerate(by_reshape_alone()):
            grids = at.root.locator(".slab").nth(head).locator(".grid")
            assert grids.count() == len(matrices)
            for grid in grids.all():
                assert grid.locator("tbody th").all_inner_texts() == words
                columns = grid.locator("thead th").all_inner_texts()
                assert columns in ([], words)
    expect(at.root.locator(".said")).not_to_contain_text("for each word")
    expect(at.root.locator(".said")).to_contain_text("pieces of w0 and w1")


def test_by_a_reshape_alone_a_word_is_lit_wherever_it_went(draw):
    at = draw("slabs")
    at.step(4).click()
    at.root.get_by_role("button", name="reshape alone").click()
    at.root.locator(".slab").first.get_by_role("button", name="w1").last.click()
    # In Q and in its three pieces, two of which head 0 has.
    assert at.root.locator("tr.lit th").all_inner_texts() == ["w1"] * 4
    expect(at.root.locator(".sum")).to_contain_text("Row 4 of head 0")
    at.root.get_by_role("button", name="w4").first.click()
    assert at.root.locator("tr.lit th").all_inner_texts() == ["w4"] * 4
    expect(at.root.locator(".sum")).to_contain_text("Row 2 of head 2")


def test_what_a_reshape_alone_leaves_in_its_place_is_not_called_wrong(draw):
    at = draw("slabs")
    at.step(4).click()
    at.root.get_by_role("button", name="reshape alone").click()
    at.root.locator(".slab").first.get_by_role("button", name="w0").first.click()
    expect(at.root.locator(".sum")).to_contain_text("w0, columns 0 to 1, as it should be")
    at.root.locator(".slab").first.get_by_role("button", name="w0").nth(1).click()
    expect(at.root.locator(".sum")).to_contain_text(
        "w0, columns 2 to 3; it should be w1, columns 0 to 1"
    )


def test_the_mistake_ends_where_its_button_is_out_of_sight(draw):
    at = draw("slabs")
    at.step(4).click()
    at.root.get_by_role("button", name="reshape alone").click()
    at.step(3).click()
    at.root.get_by_role("button", name="One step forward").click()
    expect(at.root.locator(".said")).not_to_contain_text("The mistake")
    expect(at.root.get_by_role("button", name="reshape, then swap")).to_have_attribute(
        "aria-pressed", "true"
    )


# ---------------------------------------------------------------- the decoder stepper


def numbers(grid) -> np.ndarray:
    """The numbers of a matrix on the page; NaN where a cell is hidden, 0 where none is written."""
    rows = grid.locator("tbody tr").evaluate_all(
        """rows => rows.map((row) => [...row.querySelectorAll("td:not(.end)")].map(
            (cell) => (cell.className.includes("unseen") ? "nan" : cell.textContent || "0")))"""
    )
    return np.array([[float(text) for text in row] for row in rows])


def test_the_mask_is_a_staircase_and_weights_are_those_of_the_heads(draw):
    record, at = stepper_record(), draw("stepper")
    grids = at.root.locator(".grid")
    at.step(2).click()
    seen = np.tril(np.ones((5, 5), dtype=bool))
    np.testing.assert_array_equal(numbers(grids.first) == 1, seen)
    at.step(3).click()
    shown = numbers(grids.first)
    np.testing.assert_array_equal(np.isnan(shown), ~seen)
    np.testing.assert_allclose(shown[seen], record.decoder[1][0][seen], atol=0.0451)
    at.step(4).click()
    shown = numbers(grids.first)
    assert shown.shape == (5, 7)
    np.testing.assert_allclose(shown, record.cross[0][1], atol=0.0451)


def test_each_place_reads_one_word_and_is_asked_for_the_next(draw):
    record, at = stepper_record(), draw("stepper")
    at.step(1).click()
    rows = at.root.locator(".strip tr")
    assert rows.nth(0).locator("td").all_inner_texts() == list(record.target_tokens)
    assert rows.nth(1).locator("td").all_inner_texts() == list(record.written_tokens)
    at.root.locator("input").focus()
    at.page.keyboard.press("Home")
    for place, (read, asked) in enumerate(
        zip(record.target_tokens, record.written_tokens, strict=True)
    ):
        expect(at.root.locator("output")).to_have_text(
            f"{place}: reads {read}, is asked for {asked}"
        )
        assert at.root.locator(".strip .lit").all_inner_texts() == [read, asked]
        at.page.keyboard.press("ArrowRight")
    at.step(5).click()
    expect(at.root.locator(".bars .asked th")).to_have_text("<eos>")


def test_the_mask_says_what_it_hides_and_nothing_where_it_hides_nothing(draw):
    record, at = stepper_record(), draw("stepper")
    at.step(2).click()
    for place in range(5):
        at.root.locator("input").fill(str(place))
        hidden = at.root.locator(".grid tr.lit .unseen").count()
        assert hidden == 4 - place
        said = at.root.locator(".said").inner_text()
        asked = record.written_tokens[place]
        assert (f"mustn't see {asked}" in said) == (hidden > 0)
    assert "nothing has to be hidden" in said


def test_when_writing_a_row_is_added_for_each_word_and_those_above_stay(draw):
    at = draw("stepper")
    at.step(6).click()
    at.root.locator("input").fill("0")
    own, cross = at.root.locator(".grid").first, at.root.locator(".grid").last
    before = None
    for count in range(1, 6):
        now = numbers(own), numbers(cross)
        assert (now[0].shape, now[1].shape) == ((count, count), (count, 7))
        if before is not None:
            np.testing.assert_array_equal(now[0][:-1, :-1], before[0])
            np.testing.assert_array_equal(now[1][:-1], before[1])
        before = now
        button = at.root.get_by_role("button", name="Go to the next place")
        if count < 5:
            button.press("Enter")
    expect(button).to_be_disabled()


# ---------------------------------------------------------------- three architectures


def test_bert_and_gpt_keep_one_stack_and_differ_in_the_mask(draw):
    at = draw("family")
    boxes = at.root.locator(".column li")
    grids = at.root.locator(".grid")
    assert (boxes.count(), at.root.locator(".gone").count(), grids.count()) == (16, 0, 3)
    left = {}
    for step, column in ((1, "encoder"), (2, "decoder")):
        at.step(step).click()
        kept = at.root.locator(f".{column} li:not(.gone)").all_inner_texts()
        assert at.root.locator(".column li:not(.gone)").all_inner_texts() == kept
        left[column] = [text.replace("Masked self-", "Self-") for text in kept]
        seen = numbers(grids.first) == 1
        every = np.ones((5, 5), dtype=bool)
        wanted = every & ([True] * 4 + [False]) if step == 1 else np.tril(every)
        np.testing.assert_array_equal(seen, wanted)
    assert left["encoder"] == left["decoder"]
    assert len(left["encoder"]) == 8


# ---------------------------------------------------------------- the residual stream


def test_layer_norm_by_hand_is_the_reference(ask):
    x = stream_arguments()[0]
    found = ask(
        "lesson/stream.js", "({ computeNormSteps }, x) => computeNormSteps(x, 1e-5)", x.tolist()
    )
    wanted = layer_norm(x, np.ones(5), np.zeros(5))
    np.testing.assert_allclose(found["result"], wanted, atol=1e-12)
    np.testing.assert_allclose(found["centred"], x - x.mean(), atol=1e-12)
    assert found["variance"] == pytest.approx(x.var(), abs=1e-12)


def read_off(at, name) -> list[list[float]]:
    """The numbers of each vector of this name, from the top of post-norm to the end of pre-norm."""
    vectors = at.root.locator(".vector").filter(has=at.page.get_by_text(name, exact=True))
    texts = vectors.evaluate_all(
        "all => all.map((one) => [...one.querySelectorAll('span')].map((s) => s.textContent))"
    )
    return [[float(text.replace("−", "-")) for text in one] for one in texts]


@pytest.mark.parametrize("silent", [False, True])
def test_both_orders_add_and_normalise_where_they_say(draw, silent):
    x, attention, feed_forward = stream_arguments()
    at = draw("stream")
    at.step(6).click()
    if silent:
        at.root.get_by_role("button", name="silent sub-layers").click()
    sums, normed = [], []
    post = pre = x
    for sublayer in (attention, feed_forward):
        say = np.zeros_like if silent else sublayer
        sums.append(post + say(post))
        post = layer_norm(sums[-1], np.ones(5), np.zeros(5))
        normed.append(post)
    for sublayer in (attention, feed_forward):
        say = np.zeros_like if silent else sublayer
        pre = pre + say(layer_norm(pre, np.ones(5), np.zeros(5)))
        sums.append(pre)
    np.testing.assert_allclose(read_off(at, "sum"), sums, atol=0.0051)
    np.testing.assert_allclose(read_off(at, "LayerNorm"), normed, atol=0.0051)
    if silent:
        np.testing.assert_allclose(read_off(at, "sum")[-1], x, atol=0.0051)


def test_layer_norm_forgets_what_all_numbers_are_multiplied_by_and_what_is_added(draw):
    at = draw("stream")
    at.step(7).click()
    at.step(6).click()
    at.root.get_by_role("button", name="silent sub-layers").click()
    at.step(7).click()
    expect(at.root.get_by_role("button", name="silent sub-layers")).to_be_hidden()
    rows = at.root.locator(".worked tr")
    x, attention, _ = stream_arguments()
    total = [
        float(t.replace("−", "-")) for t in rows.first.locator("td:not(.note)").all_inner_texts()
    ]
    np.testing.assert_allclose(total, x + attention(x), atol=0.0051)
    first, last = rows.first.inner_text(), rows.last.locator("td:not(.note)").all_inner_texts()
    for name, value in (("times", "7"), ("plus", "-3")):
        at.root.get_by_role("slider", name=name).fill(value)
    assert rows.first.inner_text() != first
    assert rows.last.locator("td:not(.note)").all_inner_texts() == last
    at.root.get_by_role("button", name="pre, feed-forward").click()
    assert rows.last.locator("td:not(.note)").all_inner_texts() != last
