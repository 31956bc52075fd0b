"""Texts that are none, and sentences in twin forms: what every door for text is tried with."""

NO_TEXTS = {
    "nothing": "",
    "spaces": " \u00a0\u3000",
    "zero-width space": "\u200b",
    "byte-order mark": "\ufeff",
    "an accent alone": "\u0301",
    "Hangul filler": "\u3164",
    "blank Braille": "\u2800",
    "NUL": "the\0cat",
    "UTF-16": "t\0h\0e\0",
    "half a character": "the \ud800 cat",
}
NOT_TEXT = [None, b"the cat", 7, ["the", "cat"], float("nan")]
TWINS = [
    ("caf\u00e9 noir", "cafe\u0301 noir"),
    ("\u1ec7 x", "e\u0323\u0302 x"),
    ("\uac00 \ub098", "\u1100\u1161 \u1102\u1161"),
    ("\u212b x", "\u00c5 x"),
]
"""Two spellings in Unicode of the same text, of which the first or the second is in NFC."""
