"""The words of the bilingual world: nouns, adjectives and verbs, and which of them go together.

All other modules of the world use these tables. A noun has *tags*, and the first one is its
kind. Verbs and adjectives list the tags, or the individual nouns, that they make sense with: a
house does not eat, and a cat is not wide. Regular forms are not written out: `house` stands for
house, houses; `fermé` for fermé, fermée, fermés, fermées; `ferm-er` for ferme, ferment, fermé,
fermer, and fermait.
"""

from functools import cache
from typing import NamedTuple


class Noun(NamedTuple):
    """A noun: singular and plural in both languages, and its French gender, "m" or "f".

    Verbs and adjectives select nouns by their `tags`; `kind` is the first tag.
    """

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    tags: frozenset[str]
    kind: str


class Adjective(NamedTuple):
    """An adjective and its French forms: masculine and feminine singular, then both plurals.

    `place` is where French puts it: "before" the noun, "after" it, or "never" directly next to it.
    `sort` is "colour", "quality" (lasting), "state" (passing), "fixed" (a state that has no degrees,
    such as closed), "attribute" (used only next to a noun) or "having" (French uses avoir, to have).
    `comparative` is the comparative form, such as "bigger". It is "more" if the comparative is
    formed with that word, and "" if the adjective is never compared.
    """

    english: str
    comparative: str
    french: tuple[str, ...]
    place: str
    sort: str
    suits: frozenset[str]


class Verb(NamedTuple):
    """A verb with the forms that the world uses.

    The English forms are `base`, `third` (eats), `past` and `ing`. The French forms are `singular`
    and `plural` (both in the present tense), `participle`, `infinitive`, and `imperfect` (the stem
    before -ait and -aient). `subjects` and `objects` are the tags and nouns that fit the verb.
    """

    base: str
    third: str
    past: str
    ing: str
    singular: str
    plural: str
    participle: str
    infinitive: str
    imperfect: str
    subjects: frozenset[str]
    objects: frozenset[str]


_NOUNS = """
girl           fille               f  person child
boy            garçon              m  person child
child/children enfant              m  person child
woman/women    femme               f  person adult
man/men        homme               m  person adult
queen          reine               f  person adult
king           roi                 m  person adult
sister         sœur                f  family person
brother        frère               m  family person
uncle          oncle               m  family person
animal         animal/animaux      m  animal walker
dog            chien               m  animal walker eater indoor
cat            chat                m  animal walker indoor climber
horse          cheval/chevaux      m  animal walker
wolf/wolves    loup                m  animal walker
bear           ours/ours           m  animal walker eater climber
elephant       éléphant            m  animal walker
bird           oiseau/oiseaux      m  animal
owl            hibou/hiboux        m  animal
cow            vache               f  animal walker
mule           mule                f  animal walker
goat           chèvre              f  animal walker eater climber
mouse/mice     souris/souris       f  animal walker eater climber indoor
goose/geese    oie                 f  animal walker eater
car            voiture             f  vehicle
ambulance      ambulance           f  vehicle
truck          camion              m  vehicle
bus/buses      bus/bus             m  vehicle
street         rue                 f  way
road           route               f  way
path           chemin              m  way
boulevard      boulevard           m  way
bridge         pont                m  bridge
footbridge     passerelle          f  bridge
river          rivière             f  water
pond           mare                f  water
lake           lac                 m  water
canal          canal/canaux        m  water
garden         jardin              m  area
park           parc                m  area
forest         forêt               f  area
cave           grotte              f  hole
tunnel         tunnel              m  hole
house          maison              f  building
school         école               f  building
church/churches église             f  building
barn           grange              f  building
station        gare                f  building
castle         château/châteaux    m  building
museum         musée               m  building
hotel          hôtel               m  building
garage         garage              m  building
hill           colline             f  height
mountain       montagne            f  height
wall           mur                 m  height
rock           rocher              m  height
gate           portail             m  height
hedge          haie                f  hedge
door           porte               f  door
window         fenêtre             f  window
tree           arbre               m  plant
table          table               f  furniture
chair          chaise              f  furniture seat
bed            lit                 m  furniture seat
sofa           canapé              m  furniture seat
blanket        couverture          f  blanket
ball           balle               f  thing
key            clé                 f  thing
clock          horloge             f  thing
bell           cloche              f  thing
bottle         bouteille           f  thing
knife/knives   couteau/couteaux    m  thing
box/boxes      boîte               f  container
suitcase       valise              f  container
bag            sac                 m  container
chest          coffre              m  container
book           livre               m  text
newspaper      journal/journaux    m  text
letter         lettre              f  text
story/stories  histoire            f  text
poem           poème               m  text
apple          pomme               f  food fruit
pear           poire               f  food fruit
melon          melon               m  food fruit
lemon          citron              m  food fruit
cake           gâteau/gâteaux      m  food
cheese         fromage             m  food
egg            œuf                 m  food
hat            chapeau/chapeaux    m  garment
coat           manteau/manteaux    m  garment
dress/dresses  robe                f  garment
scarf/scarves  écharpe             f  garment
"""

