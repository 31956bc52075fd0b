"""Fetch Debian and Ubuntu package descriptions through apt, and extract sentence pairs.

`corpora.debian` caches and splits the pairs. Each package has an English description, which
volunteers translate. Every mirror has one list per language, such as `Translation-en`.
`fetch_description_lists` asks apt to fetch these lists into a temporary folder, and `build_rows`
turns them into sentence pairs.
"""

import os
import re
import shutil
import statistics
import subprocess
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

from transformer_lab.config import join_with_or
from transformer_lab.data.pair import Pair
from transformer_lab.data.text import check_visible_text


class CorpusUnavailable(RuntimeError):  # noqa: N818 - a state of the machine, not a mistake
    """Raised when a corpus cannot currently be fetched on this machine.

    The message says why, and what to use instead.
    """


class Row(NamedTuple):
    """A sentence pair, and the family of the package that it describes (see `family`)."""

    family: str
    pair: Pair


# --- fetch the lists -------------------------------------------------------------------------

# Clearing the targets leaves out the big package indices. Clearing the hooks keeps other programs
# from running after an update. Everything that apt writes goes into one folder of our own.
APT_CONFIGURATION = """
#clear APT::Update;
#clear DPkg;
#clear Acquire::IndexTargets;
#clear Acquire::Languages;
Acquire::IndexTargets::deb::Translations {{
  MetaKey "$(COMPONENT)/i18n/Translation-$(LANGUAGE)";
  ShortDescription "Translation-$(LANGUAGE)";
  Description "$(RELEASE)/$(COMPONENT) Translation-$(LANGUAGE)";
}};
Acquire::Languages {{ "en"; "{language}"; }};
Acquire::GzipIndexes "false";
Acquire::Retries "2";
Acquire::http::Timeout "20";
Acquire::https::Timeout "20";
APT::Sandbox::User "";
Dir::State "{folder}/state";
Dir::Cache "{folder}/cache";
"""
LONGEST_FETCH = 600
"""The timeout for a fetch, in seconds."""


def corpus_unavailable(reason: str) -> CorpusUnavailable:
    """Return a `CorpusUnavailable` error whose one-line message gives this reason."""
    return CorpusUnavailable(
        f"cannot get package descriptions: {reason}. The corpus `world` needs neither apt nor "
        "a network"
    )


