"""A record's data and its page: exact where numbers are read, and tokens are only ever text."""

import base64
import gzip
import html
import io
import json
import re
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from PIL import Image

from tests.records import SOURCE, TARGET, WRITTEN, make_record, probabilities, random_maps
from transformer_lab.attention.head_names import name_heads
from transformer_lab.attention.record import KINDS, Head, Referent
from transformer_lab.attention.scores import (
    SCORES,
    entropy,
    first_token,
    head_alignment_error_rate,
    head_scores,
    mean_distance,
    previous_token,
    referent_score,
)
from transformer_lab.figures.style import MASKED
from transformer_lab.lab import lab
from transformer_lab.lab import record_data as data_module
from transformer_lab.lab.page import saved
from transformer_lab.lab.record_data import FINE_FROM, encode, page_data, record_data

HOSTILE = (
    "</script>",
    "<img src=x onerror=alert(1)>",
    "<!--<script>",
    "\"'&amp;",
    "🙂",
    "שלום",
    "w" * 60,
    "",
    "\u202e",
    "\x00",
    "a\nb",
)


def decoded(packed: bytes, shapes: list[tuple[int, int, int]]) -> list[np.ndarray]:
    """What the script reads: each layer's weights. Written from the docstring of `encode`."""
    data = gzip.decompress(packed)
    fine = sum(heads * rows * columns for heads, rows, columns in shapes)
    start, layers = 0, []
    for heads, rows, columns in shapes:
        weights = np.zeros((heads, rows, columns))
        for head in range(heads):
            for row in range(rows):
                upper = data[start : start + columns]
                start += columns
                largest = max(upper)
                for column, byte in enumerate(upper):
                    lower = 128 if byte else 0
                    if byte >= max(1, min(largest, FINE_FROM)):
                        lower = data[fine]
                        fine += 1
                    weights[head, row, column] = ((256 * byte + lower) / 65535) ** 2
        layers.append(weights)
    assert fine == len(data), "nothing is left over"
    return layers


def check_read_back(layers):
    packed, lower_bytes = encode(layers)
    read = decoded(packed, [layer.shape for layer in layers])
    assert len(lower_bytes) == sum(len(layer) for layer in layers)
    for weights, seen in zip(layers, read, strict=True):
        exact = weights.astype(np.float64)
        error = abs(seen - exact)
        assert error.max(initial=0) < 0.0006
        large = np.sqrt(exact) * 65535 >= 256 * FINE_FROM
        assert error[large].max(initial=0) < 0.00002
        largest = exact == exact.max(axis=-1, keepdims=True)
        assert error[largest].max(initial=0) < 0.00002
        assert np.all(seen[exact == 0] == 0), "what is masked stays exactly 0"
        assert np.all(seen[exact >= 0.0001] > 0)
        rows = exact.reshape(-1, exact.shape[-1]), seen.reshape(-1, exact.shape[-1])
        for row, other in zip(*rows, strict=True):
            best = np.sort(row)
            if (
                len(row) == 1 or best[-1] - best[-2] > 1e-4
            ):  # two that are equal to 4 digits may swap
                assert row.argmax() == other.argmax()


@pytest.mark.parametrize("sharp", [0.0, 0.1, 2.0, 20.0])
def test_what_is_encoded_is_read_back_within_the_stated_bounds(sharp):
    rng = np.random.default_rng(1)
    check_read_back(random_maps(rng, (2, 3), 11, 13, sharp=sharp))
    check_read_back(random_maps(rng, (5,), 7, 7, causal=True, sharp=sharp))


def test_rows_of_zeros_of_one_and_of_very_many_keys_are_read_back():
    rng = np.random.default_rng(2)
    zero = np.zeros((1, 2, 3), dtype=np.float32)
    one = np.eye(5, dtype=np.float32)[None]
    check_read_back([zero, one, *random_maps(rng, (1,), 2, 1009)])
    check_read_back([w.astype(np.float16) for w in random_maps(rng, (2,), 5, 7)])