_ADJECTIVES = """
big/bigger grand before quality | dog horse bear vehicle garden park forest tree box bag chest
    suitcase table bed house school church castle museum hotel station window garage lake rock
small/smaller petit before quality | child animal building garden park vehicle furniture thing
    container garment fruit cake egg plant street path bridge hill pond lake
beautiful/more beau/belle/beaux/belles before quality | queen woman horse bird cat house castle
    church hotel garden park forest lake boulevard garment plant clock story book poem bridge
new nouveau/nouvelle/nouveaux/nouvelles before attribute | garment vehicle container thing book
    house school bridge museum hotel station garage road boulevard furniture blanket
old/older vieux/vieille/vieux/vieilles before quality | adult dog cat horse elephant building
    vehicle furniture blanket clock bell container garment book newspaper tree bridge wall
young/younger jeune before quality | child queen king animal
good bon/bonne before quality | food book story poem
long/longer long/longue before quality | way bridge tunnel river canal book letter story poem dress
    coat scarf table
high/higher haut before quality | wall hedge gate mountain hill rock bridge tree
    castle door window
wide/wider large after quality | street road boulevard water
narrow/narrower étroit after quality | street road path bridge tunnel canal bed door garage barn
deep/deeper profond after quality | water cave
steep/steeper raide after quality | hill mountain path street road rock
slippery glissant after state | way bridge wall rock hill
dangerous/more dangereux/dangereuse/dangereux/dangereuses after quality | way bridge water mountain
    hill rock wall cave tunnel forest park castle
flooded inondé after fixed | way area tunnel cave barn garage museum church hotel
closed fermé after fixed | way bridge museum castle church school station hotel garage park door
    gate box suitcase chest
locked verrouillé after fixed | door window gate suitcase box chest car garage
dark/darker sombre after quality | forest park garden cave tunnel barn garage castle church house
    street path
noisy/noisier bruyant after quality | street boulevard hotel school station vehicle bell clock
comfortable/more confortable after quality | chair bed sofa blanket car hotel house
soft moelleux/moelleuse/moelleux/moelleuses after quality | bed sofa chair blanket
heavy/heavier lourd after quality | container table car truck bus ambulance door gate coat book ball
    bell
expensive/more cher/chère after quality | garment car clock hotel furniture
poor pauvre after state | woman man girl boy child
dirty sale after state | car bus truck garment blanket window bottle knife table dog newspaper
empty vide after fixed | container bottle bus street house castle barn garage church hotel
broken cassé after fixed | clock bell bottle chair window door bed gate chest
fast/faster rapide after quality | vehicle horse
ripe mûr after state | fruit
sweet sucré after quality | fruit cake
sour acide after quality | apple pear melon lemon
rotten pourri after fixed | fruit egg cheese
difficult/more difficile after quality | text
boring ennuyeux/ennuyeuse/ennuyeux/ennuyeuses after quality | text
red rouge after colour | car truck bus house door furniture seat blanket ball container garment book
    apple
blue bleu after colour | car truck bus door furniture seat blanket ball bottle container garment
    bird book
green vert after colour | car truck bus door gate furniture blanket container garment bottle apple
    melon hill hedge
white blanc/blanche after colour | dog cat horse bear bird owl cow goat goose mouse car ambulance
    bus house church furniture seat blanket garment wall
black noir after colour | animal car furniture seat blanket container garment
gray gris/grise/gris/grises after colour | dog cat horse mule elephant wolf mouse goose car truck
    wall garment
tired fatigué after state | person animal
weak faible after state | person animal
sick malade after state | person animal
sad triste after state | person animal
happy heureux/heureuse/heureux/heureuses after state | person animal
nervous/more nerveux/nerveuse/nerveux/nerveuses after state | person animal
shy timide after quality | person animal
lazy paresseux/paresseuse/paresseux/paresseuses after quality | person animal
curious/more curieux/curieuse/curieux/curieuses after quality | person animal
injured blessé after fixed | person animal
asleep endormi never fixed | person animal
hungry faim never having | person animal
afraid peur never having | person animal
sleepy sommeil never having | person animal
"""

