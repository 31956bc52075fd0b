"""The bilingual world: each rule by hand-written pairs, then the corpus as a whole.

The hand-written pairs are put together from explicit words, so that a broken rule fails its line.
"""

import hashlib
import inspect
import re
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import islice

import pytest

from transformer_lab.data.world import grammar
from transformer_lab.data.world.because import SCENES, because_sentence, mark_role
from transformer_lab.data.world.clauses import (
    comparison_predicate,
    copula,
    modal_group,
    predicate,
    question,
    verb_group,
)
from transformer_lab.data.world.constructions import CONSTRUCTIONS
from transformer_lab.data.world.grammar import (
    FAMOUS,
    is_held_out,
    join_tokens,
    make_world_pair,
    sentences,
    world,
)
from transformer_lab.data.world.held_out import (
    held_out_combinations,
    is_held_out_combination,
    lemma,
)
from transformer_lab.data.world.lexicon import (
    ADJECTIVES,
    DECIDING_VERBS,
    NOUNS,
    VERBS,
    Verb,
    can_describe,
    find_nouns,
)
from transformer_lab.data.world.phrases import (
    coordinate,
    extend_noun_phrase,
    fixed_phrase,
    join_phrases,
    noun_phrase,
    personal_pronoun,
)

# ---------------------------------------------------------------- words put together by hand

DETERMINERS = ("the", "a", "any", "this", "that", "my", "his", "her", "our", "their")
NEAR, BESIDE, TO = (
    fixed_phrase("near", "près de"),
    fixed_phrase("next to", "à:0 côté:0 de:1"),
    fixed_phrase("to", "à"),
)


def np(text):
    """A noun phrase from lemmas; + is the plural: "the eight red house+"; or i, we, he, she."""
    *words, noun = text.split()
    if noun in ("i", "we", "he", "she"):
        return personal_pronoun(noun)
    determiner = words.pop(0) if words and words[0] in DETERMINERS else ""
    number = words.pop(0) if words and words[0] in ("two", "eight", "ten") else ""
    return noun_phrase(
        determiner,
        NOUNS[noun.removesuffix("+")],
        plural=noun.endswith("+"),
        number=number,
        adjectives=[ADJECTIVES[word] for word in words],
    )


def texts(*parts):
    pair = make_world_pair(join_phrases(*parts), "by hand")
    return pair.source, pair.target


def does(subject, verb, tense, *rest, **options):
    who = np(subject)
    return texts(who, verb_group(who, VERBS[verb], tense, **options), *rest)


def is_so(subject, word, tense="present", **options):
    who = np(subject)
    return texts(who, predicate(who, ADJECTIVES.get(word) or VERBS[word], tense, **options))


def may(subject, modal, verb, *rest, **options):
    who = np(subject)
    return texts(who, modal_group(who, modal, VERBS[verb], **options), *rest)