def test_every_weight_from_0_to_1_is_read_back_where_it_is_the_largest_and_where_it_is_not():
    weights = np.linspace(0, 1, 5003) ** 2
    check_read_back([weights[:, None, None]])
    pairs = np.stack([weights, 1 - weights], axis=-1)
    check_read_back([pairs[None]])


def test_the_same_record_is_the_same_bytes_in_data_and_on_the_page(tmp_path):
    one, two = make_record(), make_record()
    assert json.dumps(page_data([one])) == json.dumps(page_data([two]))
    paths = [lab(r).to_html(tmp_path / f"{i}.html") for i, r in enumerate((one, two))]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_depths_head_counts_and_sides_may_all_differ():
    record = make_record(encoder=(2, 5, 3), decoder=(1,), cross=(7, 2))
    data = record_data(record)
    assert data["heads"] == {"encoder": [2, 5, 3], "decoder": [1], "cross": [7, 2]}
    shapes = [weights.shape for kind in KINDS for weights in getattr(record, kind)]
    read = decoded(base64.b64decode(data["weights"]), shapes)
    everything = [weights for kind in KINDS for weights in getattr(record, kind)]
    for weights, seen in zip(everything, read, strict=True):
        np.testing.assert_allclose(seen, weights, atol=0.0006)
    assert {len(score["values"]) for score in data["scores"]["encoder"]} == {10}
    assert record_data(record, packed=False)["weights"] == base64.b64decode(data["weights"])


def test_one_stack_alone_is_enough():
    encoder = make_record(target=(), written=(), decoder=(), cross=())
    assert list(record_data(encoder)["heads"]) == ["encoder"]
    assert lab(encoder).data["start"].startswith("head=e")
    decoder = make_record(source=(), encoder=(), cross=())
    assert list(record_data(decoder)["heads"]) == ["decoder"]
    assert lab(decoder).data["start"].startswith("head=d")


def test_a_record_without_a_map_is_refused():
    nothing = make_record(target=(), written=(), encoder=(), decoder=(), cross=())
    with pytest.raises(ValueError, match="the record has 0 layers; expected at least one"):
        lab(nothing)
    empty = make_record(target=(), written=())
    with pytest.raises(ValueError, match=r"the record's decoder and cross maps are empty"):
        lab(empty)


def test_one_token_a_side_has_no_previous_token(recwarn):
    record = make_record(source=("a",), target=("<bos>",), written=("b",))
    scores = {s["name"]: s["values"] for s in record_data(record)["scores"]["decoder"]}
    assert scores["entropy"] == [0.0] * 9
    assert scores["previous_token"] == scores["first_token"] == [None] * 9
    bundle = lab(record)._repr_mimebundle_()
    assert "1 queries down and 1 keys across" in bundle["text/plain"]
    assert not recwarn.list, "a mean of nothing"


def test_a_very_large_record_says_what_it_left_out(monkeypatch):
    record = make_record()
    exact = record_data(record)
    assert exact["left_out"] is None
    monkeypatch.setattr(data_module, "MOST_VALUES", 100)
    monkeypatch.setattr(data_module, "KEPT_KEYS", 3)
    data = record_data(record)
    shapes = [weights.shape for kind in KINDS for weights in getattr(record, kind)]
    lost, rows = 0.0, 0
    read = decoded(base64.b64decode(data["weights"]), shapes)
    everything = [weights for kind in KINDS for weights in getattr(record, kind)]
    for weights, seen in zip(everything, read, strict=True):
        kept = np.sort(weights, axis=-1)[..., -3:]
        np.testing.assert_allclose(np.sort(seen, axis=-1)[..., -3:], kept, atol=0.0006)
        assert np.all((seen > 0).sum(axis=-1) <= 3)
        lost += float((1 - kept.sum(axis=-1)).sum())
        rows += weights.shape[0] * weights.shape[1]
    said = re.fullmatch(
        r"In each row, only the 3 strongest of 7 weights are shown\. "
        r"The weights left out add up to (0\.\d+) per row on average\.",
        data["left_out"],
    )
    assert float(said[1]) == pytest.approx(lost / rows, abs=0.001)
    assert data["scores"] == exact["scores"], "scores are of the whole rows"


