"""The page's pure modules, each loaded by the browser as it lies on disk, against Python's answers."""

import base64
import gzip
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest

from tests.browser.screen import GOLD, HOSTILE, RECORD, SEEN, SNAPSHOTS, contrast
from tests.records import make_record
from transformer_lab.attention.record import KINDS
from transformer_lab.lab.page.join import FOLDER
from transformer_lab.lab.record_data import page_data, record_data

PAINT = "({ makePalettes, paintMap, poolMap }, given) => "


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.js")), ids=lambda path: path.stem)
def test_every_module_can_be_loaded_alone(ask, path):
    """The browser links it: all that it imports is there. Only a worker exports nothing."""
    exports = ask(path.relative_to(FOLDER).as_posix(), "(all) => Object.keys(all).length")
    assert (exports > 0) == (path.stem != "worker")


# ---------------------------------------------------------------- text


def test_tokens_are_made_visible(ask):
    seen = ask("text.js", "({ makeVisible }, given) => given.map(makeVisible)", list(HOSTILE))
    assert seen == list(SEEN)
    halves = ask("text.js", r"({ makeVisible }) => makeVisible('\ud83d!\uffff\u0085')")
    assert halves == "\ufffd!\ufffd\ufffd"


def test_numbers_are_written_as_they_are_read(ask):
    ways = """({ formatNumber, formatProbability }, given) =>
        given.map((value) => [formatNumber(value), formatNumber(value, 3), formatProbability(value)])"""
    values = [None, -0.125, 0.0004, 0.0006, 0, 2]
    assert ask("text.js", ways, values[:2]) == [["–", "–", "–"], ["−0.13", "−0.125", "−0.125"]]
    small = ask("text.js", ways, values[2:])
    assert [of[2] for of in small] == ["< 0.001", "0.001", "0.000", "2.000"]
    cut = ask("text.js", "({ shortenText }) => ['abcd', 'abcde'].map((t) => shortenText(t, 4))")
    assert cut == ["abcd", "abc…"]


# ---------------------------------------------------------------- records and their maps

READ = """async ({ readRecords, getMapTokens }, data) => (await readRecords(data)).map((record) =>
    Object.fromEntries(Object.entries(record.maps).map(([kind, layers]) => [kind, {
        tokens: getMapTokens(record, kind),
        weights: layers.map((heads) => heads.map((map) => map.weights.map((row) => [...row]))),
    }])))"""


@pytest.mark.parametrize(
    "records",
    [
        [*SNAPSHOTS, RECORD],
        [make_record(encoder=(2, 5, 3), decoder=(1,), cross=(7, 2))],
        [make_record([f"w{i}" for i in range(97)], (), (), encoder=(2,), decoder=(), cross=())],
    ],
    ids=["snapshots", "depths", "long"],
)
def test_records_are_read_as_they_were_written(ask, records):
    found = ask("record.js", READ, page_data(records))
    for record, read in zip(records, found, strict=True):
        check_read(record, read)


def check_read(record, read):
    """The maps that `READ` has found are the record's."""
    assert list(read) == list(record_data(record)["heads"])
    for kind, of_kind in read.items():
        queries, keys = record.tokens(kind)
        assert of_kind["tokens"] == {"queries": list(queries), "keys": list(keys)}
        for layer, weights in enumerate(getattr(record, kind)):
            seen = np.array(of_kind["weights"][layer])
            np.testing.assert_allclose(seen, weights, atol=0.0006)
            assert np.array_equal(seen.argmax(axis=-1), weights.argmax(axis=-1))
            assert np.all(seen[weights == 0] == 0)


def test_bytes_are_unpacked_from_text_and_from_a_view_on_them(ask):
    """A widget's bytes may begin anywhere in a buffer."""
    function = """async ({ gunzip, decodeBase64 }, packed) => {
        const bytes = decodeBase64(packed);
        const buffer = new Uint8Array(bytes.length + 12);
        buffer.set(bytes, 7);
        const view = new DataView(buffer.buffer, 7, bytes.length);
        return [[...await gunzip(packed)], [...await gunzip(view)]];
    }"""
    data = record_data(RECORD, packed=False)["weights"]
    expected = list(gzip.decompress(data))
    assert ask("bytes.js", function, base64.b64encode(data).decode()) == [expected, expected]


