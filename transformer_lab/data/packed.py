"""Read text files as lines of bytes, unpacking .gz, .zst and .zip.

`text_files`, `tables` and `folders` read files through this module. A file in an unsupported format
or encoding is refused; if the file can be converted, the message says how.
"""

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

PACKED_SUFFIXES = (".gz", ".zst")
TABLE_SUFFIXES = (".tsv", ".txt", ".csv", ".jsonl", ".ndjson")
MAGIC = {b"\x1f\x8b": ".gz", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip"}
"""The first bytes of compressed files, which show the format regardless of the file name."""
LONGEST_LINE = 10_000_000
"""The maximum number of bytes in a line; a longer line is truncated and counts as bad."""
UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
TMX_TO_TSV = (
    "import sys, xml.etree.ElementTree as e; "
    "[print(*(' '.join(''.join(s.itertext()).split()) for s in u.iter('seg')), sep=chr(9)) "
    "for u in e.parse(sys.stdin.buffer).iter('tu')]"
)
OTHER_FORMS = {
    ".tmx": f'is a TMX file. To convert it: {{}} | python -c "{TMX_TO_TSV}" > pairs.tsv',
    ".po": "is a PO file. To convert it, run `{} > unpacked.po`, `pip install translate-toolkit` "
    "and `po2csv unpacked.po pairs.csv`. "
    "Then train with --corpus pairs.csv --csv --source source --target target",
    ".xliff": "is an XLIFF file. To convert it, run `{} > unpacked.xlf`, "
    "`pip install translate-toolkit`, `xliff2po unpacked.xlf pairs.po` and "
    "`po2csv pairs.po pairs.csv`. "
    "Then train with --corpus pairs.csv --csv --source source --target target",
    ".xlsx": "is a spreadsheet. Save it as CSV, then train with --csv",
    ".parquet": "is a Parquet file. Put the file into a folder, and pass the path of that folder",
}
"""For each unsupported suffix, a phrase that names the format and says how to convert it."""
UNKNOWN_XML = (
    "is XML, but neither TMX nor XLIFF; expected one pair per line, with a tab between its texts"
)
BINARY_FORMS = {
    b"BZh91AY&SY": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!\x1a": "a RAR archive",
    b"%PDF-": "a PDF file",
    b"SQLite format 3\0": "an SQLite database",
    b"ARROW1\0": "an Arrow file",
    b"\x80\x04\x95": "a pickle",
}
"""The first bytes of binary files, which show the format regardless of the file name."""
SUFFIX_ALIASES = {".pot": ".po", ".xlf": ".xliff", ".ods": ".xlsx", ".xls": ".xlsx"}


@dataclass(frozen=True, slots=True)
class TextFile:
    """A text file: a file on disk, possibly compressed, or a `member` of a .zip."""

    path: Path
    member: str = ""

    def __str__(self) -> str:
        return f"{self.path}, {self.member}" if self.member else str(self.path)

    @property
    def name(self) -> str:
        """The file's name without a .gz or .zst suffix."""
        return strip_packing_suffix(self.member or self.path.name)

    def has_at_least_bytes(self, number: int) -> bool:
        """Return whether the file has at least this many bytes when unpacked.

        No more of the file is read than necessary.
        """
        if not self.member and detect_packing(self.path) is None:
            return self.path.stat().st_size >= number
        read = 0
        with open_unpacked(self) as file:
            while read < number and (block := file.read(1 << 20)):
                read += len(block)
        return read >= number


def strip_packing_suffix(name: str) -> str:
    """Remove a .gz or .zst suffix, in upper or lower case, from a file's name."""
    path = Path(name)
    return path.stem if path.suffix.lower() in PACKED_SUFFIXES else name


def text_suffix(name: str) -> str:
    """Return the suffix of a name in lower case, after removing .gz or .zst."""
    return Path(strip_packing_suffix(name)).suffix.lower()


def detect_packing(path: Path) -> str | None:
    """Detect a file's compression from its suffix or first bytes: ".gz", ".zst" or ".zip".

    Return None if the file is not compressed.
    """
    suffix = path.suffix.lower()
    if suffix in MAGIC.values():
        return suffix
    with path.open("rb") as file:
        head = file.read(4)
    return next((packing for magic, packing in MAGIC.items() if head.startswith(magic)), None)


def list_zip_members(path: Path) -> list[str]:
    """Return the names of the files in a .zip, leaving out folders and hidden files.

    Raises:
        ValueError: If the .zip is damaged.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except zipfile.BadZipFile as error:
        raise ValueError(f"{path} cannot be unpacked: {error}") from None
    return [name for name in names if not Path(name).name.startswith((".", "_"))]


@contextmanager
def open_unpacked(part: TextFile) -> Iterator[IO[bytes]]:
    """Open a file as a stream of decompressed bytes.

    Raises:
        ValueError: If the archive is damaged, has a password, or needs a library that is missing.
    """
    damaged: tuple[type[Exception], ...] = (
        *(EOFError, zlib.error, gzip.BadGzipFile, zipfile.BadZipFile),
        *(NotImplementedError, RuntimeError),  # a .zip with a password, or packed in another way
    )
    packing = detect_packing(part.path)
    inner = Path(part.member).suffix.lower()
    try:
        if packing == ".zip":
            with zipfile.ZipFile(part.path) as archive, archive.open(part.member) as member:
                if inner == ".zst":
                    zstd = import_zstd(part.path)
                    damaged += (zstd.ZstdError,)
                    yield zstd.open(member)
                else:
                    file = gzip.GzipFile(fileobj=member) if inner == ".gz" else member
                    yield cast(IO[bytes], file)
        elif packing == ".gz":
            with gzip.open(part.path) as file:
                yield cast(IO[bytes], file)
        elif packing == ".zst":
            zstd = import_zstd(part.path)
            damaged += (zstd.ZstdError,)
            with zstd.open(part.path) as file:
                yield file
        else:
            with part.path.open("rb") as file:
                yield file
    except damaged as error:
        raise ValueError(f"{part} cannot be unpacked: {error}") from None


def import_zstd(path: Path) -> Any:
    """Import and return the library that unpacks .zst files.

    Raises:
        ValueError: If it is not installed; the message says how to install it.
    """
    try:
        from backports import zstd
    except ImportError:
        install = 'pip install "transformer-lab[corpora]"'
        raise ValueError(
            f"{path} needs the package `backports.zstd`, which is not installed. Install it with "
            f"{install}"
        ) from None
    return zstd


def read_lines(part: TextFile) -> Iterator[bytes]:
    """Yield a file's lines as bytes without newlines, leaving out blank lines at the end.

    Raises:
        ValueError: If the file is damaged, or its first line shows that it is not UTF-8 text.
    """
    empty = 0
    for line in read_raw_lines(part):
        if line.strip():
            yield from [b""] * empty
            empty = 0
            yield line
        else:
            empty += 1


def read_raw_lines(part: TextFile) -> Iterator[bytes]:
    """Yield all lines of a file as bytes without newlines, truncated to `LONGEST_LINE` bytes.

    Raises:
        ValueError: If the file is damaged, or its first line shows that it is not UTF-8 text.
    """
    with open_unpacked(part) as file:
        first = True
        while line := file.readline(LONGEST_LINE):
            if first:
                refuse_non_utf8(part, line)
                line, first = line.removeprefix(codecs.BOM_UTF8), False
            end = line
            while len(end) == LONGEST_LINE and not end.endswith(b"\n"):
                end = file.readline(LONGEST_LINE)
            yield line.removesuffix(b"\n")


def refuse_other_forms(part: TextFile) -> None:
    """Raise a ValueError if a file's suffix names an unsupported format, such as .tmx or .xlsx.

    The message says how to convert the file. `OTHER_FORMS` lists the suffixes.
    """
    suffix = text_suffix(part.name)
    form = OTHER_FORMS.get(SUFFIX_ALIASES.get(suffix, suffix))
    if form:
        raise ValueError(f"{part} {form.format(unpack_command(part))}")


def name_converted(part: TextFile, mark: str) -> str:
    """Return a shell-quoted name for a converted file, such as train.utf8.de for train.de.

    The suffix is kept, so the names of two parallel files still match.
    """
    name = Path(part.name)
    return shlex.quote(f"{name.stem}.{mark}{name.suffix}")


def unpack_command(part: TextFile) -> str:
    """Return a shell command, for error messages, that prints a file's unpacked content."""
    path, member = shlex.quote(str(part.path)), shlex.quote(part.member)
    packing = detect_packing(part.path) if part.path.is_file() else None
    if packing == ".zip":
        inner = {".gz": " | gzip -dc", ".zst": " | zstd -dc"}.get(
            Path(part.member).suffix.lower(), ""
        )
        return f"unzip -p {path} {member}{inner}"
    return {".gz": "gzip -dc", ".zst": "zstd -dc", None: "cat"}[packing] + f" {path}"


def refuse_non_utf8(part: TextFile, line: bytes) -> None:
    """Raise a ValueError if the first line shows that a file is not line-based UTF-8 text.

    If the file can be converted, the message says how.
    """
    begins, how = line[:1_000], unpack_command(part)
    binary = next((form for magic, form in BINARY_FORMS.items() if line.startswith(magic)), None)
    if line[257:262] == b"ustar":
        raise ValueError(f"{part} is a tar archive. To unpack it: {how} | tar -x")
    if binary or b"\0\0\0\0" in begins:
        raise ValueError(
            f"{part} is {binary or 'a binary file'}; expected UTF-8 text, uncompressed or in a "
            ".gz, .zst or .zip file"
        )
    has_half = any(pair in begins for pair in (b"\t\0", b"\0\t"))
    if line.startswith(UTF_16) or has_half or 4 * begins.count(0) > len(begins):
        how = f"{how} | iconv -f UTF-16 -t UTF-8 > {name_converted(part, 'utf8')}"
        raise ValueError(f"{part} is in UTF-16; expected UTF-8. To convert it: {how}")
    opened = line.lstrip(codecs.BOM_UTF8).lstrip()
    if opened.startswith((b"<?xml", b"<tmx", b"#", b"msgid")) and b"\t" not in line:
        refuse_xml_and_po(part)
    if b"\r" in line.rstrip() and not line.endswith(b"\n"):
        raise ValueError(
            f"{part} ends its lines with \\r only; expected \\n. To convert it: {how} | "
            f"tr '\\r' '\\n' > {name_converted(part, 'lf')}"
        )
    if text_suffix(part.name) == ".json" and (line.startswith(b"[") or line.strip() == b"{"):
        how = f"{how} | jq -c '.[]' > pairs.jsonl"
        raise ValueError(
            f"{part} is a single JSON value; expected one value per line. To convert it: {how}"
        )
    if line.startswith(b"PAR1"):
        raise ValueError(f"{part} {OTHER_FORMS['.parquet']}")


def refuse_xml_and_po(part: TextFile) -> None:
    """Raise a ValueError if a file begins like XML or PO, regardless of its suffix.

    For TMX, XLIFF and PO, the message says how to convert the file.
    """
    with open_unpacked(part) as file:
        begins = file.read(4_000).lower()
    known = {b"<tmx": ".tmx", b"<xliff": ".xliff", b'msgid "': ".po"}
    form = next((OTHER_FORMS[kind] for sign, kind in known.items() if sign in begins), UNKNOWN_XML)
    if form != UNKNOWN_XML or b"<?xml" in begins:
        raise ValueError(f"{part} {form.format(unpack_command(part))}")


def is_pipe(path: Path) -> bool:
    """Return whether a path is a pipe (a FIFO or /dev/stdin), which can be read only once."""
    try:
        return stat.S_ISFIFO(path.stat().st_mode)
    except (OSError, ValueError):  # a name may hold a NUL
        return False
