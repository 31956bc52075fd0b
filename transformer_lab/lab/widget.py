"""The lab with a model in Python: edit the sentence, change heads, and see the new answer."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, cast, runtime_checkable

import anywidget
import traitlets
from IPython.display import display

from transformer_lab.attention.record import AttentionRecord, Head, Kind, PatchFunction
from transformer_lab.config import check
from transformer_lab.data.corpus import language_names
from transformer_lab.lab.address import read_address
from transformer_lab.lab.changes import Changes
from transformer_lab.lab.lab_page import STYLES, LabPage
from transformer_lab.lab.page.join import script, style
from transformer_lab.lab.record_data import drawn_kinds, page_data, record_data, words_data
from transformer_lab.lab.record_page import PLACES, place_of, record_page
from transformer_lab.lab.translator_page import names_by_code


@runtime_checkable
class Attends(Protocol):
    """The interface that `LabWidget` needs; `Translator` implements it."""

    def attend(
        self,
        source: str,
        *,
        mute: Iterable[Head] = (),
        patch: Mapping[Head, PatchFunction] | None = None,
    ) -> AttentionRecord:
        """Return the record of this sentence, with these heads muted or patched.

        A patch is a function that gets a head's own weights and returns the weights to use instead.
        """


class LabWidget(anywidget.AnyWidget):
    """A lab that runs the model in Python whenever the sentence or a head is changed.

    `lab(translator, "the cat sleeps", kernel=True)` creates one. `kind`, `layer`, `head` and
    `pinned` are traits: you can set them, observe them, and link them to those of another widget.
    If the model fails to answer, the page reports the error and keeps the last answer. `record` is
    the record from the latest answer.

    Args:
        translator: Anything with `.attend(source, mute=…, patch=…)` returning an `AttentionRecord`.
        sentence: The sentence to start with.
        start: The initial view and changes, written like an address; see `lab`.
        snapshots: Earlier records of the same sentence, which a slider goes through. They disappear
            when a different sentence is entered.
        languages: The names of the source and target languages; by default, those of the
            translator's corpus, if it names them.
        names: The names of the heads; by default, the page shows their codes.

    Raises:
        ValueError: If `start` names a head or cell that does not exist, or if `attend` rejects the
            sentence.
    """

    _esm = script("lab/widget.js")
    _css = style(*STYLES)

    kind = traitlets.Unicode().tag(sync=True)
    """The kind of the open head: "encoder", "decoder" or "cross"."""
    layer = traitlets.Int().tag(sync=True)
    """The layer of the open head, counted from 0."""
    head = traitlets.Int().tag(sync=True)
    """The index of the open head in its layer, counted from 0."""
    pinned = traitlets.List(trait=traitlets.Int(allow_none=True)).tag(sync=True)
    """The pinned cell as [query, key]; [query, None] pins a whole row, and [] pins nothing."""
    data = traitlets.Dict().tag(sync=True)
    """The data that the page draws, written by Python and read by the page."""
    stills = traitlets.List(trait=traitlets.Unicode()).tag(sync=True)
    """The names of the still pictures that the live widget hides."""

    def __init__(
        self,
        translator: Attends,
        sentence: str,
        *,
        start: str = "",
        snapshots: Sequence[AttentionRecord] = (),
        languages: tuple[str, str] | None = None,
        names: Mapping[Head, str] | None = None,
    ):
        self.translator = translator
        self.snapshots = tuple(snapshots)
        self.snapshot_data = [record_data(record, packed=False) for record in self.snapshots]
        self.first_sentence = sentence
        plain = translator.attend(sentence)
        self.plain = sentence, plain
        about = getattr(translator, "about", None) or {}
        self.languages = languages or language_names(about.get("corpus"))
        start, head = place_of(plain, start, PLACES | {"mute", "point"}, names)
        fields = read_address("start", start, plain.heads())
        self.names = names
        self.about = {
            "start": start,
            "languages": list(self.languages),
            "names": names_by_code(names, plain.heads()),
        }
        changes = Changes.from_address(fields)
        self.records, data = self.answer(sentence, Changes(), changes)
        # With heads muted the translation may have fewer words: the cell must be in it, too.
        place_of(self.record, start, PLACES | {"mute", "point"})
        for head_of_point, query, *_ in changes.points:
            rows = max(len(each.weights(head_of_point)) for each in (plain, self.record))
            expected = f"an integer from 0 to {rows - 1}"
            check("the row of a point in start", query, expected, query < rows)
        row, key = (int(fields[name]) if name in fields else None for name in ("row", "key"))
        pinned = [] if row is None and key is None else [row or 0, key]
        super().__init__(data=data, **head._asdict(), pinned=pinned)
        self.on_msg(self.hear)

    @property
    def record(self) -> AttentionRecord:
        """The record from the latest answer."""
        return self.records[-1]

    def hear(self, _: Any, message: Any, __: Any) -> None:
        """Handle a message from the page: update the page's data, or send back an error."""
        if not isinstance(message, dict) or "ask" not in message:
            return
        try:
            kept, changes = (Changes.from_page(message[name]) for name in ("kept", "changes"))
            self.records, data = self.answer(message["text"], kept, changes)
        except KeyboardInterrupt:  # the reader has stopped a slow model
            self.send({"answer": message["ask"], "error": "Interrupted."})
            return
        except Exception as error:  # whatever a model raises, the page should report it
            said = str(error).strip().rstrip(".")
            if not isinstance(error, ValueError) or not said:
                said = f"{type(error).__name__}: {said}".removesuffix(": ")
            self.send({"answer": message["ask"], "error": f"{said}."})
            return
        self.settle()
        self.data = data | {"answers": message["ask"]}
        self.send({"answer": message["ask"]})

    def answer(
        self, sentence: str, kept: Changes, changes: Changes
    ) -> tuple[tuple[AttentionRecord, ...], dict[str, Any]]:
        """Compute the records and the page's data for a sentence.

        Args:
            sentence: The sentence to translate.
            kept: The changes made to the model that serves as a comparison.
            changes: The changes made to the model that the page shows.

        Returns:
            The records (any snapshots of the same sentence, then the new record), and the data that
            the page draws. If `kept` and `changes` differ, the data include the words and
            probabilities of the comparison model.
        """
        if self.plain[0] != sentence:
            self.plain = sentence, self.translator.attend(sentence)
        record = self.attend_changed(changes)
        own = sentence == self.first_sentence
        data = page_data([record], packed=False) | self.about
        data["records"] = [*(self.snapshot_data if own else ()), *data["records"]]
        data["before"] = None if kept == changes else words_data(self.attend_changed(kept))
        data["question"] = {
            "text": sentence,
            "kept": kept.to_page(),
            "changes": changes.to_page(),
        }
        return (*(self.snapshots if own else ()), record), data

    def attend_changed(self, changes: Changes) -> AttentionRecord:
        """Return the record of the current sentence in the changed model."""
        sentence, plain = self.plain
        if changes == Changes():
            return plain
        return self.translator.attend(sentence, mute=changes.mute, patch=changes.patch(plain))

    def settle(self) -> None:
        """Open the nearest head in the latest record if no record has the current head and cell.

        A pinned cell that lies outside that head's map is unpinned.
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
        """Return an error if a record lacks the open head or the pinned cell, and None otherwise.

        `changes` overrides some of the current kind, layer, head and pinned cell.
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
        """Reject a value that fits no record. Values that are set together are checked together.

        The page may show a snapshot whose translation is longer than that of the latest record. If
        a new kind or layer has fewer heads, `settle` opens one that exists.
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

    def page(self) -> LabPage:
        """Return the current view as a separate page, which needs no kernel and has `to_html`."""
        places = zip(("row", "key"), self.pinned, strict=False)
        head = Head(cast(Kind, self.kind), self.layer, self.head)
        pinned = "".join(f"&{name}={place}" for name, place in places if place is not None)
        # What is open may belong to a snapshot, which can have more words than the latest record.
        isnt_there = self.lacks(self.record) is not None
        return record_page(
            self.record,
            start="" if isnt_there else f"head={head.code}{pinned}",
            snapshots=self.records[:-1],
            languages=self.languages,
            names=self.names,
        )

    def _ipython_display_(self) -> None:
        """Show the widget, and then a picture for places where no kernel runs.

        The two are separate outputs. In a combined output, JupyterLab and nbconvert would show only
        the widget, or "model not found" if the widget is gone.
        """
        still = self.still()
        live = super()._repr_mimebundle_()
        if live:
            display(live[0], raw=True)
        display(still, raw=True)

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget and the picture in one bundle, for hosts that need a single output."""
        still = self.still()
        live = super()._repr_mimebundle_(**kwargs)
        return (live[0] if live else {}) | still, {}

    def still(self) -> dict[str, str]:
        """Return the picture of the current view, as HTML and as alt text, by MIME type.

        The HTML carries an id (`data-still`), by which the live widget finds and hides the picture.
        """
        data = self.page().picture()
        name = hashlib.sha256(data["text/html"].encode()).hexdigest()[:12]
        if name not in self.stills:
            self.stills = [*self.stills, name]
        note = "All heads as a still picture; run this cell for the live lab."
        image = data["text/html"]
        data["text/html"] = f'<div data-still="{name}"><p>{note}</p>{image}</div>'
        return data


def check_pinned(pinned: Sequence[int | None], shape: tuple[int, ...]) -> None:
    """Raise a ValueError unless `pinned` is empty or lies inside a map of this shape."""
    rows, columns = shape
    expected = (
        f"[] or [query, key], where query is from 0 to {rows - 1}, and key is either None, for the "
        f"whole row, or from 0 to {columns - 1}"
    )
    check("pinned", pinned, expected, len(pinned) in (0, 2))
    query, key = pinned or (0, None)
    in_row = query is not None and 0 <= query < rows
    check("pinned", pinned, expected, in_row and (key is None or 0 <= key < columns))
