"""Assemble the WebAssembly kernel of the page's engine, and write its bytes next to its source.

    python -m tools.assemble

The source is `lab/page/engine/product.wat`. A test assembles it once more and compares.
"""

import base64
from pathlib import Path

import wasmtime

ENGINE = Path(__file__).parents[1] / "transformer_lab" / "lab" / "page" / "engine"
SOURCE = ENGINE / "product.wat"
BYTES = ENGINE / "product_bytes.js"
HEADER = 8
"""The bytes before the first section."""
CUSTOM = 0
"""The kind of a section that a program runs without, such as the names of its variables."""


def assemble(source: str) -> bytes:
    """Return the WebAssembly module of a source text, without the names that the source has."""
    module = bytes(wasmtime.wat2wasm(source))
    kept, place = module[:HEADER], HEADER
    while place < len(module):
        size, body = read_number(module, place + 1)
        if module[place] != CUSTOM:
            kept += module[place : body + size]
        place = body + size
    return kept


def read_number(module: bytes, place: int) -> tuple[int, int]:
    """Read a number as WebAssembly writes it (LEB128): the number, and the place after it."""
    value = shift = 0
    while True:
        byte = module[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def javascript(module: bytes) -> str:
    """Return the JavaScript file that holds a module."""
    return (
        "// Written by `python -m tools.assemble` from product.wat, not by hand.\n\n"
        f'export const PRODUCT = "{base64.b64encode(module).decode()}";\n'
    )


def main() -> None:
    """Write the file."""
    module = assemble(SOURCE.read_text(encoding="utf-8"))
    BYTES.write_text(javascript(module), encoding="utf-8")
    print(f"{len(module)} bytes")


if __name__ == "__main__":
    main()