@pytest.mark.parametrize(
    ("lemmas", "english", "french"),
    [
        # Article and adjective agree in gender and number.
        ("the house", "the house", "la maison"),
        ("the wall", "the wall", "le mur"),
        ("the house+", "the houses", "les maisons"),
        ("a red house", "a red house", "une maison rouge"),
        ("a black coat", "a black coat", "un manteau noir"),
        ("a black scarf+", "some black scarves", "des écharpes noires"),
        ("the white cow", "the white cow", "la vache blanche"),
        ("the lazy girl+", "the lazy girls", "les filles paresseuses"),
        ("the lazy boy+", "the lazy boys", "les garçons paresseux"),
        ("the sweet apple+", "the sweet apples", "les pommes sucrées"),
        # Some adjectives stand before the noun, most after it.
        ("a small red house", "a small red house", "une petite maison rouge"),
        ("the old black hat+", "the old black hats", "les vieux chapeaux noirs"),
        ("the long road", "the long road", "la longue route"),
        ("the two small dog+", "the two small dogs", "les deux petits chiens"),
        # Elision, before a silent h too; an.
        ("the animal", "the animal", "l'animal"),
        ("the church", "the church", "l'église"),
        ("the man", "the man", "l'homme"),
        ("the hotel", "the hotel", "l'hôtel"),
        ("a egg", "an egg", "un œuf"),
        ("the egg", "the egg", "l'œuf"),
        ("a old bear", "an old bear", "un vieil ours"),
        # No elision before an aspirated h, nor before a consonant that comes first.
        ("the owl", "the owl", "le hibou"),
        ("the hedge", "the hedge", "la haie"),
        ("the high wall", "the high wall", "le haut mur"),
        ("the big church", "the big church", "la grande église"),
        ("this owl", "this owl", "ce hibou"),
        # Beau, nouveau, vieux, ce, ma, sa before a vowel.
        ("a old man", "an old man", "un vieil homme"),
        ("the old man+", "the old men", "les vieux hommes"),
        ("a old owl", "an old owl", "un vieux hibou"),
        ("a new hotel", "a new hotel", "un nouvel hôtel"),
        ("a beautiful bird", "a beautiful bird", "un bel oiseau"),
        ("a beautiful horse", "a beautiful horse", "un beau cheval"),
        ("the old church", "the old church", "la vieille église"),
        ("this animal", "this animal", "cet animal"),
        ("this church", "this church", "cette église"),
        ("that animal+", "those animals", "ces animaux"),
        ("my school", "my school", "mon école"),
        ("my new school", "my new school", "ma nouvelle école"),
        ("his clock", "his clock", "son horloge"),
        ("her uncle", "her uncle", "son oncle"),
        ("her sister", "her sister", "sa sœur"),
        ("our house+", "our houses", "nos maisons"),
        ("their house", "their house", "leur maison"),
        ("their house+", "their houses", "leurs maisons"),
        # Irregular plurals.
        ("the horse+", "the horses", "les chevaux"),
        ("the mouse+", "the mice", "les souris"),
        ("the child+", "the children", "les enfants"),
        ("the woman+", "the women", "les femmes"),
        ("the wolf+", "the wolves", "les loups"),
        ("the bird+", "the birds", "les oiseaux"),
        ("the owl+", "the owls", "les hiboux"),
        ("the newspaper+", "the newspapers", "les journaux"),
        ("the eight bear+", "the eight bears", "les huit ours"),
        # Des, and de before an adjective in the plural.
        ("a house+", "some houses", "des maisons"),
        ("a small house+", "some small houses", "de petites maisons"),
        ("a beautiful bird+", "some beautiful birds", "de beaux oiseaux"),
        ("a red house+", "some red houses", "des maisons rouges"),
        ("ten cat+", "ten cats", "dix chats"),
    ],
)
def test_noun_phrases(lemmas, english, french):
    assert texts(np(lemmas)) == (english, french)


@pytest.mark.parametrize(
    ("built", "english", "french"),
    [
        (does("the dog", "dormir", "present"), "the dog is sleeping", "le chien dort"),
        (does("the dog+", "dormir", "present"), "the dogs are sleeping", "les chiens dorment"),
        (does("the cow", "voir", "present"), "the cow sees", "la vache voit"),
        (does("the cow+", "voir", "present"), "the cows see", "les vaches voient"),
        (does("the girl", "manger", "past"), "the girl ate", "la fille a mangé"),
        (does("i", "perdre", "past"), "i lost", "j'ai perdu"),
        (does("we", "ouvrir", "past"), "we opened", "nous avons ouvert"),
        (does("the dog", "dormir", "background"), "the dog was sleeping", "le chien dormait"),
        (does("the dog+", "boiter", "background"), "the dogs were limping", "les chiens boitaient"),
        # With être the participle agrees with the subject.
        (does("the girl", "partir", "past"), "the girl left", "la fille est partie"),
        (does("the girl+", "arriver", "past"), "the girls arrived", "les filles sont arrivées"),
        (does("the boy+", "aller", "past"), "the boys went", "les garçons sont allés"),
        (does("she", "revenir", "past"), "she returned", "elle est revenue"),
        (
            does("the queen", "entrer", "past", np("the cave")),
            "the queen entered the cave",
            "la reine est entrée dans la grotte",
        ),
        # Negation, in each tense; de after it.
        (
            does("the dog", "manger", "present", np("any egg"), negated=True),
            "the dog isn't eating an egg",
            "le chien ne mange pas d'œuf",
        ),
        (
            does("the animal", "entendre", "present", negated=True),
            "the animal doesn't hear",
            "l'animal n'entend pas",
        ),
        (
            does("the boy+", "lire", "past", np("any book+"), negated=True),
            "the boys didn't read any books",
            "les garçons n'ont pas lu de livres",
        ),
        (
            does("the girl+", "tomber", "past", negated=True),
            "the girls didn't fall",
            "les filles ne sont pas tombées",
        ),
        (
            does("the cow", "boiter", "background", negated=True),
            "the cow wasn't limping",
            "la vache ne boitait pas",
        ),
        (
            does("my sister", "avoir", "present", np("any cat"), negated=True),
            "my sister doesn't have a cat",
            "ma sœur n'a pas de chat",
        ),
        # Habits.
        (
            does("the dog", "courir", "habit", adverb="often"),
            "the dog often runs",
            "le chien court souvent",
        ),
        (
            does("the dog+", "ouvrir", "habit", adverb="never"),
            "the dogs never open",
            "les chiens n'ouvrent jamais",
        ),
        # Can, want, must.
        (may("the horse", "can", "voir"), "the horse can see", "le cheval peut voir"),
        (
            may("the horse+", "can", "traverser", negated=True),
            "the horses can't cross",
            "les chevaux ne peuvent pas traverser",
        ),
        (
            may("the girl", "can", "ouvrir", past=True, negated=True),
            "the girl couldn't open",
            "la fille ne pouvait pas ouvrir",
        ),
        (may("she", "want", "lire"), "she wants to read", "elle veut lire"),
        (
            may("the man", "want", "entrer", np("the barn"), negated=True),
            "the man doesn't want to enter the barn",
            "l'homme ne veut pas entrer dans la grange",
        ),
        (
            may("the boy+", "want", "visiter", past=True, negated=True),
            "the boys didn't want to visit",
            "les garçons ne voulaient pas visiter",
        ),
        (may("we", "must", "fermer"), "we must close", "nous devons fermer"),
        (
            may("i", "must", "manger", negated=True),
            "i mustn't eat",
            "je ne dois pas manger",
        ),
    ],
)
def test_verbs(built, english, french):
    assert built == (english, french)


