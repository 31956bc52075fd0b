"""Small translation tasks for readers to choose from, change, or replace with their own.

A task is a function that generates one random pair: `dates(random.Random())` may return ("Sunday,
14 Feb 2021", "2021-02-14"). Each task is short, so you can copy it into a notebook and change it.
docs/own_task.md shows how to train on a task, and says which tasks can be learnt in two minutes.
"""

import random
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from pathlib import Path

from transformer_lab.config import check
from transformer_lab.data.pair import Pair
from transformer_lab.data.tables import ROWS_LOOKED_AT, decode_cell, has_header
from transformer_lab.data.world.grammar import sentences
from transformer_lab.data.world.lexicon import NOUNS
from transformer_lab.data.world.phrases import starts_with_vowel
from transformer_lab.storage.files import write_atomically

Task = Callable[[random.Random], tuple[str, str]]
"""A function that generates one random source text and its target text."""


def draw_pairs(task: Task, count: int = 20_000, seed: int = 0) -> list[Pair]:
    """Generate `count` pairs with distinct sources, or fewer if the task runs out of new sources.

    Raises:
        ValueError: If the task gives two different targets for the same source. No model could
            learn which one is right.
    """
    draw = random.Random(seed)
    found: dict[str, str] = {}
    for _ in range(20 * count):
        source, target = task(draw)
        known = found.setdefault(source, target)
        if target != known:
            raise ValueError(
                f"source {source!r} has two targets, {known!r} and {target!r}; expected only one"
            )
        if len(found) == count:
            break
    return [Pair(source, target) for source, target in found.items()]


