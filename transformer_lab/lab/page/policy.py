"""The policy of a page: it runs and loads what we wrote, and nothing that somebody planted in it.

A content-security policy (W3C, *Content Security Policy Level 3*) names each script and each style that
stands in the page by its hash. The browser runs no other, and asks no other machine for anything.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser

NONE = "'none'"
DATA = "application/json"
"""The type of a script that is read and never run."""


class Inlined(HTMLParser):
    """Collects what stands in a page: `scripts`, `styles`, and `attributes` that style an element."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.attributes: list[str] = []
        self.inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag begins: keep its style, and remember whether its text is to be kept."""
        given = dict(attrs)
        if given.get("style"):
            self.attributes.append(given["style"] or "")
        is_run = tag == "script" and given.get("type") != DATA and "src" not in given
        self.inside = tag if is_run or tag == "style" else ""
        if self.inside:
            (self.scripts if tag == "script" else self.styles).append("")

    def handle_endtag(self, tag: str) -> None:
        """A tag ends, and with it the text of a script or a style."""
        self.inside = ""

    def handle_data(self, data: str) -> None:
        """Text: of the script or the style that was begun, if one was."""
        if self.inside:
            (self.scripts if self.inside == "script" else self.styles)[-1] += data


def hash_source(text: str) -> str:
    """Return the hash by which a policy names a script or a style."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def policy_meta(
    page: str, instead: Mapping[str, str] | None = None, scripts: Sequence[str] = ()
) -> str:
    """Return the `<meta>` element for the head of a page that holds all its scripts and styles.

    Args:
        page: The page as HTML.
        instead: Directive → its sources, for a page that is more than one file.
        scripts: Where else its scripts may come from.
    """
    found = Inlined(page)
    looks = " ".join(map(hash_source, found.attributes))
    sources = {
        "default-src": NONE,
        "script-src": " ".join([*scripts, *map(hash_source, found.scripts)]) or NONE,
        "style-src-elem": " ".join(map(hash_source, found.styles)) or NONE,
        "style-src-attr": f"'unsafe-hashes' {looks}" if looks else NONE,
        "img-src": "data: blob:",
        "base-uri": NONE,
        "form-action": NONE,
        **(instead or {}),
    }
    said = "; ".join(f"{directive} {allowed}" for directive, allowed in sources.items())
    return f'<meta http-equiv="Content-Security-Policy" content="{said}">'