def test_rows_of_equal_weights_keep_no_more_than_was_said(monkeypatch):
    monkeypatch.setattr(data_module, "MOST_VALUES", 10)
    monkeypatch.setattr(data_module, "KEPT_KEYS", 3)
    even = np.full((1, 2, 7), 1 / 7, dtype=np.float32)
    kept, lost = data_module.strongest_of_each_row({"cross": [even]})
    assert np.all((kept["cross"][0] > 0).sum(axis=-1) == 3)
    assert lost == pytest.approx(4 / 7)


@pytest.mark.parametrize("kind", KINDS)
def test_each_score_is_given_for_its_kinds_where_the_record_knows_enough(kind):
    knows = {"referent": Referent(5, 1, 4, 2, 6), "alignment": ((0, 0), (1, 1), (4, 3))}
    for facts in ({}, {"referent": knows["referent"]}, {"alignment": knows["alignment"]}, knows):
        record = make_record(**facts)
        found = {score["name"]: score["values"] for score in head_scores(record, kind)}
        assert found == {
            score.name: [score.compute(record, head) for head in record.heads(kind)]
            for score in SCORES
            if kind in score.kinds and (score.needs is None or score.needs in facts)
        }


BOTH = ("encoder", "decoder")  # query and key are tokens of one sentence
WIRED = {
    "entropy": (KINDS, lambda record, head: entropy(record.weights(head))),
    "mean_distance": (BOTH, lambda record, head: mean_distance(record.weights(head))),
    "previous_token": (BOTH, lambda record, head: previous_token(record.weights(head))),
    "first_token": (BOTH, lambda record, head: first_token(record.weights(head))),
    "aer": (("cross",), head_alignment_error_rate),
    "referent": (("encoder", "cross"), referent_score),
}
"""Each score with the kinds of attention that have it, and what it is to be."""


@pytest.mark.parametrize("name", WIRED)
def test_scores_are_those_of_the_evaluation(name):
    record = make_record(referent=Referent(5, 1, 4, 2, 6), alignment=((0, 0), (1, 1), (4, 3)))
    kinds, of = WIRED[name]
    found = {
        kind: score["values"]
        for kind in KINDS
        for score in head_scores(record, kind)
        if score["name"] == name
    }
    assert found == {kind: [of(record, head) for head in record.heads(kind)] for kind in kinds}


def test_every_score_is_compared():
    assert set(WIRED) == {score.name for score in SCORES}


def test_no_two_scores_have_a_name_or_a_label_and_each_says_what_it_means():
    assert len({score.name for score in SCORES}) == len({s.label for s in SCORES}) == len(SCORES)
    assert {score.best for score in SCORES} <= {"low", "high"}
    assert all(score.means for score in SCORES)


def test_the_data_are_json_also_where_numbers_are_numpys(tmp_path, as_users_run_it):
    rng = np.random.default_rng(3)
    steps = tuple(
        tuple((token, np.float32(p)) for token, p in step) for step in probabilities(WRITTEN, rng)
    )
    record = make_record(
        next_tokens=steps,
        alignment=tuple((np.int64(i), np.int64(i)) for i in range(3)),
        referent=Referent(*np.arange(5)),
    )
    data = json.loads(json.dumps(record_data(record)))
    assert data["alignment"] == [[0, 0], [1, 1], [2, 2]]
    assert data["referent"]["step"] == 3
    assert data["next_tokens"][0][0] == ["le", pytest.approx(steps[0][0][1])]
    lab(record).to_html(tmp_path / "a.html")