_VERBS = """
eat eats ate eating | mange mangent mangé manger mange | person eater > food
cross crosses crossed crossing | travers-er | person walker vehicle > way bridge forest park
climb climbs climbed climbing | escalad-er | person climber > height
enter enters entered entering | entr-er | person > house barn castle church forest cave tunnel
    garden park hotel garage museum
leave leaves left leaving | quitt-er | person > house hotel school castle museum park
carry carries carried carrying | port-er | person > container chair
buy buys bought buying | achète achètent acheté acheter achet | person > garment food thing book
    newspaper car container furniture blanket
read reads read reading | lit lisent lu lire lis | person > text
write writes wrote writing | écrit écrivent écrit écrire écriv | person > letter story poem
open opens opened opening | ouvre ouvrent ouvert ouvrir ouvr | person > door gate box chest suitcase
    bottle letter
close closes closed closing | ferm-er | person > door gate box chest suitcase
wash washes washed washing | lav-er | person > car garment blanket window bottle dog
see sees saw seeing | voit voient vu voir voy | person animal > animal person vehicle tree
hear hears heard hearing | entend entendent entendu entendre entend | person animal > bell bird owl
    dog wolf
have has had having | a ont eu avoir av | person > dog cat horse goat bird garment thing container
    car truck book house garden blanket
find finds found finding | trouv-er | person > thing garment container letter book
lose loses lost losing | perd perdent perdu perdre perd | person > key ball knife garment bag
    suitcase letter book
break breaks broke breaking | cass-er | person > bottle clock window chair
visit visits visited visiting | visit-er | person > museum castle church cave park
wake wakes woke waking | réveill-er | bell truck clock > person animal
scare scares scared scaring | effraie effraient effrayé effrayer effray | bridge river lake forest
    cave tunnel mountain truck > person animal
exhaust exhausts exhausted exhausting | épuis-er | road path hill mountain > person walker
stop stops stopped stopping | arrêt-er | water height hedge > walker
attract attracts attracted attracting | attir-er | food > eater child
bore bores bored boring | ennuie ennuient ennuyé ennuyer ennuy | text > person
give gives gave giving | donn-er | person > thing garment food text
show shows showed showing | montr-er | person > thing garment house garden text
sleep sleeps slept sleeping | dort dorment dormi dormir dorm | person animal >
sing sings sang singing | chant-er | person bird >
run runs ran running | court courent couru courir cour | person walker >
play plays played playing | jou-er | child dog cat >
limp limps limped limping | boit-er | walker >
tremble trembles trembled trembling | trembl-er | person animal >
burn burns burned burning | brûl-er | building forest >
arrive arrives arrived arriving | arriv-er | person >
leave leaves left leaving | part partent parti partir part | person >
fall falls fell falling | tomb-er | person walker >
stay stays stayed staying | rest-er | person animal >
go goes went going | va vont allé aller all | person >
return returns returned returning | revient reviennent revenu revenir reven | person >
"""


def parse_tags(text: str) -> frozenset[str]:
    """Split a string at spaces into a set of tags and nouns."""
    return frozenset(text.split())


def has_any_tag(wanted: frozenset[str], noun: Noun) -> bool:
    """Return whether `wanted` lists a noun, by name or by one of its tags."""
    return noun.english in wanted or not wanted.isdisjoint(noun.tags)


def can_describe(word: Adjective | Verb, noun: Noun) -> bool:
    """Return whether an adjective or verb makes sense with a noun as its subject."""
    return has_any_tag(word.subjects if isinstance(word, Verb) else word.suits, noun)


def parse_rows(table: str) -> list[list[str]]:
    """Return the rows of a table, split into columns at `|` and `>`.

    An indented line continues the row above it.
    """
    lines = table.replace("\n   ", "").replace(">", "|").strip().splitlines()
    return [[column.strip() for column in line.split("|")] for line in lines]


def _parse_noun(row: str) -> Noun:
    english, french, gender, *kinds = row.split()
    one, _, many = english.partition("/")
    un, _, des = french.partition("/")
    return Noun(one, many or one + "s", un, des or un + "s", gender, frozenset(kinds), kinds[0])


def _parse_adjective(words: str, suits: str) -> Adjective:
    english, french, place, sort = words.split()
    name, _, comparative = english.partition("/")
    forms = french.split("/")
    if sort == "having":
        forms *= 4
    if len(forms) == 1:
        forms.append(french if french.endswith("e") else french + "e")
    if len(forms) == 2:
        forms += [form + "s" for form in forms]
    return Adjective(name, comparative, tuple(forms), place, sort, parse_tags(suits))


def _parse_verb(english: str, french: str, subjects: str, objects: str) -> Verb:
    forms = french.split()
    if len(forms) == 1:
        stem = french.removesuffix("-er")
        forms = [stem + "e", stem + "ent", stem + "é", stem + "er", stem]
    return Verb._make((*english.split(), *forms, parse_tags(subjects), parse_tags(objects)))


NOUNS = {noun.english: noun for noun in map(_parse_noun, _NOUNS.strip().splitlines())}
ADJECTIVES = {
    word.english: word for word in (_parse_adjective(*row) for row in parse_rows(_ADJECTIVES))
}
VERBS = {verb.infinitive: verb for verb in (_parse_verb(*row) for row in parse_rows(_VERBS))}
"""The verbs, keyed by French infinitive, because `leave` translates as `quitter` or `partir`."""

DECIDING_VERBS = tuple(VERBS[name] for name in ("dormir", "boiter", "trembler", "brûler"))
"""Verbs that describe a noun, as adjectives do: it was limping, it was burning."""


@cache
def find_nouns(wanted: frozenset[str]) -> tuple[Noun, ...]:
    """Return the nouns that `wanted` lists, by name or by tag."""
    return tuple(noun for noun in NOUNS.values() if has_any_tag(wanted, noun))