@pytest.mark.parametrize(
    ("built", "english", "french"),
    [
        (is_so("the house", "red"), "the house is red", "la maison est rouge"),
        (is_so("the house+", "old"), "the houses are old", "les maisons sont vieilles"),
        (is_so("this hotel", "old"), "this hotel is old", "cet hôtel est vieux"),
        (
            is_so("the street", "wide", "background", degree="too"),
            "the street was too wide",
            "la rue était trop large",
        ),
        (
            is_so("the bell+", "noisy", "background", negated=True),
            "the bells weren't noisy",
            "les cloches n'étaient pas bruyantes",
        ),
        (is_so("the wolf", "hungry"), "the wolf is hungry", "le loup a faim"),
        (
            is_so("the goose+", "afraid", "background", degree="very"),
            "the geese were very afraid",
            "les oies avaient très peur",
        ),
        (
            is_so("the owl", "sleepy", negated=True),
            "the owl isn't sleepy",
            "le hibou n'a pas sommeil",
        ),
        (is_so("the barn", "brûler", "background"), "the barn was burning", "la grange brûlait"),
    ],
)
def test_predicates(built, english, french):
    assert built == (english, french)


@pytest.mark.parametrize(
    ("first", "second", "french"),
    [
        ("the boy", "the girl", "le garçon et la fille étaient fatigués"),
        ("the girl", "the woman", "la fille et la femme étaient fatiguées"),
        ("the cow", "the horse+", "la vache et les chevaux étaient fatigués"),
    ],
)
def test_coordination_is_masculine_as_soon_as_one_is(first, second, french):
    both = coordinate(np(first), np(second))
    assert texts(both, predicate(both, ADJECTIVES["tired"], "background"))[1] == french


@pytest.mark.parametrize(
    ("word", "way", "english", "french"),
    [
        ("old", "more", "is older than the hotel", "est plus vieille que l'hôtel"),
        ("old", "as", "is as old as the hotel", "est aussi vieille que l'hôtel"),
        ("expensive", "more", "is more expensive than the hotel", "est plus chère que l'hôtel"),
        ("expensive", "less", "is less expensive than the hotel", "est moins chère que l'hôtel"),
    ],
)
def test_comparisons(word, way, english, french):
    house = np("the house")
    group = comparison_predicate(house, ADJECTIVES[word], way, "present", np("the hotel"))
    assert texts(group) == (english, french)


@pytest.mark.parametrize(
    ("preposition", "place", "french"),
    [
        (NEAR, "the wall", "près du mur"),
        (NEAR, "the river", "près de la rivière"),
        (NEAR, "the tree", "près de l'arbre"),
        (NEAR, "the hedge", "près de la haie"),
        (NEAR, "the two tree+", "près des deux arbres"),
        (NEAR, "a bridge", "près d'un pont"),
        (NEAR, "this church", "près de cette église"),
        (BESIDE, "the path", "à côté du chemin"),
        (TO, "the boy", "au garçon"),
        (TO, "the boy+", "aux garçons"),
        (TO, "the man", "à l'homme"),
        (TO, "the queen", "à la reine"),
        (TO, "a child", "à un enfant"),
    ],
)
def test_contractions(preposition, place, french):
    assert texts(preposition, np(place))[1] == french


