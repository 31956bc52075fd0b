"""The door for text: what is none is refused, and what comes in is in one form of Unicode."""

import unicodedata
from collections.abc import Iterable

from transformer_lab.streams import BLANKS, escaped


def read_text(name: str, text: object) -> str:
    """The text in NFC; a ValueError as for `as_text`, or if nothing in it can be seen."""
    found = as_text(name, text)
    if not has_visible(found):
        raise ValueError(f"{name} is {found[:60]!a}; expected at least one word")
    return found


def as_text(name: str, text: object) -> str:
    """The text in NFC, in which an accent and its letter are one sign wherever they can be.

    Raises:
        ValueError: It begins with `name`, for what is no text, or has a NUL byte or half a character
            in it, as bytes that are no UTF-8 leave.
    """
    if not isinstance(text, str):
        raise ValueError(f"{name} is {text!r:.60}, of type {type(text).__name__}; expected text")
    if "\0" in text:
        raise ValueError(f"{name} holds a NUL byte; expected text")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is not UTF-8: {text[:60]!a}; expected text") from None
    return composed(text)


def composed(text: str) -> str:
    """The text in NFC."""
    return unicodedata.normalize("NFC", text)


def has_visible(text: str) -> bool:
    """Whether there is a letter, a number or a sign; marks and invisible characters are none alone."""
    first = text[:1]
    if first.isascii() and first.isalnum():  # as nearly every text begins
        return True
    return any(unicodedata.category(sign)[0] in "LNPS" and sign not in BLANKS for sign in text)


def without_invisible(text: str) -> str:
    """The text without format characters, as a zero-width space or a soft hyphen."""
    if text.isprintable():  # format characters are not
        return text
    return "".join(sign for sign in text if unicodedata.category(sign) != "Cf")


def listed(words: Iterable[str]) -> str:
    """Words for a message, with commas between them."""
    return ", ".join(map(escaped, words))
