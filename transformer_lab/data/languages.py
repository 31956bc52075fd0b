"""Look up language names, and detect the script that text is written in.

Corpora, model cards and the choice of BLEU's tokenization use this module.
"""

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
"""The English names of languages, keyed by ISO 639-1 code; any other code serves as a name."""

SCRIPTS = {
    **{"CJK": "Han", "IDEOGRAPHIC": "Han", "HIRAGANA": "Japanese", "KATAKANA": "Japanese"},
    "KATAKANA-HIRAGANA": "Japanese",
}
"""The script of a character, keyed by the first word of its Unicode name."""
KANA_SHARE = 0.05
"""Text counts as Japanese if Kana make up more than this share of its Han and Kana characters."""


def main_script(texts: Iterable[str]) -> str:
    """Return the script that most letters belong to, such as "Latin", "Han" or "Japanese".

    Return "none" if there are no letters.
    """
    scripts = count_scripts(texts)
    return max(sorted(scripts), key=scripts.__getitem__) if scripts else "none"


def count_scripts(texts: Iterable[str]) -> Counter[str]:
    """Count the letters of each script in these texts."""
    letters = Counter(sign for text in texts for sign in text if sign.isalpha())
    scripts: Counter[str] = Counter()
    for sign, count in letters.items():
        name = unicodedata.name(sign, "UNKNOWN").removeprefix("HALFWIDTH ")
        first = name.removeprefix("FULLWIDTH ").split()[0]
        scripts[SCRIPTS.get(first, first.capitalize())] += count
    if scripts["Japanese"] > KANA_SHARE * (scripts["Han"] + scripts["Japanese"]):
        scripts["Japanese"] += scripts.pop("Han", 0)
    return scripts