def test_the_colours_are_those_of_the_courses_maps():
    rgb = np.frombuffer(base64.b64decode(page_data([make_record()])["colours"]), dtype=np.uint8)
    expected = matplotlib.colormaps["viridis"](np.linspace(0, 1, 256))[:, :3]
    np.testing.assert_allclose(rgb.reshape(256, 3) / 255, expected, atol=1 / 255)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (
            "kind=cross",
            r"start has the field 'kind'; expected only 'also', 'head', 'key', 'row', 'step'",
        ),
        ("head=c1.1&mute=c1.1", r"start has the field 'mute'; expected only"),
        (
            "head=e3.1",
            "start refers to e3.1, but the model has no such head; "
            "its last heads are e2.3, d3.3 and c3.3",
        ),
        ("head=e1.3", r"start refers to e1.3, but the model has no such head"),
        ("head=x1.1", r"start refers to x1.1, but the model has no such head"),
        ("head=c1.0", r"start refers to c1.0, but the model has no such head"),
        ("head=c1.1&also=c1.2,c4.1", r"start refers to c4.1, but the model has no such head"),
        (
            "head=c1.1&row=5&key=0",
            "row in start is '5'; expected an integer from 0 to 4",
        ),
        (
            "head=c1.1&row=0&key=7",
            "key in start is '7'; expected an integer from 0 to 6",
        ),
        ("head=e1.1&row=7", "row in start is '7'; expected an integer from 0 to 6"),
        ("row=5", "row in start is '5'; expected an integer from 0 to 4"),
        ("head=c1.1&row=-1", "row in start is '-1'"),
        ("head=c1.1&row=0.5", "row in start is '0.5'"),
    ],
)
def test_a_start_that_does_not_fit_is_named(start, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        lab(make_record(), start=start)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"sentences": "the cat"},
            "a record contains its own sentence; leave out the argument `sentences`, or call",
        ),
        ({"kernel": True, "sentences": "the cat"}, "a record needs no kernel"),
        (
            {"examples": [("a", "b")]},
            r"examples cannot be used with a record or a kernel, because the page contains no",
        ),
    ],
)
def test_a_record_is_not_asked_for_what_it_cannot_answer(arguments, message, as_users_run_it):
    with pytest.raises(ValueError, match=message):
        lab(make_record(), **arguments)


@pytest.mark.parametrize("kind", ["encoder", "decoder", "cross"])
def test_without_a_wish_the_sharpest_head_of_the_last_kind_is_open(kind):
    sizes = {other: (2, 3) if other == kind else () for other in KINDS}
    sides = {"target": (), "written": ()} if kind == "encoder" else {}
    record = make_record(seed=3, **sizes, **sides)
    sharp = {head: entropy(record.weights(head)) for head in record.heads(kind)}
    assert len(set(sharp.values())) == len(sharp)
    sharpest = min(sharp, key=sharp.__getitem__)
    page = lab(record)
    assert page.data["start"] == f"head={sharpest.code}"
    assert page.kind == kind
    assert (
        lab(record, start="view=map&row=2").data["start"] == f"head={sharpest.code}&view=map&row=2"
    )


def test_of_heads_with_and_without_a_name_one_with_a_name_is_open():
    record = make_record(seed=3)
    blurred = sorted(record.heads("cross"), key=lambda head: -entropy(record.weights(head)))
    names = {blurred[0]: "looks all around", blurred[1]: "looks at the end", blurred[-1]: "mixed"}
    opened = lab(record, names=names).data["start"]
    assert opened == f"head={blurred[1].code}", "the sharper one of the two"
    of_another_kind = {record.heads("encoder")[0]: "looks all around"}
    assert lab(record, names=of_another_kind).data["start"] == f"head={blurred[-1].code}"


def test_a_start_that_fits_is_taken():
    start = "head=c2.1&row=4&key=6&view=map&also=c1.1,c1.3"
    assert lab(make_record(), start=start).data["start"] == start


def test_the_words_are_called_by_their_languages_if_these_are_known():
    record = make_record()
    assert lab(record).data["languages"] == ["source", "target"]
    assert lab(record, languages=("English", "French")).data["languages"] == ["English", "French"]


def test_heads_have_the_names_that_are_given_and_else_their_codes():
    itself = np.eye(7, dtype=np.float32)[None]
    record = make_record(encoder=(1,), decoder=(), cross=(), target=(), written=())
    record = replace(record, encoder=(itself,))
    assert lab(record).data["names"] == {}, "one sentence is not enough to tell"
    assert lab(record, names=name_heads([record])).data["names"] == {"e1.1": "looks at itself"}


