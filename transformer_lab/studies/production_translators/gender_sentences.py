"""English sentences of our own whose translations must show a gender, with their nouns' genders.

There are two kinds. In an *agreement* question, one adjective describes one noun: "The house is
old." In a *pair* (Levesque et al. 2012), "it" could refer to two nouns of different gender, and one
word decides: "The trophy doesn't fit in the suitcase because it is too wide / narrow." In each
frame, a masculine noun comes before a feminine one as often as the other way round, so always
choosing the first noun's gender, or one gender for each adjective, is right only half of the time.
The study `gender` asks translators these questions.
"""

from typing import NamedTuple

PORTUGUESE, FRENCH = LANGUAGES = ("pt", "fr")


class Question(NamedTuple):
    """A sentence, its nouns with their genders ("m", "f"), and the adjective that describes one."""

    source: str
    nouns: tuple[str, ...]
    genders: tuple[str, ...]
    adjective: str
    right: int
    """The index of the noun that the adjective describes."""
    frame: str

    @property
    def gender(self) -> str:
        """The gender of the noun that the adjective describes."""
        return self.genders[self.right]


Pair = tuple[Question, Question]
"""Two questions with the same two nouns.

The adjective describes the first noun in the first question, and the second noun in the second.
"""

# The genders of the usual translation: Portuguese, then French.
_NOUNS = """
mm book garden bread cheese wine train boat plane mirror hat coat phone newspaper castle hotel
mm museum market park lake cake piano violin carpet floor roof truck bus fork:mf pillow bucket glass
mm building fish film bag file program package keyboard server menu text project sofa bench horse
mm juice milk telescope cable wire hook hedgehog:mm mattress tunnel gate paper corridor
mf car:mf clock cupboard plate dress shoe blanket map belt computer:mm ring watch axe application field:mm
ff house church school door window table chair lamp bottle box jar:fm spoon shirt skirt letter key
ff suitcase flower leaf apple potato soup tower city machine island mountain beach photo song
ff story question answer idea library page image version list line candle wheel
ff rope stone ladder street road shelf turtle cow van ambulance meat carrot beer water motorcycle
ff towel statue kitchen orange guitar bicycle:fm bed:fm pen:fm ball:fm tree:fm knife:fm bridge:fm
fm message word network saw:ff sword:ff drawer:fm
"""


def _nouns() -> dict[str, dict[str, str]]:
    """Parse `_NOUNS` into noun → language → gender."""
    found = {}
    for row in _NOUNS.strip().splitlines():
        genders, *words = row.split()
        for word in words:
            noun, _, own = word.partition(":")
            found[noun] = dict(zip(LANGUAGES, own or genders, strict=True))
    return found


NOUNS = _nouns()
"""The gender of each noun in each language, "m" or "f"."""

FRAMES = {
    "is": "The {noun} is {adjective}.",
    "near it a feminine": "The {noun} near the church is {adjective}.",
    "near it a masculine": "The {noun} near the hotel is {adjective}.",
    "relative clause": "The {noun} that I saw yesterday is {adjective}.",
    "because": "I like the {noun} because it is {adjective}.",
    "two sentences": "This is my {noun}. It is {adjective}.",
}
"""Frames of sentences with one noun, ordered by the distance from the noun to the adjective.

In the last two, "it" comes between the noun and the adjective.
"""
SAID = ("new", "old", "beautiful", "expensive", "small", "perfect", "clean", "ready")
NOT_ASKED = {"church", "hotel"}  # they occur in two of the frames
SENTENCES = 50  # of each frame and gender

