"""The bytes of a text file: out of .gz, .zst or .zip, line by line; what is no text is refused."""

import codecs
import gzip
import shlex
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from transformer_lab.config import check

PACKED = (".gz", ".zst")
TABLES = (".tsv", ".txt", ".csv", ".jsonl", ".ndjson")
MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip"}
"""How packed files begin, whatever they are called."""
LONGEST_LINE = 10_000_000
"""Bytes: of a longer line only so many are kept, and it is bad."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
TMX_TO_TSV = (
    "import sys, xml.etree.ElementTree as e; "
    "[print(*(' '.join(''.join(s.itertext()).split()) for s in u.iter('seg')), sep=chr(9)) "
    "for u in e.parse(sys.stdin.buffer).iter('tu')]"
)
OTHER_FORMS = {
    ".tmx": f'is TMX. To convert it: {{}} | python -c "{TMX_TO_TSV}" > pairs.tsv',
    ".po": "is a PO file. To convert it: {} > pairs.po, then pip install translate-toolkit, "
    "then po2csv pairs.po pairs.csv, "
    "then train --corpus pairs.csv --csv --source source --target target",
    ".xliff": "is XLIFF. To convert it: {} > pairs.xlf, then pip install translate-toolkit, "
    "then xliff2po pairs.xlf pairs.po, "
    "then po2csv pairs.po pairs.csv",
    ".xlsx": "is a spreadsheet. Save it as CSV, then train with --csv",
    ".parquet": "is a Parquet file. Put it into a folder, and give the folder",
}
"""By the end of a name: what is not read, and how it becomes what is."""
XML = (
    "is XML, and neither TMX nor XLIFF; expected a line for each pair, with a tab between its texts"
)
NO_TEXT = {
    b"BZh91AY&SY": "bzip2",
    b"\xfd7zXZ": "xz",
    b"7z\xbc\xaf": "7-Zip",
    b"Rar!\x1a": "RAR",
    b"%PDF-": "PDF",
    b"SQLite format 3\0": "an SQLite database",
    b"ARROW1\0": "Arrow",
    b"\x80\x04\x95": "a pickle",
}
"""How files begin that hold no lines of text, whatever they are called."""
SAME_FORMS = {".pot": ".po", ".xlf": ".xliff", ".ods": ".xlsx", ".xls": ".xlsx"}


@dataclass(frozen=True, slots=True)
class Part:
    """A text file: one of its own, or a member of a .zip."""

    path: Path
    member: str = ""

    def __str__(self) -> str:
        return f"{self.path}, {self.member}" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """Its name without the end that says how it is packed."""
        return plain_name(self.member or self.path.name)

    def bytes_at_least(self, number: int) -> bool:
        """Whether it has so many bytes once it is unpacked; no more of them are read."""
        if not self.member and packing_of(self.path) is None:
            return self.path.stat().st_size >= number
        read = 0
        with unpacked(self) as file:
            while read < number and (block := file.read(1 << 20)):
                read += len(block)
        return read >= number


def plain_name(name: str) -> str:
    """A file's name without .gz or .zst at its end, also in capitals."""
    path = Path(name)
    return path.stem if path.suffix.lower() in PACKED else name


def suffix_of(name: str) -> str:
    """What a name ends in, without its packing, in small letters."""
    return Path(plain_name(name)).suffix.lower()


def packing_of(path: Path) -> str | None:
    """How a file is packed, as ".gz", by the end of its name or else by its first bytes; or None."""
    suffix = path.suffix.lower()
    if suffix in MAGIC.values():
        return suffix
    with path.open("rb") as file:
        head = file.read(4)
    return next((packing for magic, packing in MAGIC.items() if head.startswith(magic)), None)