def test_a_full_disk_leaves_the_old_page_whole(tmp_path, monkeypatch):
    path = lab(make_record()).to_html(tmp_path / "a.html")
    before = path.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        lab(make_record(seed=1)).to_html(path, overwrite=True)
    assert [(p.name, p.read_bytes()) for p in tmp_path.iterdir()] == [("a.html", before)]


def test_what_is_no_json_is_no_page():
    with pytest.raises(ValueError, match="not JSON compliant"):
        saved.dump_json({"weight": float("nan")})


def test_to_html_is_one_file_that_is_not_overwritten_unasked(tmp_path):
    path = tmp_path / "a.html"
    page = lab(make_record())
    assert page.to_html(str(path)) == path
    first = path.read_bytes()
    other = lab(make_record(seed=1))
    with pytest.raises(
        ValueError, match=r"a.html already exists. Choose another name, or .* overwrite=True"
    ):
        other.to_html(path)
    assert path.read_bytes() == first
    other.to_html(path, overwrite=True)
    assert path.read_bytes() != first
    text = path.read_text(encoding="utf-8")
    addresses = set(re.findall(r"""(?:https?:)?//[\w.]+\.\w+[^\s"'`)]*""", text))
    assert addresses <= {"http://www.w3.org/2000/svg"}, "nothing is fetched: this is a name"
    assert not re.search(r"<(?:script|link|img)[^>]*(?:src|href)=[\"'](?!data:)", text)


def test_hostile_tokens_never_stand_raw_in_the_page(tmp_path):
    record = make_record(HOSTILE, (*HOSTILE[:4], "x"), HOSTILE[:5])
    path = lab(record).to_html(tmp_path / "a.html")
    text = path.read_text(encoding="utf-8")
    for token in HOSTILE[:3]:
        assert token not in text.replace("</script>\n", "")
    assert text.count("</script") == text.count("<script") == 2
    assert "<!--" not in text
    # The script's data still hold each token as it is.
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*)</script>', text)
    assert json.loads(data)["records"][0]["source"] == list(HOSTILE)
    bundle = lab(record)._repr_mimebundle_()
    assert (
        html.unescape(re.search(r'alt="([^"]*)"', bundle["text/html"])[1]) == bundle["text/plain"]
    )


def test_half_a_character_is_written_all_the_same(tmp_path):
    """A tokenizer of bytes may cut an emoji in two."""
    record = make_record(("\ud83d", *SOURCE[1:]))
    text = lab(record).to_html(tmp_path / "a.html").read_text(encoding="utf-8")
    assert "\\ud83d" in text


def image_in(bundle):
    """The picture of an output."""
    (packed,) = re.findall(r'src="data:image/webp;base64,([^"]+)"', bundle["text/html"])
    return Image.open(io.BytesIO(base64.b64decode(packed)))


def test_a_notebook_gets_a_picture_its_words_and_the_page():
    record = make_record()
    bundle = lab(record, start="head=e1.2")._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    alt = bundle["text/plain"]
    assert "Encoder attention of 5 heads in 2 layers" in alt
    assert "7 queries down and 7 keys across" in alt
    query, key = np.unravel_index(record.encoder[0][0].argmax(), (7, 7))
    weight = record.encoder[0][0].max()
    assert f"{SOURCE[query]} to {SOURCE[key]} {weight:.2f}" in alt
    assert image_in(bundle).width > 300
    assert f'<img alt="{html.escape(alt)}"' in bundle["text/html"]


