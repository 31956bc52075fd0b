"""The parts of a saved page: a still picture, data, and the script that replaces the picture."""

import hashlib
import html
import json
from pathlib import Path
from typing import Any

from transformer_lab.lab.page.policy import policy_meta
from transformer_lab.storage.files import write_atomically

PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
{policy}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
body {{ margin: 16px; font-family: system-ui, sans-serif; background: Canvas }}
h1 {{ max-width: 1180px; margin: 0 auto 12px; font-size: 1.375rem; font-weight: 600 }}
h1.unseen {{ position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }}
</style>
</head>
<body>
<main>
<h1 class="unseen">{title}</h1>
{body}
</main>
</body>
</html>
"""


def dump_json(data: Any) -> str:
    """Return data as JSON that is safe inside a `<script>` element: each `<` is escaped.

    Raises:
        ValueError: If the data contain NaN or infinity, which JSON cannot represent.
    """
    return json.dumps(data, allow_nan=False).replace("<", "\\u003c")


def fragment(kind: str, still: str, data: str, *, style: str, script: str, mount: str) -> str:
    """Return HTML with a still picture, and the script that replaces it with a view of `data`.

    The script ends by calling the function `mount` with a name that identifies both the picture and
    the data.
    """
    name = hashlib.sha256(data.encode()).hexdigest()[:12]
    # The data stand next to the script, not in it: a megabyte of JSON is read several times as
    # fast as a megabyte of program.
    return (
        f'<div data-{kind}="{name}">{still}</div>\n'
        f"<style>{style}</style>\n"
        f'<script type="application/json" data-of="{name}">{data}</script>\n'
        f'<script type="module">{script}{mount}("{name}");\n</script>'
    )


def write_page(
    path: str | Path, title: str, body: str, *, overwrite: bool, heading: bool = False
) -> Path:
    """Write a page atomically as one HTML file, and return its path.

    Screen readers always find the title as a heading; with `heading`, the title is also visible.

    Raises:
        ValueError: If the file exists and `overwrite` is not set.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path} already exists. Choose another name, or pass overwrite=True")
    # Part of a character, as found in byte-level tokens, becomes a question mark.
    whole = body.encode(errors="replace").decode()
    rest = {"title": html.escape(title).encode(errors="replace").decode(), "body": whole}
    page = PAGE.replace(' class="unseen"', "") if heading else PAGE
    text = page.format(policy=policy_meta(page.format(policy="", **rest)), **rest)
    write_atomically(path, text.encode())
    return path