def test_questions():
    dog, girl = np("the dog"), np("the girl")
    owl, she = np("the owl"), np("she")
    asks = [
        question(dog, verb_group(dog, VERBS["dormir"], "present")),
        question(girl, verb_group(girl, VERBS["ouvrir"], "past", asked=True)),
        question(owl, verb_group(owl, VERBS["entendre"], "present", asked=True)),
        question(she, predicate(she, ADJECTIVES["tired"], "present")),
        question(
            girl,
            verb_group(girl, VERBS["arriver"], "past", asked=True),
            fixed_phrase("when", "quand"),
        ),
        question(
            girl, verb_group(girl, VERBS["manger"], "past", asked=True), fixed_phrase("what", "que")
        ),
    ]
    assert [texts(ask, fixed_phrase("?", "?")) for ask in asks] == [
        ("is the dog sleeping?", "est-ce que le chien dort ?"),
        ("did the girl open?", "est-ce que la fille a ouvert ?"),
        ("does the owl hear?", "est-ce que le hibou entend ?"),
        ("is she tired?", "est-ce qu'elle est fatiguée ?"),
        ("when did the girl arrive?", "quand est-ce que la fille est arrivée ?"),
        ("what did the girl eat?", "qu'est-ce que la fille a mangé ?"),
    ]


@pytest.mark.parametrize(
    ("head", "subject", "verb", "english", "french"),
    [
        ("the house", "the cat", "voir", "the cat saw", "la maison que le chat a vue"),
        ("the book+", "the man", "lire", "the man read", "les livres que l'homme a lus"),
        ("the letter+", "the animal", "voir", "the animal saw", "les lettres que l'animal a vues"),
        ("the bridge", "i", "voir", "i saw", "le pont que j'ai vu"),
        ("the story", "she", "écrire", "she wrote", "l'histoire qu'elle a écrite"),
    ],
)
def test_the_participle_agrees_with_an_object_that_precedes(head, subject, verb, english, french):
    thing, who = np(head), np(subject)
    group = verb_group(who, VERBS[verb], "past", preceding=thing.agreement)
    relative = extend_noun_phrase(thing, fixed_phrase("that", "que"), who, group)
    source, target = texts(relative)
    assert source.endswith(f" that {english}")
    assert target == french
    assert relative.agreement == thing.agreement


def reason(subject, thing, verb, word, referent, **options):
    """A because-sentence in the past; `referent` is "subject" or "object"."""
    roles = ("referent", "other") if referent == "subject" else ("other", "referent")
    doer, done_to = (
        mark_role(np(text), role) for text, role in zip((subject, thing), roles, strict=True)
    )
    group = verb_group(doer, VERBS[verb], "past", negated=options.pop("negated", False))
    what = ADJECTIVES.get(word) or VERBS[word]
    return make_world_pair(because_sentence(doer, group, done_to, what, **options), "because")


@pytest.mark.parametrize(
    ("subject", "thing", "verb", "word", "referent", "french"),
    [
        ("the animal", "the street", "traverser", "tired", "subject", "il était fatigué"),
        ("the animal", "the street", "traverser", "wide", "object", "elle était large"),
        ("the street", "the animal", "effrayer", "young", "object", "il était jeune"),
        ("the street", "the animal", "effrayer", "wide", "subject", "elle était large"),
        ("the goat+", "the wall+", "escalader", "weak", "subject", "elles étaient faibles"),
        ("the goat+", "the wall+", "escalader", "high", "object", "ils étaient hauts"),
        ("the goose", "the cake", "manger", "hungry", "subject", "elle avait faim"),
        ("the owl", "the barn", "voir", "brûler", "object", "elle brûlait"),
        ("the owl", "the barn", "voir", "dormir", "subject", "il dormait"),
    ],
)
@pytest.mark.parametrize("reason_first", [False, True])
def test_the_pronoun_follows_its_referent(
    subject, thing, verb, word, referent, french, reason_first
):
    pair = reason(subject, thing, verb, word, referent, reason_first=reason_first)
    clause = f"parce qu'{french}"
    assert pair.target.startswith(f"{clause}, ") if reason_first else pair.target.endswith(clause)
    assert pair.source.startswith("because") == reason_first
    at = pair.coreference
    doer, done_to = (np(text).source[-1] for text in (subject, thing))
    is_subject = referent == "subject"
    assert pair.source_tokens[at.referent] == (doer if is_subject else done_to)
    assert pair.source_tokens[at.other] == (done_to if is_subject else doer)
    assert pair.source_tokens[at.pronoun] in ("it", "they")
    assert pair.source_tokens[at.decider] in (word, "burning", "sleeping")
    assert pair.target_tokens[at.target_pronoun] == french.split()[0]