# Text | said of the first noun | of the second | first nouns | second nouns; masculine / feminine
_PAIRS = """
The {0} doesn't fit in the {1} because it is too {2}. | wide | narrow
    | telescope piano sofa book / table chair lamp statue
    | cupboard car truck corridor / suitcase box street drawer
The {0} doesn't fit in the {1} because it is too {2}. | long | short
    | violin carpet fish bench / ladder guitar sword saw
    | car cupboard truck bucket / box drawer suitcase van
The {0} cannot pass under the {1} because it is too {2}. | tall | low
    | truck bus train boat / van machine ambulance statue
    | roof tunnel gate cable / bridge rope tower door
The {0} broke the {1} because it was very {2}. | heavy | thin
    | piano book hook mirror / stone machine ball lamp
    | glass mirror plate roof / window table door shelf
I did not pour the {0} into the {1} because it was {2}. | sour | broken
    | milk juice wine milk / beer soup water soup
    | glass bucket bucket glass / bottle jar box jar
The {0} cannot cut the {1} because it is too {2}. | old | thick
    | axe wire axe wire / knife sword machine saw
    | bread cable cheese wire / rope meat carrot apple
The {0} overtook the {1} because it was very {2}. | fast | slow
    | car truck bus train / bicycle van motorcycle ambulance
    | truck bus boat car / van bicycle ambulance motorcycle
The {0} hides the {1} because it is very {2}. | tall | low
    | castle building hotel museum / church tower school house
    | garden hotel building market / house church street school
I replaced the {0} with the {1} because it was {2}. | broken | new
    | sofa mirror clock phone / chair lamp table machine
    | bench computer piano carpet / bed photo window bicycle
I sold the {0} and kept the {1} because it was {2}. | ugly | beautiful
    | carpet hat clock dress / lamp chair shirt table
    | mirror ring coat sofa / guitar bicycle skirt photo
I bought the {0} and not the {1} because it was {2}. | cheap | expensive
    | car book cheese wine / bicycle shirt apple bottle
    | boat film cake hat / house lamp photo skirt
The {0} cannot carry the {1} because it is too {2}. | weak | heavy
    | hook bench truck horse / rope shelf table van
    | mirror piano computer carpet / machine lamp stone bed
The {0} did not cross the {1} because it was too {2}. | tired | flooded
    | horse hedgehog horse hedgehog / turtle cow turtle cow
    | lake garden field park / street road bridge city
The {0} cannot read the {1} because it is too {2}. | slow | long
    | program server computer phone / library machine school machine
    | file text book newspaper / page list image line
"""


def make_pairs(language: str) -> list[Pair]:
    """Return the pairs of questions whose two nouns differ in gender in this language.

    The two questions of a pair differ only in the adjective, and each adjective describes a
    different noun.
    """
    found = []
    rows = " ".join(_PAIRS.split()).replace(" The {0}", "\nThe {0}").replace(" I ", "\nI ")
    for row in rows.splitlines():
        text, first, second, *sides = (part.strip() for part in row.split("|"))
        (m1, f1), (m2, f2) = ([half.split() for half in side.split("/")] for side in sides)
        for nouns in [*zip(m1, f2, strict=True), *zip(f1, m2, strict=True)]:
            genders = tuple(NOUNS[noun][language] for noun in nouns)
            if len(set(genders)) == 2:
                one, other = (
                    Question(text.format(*nouns, said), nouns, genders, said, right, text)
                    for right, said in enumerate((first, second))
                )
                found.append((one, other))
    return found


def make_agreement_questions(language: str) -> list[Question]:
    """Return `SENTENCES` questions for each frame and gender.

    All nouns are used about equally often.
    """
    found = []
    for gender in "mf":
        nouns = [n for n in NOUNS if NOUNS[n][language] == gender and n not in NOT_ASKED]
        for number, (frame, text) in enumerate(FRAMES.items()):
            for i in range(SENTENCES):
                noun, said = nouns[(i + 11 * number) % len(nouns)], SAID[(i + number) % len(SAID)]
                source = text.format(noun=noun, adjective=said)
                found.append(Question(source, (noun,), (gender,), said, 0, frame))
    return found


def make_noun_questions(language: str, frame: str, adjective: str) -> list[Question]:
    """Return the questions for one frame and adjective, one for each noun."""
    return [
        Question(
            FRAMES[frame].format(noun=noun, adjective=adjective),
            (noun,),
            (genders[language],),
            adjective,
            0,
            frame,
        )
        for noun, genders in NOUNS.items()
        if noun not in NOT_ASKED
    ]
