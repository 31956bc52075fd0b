"""Assemble the page's WebAssembly kernels, and write the bytes of each next to its source.

    python -m tools.assemble

`lab/page/engine/product.wat` multiplies matrices for everything that the page computes, and
`lab/page/learning/kernel.wat` does the rest of training. A test assembles both again and compares.
"""

import base64
from pathlib import Path

import wasmtime

PAGE = Path(__file__).parents[1] / "transformer_lab" / "lab" / "page"
SOURCES = (PAGE / "engine" / "product.wat", PAGE / "learning" / "kernel.wat")
HEADER = 8
"""The bytes before the first section."""
CUSTOM = 0
"""The kind of section that a program does not need, such as the names of its variables."""


def assemble(source: str) -> bytes:
    """Return the WebAssembly module of a source text, without the names in the source."""
    module = bytes(wasmtime.wat2wasm(source))
    kept, place = module[:HEADER], HEADER
    while place < len(module):
        size, body = read_number(module, place + 1)
        if module[place] != CUSTOM:
            kept += module[place : body + size]
        place = body + size
    return kept


def read_number(module: bytes, place: int) -> tuple[int, int]:
    """Read a number as WebAssembly writes it (LEB128); return it and the place after it."""
    value = shift = 0
    while True:
        byte = module[place]
        place += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, place


def bytes_file(source: Path) -> Path:
    """Return the file for the bytes of a source: product_bytes.js for product.wat."""
    return source.with_name(f"{source.stem}_bytes.js")


def javascript(source: Path, module: bytes) -> str:
    """Return the JavaScript file that holds a source's module."""
    return (
        f"// Written by `python -m tools.assemble` from {source.name}, not by hand.\n\n"
        f'export const {source.stem.upper()} = "{base64.b64encode(module).decode()}";\n'
    )


def main() -> None:
    """Write the files."""
    for source in SOURCES:
        module = assemble(source.read_text(encoding="utf-8"))
        bytes_file(source).write_text(javascript(source, module), encoding="utf-8")
        print(f"{source.name}: {len(module)} bytes")


if __name__ == "__main__":
    main()