def test_the_reason_may_come_first():
    pair = reason(
        "the goat",
        "the wall",
        "escalader",
        "high",
        "object",
        negated=True,
        degree="too",
        reason_first=True,
    )
    assert pair.source == "because it was too high, the goat didn't climb the wall"
    assert pair.target == "parce qu'il était trop haut, la chèvre n'a pas escaladé le mur"


# ---------------------------------------------------------------- text and alignment


def test_text_from_tokens():
    assert join_tokens(["because", "it", "is", ",", "is", "it", "?"]) == "because it is, is it?"
    assert join_tokens(["qu'", "est-ce", "qu'", "il", "a", ",", "l'", "âne", "?"], french=True) == (
        "qu'est-ce qu'il a, l'âne ?"
    )
    assert join_tokens([]) == ""


def links(pair):
    """The alignment as words, one line a French word, for reading."""
    lines = []
    for there, word in enumerate(pair.target_tokens):
        rendered = [pair.source_tokens[here] for here, at in pair.alignment if at == there]
        lines.append(f"{word} = {' '.join(rendered)}")
    return lines


def test_the_famous_pair():
    tired, wide = FAMOUS
    start = "the animal didn't cross the street because it was too"
    assert (tired.source, wide.source) == (f"{start} tired", f"{start} wide")
    assert tired.target == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    assert wide.target == "l'animal n'a pas traversé la rue parce qu'elle était trop large"
    expected = ["l' = the", "animal = animal", "n' = didn't", "a = didn't", "pas = didn't"]
    expected += ["traversé = cross", "la = the", "rue = street", "parce = because", "qu' = because"]
    assert links(tired) == [*expected, "il = it", "était = was", "trop = too", "fatigué = tired"]
    assert links(wide) == [*expected, "elle = it", "était = was", "trop = too", "large = wide"]
    # The positions too: "the" is the first for l' and the fifth for la.
    gold = ((0, 0), (1, 1), (2, 2), (2, 3), (2, 4), (3, 5), (4, 6), (5, 7), (6, 8), (6, 9))
    gold += ((7, 10), (8, 11), (9, 12), (10, 13))
    assert tired.alignment == wide.alignment == gold
    at, other = tired.coreference, wide.coreference
    assert (at.pronoun, at.referent, at.other, at.decider, at.target_pronoun) == (7, 1, 5, 10, 10)
    assert other == replace(at, referent=5, other=1)
    assert is_held_out(tired)
    assert is_held_out(wide)


def test_alignment_where_orders_differ():
    house = np("a small red house")
    near = join_phrases(copula(house, "present", negated=True), NEAR, np("the wall"))
    pair = make_world_pair(join_phrases(house, near), "by hand")
    assert links(pair) == [
        "une = a",
        "petite = small",
        "maison = house",
        "rouge = red",
        "n' = isn't",
        "est = isn't",
        "pas = isn't",
        "près = near",
        "du = near the",
        "mur = wall",
    ]


def test_alignment_of_a_question():
    girl = np("the girl")
    group = verb_group(girl, VERBS["ouvrir"], "past", asked=True)
    pair = make_world_pair(join_phrases(question(girl, group), np("the box")), "by hand")
    assert links(pair) == [
        "est-ce = did",
        "que = did",
        "la = the",
        "fille = girl",
        "a = did",
        "ouvert = open",
        "la = the",
        "boîte = box",
    ]


# ---------------------------------------------------------------- the words


def test_everything_the_tables_name_exists():
    known = set(NOUNS).union(*(noun.tags for noun in NOUNS.values()))
    for adjective in ADJECTIVES.values():
        assert adjective.suits <= known, adjective.english
        assert adjective.place in ("before", "after", "never")
        assert len(adjective.french) == 4
    for verb in VERBS.values():
        assert verb.subjects | verb.objects <= known, verb.infinitive
    for scene in SCENES:
        assert scene.subjects | scene.objects <= known, scene.verb.infinitive
        reasons = scene.subject_reasons + scene.object_reasons
        assert {word for word in reasons if isinstance(word, Verb)} <= set(DECIDING_VERBS)