def fetch_description_lists(language: str) -> tuple[list[str], list[str]]:
    """Fetch the English and translated description lists from this machine's mirrors.

    The content of each list is returned as a string.

    Raises:
        ValueError: If the mirrors have no list in this language.
        CorpusUnavailable: If there is no apt, or it could not fetch the lists.
    """
    apt = shutil.which("apt-get")
    if apt is None:
        raise corpus_unavailable("there is no apt-get on this machine")
    with tempfile.TemporaryDirectory(prefix="transformer_lab-") as name:
        folder = Path(name)
        (folder / "state/lists/partial").mkdir(parents=True)
        (folder / "cache").mkdir()
        configuration = folder / "apt.conf"
        configuration.write_text(APT_CONFIGURATION.format(language=language, folder=folder))
        try:
            run = subprocess.run(  # noqa: S603 - apt-get from the user's own PATH
                [apt, "-q", "-c", configuration, "update"],
                env=os.environ | {"LC_ALL": "C"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=LONGEST_FETCH,
                text=True,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            raise corpus_unavailable(f"apt-get took more than {LONGEST_FETCH} seconds") from None
        except OSError as error:
            raise corpus_unavailable(f"apt-get could not be started ({error.strerror})") from None
        return read_lists(folder / "state/lists", language, run.stderr)


def read_lists(folder: Path, language: str, complaints: str) -> tuple[list[str], list[str]]:
    """Return the text of the English and translated lists that apt has written to a folder.

    `complaints` is apt's standard error output, which shows whether the lists are complete. The
    exit code does not show this, because apt also reports a failure if an unrelated mirror fails.

    Raises:
        ValueError: If the mirrors have lists, but none in this language.
        CorpusUnavailable: If a list is missing or incomplete.
    """
    # apt writes _ for a slash, so it has to write the _ of pt_BR as %5f.
    files = {unquote(path.name): path for path in sorted(folder.iterdir()) if path.is_file()}
    texts = {name: path.read_text("utf-8", "replace") for name, path in files.items()}
    ending = f"_Translation-{language}"
    english = [name for name in texts if name.endswith("_Translation-en")]
    translated = [name for name in texts if name.endswith(ending)]
    releases = " ".join(text for name, text in texts.items() if name.endswith("Release"))
    offered = set(re.findall(r"i18n/Translation-([A-Za-z][\w@-]*)", releases)) - {"en"}
    if not translated and offered and language not in offered:
        raise ValueError(
            f"language is {language!r}; expected {join_with_or(map(repr, sorted(offered)))}, "
            "because this machine's mirrors have no other translations"
        )
    alone = {name.removesuffix(ending) + "_Translation-en" for name in translated} - set(english)
    broken = re.search(rf"Failed to fetch \S*Translation-{re.escape(language)}\b", complaints)
    if not translated or alone or broken:
        why = re.search(r"(?:Failed|Unable|Could not) .*", complaints)
        reason = why.group() if why else "its sources do not offer them"
        raise corpus_unavailable(f"apt-get could not fetch the lists ({reason})")
    return [texts[name] for name in english], [texts[name] for name in translated]


# --- from lists to pairs ---------------------------------------------------------------------


class Description(NamedTuple):
    """A package description from a list: the package, a checksum, and the lines below the title."""

    package: str
    digest: str
    lines: list[str]


# A translators' tool shows a no-break space as a dot, and the dot has stayed in many texts.
TYPOGRAPHY = str.maketrans({"⋅": " ", "’": "'", "ʼ": "'", "\u00ad": "", "\u200b": "", "\ufeff": ""})


def parse_descriptions(text: str) -> Iterator[Description]:
    """Yield the descriptions in one list, skipping other records."""
    for stanza in unicodedata.normalize("NFC", text).translate(TYPOGRAPHY).split("\n\n"):
        fields: dict[str, str] = {}
        lines: list[str] = []
        for line in stanza.split("\n"):
            if line.startswith(" "):
                lines.append(line)
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
        if "Package" in fields and "Description-md5" in fields:
            yield Description(fields["Package"], fields["Description-md5"], lines)


BULLET = re.compile(r"(?:[-*+•·–—−‣◦o]|\d+[.)])\s+(?=\S)")


def split_paragraphs(lines: Iterable[str]) -> list[list[str]]:
    """Split a description into paragraphs, each a list of blocks.

    A block is a stretch of wrapped text, one item of a bulleted list without its bullet, or a
    single indented line, which is meant to be displayed verbatim.
    """
    result: list[list[str]] = [[]]
    depth, listed = 0, False
    for line in lines:
        text = line.strip()
        indent = len(line) - len(line.lstrip())
        bullet = BULLET.match(text)
        as_it_is = indent > 1 and not (listed and indent > depth)
        if text == ".":
            result.append([])
        elif bullet or as_it_is or not result[-1] or indent < depth:
            result[-1].append(text[bullet.end() :] if bullet else text)
            depth, listed = indent, bool(bullet)
        else:
            result[-1][-1] += " " + text
    return [[tidy_block(block) for block in blocks] for blocks in result if blocks]


# Han and Kana are written without spaces, so a space between them only shows where a line ended.
UNSPACED = r"[\u3000-\u9fff\uff00-\uffef]"


def tidy_block(block: str) -> str:
    """Return a block as one line with single spaces, without trailing commas or semicolons."""
    line = " ".join(block.split()).rstrip(" ;,；，、")
    return re.sub(rf"(?<={UNSPACED}) (?={UNSPACED})", "", line)


END = re.compile(r"[.!?…]+[\"'»”)\]]*\s+(?=\S)|[。！？]+[」』）]*\s*(?=\S)")
INITIALS = re.compile(r"\W*(?:[^\W\d]\.)*[^\W\d]")


def split_sentences(text: str) -> list[str]:
    """Split text in any language into sentences at punctuation marks.

    A new sentence never starts with a lower-case letter, or after "e.g." or an initial.
    """
    parts, start = [], 0
    for end in END.finditer(text):
        word = text[start : end.start()].rsplit(maxsplit=1)[-1:]
        initials = word and end.group()[0] == "." and INITIALS.fullmatch(word[0])
        if not initials and not text[end.end()].islower():
            parts.append(text[start : end.end()].strip())
            start = end.end()
    return [*parts, text[start:]]


def pair_sentences(english: Iterable[str], translated: Iterable[str]) -> Iterator[Pair]:
    """Yield pairs from a description and its translation, matched by position.

    Paragraphs, blocks and sentences are paired if both sides have the same number of them. If the
    sentence counts differ, the whole block is one pair. If the block counts differ, the paragraph
    is skipped. If the paragraph counts differ, the whole description is skipped.
    """
    lefts, rights = split_paragraphs(english), split_paragraphs(translated)
    if len(lefts) != len(rights):
        return
    for left, right in zip(lefts, rights, strict=True):
        if len(left) != len(right):
            continue
        for source, target in zip(left, right, strict=True):
            sources, targets = split_sentences(source), split_sentences(target)
            together = len(sources) == len(targets)
            yield from map(Pair, sources, targets) if together else [Pair(source, target)]


LONGEST = 400
"""The maximum number of characters per side; a longer text is usually a list without bullets."""
MOST_UNUSUAL = 1.75
"""The largest factor by which a pair's length ratio may differ from the median ratio."""


def is_prose(pair: Pair) -> bool:
    """Return whether a pair is translated prose rather than a name, a URL, code or a copy."""
    source, target = ({*re.findall(r"\w+", s.casefold())} for s in (pair.source, pair.target))
    return (
        len(pair.source.split()) >= 3
        and max(len(pair.source), len(pair.target)) <= LONGEST
        and "://" not in pair.source
        and "\ufffd" not in pair.source + pair.target
        and min(letter_share(pair.source), letter_share(pair.target)) >= 0.7
        and len(target - source) > 0.3 * len(target)
    )


def letter_share(text: str) -> float:
    """Return the fraction of non-space characters that are letters, from 0 to 1.

    Combining marks count as letters.
    """
    visible = "".join(text.split())
    letters = sum(c.isalpha() or unicodedata.category(c)[0] == "M" for c in visible)
    return letters / max(1, len(visible))


def filter_by_length_ratio(rows: Sequence[Row]) -> list[Row]:
    """Return the rows whose ratio of target to source length is close to the median ratio."""
    ratios = [len(row.pair.target) / len(row.pair.source) for row in rows]
    usual = statistics.median(ratios or [1])
    lowest, highest = usual / MOST_UNUSUAL, usual * MOST_UNUSUAL
    return [row for row, r in zip(rows, ratios, strict=True) if lowest < r < highest]


# The prefix for a package's ecosystem says nothing about its family; the next part of its name does.
ECOSYSTEM = re.compile(
    r"^(?:lib(?:ghc|rust)|python3?|ruby|golang|node|php|r|elpa|gir1\.2|cl|haskell|ocaml|lua)-"
    r"(?:(?:github|gopkg|google|com|org|x|cran|bioc|other)-)*(?=[a-z])"
)


def family(package: str) -> str:
    """Return a package's family, which is the first distinctive part of its name.

    Packages of one family often repeat the same sentences. `libfoo2-dev`, `foo-data` and
    `python3-foo` all belong to the family `foo`.
    """
    name = re.sub(r"^lib(?=\w{3})", "", ECOSYSTEM.sub("", package, count=1))
    first = re.split(r"[-.+_:]", name, maxsplit=1)[0]
    letters = re.match(r"[a-z]{2,}", first)
    return letters.group() if letters else first


def as_text(pair: Pair) -> Pair | None:
    """Return a pair with both sides in NFC, or None if a side has no valid, visible text."""
    try:
        return Pair(
            check_visible_text("source", pair.source), check_visible_text("target", pair.target)
        )
    except ValueError:
        return None


def build_rows(english: Iterable[str], translated: Iterable[str]) -> list[Row]:
    """Return the sentence pairs found in English description lists and their translations.

    A pair that occurs in several families of packages gets one row for each family.
    """
    originals: dict[str, Description] = {}
    families: dict[str, dict[str, None]] = {}
    for record in (record for text in english for record in parse_descriptions(text)):
        originals.setdefault(record.digest, record)
        families.setdefault(record.digest, {})[family(record.package)] = None
    rows: dict[Row, None] = {}
    for record in (record for text in translated for record in parse_descriptions(text)):
        if record.digest in originals:
            pairs = pair_sentences(originals[record.digest].lines, record.lines)
            prose = [pair for pair in map(as_text, pairs) if pair and is_prose(pair)]
            rows |= {Row(name, pair): None for name in families[record.digest] for pair in prose}
    return filter_by_length_ratio(list(rows))