def members_of(path: Path) -> list[str]:
    """The files of a .zip, but for hidden ones and folders; a ValueError if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path}: damaged: {error}; expected a whole .zip file") from None
    return [name for name in names if not Path(name).name.startswith((".", "_"))]


@contextmanager
def unpacked(part: Part) -> Iterator[IO[bytes]]:
    """A file as bytes, without its packing; a ValueError if that is damaged."""
    damaged: tuple[type[Exception], ...] = (
        *(EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile),
        *(NotImplementedError, RuntimeError),  # a .zip with a password, or packed in another way
    )
    packing = packing_of(part.path)
    inner = Path(part.member).suffix.lower()
    try:
        if packing == ".zip":
            with zipfile.ZipFile(part.path) as archive, archive.open(part.member) as member:
                if inner == ".zst":
                    zstd = zstd_for(part.path)
                    damaged += (zstd.ZstdError,)
                    yield zstd.open(member)
                else:
                    file = gzip.GzipFile(fileobj=member) if inner == ".gz" else member
                    yield cast(IO[bytes], file)
        elif packing == ".gz":
            with gzip.open(part.path) as file:
                yield cast(IO[bytes], file)
        elif packing == ".zst":
            zstd = zstd_for(part.path)
            damaged += (zstd.ZstdError,)
            with zstd.open(part.path) as file:
                yield file
        else:
            with part.path.open("rb") as file:
                yield file
    except damaged as error:
        raise ValueError(f"{part}: damaged: {error}; expected a whole {packing} file") from None


def zstd_for(path: Path) -> Any:
    """The library that unpacks .zst; a ValueError says how to get it."""
    try:
        from backports import zstd
    except ImportError:
        expected = 'pip install "transformer-lab[corpora]" for .zst'
        check("corpus", str(path), expected, holds=False)
    return zstd


def lines_of(part: Part) -> Iterator[bytes]:
    """The lines of a file, without their ends, and without empty ones after the last.

    A ValueError for what is no text in UTF-8 at all.
    """
    empty = 0
    for line in raw_lines(part):
        if line.strip():
            yield from [b""] * empty
            empty = 0
            yield line
        else:
            empty += 1


def raw_lines(part: Part) -> Iterator[bytes]:
    """All lines of a file, without their ends; a very long one is cut."""
    with unpacked(part) as file:
        first = True
        while line := file.readline(LONGEST_LINE):
            if first:
                refuse_other_text(part, line)
                line, first = line.removeprefix(codecs.BOM_UTF8), False
            end = line
            while len(end) == LONGEST_LINE and not end.endswith(b"\n"):
                end = file.readline(LONGEST_LINE)
            yield line.removesuffix(b"\n")


def refuse_other_forms(part: Part) -> None:
    """A ValueError for a file whose name says that it is in another form, with the way to convert it."""
    suffix = suffix_of(part.name)
    form = OTHER_FORMS.get(SAME_FORMS.get(suffix, suffix))
    if form:
        raise ValueError(f"{part} {form.format(printed(part))}")


def printed(part: Part) -> str:
    """The shell's command that prints a file without its packing."""
    path, member = shlex.quote(str(part.path)), shlex.quote(part.member)
    packing = packing_of(part.path) if part.path.is_file() else None
    if packing == ".zip":
        inner = {".gz": " | gzip -dc", ".zst": " | zstd -dc"}.get(
            Path(part.member).suffix.lower(), ""
        )
        return f"unzip -p {path} {member}{inner}"
    return {".gz": "gzip -dc", ".zst": "zstd -dc", None: "cat"}[packing] + f" {path}"


def refuse_other_text(part: Part, line: bytes) -> None:
    """A ValueError for a file whose first line says that it is not text in UTF-8, with the remedy."""
    begins, how = line[:1_000], printed(part)
    binary = next((form for magic, form in NO_TEXT.items() if line.startswith(magic)), None)
    if line[257:262] == b"ustar":
        raise ValueError(f"{part} is a tar archive. To unpack it: {how} | tar -x")
    if binary or b"\0\0\0\0" in begins:
        raise ValueError(
            f"{part} is {binary or 'binary'}; expected text in UTF-8, as it is or in .gz, .zst or .zip"
        )
    has_half = any(pair in begins for pair in (b"\t\0", b"\0\t"))
    if line.startswith(UTF_16) or has_half or 4 * begins.count(0) > len(begins):
        how = f"{how} | iconv -f UTF-16 -t UTF-8 > pairs.tsv"
        raise ValueError(f"{part} is in UTF-16; expected UTF-8. To convert it: {how}")
    opened = line.lstrip(codecs.BOM_UTF8).lstrip()
    if opened.startswith((b"<?xml", b"<tmx", b"#", b"msgid")) and b"\t" not in line:
        refuse_by_content(part)
    if b"\r" in line.rstrip() and not line.endswith(b"\n"):
        raise ValueError(
            f"{part} ends its lines with \\r alone; expected \\n. To convert it: {how} | "
            "tr '\\r' '\\n' > pairs.tsv"
        )
    if suffix_of(part.name) == ".json" and (line.startswith(b"[") or line.strip() == b"{"):
        how = f"{how} | jq -c '.[]' > pairs.jsonl"
        raise ValueError(
            f"{part} is one JSON value; expected one on each line. To convert it: {how}"
        )
    if line.startswith(b"PAR1"):
        raise ValueError(f"{part} {OTHER_FORMS['.parquet']}")


def refuse_by_content(part: Part) -> None:
    """A ValueError for a file that begins as XML or PO does, whatever its name, with the remedy."""
    with unpacked(part) as file:
        begins = file.read(4_000).lower()
    known = {b"<tmx": ".tmx", b"<xliff": ".xliff", b'msgid "': ".po"}
    form = next((OTHER_FORMS[kind] for sign, kind in known.items() if sign in begins), XML)
    if form != XML or b"<?xml" in begins:
        raise ValueError(f"{part} {form.format(printed(part))}")


def is_pipe(path: Path) -> bool:
    """Whether what is read there is gone, as of a FIFO and of /dev/stdin behind a pipe."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):  # a name may hold a NUL
        return False