@pytest.mark.parametrize("native", [True, False])
def test_base64_is_read_with_and_without_the_browsers_own(ask, native):
    function = """({ decodeBase64 }, [packed, native]) => {
        const own = Uint8Array.fromBase64;
        if (!native) Uint8Array.fromBase64 = undefined;
        try { return [...decodeBase64(packed)]; } finally { Uint8Array.fromBase64 = own; }
    }"""
    data = bytes(range(0, 256, 5))
    assert ask("bytes.js", function, [base64.b64encode(data).decode(), native]) == list(data)


MAP = """(({ rows, columns, upper, lower }) =>
    new HeadMap(rows, columns, Uint8Array.from(upper), Uint8Array.from(lower), 36))(given)"""


def packed_map(rows: int, columns: int, seed: int = 0) -> tuple[dict, np.ndarray]:
    """A map as it is packed, with zeros, ties and large weights; and its roots, (query, key)."""
    rng = np.random.default_rng(seed)
    upper = rng.integers(0, 256, (rows, columns)) * (rng.random((rows, columns)) < 0.6)
    upper[rng.random((rows, columns)) < 0.2] = 11
    upper[1:2] = 0  # a row that sees nothing
    fine = upper >= np.clip(upper.max(axis=1, keepdims=True), 1, 36)
    lower = rng.integers(0, 256, int(fine.sum()))
    roots = upper * 256 + np.where(upper > 0, 128, 0)
    roots[fine] = upper[fine] * 256 + lower
    packed = {"rows": rows, "columns": columns}
    return packed | {"upper": upper.ravel().tolist(), "lower": lower.tolist()}, roots


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 7), (13, 3), (2, 101)])
def test_a_map_is_put_together_when_its_numbers_are_read(ask, rows, columns):
    given, roots = packed_map(rows, columns)
    function = f"({{ HeadMap }}, given) => [...{MAP}.roots]"
    assert ask("head_map.js", function, given) == roots.ravel().tolist()