def write_pairs(path: str | Path, pairs: Sequence[Pair], *, overwrite: bool = False) -> Path:
    """Write pairs to a tab-separated file that `train` can read, one pair per line.

    The file's folder is created if necessary. If the first pair would be mistaken for column names,
    as "english" and "french" would, a header line is written above it.

    Raises:
        ValueError: If the file exists and `overwrite` is not set, or if either side of a pair is
            empty or contains a tab or a line break.
    """
    path = Path(path)
    if path.exists() and not overwrite:
        raise ValueError(f"{path} already exists. Choose another name, or pass overwrite=True")
    for number, pair in enumerate(pairs, start=1):
        for side in ("source", "target"):
            text = getattr(pair, side)
            fits = isinstance(text, str) and bool(text.strip()) and not set(text) & set("\t\n\r")
            expected = "a string that is not blank and has no tabs or line breaks"
            check(f"{side} of pair {number}", text, expected, fits)
    lines = [f"{pair.source}\t{pair.target}\n".encode() for pair in pairs]
    table = [line.rstrip(b"\n").split(b"\t") for line in lines[:ROWS_LOOKED_AT]]
    if table and has_header(table, [decode_cell(cell) for cell in table[0]]):
        lines.insert(0, b"source\ttarget\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, b"".join(lines))
    return path


DATE_FORMS = (
    "%A, {0} %b %Y|%a {0} %B %Y|%B {0}, %Y|%b {0} %Y|{0} %B %Y|{0} %b %Y|the {1} of %B %Y"
    "|%B {1}, %Y|%A, %B {1}, %Y|{0}.{2}.%Y|%Y/{2}/{0}"
).split("|")
"""Date formats: {0} is the day, {1} the day as an ordinal, {2} the month as a number."""


def dates(draw: random.Random) -> tuple[str, str]:
    """Generate a date in an everyday format and in ISO format.

    For example: ("Sunday, 14 Feb 2021", "2021-02-14").
    """
    day = date(1950, 1, 1) + timedelta(days=draw.randrange(365 * 100))
    ending = {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    if day.day in (11, 12, 13):
        ending = "th"
    form = draw.choice(DATE_FORMS).format(day.day, f"{day.day}{ending}", day.month)
    return day.strftime(form), day.isoformat()


ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
ENGLISH_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
FRENCH = (
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
).split()
FRENCH_TENS = "- dix vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt"
GERMAN = (
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
).split()
GERMAN_TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def english_words(number: int) -> str:
    """Return a number below a million in English words: 483 is four hundred eighty-three."""
    check("number", number, "0 to 999,999", 0 <= number < 1_000_000)
    if number < 20:
        return ENGLISH[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return ENGLISH_TENS[tens] + (f"-{ENGLISH[ones]}" if ones else "")
    size, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    many, rest = divmod(number, size)
    return f"{english_words(many)} {name}" + (f" {english_words(rest)}" if rest else "")


def french_words(number: int, is_last: bool = True) -> str:
    """Return a number below a million in French words: 483 is quatre cent quatre-vingt-trois.

    `is_last` is False before *mille*, where *cents* and *quatre-vingts* lose their s.
    """
    check("number", number, "0 to 999,999", 0 <= number < 1_000_000)
    if number < 17:
        return FRENCH[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        if tens in (7, 9):
            ones += 10
        if number == 80:
            return "quatre-vingts" if is_last else "quatre-vingt"
        start = FRENCH_TENS.split()[tens]
        middle = " et " if ones in (1, 11) and tens < 8 else "-"
        return start + (middle + french_words(ones) if ones else "")
    size, name = (100, "cent") if number < 1000 else (1000, "mille")
    many, rest = divmod(number, size)
    start = name if many == 1 else f"{french_words(many, is_last=False)} {name}"
    if not rest:
        return start + ("s" if name == "cent" and many > 1 and is_last else "")
    return f"{start} {french_words(rest, is_last)}"


def german_words(number: int, is_last: bool = True) -> str:
    """Return a number below a million in German words: 483 is vierhundertdreiundachtzig.

    `is_last` is False before *hundert* and *tausend*, where one is *ein* rather than *eins*.
    """
    check("number", number, "0 to 999,999", 0 <= number < 1_000_000)
    if number < 20:
        return GERMAN[number] + ("s" if number == 1 and is_last else "")
    if number < 100:
        tens, ones = divmod(number, 10)
        return (f"{GERMAN[ones]}und" if ones else "") + GERMAN_TENS[tens]
    size, name = (100, "hundert") if number < 1000 else (1000, "tausend")
    many, rest = divmod(number, size)
    return german_words(many, is_last=False) + name + (german_words(rest, is_last) if rest else "")


def draw_number(draw: random.Random) -> int:
    """Sample a number below a million, with short numbers about as likely as long ones."""
    return draw.randrange(10 ** draw.randint(1, 6))


def numbers_in_english(draw: random.Random) -> tuple[str, str]:
    """Generate a number in digits and in English words.

    For example: ("7,083", "seven thousand eighty-three").
    """
    number = draw_number(draw)
    return f"{number:,}", english_words(number)


def numbers_without_comma(draw: random.Random) -> tuple[str, str]:
    """Generate a number in digits without a comma, and in English words.

    For example: ("7083", "seven thousand eighty-three").
    """
    number = draw_number(draw)
    return str(number), english_words(number)


def numbers_in_french(draw: random.Random) -> tuple[str, str]:
    """Generate a number in digits and in French words.

    For example: ("7 083", "sept mille quatre-vingt-trois").
    """
    number = draw_number(draw)
    return f"{number:,}".replace(",", " "), french_words(number)


def numbers_in_german(draw: random.Random) -> tuple[str, str]:
    """Generate a number in digits and in German words.

    For example: ("7.083", "siebentausenddreiundachtzig").
    """
    number = draw_number(draw)
    return f"{number:,}".replace(",", "."), german_words(number)


ROMAN = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L")]
ROMAN += [(40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def to_roman(draw: random.Random) -> tuple[str, str]:
    """Generate a number below 4,000 and its Roman numeral, such as ("1994", "MCMXCIV")."""
    number = draw.randrange(1, 4000)
    numeral, rest = "", number
    for value, sign in ROMAN:
        numeral += sign * (rest // value)
        rest %= value
    return str(number), numeral


def from_roman(draw: random.Random) -> tuple[str, str]:
    """Generate a Roman numeral and its value, such as ("MCMXCIV", "1994")."""
    number, numeral = to_roman(draw)
    return numeral, number


def times(draw: random.Random) -> tuple[str, str]:
    """Generate a time in words and in digits.

    For example: ("quarter past five in the afternoon", "17:15").
    """
    hour, minute = draw.randrange(24), draw.randrange(60)
    to = minute > 30
    this, following = ENGLISH[(hour - 1) % 12 + 1], ENGLISH[hour % 12 + 1]
    if not minute:
        said = f"{this} o'clock"
    elif minute % 5 or draw.random() < 0.3:
        said = f"{this} {'oh ' if minute < 10 else ''}{english_words(minute)}"
    else:
        count = 60 - minute if to else minute
        many = {15: "quarter", 30: "half"}.get(count, english_words(count))
        said = f"{many} to {following}" if to else f"{many} past {this}"
    part = "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"
    start = draw.choice(["", "it's ", "at ", "meet me at ", "wake me at "])
    return f"{start}{said} in the {part}", f"{hour:02}:{minute:02}"


STARTS = "b c d f g h j l m n p r s t v w br ch cl dr fl gr pl pr sh sp st str th tr".split()
ENDS = ["", "", "", "n", "r", "s", "t", "l", "m", "nd", "ck", "ng", "st"]


def draw_word(draw: random.Random) -> str:
    """Generate a word of one to three syllables that could be English, but usually is not."""
    syllables = [
        draw.choice(STARTS) + draw.choice("aeiou") + draw.choice(ENDS)
        for _ in range(draw.randint(1, 3))
    ]
    word = "".join(syllables)
    return word.lstrip("bcdfghjklmnpqrstvwxyz") if draw.random() < 0.15 else word


def pig_latin(draw: random.Random) -> tuple[str, str]:
    """Generate a word and its Pig Latin, such as ("string", "ingstray").

    A word that begins with a vowel gets the ending "way".
    """
    word = draw_word(draw)
    return word, pig_latin_of(word)


def pig_latin_of(word: str) -> str:
    """Translate a word into Pig Latin.

    The letter y counts as a vowel, except at the beginning: "why" becomes "ywhay", and "yes"
    becomes "esyay".
    """
    consonants = "bcdfghjklmnpqrstvwxz"
    rest = word[:1].lstrip(consonants + "y") + word[1:]
    if len(rest) < len(word):
        rest = rest.lstrip(consonants)
    return rest + (word[: len(word) - len(rest)] or "w") + "ay"


def backwards(draw: random.Random) -> tuple[str, str]:
    """Generate a word and the same word backwards, such as ("string", "gnirts")."""
    word = draw_word(draw)
    return word, word[::-1]


SOUNDS = {"a": "ah", "e": "eh", "i": "ee", "o": "oh", "u": "oo"}
BEFORE_ALL = {"b": "b", "v": "b", "d": "d", "f": "f", "h": "", "j": "kh", "l": "l", "ll": "y"}
BEFORE_ALL |= {"m": "m", "n": "n", "ñ": "ny", "p": "p", "s": "s", "t": "t", "ch": "ch", "tr": "tr"}
BEFORE_ALL |= {"br": "br", "pl": "pl", "gr": "gr", "r": "r"}
BEFORE_E_AND_I = BEFORE_ALL | {"c": "s", "qu": "k", "gu": "g", "g": "kh"}
BEFORE_OTHERS = BEFORE_ALL | {"c": "k", "z": "s", "g": "g"}


def spanish_sounds(draw: random.Random) -> tuple[str, str]:
    """Generate a word in Spanish spelling and in phrasebook spelling.

    For example: ("gitana", "khee-tah-nah").
    """
    word, sounds = "", []
    for _ in range(draw.randint(1, 4)):
        vowel, end = draw.choice("aeiou"), draw.choice(["", "", "n", "s"])
        starts = BEFORE_E_AND_I if vowel in "ei" else BEFORE_OTHERS
        start = draw.choice(list(starts))
        word += start + vowel + end
        sounds.append(starts[start] + SOUNDS[vowel] + end)
    return word, "-".join(sounds)


def amounts(draw: random.Random) -> tuple[str, str]:
    """Generate an amount of money in digits and in words.

    For example: ("$41.50", "forty-one dollars and fifty cents").
    """
    dollars, cents = draw_number(draw) // 10, draw.choice([0, draw.randrange(1, 100)])
    said = f"{english_words(dollars)} dollar{'' if dollars == 1 else 's'}"
    if cents:
        said += f" and {english_words(cents)} cent{'' if cents == 1 else 's'}"
    return f"${dollars:,}.{cents:02}", said


def sums(draw: random.Random) -> tuple[str, str]:
    """Generate a sum of two numbers below 1,000 and its result, such as ("483 + 59", "542")."""
    one, other = draw.randrange(1000), draw.randrange(1000)
    return f"{one} + {other}", str(one + other)


def heights(draw: random.Random) -> tuple[str, str]:
    """Generate a length in feet and inches, and in centimetres, such as ("5 ft 7 in", "170 cm")."""
    feet, inches, half = draw.randrange(1, 100), draw.randrange(12), draw.choice(["", ".5"])
    centimetres = round((12 * feet + inches + 0.5 * bool(half)) * 2.54)
    return f"{feet} ft {inches}{half} in", f"{centimetres} cm"


PHRASES = [
    ("where is the {}?", "où est {} ?"),
    ("can i see the {}?", "puis-je voir {} ?"),
    ("how much is the {}?", "combien coûte {} ?"),
    ("excuse me, is that the {}?", "pardon, est-ce {} ?"),
    ("i'm looking for the {}", "je cherche {}"),
    ("i can't find the {}", "je ne trouve pas {}"),
    ("do you like the {}?", "aimez-vous {} ?"),
    ("thank you for the {}", "merci pour {}"),
]


def phrasebook(draw: random.Random) -> tuple[str, str]:
    """Generate a traveller's phrase or, just as often, a sentence from the bilingual world.

    For example: ("where is the house?", "où est la maison ?").
    """
    if draw.random() < 0.5:
        pair = next(sentences(seed=draw.getrandbits(32)))
        return pair.source, pair.target
    noun = draw.choice(list(NOUNS.values()))
    article = "l'" if starts_with_vowel(noun.french) else {"m": "le ", "f": "la "}[noun.gender]
    english, french = draw.choice(PHRASES)
    return english.format(noun.english), french.format(article + noun.french)
