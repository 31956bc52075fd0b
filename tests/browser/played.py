"""A page with views of a live lab, in which a test plays what lies between them and Python."""

import base64
import json
from pathlib import Path
from typing import Any

from playwright.sync_api import Locator, Page

from transformer_lab.lab import LabWidget
from transformer_lab.lab.page.saved import PAGE

TRAITS = ("kind", "layer", "head", "pinned", "stills", "data")
HOST = """
<div id="one"></div><div id="two"></div>
<script type="module">
const values = VALUES;
const listeners = [];
const hearing = (event) => listeners.filter(([e]) => e === event);
const tell = (event, message) => hearing(event).forEach(([, call]) => call(message));
window.sent = [];
window.saved = 0;
window.model = {
  get: (name) => values[name],
  set(name, value) { values[name] = value; tell(`change:${name}`); },
  save_changes: () => { window.saved += 1; },
  send: (message) => window.sent.push(message),
  on: (event, call) => listeners.push([event, call]),
  off(event, call) { listeners.splice(listeners.findIndex(([e, c]) => e === event && c === call), 1); },
  tell,
};
window.listening = () => listeners.length;
const module = await import(URL.createObjectURL(new Blob([SCRIPT], { type: "text/javascript" })));
const views = ["one", "two"].map((name) => document.getElementById(name));
window.close = await Promise.all(views.map((el) => module.default.render({ model: window.model, el })));
</script>
"""


def write_page(widget: LabWidget, path: Path) -> Path:
    """Write a page with two views of a widget, as anywidget would open them."""
    values = {name: getattr(widget, name) for name in TRAITS}
    body = HOST.replace("VALUES", dump(values)).replace("SCRIPT", dump(widget._esm))
    look = f"<style>{widget._css}</style>"
    path.write_text(PAGE.format(policy="", title="Live", body=look + body), encoding="utf-8")
    return path


def dump(value: Any) -> str:
    """JSON that may stand in a script; bytes as base64, as a saved page has them."""
    text = json.dumps(value, default=lambda data: base64.b64encode(data).decode())
    return text.replace("<", "\\u003c")


class Played:
    """A widget, and two views of it on a page; messages go from one to the other when a test says so."""

    def __init__(self, widget: LabWidget, page: Page):
        self.widget = widget
        self.page = page
        self.heard = 0
        self.sent: list[dict[str, Any]] = []
        widget.send = lambda content, buffers=None: self.sent.append(content)

    @property
    def views(self) -> list[Locator]:
        return [self.page.locator(f"#{name} .tl-lab") for name in ("one", "two")]

    @property
    def asked(self) -> list[dict[str, Any]]:
        """All questions that the page has sent."""
        return self.page.evaluate("sent")

    def traits(self) -> list:
        """Kind, layer, head and pinned cell as the page has them."""
        return self.page.evaluate("['kind', 'layer', 'head', 'pinned'].map(n => model.get(n))")

    def set(self, **traits: Any) -> None:
        """What Python sets, one after the other."""
        for name, value in traits.items():
            self.page.evaluate(f"model.set({dump(name)}, {dump(value)})")

    def hear(self) -> dict[str, Any]:
        """Let Python hear the page's next question, and nobody the answer yet; the question."""
        question = self.asked[self.heard]
        self.heard += 1
        self.widget.hear(self.widget, question, [])
        return question

    def answer(self) -> dict[str, Any]:
        """Let Python answer the page's next question; the question."""
        before = self.widget.data
        question = self.hear()
        if self.widget.data is not before:
            self.set(data=self.widget.data)
        self.page.evaluate("message => model.tell('msg:custom', message)", self.sent.pop())
        return question