def test_adjectives_agree_by_the_rules_of_french():
    """Whatever the table says, a plural ends in s or x and a feminine in e."""
    for adjective in ADJECTIVES.values():
        if adjective.sort != "having":
            masculine, feminine, masculines, feminines = adjective.french
            assert feminine.endswith("e"), masculine
            assert feminines == feminine + "s"
            assert masculines == masculine if masculine[-1] in "sx" else masculines[-1] in "sx"


# ---------------------------------------------------------------- the corpus


@pytest.fixture(scope="module")
def stream():
    """What `world` draws from, repeats and all; drawn once, since shape checks make it slow."""
    return list(islice(sentences(), 20_000))


@pytest.fixture(scope="module")
def corpus(stream):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grammar, "sentences", lambda seed: iter(stream))
        return world(train=14_000)


@pytest.fixture(scope="module")
def everything(corpus):
    return [*corpus.train, *corpus.validation, *corpus.test]


@pytest.mark.slow
def test_sizes_and_disjointness(corpus, everything):
    assert (len(corpus.train), len(corpus.validation), len(corpus.test)) == (14_000, 1_000, 1_000)
    assert len({pair.source_tokens for pair in everything}) == 16_000
    assert len({pair.source for pair in everything}) == 16_000
    sizes = inspect.signature(world).parameters
    assert [sizes[name].default for name in ("train", "validation", "test")] == [
        20_000,
        1_000,
        1_000,
    ]


def test_the_same_seed_gives_the_same_world(corpus):
    assert world(500, 0, 0).train != world(500, 0, 0, seed=1).train
    assert world(50, 10, 10, seed=7) == world(50, 10, 10, seed=7)


def test_the_world_of_a_seed_never_changes():
    """The shipped model and all stored results are of it: other sentences are another world."""
    splits = world(train=0, seed=0)
    pairs = [*splits.validation, *splits.test]
    everything = "\n".join(
        repr((p.source_tokens, p.target_tokens, p.alignment, p.construction, p.combinations))
        + repr(p.coreference)
        for p in pairs
    )
    assert len(pairs) == 2_000
    assert hashlib.sha256(everything.encode()).hexdigest()[:16] == "c16a52df12fd9610"


def test_a_smaller_training_set_begins_the_larger_one(corpus, stream, monkeypatch):
    monkeypatch.setattr(grammar, "sentences", lambda seed: iter(stream))
    small = world(train=300)
    assert small.test == corpus.test
    assert small.validation == corpus.validation
    assert small.train == corpus.train[:300]


def test_held_out_combinations_never_occur_in_training(corpus):
    for pair in [*corpus.train, *corpus.validation]:
        assert not is_held_out(pair)
        assert not {("animal", "tired"), ("street", "wide")} & set(pair.combinations)


def said_of(pair):
    """The combinations of a because-sentence, found again in its tokens and not in its record."""
    lemmas = {form: noun.english for noun in NOUNS.values() for form in noun[:2]}
    words = {verb.ing: verb.base for verb in DECIDING_VERBS}
    tokens, at = pair.source_tokens, pair.coreference
    decider = tokens[at.decider]
    return lemmas[tokens[at.referent]], words.get(decider, decider)


def test_combinations_are_recorded(everything):
    """Beside the noun, of the subject and of the pronoun; checked against the tokens."""
    lemmas = {form: noun.english for noun in NOUNS.values() for form in noun[:2]}
    for pair in everything:
        if pair.coreference:
            assert said_of(pair) in pair.combinations
        for word, following in zip(pair.source_tokens, pair.source_tokens[1:], strict=False):
            if word in ADJECTIVES and following in lemmas:
                assert (lemmas[following], word) in pair.combinations
    spoken = [pair for pair in everything if pair.construction == "description"]
    assert spoken
    assert all(pair.combinations for pair in spoken)


def test_half_of_the_test_set_is_held_out_and_the_rest_is_not(corpus):
    assert sum(map(is_held_out, corpus.test)) == 500
    held = Counter(pair.construction for pair in corpus.test if is_held_out(pair))
    assert held["because_first"] + held["because_last"] > 100
    assert len(held) >= 12


WORDS = [*ADJECTIVES.values(), *DECIDING_VERBS]


