"""Languages by their codes, and the script in which a text is written."""

import unicodedata
from collections import Counter
from collections.abc import Iterable

LANGUAGES = {
    "ar": "Arabic",
    "bg": "Bulgarian",
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "et": "Estonian",
    "fa": "Persian",
    "fi": "Finnish",
    "fr": "French",
    "he": "Hebrew",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "lt": "Lithuanian",
    "lv": "Latvian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sk": "Slovak",
    "sv": "Swedish",
    "th": "Thai",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh": "Chinese",
}
"""Some codes in words; another code is its own name."""

SCRIPTS = {
    **{"CJK": "Han", "IDEOGRAPHIC": "Han", "HIRAGANA": "Japanese", "KATAKANA": "Japanese"},
    "KATAKANA-HIRAGANA": "Japanese",
}
"""By the first word of a letter's name in Unicode, where that is not what the script is called."""
KANA_SHARE = 0.05
"""Japanese mixes its own letters with Chinese ones; of Chinese text, less than this share is kana."""


def script_of(texts: Iterable[str]) -> str:
    """The script of most letters, as "Latin", "Han" or "Japanese"; "none" of texts without letters."""
    scripts = count_scripts(texts)
    return max(sorted(scripts), key=scripts.__getitem__) if scripts else "none"


def count_scripts(texts: Iterable[str]) -> Counter[str]:
    """How many letters of these texts are of each script."""
    letters = Counter(sign for text in texts for sign in text if sign.isalpha())
    scripts: Counter[str] = Counter()
    for sign, count in letters.items():
        name = unicodedata.name(sign, "UNKNOWN").removeprefix("HALFWIDTH ")
        first = name.removeprefix("FULLWIDTH ").split()[0]
        scripts[SCRIPTS.get(first, first.capitalize())] += count
    if scripts["Japanese"] > KANA_SHARE * (scripts["Han"] + scripts["Japanese"]):
        scripts["Japanese"] += scripts.pop("Han", 0)
    return scripts