def test_the_picture_shows_the_maps_in_its_pixels():
    """One head looks at key 3 alone: in its place stands one bright column."""
    record = make_record(encoder=(1,), decoder=(), cross=(), target=(), written=())
    alone = np.zeros((1, 7, 7), dtype=np.float32)
    alone[..., 3] = 1
    bundle = lab(replace(record, encoder=(alone,)))._repr_mimebundle_()
    image = image_in(bundle)
    pixels = np.asarray(image).astype(int)
    ends = (matplotlib.colormaps["viridis"]([0.0, 1.0])[:, :3] * 255).round()
    dark, bright = ((abs(pixels - end) <= 20).all(axis=-1) for end in ends)
    columns = np.flatnonzero((dark | bright).sum(axis=0) > 60)
    middle = (np.flatnonzero(bright.sum(axis=0) > 60).mean() - columns[0]) / np.ptp(columns)
    assert middle == pytest.approx(3.5 / 7, abs=0.02)
    assert bright.sum() / (dark | bright).sum() == pytest.approx(1 / 7, abs=0.02)


def test_the_picture_shows_what_the_decoder_may_not_see_in_grey_and_the_rest_in_colour():
    """Six words, a decoder that looks at itself alone: of 36 cells 15 are grey and 6 bright."""
    words = tuple("abcdef")
    record = make_record(encoder=(), decoder=(1,), cross=(), target=words, written=words)
    itself = np.eye(6, dtype=np.float32)[None]
    bundle = lab(replace(record, decoder=(itself,)))._repr_mimebundle_()
    image = image_in(bundle)
    pixels = np.asarray(image).astype(int)
    colours = {"grey": MASKED, "dark": matplotlib.colormaps["viridis"](0.0), "bright": "#fde725"}
    shares = {
        name: (abs(pixels - (np.array(to_rgb(colour)) * 255)) <= 20).all(axis=-1).sum()
        for name, colour in colours.items()
    }
    assert shares["grey"] / shares["bright"] == pytest.approx(15 / 6, rel=0.1)
    assert shares["dark"] / shares["bright"] == pytest.approx(15 / 6, rel=0.15)


def test_snapshots_come_before_the_record():
    snapshots = [make_record(seed=i, label=f"step {i}") for i in (1, 2)]
    data = lab(make_record(label="last"), snapshots=snapshots).data
    assert [record["label"] for record in data["records"]] == ["step 1", "step 2", "last"]


def test_muted_heads_are_in_the_data():
    muted = {Head("cross", 1, 2), Head("encoder", 0, 1)}
    data = record_data(make_record(muted=frozenset(muted)))
    assert data["muted"] == [("cross", 1, 2), ("encoder", 0, 1)]


def test_a_referent_that_lies_outside_is_named():
    with pytest.raises(ValueError, match=r"referent\.step is 5; expected 0 to 4"):
        make_record(referent=Referent(0, 1, 2, len(TARGET), 3))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"names": {"e1.1": "mine"}}, r"the keys of names include 'e1.1'; expected heads of the"),
        (
            {"names": {Head("encoder", 9, 9): "mine"}},
            r"the keys of names include e10.10; expected heads of the model, as Head",
        ),
        ({"languages": ("French",)}, r"languages is \('French',\); expected two names, such as"),
        ({"languages": "ab"}, r"languages is 'ab'; expected two names, such as"),
        ({"snapshots": make_record()}, r"snapshots is .*; expected a list of AttentionRecord"),
        ({"snapshots": [7]}, r"snapshots is \[7\]; expected a list of AttentionRecord"),
        (
            {"kernel": True},
            r"a record needs no kernel; leave out kernel=True",
        ),
        (
            {"start": "head=c1.1&row=²"},
            r"row in start is '²'; expected an integer from 0 to",
        ),
    ],
)
def test_options_that_do_not_fit_a_record_are_named(options, expected, as_users_run_it):
    with pytest.raises(ValueError, match=expected):
        lab(make_record(), **options)


def test_a_start_may_be_written_as_the_page_writes_its_address():
    record = make_record()
    page = lab(record, start="head=c1.1&also=c1.2%2Cc1.3&row=4")
    assert page.data["start"] == "head=c1.1&also=c1.2%2Cc1.3&row=4"
    with pytest.raises(ValueError, match=r"start refers to c1.9, but the model has no such head"):
        lab(record, start="head=c1.1&also=c1.2%2Cc1.9")
