"""A page's security policy: the browser runs our own scripts, and none injected by others.

The content security policy (W3C, *Content Security Policy Level 3*) lists the hashes of all
scripts and styles in the page. The browser runs no other code, and loads nothing from other
servers.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser

NONE = "'none'"
DATA = "application/json"
"""The type of a `<script>` element that holds data and is never run."""
WASM = "'wasm-unsafe-eval'"
"""The policy source that lets a script compile WebAssembly, but not run text as JavaScript."""


class Inlined(HTMLParser):
    """An HTML parser that collects a page's inline scripts and styles.

    It stores them in `scripts` and `styles`, and the style attributes of elements in `attributes`.
    """

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.attributes: list[str] = []
        self.inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Store a tag's style attribute, and start collecting the text of a script or a style."""
        given = dict(attrs)
        if given.get("style"):
            self.attributes.append(given["style"] or "")
        is_run = tag == "script" and given.get("type") != DATA and "src" not in given
        self.inside = tag if is_run or tag == "style" else ""
        if self.inside:
            (self.scripts if tag == "script" else self.styles).append("")

    def handle_endtag(self, tag: str) -> None:
        """Stop collecting the text of a script or a style."""
        self.inside = ""

    def handle_data(self, data: str) -> None:
        """Add text to the current script or style, if there is one."""
        if self.inside:
            (self.scripts if self.inside == "script" else self.styles)[-1] += data


def hash_source(text: str) -> str:
    """Return the hash by which a content security policy allows a script or a style."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy_meta(
    page: str, instead: Mapping[str, str] | None = None, scripts: Sequence[str] = ()
) -> str:
    """Return the `<meta>` element with a page's content security policy.

    The policy allows the scripts and styles in the page by their hashes. If an inline script
    compiles WebAssembly, as the engine does for its matrix products, the policy allows that too. If
    a script creates a worker from text, the policy allows the worker, too. The worker has the same
    policy and may compile WebAssembly.

    Args:
        page: The page as HTML.
        instead: Sources that replace the default ones, keyed by directive, for a page made of
            several files.
        scripts: Additional sources from which the page may load scripts.
    """
    found = Inlined(page)
    looks = " ".join(map(hash_source, found.attributes))
    works = any("new Worker(" in script for script in found.scripts)
    compiles = [WASM] * (works or any("new WebAssembly." in script for script in found.scripts))
    sources = {
        "default-src": NONE,
        "script-src": " ".join([*scripts, *compiles, *map(hash_source, found.scripts)]) or NONE,
        "style-src-elem": " ".join(map(hash_source, found.styles)) or NONE,
        "style-src-attr": f"'unsafe-hashes' {looks}" if looks else NONE,
        "img-src": "data: blob:",
        **({"worker-src": "blob:"} if works else {}),
        "base-uri": NONE,
        "form-action": NONE,
        **(instead or {}),
    }
    said = "; ".join(f"{directive} {allowed}" for directive, allowed in sources.items())
    return f'<meta http-equiv="Content-Security-Policy" content="{said}">'