def test_one_combination_in_ten_is_held_out():
    combinations = {
        (noun.english, lemma(word))
        for noun in NOUNS.values()
        for word in WORDS
        if can_describe(word, noun)
    }
    assert held_out_combinations() <= combinations
    assert len(held_out_combinations()) == len(combinations) // 10
    assert is_held_out_combination("animal", "tired")
    assert is_held_out_combination("street", "wide")
    assert not is_held_out_combination("street", "tired")


def genders(nouns):
    return Counter(noun.gender for noun in nouns)


def test_training_shows_every_word_with_nouns_of_both_genders(corpus):
    """So that what a held-out combination needs can be learnt."""
    shown = {combination for pair in corpus.train for combination in pair.combinations}
    for word in WORDS:
        suited = [noun for noun in NOUNS.values() if can_describe(word, noun)]
        met = genders(noun for noun in suited if (noun.english, lemma(word)) in shown)
        for gender, count in genders(suited).items():
            assert met[gender] >= min(2, count), lemma(word)
    for noun in NOUNS:
        assert len([described for described, _ in shown if described == noun]) >= 2, noun


def test_every_reason_is_said_of_nouns_of_both_genders_in_training():
    """Beside each verb: whom "slippery" is said of, when somebody climbs, can be learnt."""
    reasons = defaultdict(set)
    for scene in SCENES:
        for role, nouns, of_it in (
            ("subject", scene.subjects, scene.subject_reasons),
            ("object", scene.objects, scene.object_reasons),
        ):
            for word in of_it:
                found = {noun for noun in find_nouns(nouns) if can_describe(word, noun)}
                reasons[scene.verb.infinitive, role, lemma(word)] |= found
    assert len(reasons) > 100
    for (verb, role, word), suited in reasons.items():
        trained = genders(n for n in suited if not is_held_out_combination(n.english, word))
        assert trained["m"] >= 1, (verb, role, word)
        assert trained["f"] >= 1, (verb, role, word)
        for gender, count in genders(suited).items():
            assert trained[gender] >= min(2, count), (verb, role, word)


def test_enough_constructions_and_words(stream):
    assert len(CONSTRUCTIONS) >= 12
    drawn = Counter(pair.construction for pair in stream)
    assert set(drawn) == set(CONSTRUCTIONS)
    assert min(drawn.values()) >= 300
    english = {token for pair in stream for token in pair.source_tokens}
    french = {token for pair in stream for token in pair.target_tokens}
    assert 300 <= len(english) <= 500
    assert 400 <= len(french) <= 700
    lengths = [len(pair.source_tokens) for pair in stream]
    assert min(lengths) >= 3
    assert max(lengths) <= 24


def test_english_determines_french(stream):
    translation = {}
    for pair in stream:
        assert translation.setdefault(pair.source_tokens, pair.target_tokens) == pair.target_tokens


def test_every_referent_could_be_decided_by_its_word_only(everything):
    singular = {noun.english: noun for noun in NOUNS.values()}
    plural = {noun.english_plural: noun for noun in NOUNS.values()}
    words = ADJECTIVES | {verb.ing: verb for verb in DECIDING_VERBS}
    for pair in everything:
        if at := pair.coreference:
            tokens = pair.source_tokens
            form = plural if tokens[at.pronoun] == "they" else singular
            referent, other = form[tokens[at.referent]], form[tokens[at.other]]
            decider = words[tokens[at.decider]]
            assert can_describe(decider, referent)
            assert not can_describe(decider, other)
            french = pair.target_tokens[at.target_pronoun]
            assert french.startswith("elle" if referent.gender == "f" else "il")
            assert french.endswith("s") == (form is plural)
            # No third noun is a candidate either.
            if form is singular:
                others = {singular[word] for word in tokens if word in singular} - {referent}
                assert not any(can_describe(decider, noun) for noun in others)