def test_a_map_gives_its_bytes_to_be_painted_and_a_head_of_numbers_alone_too(ask):
    given, roots = packed_map(5, 7)
    function = f"""({{ HeadMap, toPicture }}, given) => {{
        const map = {MAP};
        const ofNumbers = toPicture({{ weights: map.weights }});
        return [toPicture(map), ofNumbers].map((one) => ({{ ...one, bytes: [...one.bytes] }}));
    }}"""
    upper = (roots // 256).ravel().tolist()
    whole = {"rows": 5, "columns": 7, "bytes": upper}
    assert ask("head_map.js", function, given) == [whole, whole]


def test_a_map_can_be_made_of_numbers(ask):
    weights = np.random.default_rng(3).dirichlet(np.ones(7), size=5)
    function = """({ HeadMap }, given) => {
        const map = HeadMap.of(5, 7, given);
        return [map.weights.map((row) => [...row]), [...map.bytes]];
    }"""
    seen, upper = ask("head_map.js", function, weights.ravel().tolist())
    np.testing.assert_allclose(np.sqrt(seen), np.sqrt(weights), atol=0.51 / 65535)
    roots = np.rint(np.sqrt(weights.ravel()) * 65535).astype(int)
    assert upper == (roots >> 8).tolist()


def test_the_largest_come_first_and_of_equal_ones_the_first(ask):
    numbers = [0.1, 0.7, 0.7, 0.2, 0.9]
    found = ask("ranking.js", "({ findStrongest }, values) => findStrongest(values, 3)", numbers)
    assert found == [4, 1, 2]


# ---------------------------------------------------------------- colours and pictures


def rgb_of(palette: list[int]) -> np.ndarray:
    """(256, RGB) of a palette's 32-bit numbers, whose red is the lowest byte."""
    return np.stack([(np.array(palette) >> shift) & 255 for shift in (0, 8, 16)], axis=-1)


@pytest.fixture
def colours() -> dict:
    """What a page's data have, unpacked."""
    return {"colours": list(base64.b64decode(page_data([make_record()])["colours"]))}


def test_a_palette_colours_a_weight_or_its_root(ask, colours):
    function = PAINT + "Object.values(makePalettes(given.colours)).map((p) => [...p])"
    weight, root = ask("painting.js", function, colours)
    viridis = (matplotlib.colormaps["viridis"](np.arange(256))[:, :3] * 255).round()
    assert abs(rgb_of(root) - viridis).max() <= 1
    index = np.round(255 * (np.arange(256) / 255) ** 2).astype(int)
    assert np.array_equal(rgb_of(weight), rgb_of(root)[index])
    assert all(colour >> 24 == 255 for colour in root), "opaque"


def test_the_ink_on_a_cell_is_the_one_with_more_contrast(ask, colours):
    function = "({ makePaints }, given) => makePaints(given)"
    rgb = colours["colours"]
    for shade, paint in enumerate(ask("cells.js", function, rgb)):
        colour = rgb[3 * shade : 3 * shade + 3]
        assert paint["background"] == f"rgb({','.join(map(str, colour))})"
        on_black, on_white = contrast(colour, (0, 0, 0)), contrast(colour, (255, 255, 255))
        better = {"#000": on_black, "#fff": on_white}[paint["color"]]
        assert better >= max(on_black, on_white) - 0.3
        assert better >= 4.5


@pytest.mark.parametrize(
    ("rows", "columns", "most"), [(7, 5, 64), (7, 5, 7), (7, 5, 3), (1, 97, 11)]
)
def test_a_large_map_is_pooled_by_its_maximum(ask, rows, columns, most):
    data = np.random.default_rng(1).integers(0, 256, (rows, columns))
    given = {"rows": rows, "columns": columns, "bytes": data.ravel().tolist(), "most": most}
    function = (
        PAINT
        + "{ const p = poolMap({ ...given, bytes: Uint8Array.from(given.bytes) }, given.most);"
        " return { ...p, bytes: [...p.bytes] }; }"
    )
    found = ask("painting.js", function, given)
    step = -(-max(rows, columns) // most)
    blocks = [
        [data[q : q + step, k : k + step].max() for k in range(0, columns, step)]
        for q in range(0, rows, step)
    ]
    assert np.array(found["bytes"]).reshape(found["rows"], found["columns"]).tolist() == blocks


def test_a_canvas_gets_a_pixel_a_weight(ask, colours):
    data = np.arange(35).reshape(5, 7) * 7
    given = colours | {"bytes": data.ravel().tolist()}
    function = (
        PAINT + "{ const canvas = document.createElement('canvas'); const palette = "
        "makePalettes(given.colours).weight; "
        "paintMap(canvas, { rows: 5, columns: 7, bytes: given.bytes }, palette); "
        "return [[...palette], canvas.width, canvas.height, "
        "[...canvas.getContext('2d').getImageData(0, 0, 7, 5).data]]; }"
    )
    palette, width, height, pixels = ask("painting.js", function, given)
    assert (width, height) == (7, 5)
    seen = np.array(pixels).reshape(5, 7, 4)
    assert np.array_equal(seen[..., :3], rgb_of(palette)[data])


# ---------------------------------------------------------------- geometry


def test_cells_are_as_large_as_the_map_allows(ask):
    sizes = [1, 7, 17, 18, 52, 53, 128, 129, 173, 174, 512]
    given = [{"rows": n, "columns": n - 1} for n in sizes]
    function = "({ computeCellSize }, given) => given.map((map) => computeCellSize(map))"
    found = ask("geometry.js", function, given)
    assert [f["cell"] for f in found] == [30, 30, 30, 28, 10, 10, 10, 4, 3, 3, 3]
    assert [f["labelled"] for f in found] == [n <= 128 for n in sizes]
    turned = [{"rows": n["columns"], "columns": n["rows"]} for n in given]
    assert ask("geometry.js", function, turned) == found
    # Where there is room cells need not be small; where there is little a map shall not be cut.
    for room, cells in ((900, [30, 30, 30, 28, 16, 16]), (273, [30, 30, 16, 15, 10, 10])):
        sized = ask(
            "geometry.js",
            "({ computeCellSize }, [g, room]) => g.map((map) => computeCellSize(map, room))",
            [given, room],
        )
        assert [f["cell"] for f in sized][:6] == cells


def test_a_point_lies_in_its_cell_and_outside_in_the_nearest(ask):
    box = {"top": 31.5, "left": 17.25, "width": 7 * 23, "height": 5 * 23}
    function = (
        "({ findCellAt }, [box, points]) => points.map(([x, y]) => "
        "findCellAt({ rows: 5, columns: 7 }, box, box.left + 23 * x, box.top + 23 * y))"
    )
    cells = [(q, k) for q in range(5) for k in range(7)]
    for inset in (0.01, 0.5, 0.99):
        points = [(k + inset, q + inset) for q, k in cells]
        assert [tuple(c) for c in ask("geometry.js", function, [box, points])] == cells
    outside = [(-3, 2.5), (7, 2.5), (3.5, -0.1), (3.5, 99)]
    assert ask("geometry.js", function, [box, outside]) == [[2, 0], [2, 6], [0, 3], [4, 3]]


def test_arrows_go_to_the_cell_beside_and_stay_in_the_map(ask):
    function = (
        "({ findCellBeside }, given) => given.map(([place, key]) => "
        "findCellBeside({ rows: 5, columns: 7 }, place, key))"
    )
    moves = {
        (None, "ArrowDown"): [0, 0],
        ((2, 3), "ArrowUp"): [1, 3],
        ((2, 3), "ArrowRight"): [2, 4],
        ((0, 0), "ArrowLeft"): [0, 0],
        ((4, 6), "ArrowDown"): [4, 6],
        ((4, 6), "ArrowRight"): [4, 6],
        ((3, None), "ArrowRight"): [3, 0],
        ((None, 5), "ArrowUp"): [0, 5],
        ((2, 3), "Enter"): None,
    }
    assert ask("geometry.js", function, [list(move) for move in moves]) == list(moves.values())


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 7), (101, 31), (131, 127), (512, 2)])
def test_a_drawing_has_room_for_its_cells_and_its_labels(ask, rows, columns):
    tokens = {
        "queries": ["w" * 31] + ["a"] * (rows - 1),
        "keys": ["word"] + [""] * (columns - 1),
    }
    function = "({ computeDrawingLayout }, [map, tokens]) => computeDrawingLayout(map, tokens)"
    found = SimpleNamespace(
        **ask("export.js", function, [{"rows": rows, "columns": columns}, tokens])
    )
    assert found.width >= max(330, found.left + columns * found.cell)
    assert found.height >= found.top + rows * found.cell
    assert 4 <= found.cell <= 24
    assert found.labelled == (max(rows, columns) <= 112)
    if found.labelled:
        assert found.left >= 24 * 0.62 * found.font > found.top - 26
        assert found.font < found.cell


# ---------------------------------------------------------------- gold


@pytest.mark.parametrize("kind", KINDS)
def test_gold_is_ringed_where_the_record_has_it(ask, kind):
    function = (
        "({ findGoldRings, describeGold }, [record, kind]) => "
        "[findGoldRings(record, kind), describeGold(record, kind)]"
    )
    rings, legend = ask("lab/gold.js", function, [record_data(RECORD), kind])
    expected = []
    if kind == "cross":
        expected += [(query, key, "gold") for key, query in GOLD]
    if kind != "decoder":
        row = 5 if kind == "encoder" else 2
        expected += [(row, 1, "referent"), (row, 4, "other")]
    assert [(r["query"], r["key"], r["className"]) for r in rings] == expected
    assert bool(expected) == bool(legend)
    assert ("gold alignment" in legend) == (kind == "cross")
    plain = ask("lab/gold.js", function, [record_data(make_record()), kind])
    assert plain == [[], ""]
