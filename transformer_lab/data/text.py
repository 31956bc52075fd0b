"""Check and normalise external text, and make it safe to print.

Everything that reads text uses this module: corpora, tokenizers, translators and the command line.
"""

import unicodedata
from collections.abc import Iterable

from transformer_lab.config import describe_type

CONTROL_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
"""The Unicode categories of characters that a terminal acts on instead of displaying them.

They are control and format characters, surrogates, and line and paragraph separators.
"""
BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Characters that Unicode classifies as letters or symbols, although they are invisible."""


def check_visible_text(name: str, text: object) -> str:
    """Return the text in NFC, after checking that at least one character is visible.

    Raises:
        ValueError: If `check_text` rejects the text, or if it has no visible character.
    """
    found = check_text(name, text)
    if not has_visible_character(found):
        raise ValueError(f"{name} is {found[:60]!a}; expected at least one word")
    return found


def check_text(name: str, text: object) -> str:
    """Return the text in NFC, after checking that it is a valid string.

    Raises:
        ValueError: If it is not a string, or contains a NUL character or a surrogate (left over
            from bytes that are not UTF-8). The message begins with `name`.
    """
    if not isinstance(text, str):
        kind = "" if text is None else f", {describe_type(text)}"
        raise ValueError(f"{name} is {text!r:.60}{kind}; expected a string")
    if "\0" in text:
        raise ValueError(f"{name} contains a NUL byte; expected text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(
            f"{name} is {text[:60]!a}; expected text that can be encoded in UTF-8"
        ) from None
    return to_nfc(text)


def to_nfc(text: str) -> str:
    """Return the text in NFC, the composed form of Unicode."""
    return unicodedata.normalize("NFC", text)


def has_visible_character(text: str) -> bool:
    """Return whether the text has a visible letter, number, punctuation mark or symbol."""
    first = text[:1]
    if first.isascii() and first.isalnum():  # as nearly every text begins
        return True
    return any(unicodedata.category(sign)[0] in "LNPS" and sign not in BLANKS for sign in text)


def remove_invisible(text: str) -> str:
    """Return the text without format characters, such as zero-width spaces and soft hyphens."""
    if text.isprintable():  # format characters are not
        return text
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")


def join_for_terminal(words: Iterable[str]) -> str:
    """Join words with commas, after escaping each with `escape_for_terminal`."""
    return ", ".join(map(escape_for_terminal, words))


def escape_for_terminal(text: str) -> str:
    """Escape control and invisible characters, so the text prints safely on one line."""
    return "".join(
        sign.encode("unicode_escape").decode()
        if unicodedata.category(sign) in CONTROL_CATEGORIES or sign in BLANKS
        else sign
        for sign in text
    )