def test_no_position_gives_the_answer_away(everything):
    pairs = [pair for pair in everything if pair.coreference]

    def share(property_of, among=pairs):
        return sum(map(property_of, among)) / len(among)

    def of_subject(pair):
        return pair.coreference.referent < pair.coreference.other

    def feminine(pair):
        return pair.target_tokens[pair.coreference.target_pronoun].startswith("elle")

    def reason_first(pair):
        return pair.source_tokens[0] == "because"

    assert len(pairs) > 6_000
    for property_of in (of_subject, feminine, reason_first):
        assert 0.4 < share(property_of) < 0.6
        for group in (of_subject, feminine, reason_first):
            if group is not property_of:
                assert 0.4 < share(property_of, [p for p in pairs if group(p)]) < 0.6
    genders = {noun.english: noun.gender for noun in NOUNS.values()}
    lemmas = {form: noun.english for noun in NOUNS.values() for form in noun[:2]}

    def differ(pair):
        at, tokens = pair.coreference, pair.source_tokens
        return len({genders[lemmas[tokens[i]]] for i in (at.referent, at.other)}) == 2

    assert 0.8 < share(differ) < 0.96
    # The same word decides for subjects and for objects.
    roles = defaultdict(Counter)
    for pair in pairs:
        roles[pair.source_tokens[pair.coreference.decider]][of_subject(pair)] += 1
    guessed = sum(max(role.values()) for role in roles.values())
    assert guessed / len(pairs) < 0.68  # knowing the word alone, and not what it goes with
    for word in ("tired", "weak", "young", "wide", "steep", "heavy", "hungry", "ripe", "dangerous"):
        assert min(roles[word][True], roles[word][False]) / roles[word].total() > 0.1, word
    # And the distance between the pronoun and its referent varies.
    distances = Counter(abs(p.coreference.pronoun - p.coreference.referent) for p in pairs)
    assert len([d for d, count in distances.items() if count > 100]) >= 8


def test_alignment_is_sane(everything):
    for pair in everything:
        sources = {here for here, _ in pair.alignment}
        targets = {there for _, there in pair.alignment}
        assert pair.alignment == tuple(sorted(set(pair.alignment)))
        assert sources <= set(range(len(pair.source_tokens)))
        assert targets == set(range(len(pair.target_tokens)))  # every French word has its English
        if pair.construction not in ("question", "wh_question"):
            assert sources == set(range(len(pair.source_tokens)))


RETOKENISE = re.compile(r"(?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu)'(?=\w)|\w+(?:['-]\w+)*|[^\w\s]")


def test_texts_can_be_tokenised_again(everything):
    for pair in everything:
        assert tuple(RETOKENISE.findall(pair.source)) == pair.source_tokens
        assert tuple(RETOKENISE.findall(pair.target)) == pair.target_tokens
        assert pair.source == pair.source.lower()
        assert not pair.source.endswith(".")
        assert ("?" in pair.source) == (pair.construction in ("question", "wh_question"))


def test_no_neighbours_are_left_unsettled(everything):
    """Whatever the construction: no elision, contraction or form before a vowel is missing."""
    vowel = re.compile(r"[aâeéêiîoœuy]|h(?!aie|aut|ibou|uit)")
    before = {
        form for word in ADJECTIVES.values() if word.place == "before" for form in word.french
    }
    for pair in everything:
        for i, (word, following) in enumerate(
            zip(pair.target_tokens, pair.target_tokens[1:], strict=False)
        ):
            if word in ("le", "la", "je", "ne", "de", "que", "ma", "sa", "ce"):
                assert not vowel.match(following), pair.target
            if word in ("l'", "j'", "n'", "d'", "qu'", "cet", "bel", "nouvel", "vieil"):
                assert vowel.match(following), pair.target
            assert (word, following) not in {("de", "le"), ("de", "les"), ("à", "le"), ("à", "les")}
            if word == "des" and following in before:
                rendered = [
                    pair.source_tokens[here] for here, there in pair.alignment if there == i
                ]
                assert "some" not in rendered, pair.target


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("name", ["train", "validation", "test"])
def test_a_negative_size_is_refused(name):
    with pytest.raises(ValueError, match=rf"{name} is -1; expected at least 0"):
        world(**{"train": 5, "validation": 5, "test": 5, name: -1})


def test_empty_splits_are_fine():
    splits = world(train=3, validation=0, test=0)
    assert (len(splits.train), len(splits.validation), len(splits.test)) == (3, 0, 0)
    assert world(0, 0, 1).test == [world(0, 0, 1).test[0]]
    assert world(0, 0, 0).train == []


def test_more_sentences_than_there_are_is_an_error():
    with pytest.raises(ValueError, match=r"test is 1,000,000,000; expected at most 200,000"):
        world(train=10**9 - 2, validation=1, test=1)


def test_a_grammar_that_runs_dry_is_an_error(monkeypatch):
    (pair,) = islice(sentences(), 1)
    monkeypatch.setattr(grammar, "sentences", lambda seed: iter(lambda: pair, None))
    with pytest.raises(ValueError, match="fewer distinct sentences"):
        world(train=100, validation=0, test=0)
