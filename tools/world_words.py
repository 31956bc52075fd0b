"""Write the words of the bilingual world for the page, which draws the same sentences in JavaScript.

    python -m tools.world_words

The tables are those in `data/world`. The page has its rules in JavaScript, but no list of words of
its own. A test writes the file again and compares.
"""

import json
from pathlib import Path
from typing import Any

from transformer_lab.data.world import because, choices, clauses, constructions, lexicon, phrases
from transformer_lab.data.world.held_out import held_out_combinations
from transformer_lab.data.world.lexicon import Adjective, Noun, Verb
from transformer_lab.data.world.phrases import Phrase

PAGE = Path(__file__).parents[1] / "transformer_lab" / "lab" / "page"
WORDS = PAGE / "tasks" / "world" / "words.js"

TABLES = {
    lexicon: "DECIDING_VERBS",
    phrases: """DETERMINERS NUMBERS PRONOUNS BEFORE_VOWEL_NOUN BEFORE_VOWEL CONTRACTED ASPIRATED
        VOWELS""",
    clauses: "WITH_ETRE LINKS STATIVE AVOIR ETRE ADVERBS MODALS DEGREES COMPARISONS",
    because: "SCENES FOR_THE_LIVING FOR_THINGS FIRM LANDMARKS",
    choices: "PERSON ANIMATE OWNABLE NUMEROUS POSSESSIVES SUBJECT DEFINITE PLACE SPOTS TIMES",
    constructions: """EVERY BEING PUNCTUAL INTO ACTIVITIES GIVING EVENTS HUMAN_EVENTS INTENTIONS
        JOURNEYS HABITS SAID RELATED WHERE WHEN_OR_WHY SOMEWHERE""",
}
"""The tables of each module that the page takes as they are."""


def javascript() -> str:
    """Return the JavaScript file that holds the words."""
    tables: dict[str, Any] = {
        "NOUNS": [tuple(noun) for noun in lexicon.NOUNS.values()],
        "ADJECTIVES": [tuple(word) for word in lexicon.ADJECTIVES.values()],
        "VERBS": [tuple(verb) for verb in lexicon.VERBS.values()],
        **{name: vars(module)[name] for module, names in TABLES.items() for name in names.split()},
        "WEIGHTS": {name: weight for name, (weight, _) in constructions.CONSTRUCTIONS.items()},
        "HELD_OUT": {" ".join(combination) for combination in held_out_combinations()},
    }
    lines = [f"  {name}: {write(simplify(table))},\n" for name, table in tables.items()]
    return (
        "// The words of the bilingual world. Written by `python -m tools.world_words`, not by hand.\n\n"
        f"export const WORDS = {{\n{''.join(lines)}}};\n"
    )


def simplify(value: Any) -> Any:
    """Return a value for JSON: a word is its name, a phrase its two texts, and a set is sorted."""
    match value:
        case Verb():
            return value.infinitive
        case Adjective() | Noun():
            return value.english
        case Phrase():
            return [" ".join(value.source), " ".join(word for word, _ in value.target)]
        case set() | frozenset():
            return sorted(map(simplify, value))
        case tuple() | list():
            return [simplify(part) for part in value]
        case dict():
            return {key: simplify(part) for key, part in value.items()}
        case _:
            return value


def write(table: Any) -> str:
    """Write a table as JavaScript; if it has rows, each of them on its own line."""
    if isinstance(table, list) and isinstance(table[0], list):
        return "[\n" + "".join(f"    {write_line(row)},\n" for row in table) + "  ]"
    return write_line(table)


def write_line(value: Any) -> str:
    """Write a value on one line."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main() -> None:
    """Write the file."""
    WORDS.write_text(javascript(), encoding="utf-8")
    print(f"{WORDS.stat().st_size} bytes")


if __name__ == "__main__":
    main()
