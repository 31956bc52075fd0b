"""The explorer on a running model: edit the sentence, mute heads, and see what changes."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import anywidget
import numpy as np
import traitlets
from IPython.display import display

from transformer_lab.attention.record import AttentionRecord, Head, Kind
from transformer_lab.config import check
from transformer_lab.lab.explorer.page import STYLES, ExplorerPage, check_pinned, start_values
from transformer_lab.lab.explorer.payload import drawn_kinds, page_data, record_data
from transformer_lab.lab.page.join import script, style


@runtime_checkable
class Attends(Protocol):
    """The interface that `AttentionExplorer` needs, which a `Translator` has."""

    def attend(
        self,
        source: str,
        *,
        mute: Iterable[Head] = (),
        patch: Mapping[Head, np.ndarray] | None = None,
    ) -> AttentionRecord:
        """Return the record of this sentence, with these heads muted or patched."""


class AttentionExplorer(anywidget.AnyWidget):
    """An explorer that asks a model: for a new sentence, or for the same one with heads changed.

        AttentionExplorer(translator, source="the cat sleeps", kind="encoder")

    `kind`, `layer`, `head` and `pinned` are traits: they can be set, observed, and linked to those
    of another explorer. What is asked in the page, Python answers; an answer that fails is said
    there, and the last one stays. `record` is the latest answer.

    Args:
        translator: Anything with `.attend(source, mute=…, patch=…)` that returns an `AttentionRecord`.
        source: The sentence to begin with.
        kind: "encoder", "decoder" or "cross"; by default the last one that the record has.
        layer: The layer of the head that is open at first, from 0; the page counts from 1.
        head: Its number in the layer, from 0. With neither, the head whose rows are sharpest (of
            least entropy) is open; with one of the two, the other is 0.
        pinned: The cell (query, key) that is pinned at first; None for a whole column or row.
        mute: Heads that are muted at first.
        snapshots: Earlier records of the same sentence; a slider runs through them. They leave
            when another sentence is asked.

    Raises:
        ValueError: If there is no such head or cell, and whatever `attend` raises for `source`.
    """

    _esm = script("explorer/widget.js")
    _css = style(*STYLES)

    kind = traitlets.Unicode().tag(sync=True)
    """Which attention is shown: "encoder", "decoder" or "cross"."""
    layer = traitlets.Int().tag(sync=True)
    """The layer of the open head, from 0."""
    head = traitlets.Int().tag(sync=True)
    """The number of the open head in its layer, from 0."""
    pinned = traitlets.List(trait=traitlets.Int(allow_none=True)).tag(sync=True)
    """The pinned cell [query, key]; None in it for a whole column or row; [] for none."""
    data = traitlets.Dict().tag(sync=True)
    """What the page draws; made here, read there."""
    stills = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    """Names of the pictures that stand beside the widget; where it lives it hides them."""

    def __init__(
        self,
        translator: Attends,
        *,
        source: str,
        kind: Kind | None = None,
        layer: int | None = None,
        head: int | None = None,
        pinned: Sequence[int | None] = (),
        mute: Iterable[Head] = (),
        snapshots: Sequence[AttentionRecord] = (),
    ):
        self.translator = translator
        self.snapshots = tuple(snapshots)
        self.snapshot_data = [record_data(record, packed=False) for record in self.snapshots]
        self.first_source = source
        self.plain: tuple[str, AttentionRecord] | None = None
        self.records, data = self.answer(source, [Head(*h) for h in mute], [])
        super().__init__(data=data, **start_values(self.record, kind, layer, head, pinned))
        self.on_msg(self.hear)

    @property
    def record(self) -> AttentionRecord:
        """The record of the latest answer."""
        return self.records[-1]

    def hear(self, _: Any, message: Any, __: Any) -> None:
        """Handle a message of the page: update the shown data, or send the error that occurred."""
        if not isinstance(message, dict) or "ask" not in message:
            return
        try:
            muted = [Head(*head) for head in message["mute"]]
            self.records, data = self.answer(message["source"], muted, message["patch"])
        except KeyboardInterrupt:  # the reader has stopped a slow model
            self.send({"answer": message["ask"], "error": "Interrupted."})
            return
        except Exception as error:  # whatever a model raises, the page shall say it
            said = str(error).strip().rstrip(".")
            if not isinstance(error, ValueError) or not said:
                said = f"{type(error).__name__}: {said}".removesuffix(": ")
            self.send({"answer": message["ask"], "error": f"{said}."})
            return
        self.settle()
        self.data = data | {"answers": message["ask"]}
        self.send({"answer": message["ask"]})

    def answer(
        self, source: str, mute: list[Head], patch: list[dict[str, Any]]
    ) -> tuple[tuple[AttentionRecord, ...], dict[str, Any]]:
        """Compute the records and the page's data for a sentence with heads muted and rows pointed.

        Returns:
            The records, the new one last, after the snapshots if they are of this sentence; and the
            data that the page draws. If something is changed, these hold the unchanged translation
            too.
        """
        if self.plain is None or self.plain[0] != source:
            self.plain = source, self.translator.attend(source)
        plain = self.plain[1]
        record = plain
        if mute or patch:
            record = self.translator.attend(source, mute=mute, patch=patched_weights(plain, patch))
        data = page_data([record], packed=False)
        (latest,) = data["records"]
        latest |= {"sentence": source, "patched": patch, "muted": sorted(mute)}
        if mute or patch:
            latest["before"] = plain.written_tokens
        if source != self.first_source:
            return (record,), data
        data["records"] = [*self.snapshot_data, latest]
        return (*self.snapshots, record), data

    def settle(self) -> None:
        """Choose another open head or pinned cell if no record has the present one.

        The nearest that the latest record has is opened.
        """
        if any(self.lacks(record) is None for record in self.records):
            return
        kinds = drawn_kinds(self.record)
        kind = self.kind if self.kind in kinds else kinds[-1]
        layers = getattr(self.record, kind)
        layer = min(self.layer, len(layers) - 1)
        head = min(self.head, len(layers[layer]) - 1)
        shape = layers[layer][head].shape
        inside = all(p is None or p < n for p, n in zip(self.pinned, shape, strict=False))
        values = {
            "kind": kind,
            "layer": layer,
            "head": head,
            "pinned": self.pinned if inside else [],
        }
        with self.hold_trait_notifications():
            for name, value in values.items():
                self.set_trait(name, value)

    def lacks(self, record: AttentionRecord, **changes: Any) -> ValueError | None:
        """Return an error if a record lacks the open head or the pinned cell; None if it has both.

        `changes` replace some of the present kind, layer, head and pinned cell.
        """
        now = {n: getattr(self, n) for n in ("kind", "layer", "head", "pinned")} | changes
        try:
            weights = record.weights(Head(now["kind"], now["layer"], now["head"]))
            check_pinned(now["pinned"], weights.shape)
        except ValueError as error:
            return error
        return None

    @traitlets.validate("kind", "layer", "head", "pinned")
    def _check(self, proposal: Any) -> Any:
        """Refuse what no record in view has; values set together are judged together, at the end.

        The page may be at a snapshot, whose translation is longer than the record's. Another kind
        or layer may have fewer heads: what is open then follows, see `settle`.
        """
        name, value = proposal["trait"].name, proposal["value"]
        changes: dict[str, Any] = {name: value}
        if name in ("kind", "layer"):
            changes |= {"head": 0, "pinned": []} | ({"layer": 0} if name == "kind" else {})
        reasons = [self.lacks(record, **changes) for record in self.records]
        if None in reasons:
            return value
        raise traitlets.TraitError(str(reasons[-1])) from reasons[-1]

    @traitlets.observe("kind", "layer")
    def _follow(self, _: Any) -> None:
        self.settle()

    def page(self) -> ExplorerPage:
        """Return the present view as an `ExplorerPage`, which needs no kernel and has `to_html`."""
        start = {"kind": self.kind, "layer": self.layer, "head": self.head, "pinned": self.pinned}
        return ExplorerPage(self.records, start)

    def _ipython_display_(self) -> None:
        """Show the widget, and then a picture for where no kernel answers.

        They are two outputs: of one, JupyterLab and nbconvert show the widget's view alone, and
        say "model not found" where it has gone.
        """
        still = self.still()
        live = super()._repr_mimebundle_()
        if live:
            display(live[0], raw=True)
        display(still, raw=True)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Both in one, for hosts that know no other way."""
        still = self.still()
        live = super()._repr_mimebundle_(**kwargs)
        return (live[0] if live else {}) | still, {}

    def still(self) -> dict[str, str]:
        """Return the picture of the present view, as HTML and alt text by MIME type.

        The HTML has a name by which the live widget hides the picture.
        """
        data = self.page().picture()
        name = hashlib.sha256(data["text/html"].encode()).hexdigest()[:12]
        if name not in self.stills:
            self.stills = [*self.stills, name]
        note = "All heads as a still picture; run this cell for the live explorer."
        image = data["text/html"]
        data["text/html"] = f'<div data-still="{name}"><p>{note}</p>{image}</div>'
        return data


def patched_weights(
    record: AttentionRecord, patch: Sequence[dict[str, Any]]
) -> dict[Head, np.ndarray]:
    """Return the whole weights (query, key) of each head to patch.

    They are the record's own, except for the rows that `patch` points at one key alone.
    """
    maps: dict[Head, np.ndarray] = {}
    for row in patch:
        head = Head(row["kind"], row["layer"], row["head"])
        weights = maps.setdefault(head, np.array(record.weights(head)))
        query, key = row["query"], row["key"]
        rows, columns = weights.shape
        expected = f"(query, key) below ({rows}, {columns})"
        check("patch", (query, key), expected, 0 <= query < rows and 0 <= key < columns)
        forbidden = head.kind == "decoder" and key > query
        check(
            "patch",
            (query, key),
            "key at most query: the decoder sees no later word",
            not forbidden,
        )
        weights[query] = 0
        weights[query, key] = 1
    return maps
