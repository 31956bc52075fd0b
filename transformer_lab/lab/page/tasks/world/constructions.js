// The constructions of the bilingual world: functions that draw words and put them into a sentence, as in
// Python's `constructions`. What is `_event` there is `drawEvent` here. Each takes the random numbers first.

import { drawBecause } from "./because.js";
import { drawNoun, drawPhrase, drawPlace, drawTime, findAdjectives, PERSON, possessiveDeterminer, SPOTS } from "./choices.js";
import { comparisonPredicate, copula, modalGroup, predicate, question, verbGroup } from "./clauses.js";
import { ADJECTIVES, DECIDING_VERBS, findNouns, findVerbs, isVerb, NOUNS, remember, VERBS } from "./lexicon.js";
import { coordinate, EMPTY_PHRASE, extendNounPhrase, fixedPhrase, joinPhrases, personalPronoun } from "./phrases.js";
import { WORDS } from "./words.js";

const EVERY = WORDS.EVERY.map((time) => fixedPhrase(...time));
const ASK = fixedPhrase("?", "?");
const BEING = WORDS.BEING; // the tenses of being

// ---------------------------------------------------------------- somebody does something

const PUNCTUAL = findVerbs(WORDS.PUNCTUAL); // never in progress
const INTO = findVerbs(WORDS.INTO); // one place at a time, and a known one
const ACTIVITIES = findVerbs(WORDS.ACTIVITIES);
const GIVING = findVerbs(WORDS.GIVING);
const EVENTS = findVerbs(WORDS.EVENTS);
const HUMAN_EVENTS = findVerbs(WORDS.HUMAN_EVENTS);
const INTENTIONS = findVerbs(WORDS.INTENTIONS);

/** Draw a noun again until it is one of which this is true. */
function drawNounUntil(rng, wanted, isFit) {
  let noun;
  do noun = drawNoun(rng, wanted); while (!isFit(noun));
  return noun;
}

/** Draw what is eaten, opened or lost; a person may own it. */
function drawObject(rng, subject, verb, { negated = false, habit = false } = {}) {
  const determiners = habit ? [] : ["the", "the", "this"];
  if (verb.subjects.has("person") && !INTO.includes(verb)) {
    const indefinite = negated ? "any" : "a";
    determiners.push(indefinite, indefinite);
    if (!subject.nouns.length || NOUNS.get(subject.nouns[0]).tags.has("person")) {
      const possessive = possessiveDeterminer(subject);
      determiners.push(possessive, possessive);
    }
  }
  const noun = drawNounUntil(rng, verb.objects, ({ english }) => !subject.nouns.includes(english));
  return drawPhrase(rng, noun, determiners, { plural: INTO.includes(verb) ? false : null });
}

/** Draw an event, such as: the cat ate the cake. */
function drawEvent(rng, tense, { negated = false, subject = null } = {}) {
  const choice = subject ? HUMAN_EVENTS : EVENTS;
  const isTooShort = (verb) => tense === "present" && PUNCTUAL.includes(verb);
  let verb = rng.choice(choice);
  while (isTooShort(verb)) verb = rng.choice(choice);
  subject ??= drawPhrase(rng, drawNoun(rng, verb.subjects));
  const group = verbGroup(subject, verb, tense, { negated });
  const thing = drawObject(rng, subject, verb, { negated });
  return joinPhrases(subject, group, thing, drawTime(rng, tense === "past" ? 0.3 : 0));
}

const JOURNEYS = WORDS.JOURNEYS.map(([verb, link, nouns]) => [VERBS.get(verb), fixedPhrase(...link), new Set(nouns)]);

/** Draw a motion, such as: the girls arrived at the station. */
function drawMotion(rng, subject = null) {
  subject ??= drawPhrase(rng, drawNoun(rng, PERSON));
  const tense = rng.choice(["past", "past", "present"]);
  const [verb, link, nouns] = rng.choice(tense === "present" ? JOURNEYS.slice(0, 4) : JOURNEYS);
  const where = drawNounUntil(rng, nouns, ({ english }) => !subject.nouns.includes(english));
  const place = joinPhrases(link, drawPhrase(rng, where, ["the", possessiveDeterminer(subject)], { plural: false }));
  const group = verbGroup(subject, verb, tense, { negated: rng.random() < 0.25 });
  return joinPhrases(subject, group, place, drawTime(rng, tense === "past" ? 0.4 : 0));
}

/** Draw a possession, such as: my brother has two black cats; my sister doesn't have a dog. */
function drawPossession(rng) {
  const have = VERBS.get("avoir");
  const subject = drawPhrase(rng, drawNoun(rng, PERSON));
  const negated = rng.random() < 0.35;
  const what = drawPhrase(rng, drawNoun(rng, have.objects), [negated ? "any" : "a"]);
  return joinPhrases(subject, verbGroup(subject, have, "present", { negated }), what);
}

/** Draw a modal verb with an infinitive, such as: the children want to visit the museum. */
function drawModal(rng, subject = null) {
  const verb = rng.choice(INTENTIONS);
  subject ??= drawPhrase(rng, drawNoun(rng, PERSON));
  const modal = rng.choice(["can", "can", "want", "want", "must"]);
  const past = modal !== "must" && subject.agreement.person === 3 && rng.random() < 0.4;
  // "She could" is also "elle pourrait": only "couldn't" is said.
  const negated = (modal === "can" && past) || rng.random() < 0.4;
  const group = modalGroup(subject, modal, verb, { past, negated });
  return joinPhrases(subject, group, drawObject(rng, subject, verb, { negated }));
}

/** Draw a sentence with an indirect object, such as: the queen gave a book to the boy. */
function drawIndirectObject(rng) {
  const verb = rng.choice(GIVING);
  const giver = drawNoun(rng, PERSON);
  const subject = drawPhrase(rng, giver);
  const group = verbGroup(subject, verb, rng.choice(["past", "past", "present"]));
  const determiners = ["the", "the", "a", "this", possessiveDeterminer(subject)];
  const receiver = drawPhrase(rng, drawNoun(rng, PERSON, giver), determiners, { plain: true });
  return joinPhrases(subject, group, drawObject(rng, subject, verb), fixedPhrase("to", "à"), receiver);
}

const HABITS = findVerbs(WORDS.HABITS);

/** Draw a habit, such as: the cow often sleeps in the garden; my sister reads a story every day. */
function drawHabit(rng) {
  const verb = rng.choice(HABITS);
  const noun = drawNoun(rng, verb.subjects);
  const subject = drawPhrase(rng, noun);
  const adverb = rng.choice([...Object.keys(WORDS.ADVERBS), ""]);
  const group = verbGroup(subject, verb, "habit", { adverb });
  const rest = verb.objects.size
    ? drawObject(rng, subject, verb, { negated: adverb === "never", habit: true })
    : drawPlace(rng, noun);
  return joinPhrases(subject, group, rest, adverb ? EMPTY_PHRASE : rng.choice(EVERY));
}

const drawPersonalPronoun = (rng) => personalPronoun(rng.choice(Object.keys(WORDS.PRONOUNS)));

/** Draw a sentence about I, we, he or she, such as: I lost my key; she arrived at the station. */
function drawPronoun(rng) {
  const subject = drawPersonalPronoun(rng);
  const kind = rng.randrange(4);
  if (kind === 0 && subject.agreement.person === 3) return drawMotion(rng, subject);
  if (kind === 1 && subject.agreement.person === 3) {
    const word = rng.choice(findAdjectives(NOUNS.get("king"), WORDS.SAID));
    return joinPhrases(subject, drawPredicate(rng, subject, word));
  }
  if (kind === 2) return drawModal(rng, subject);
  return drawEvent(rng, "past", { negated: rng.random() < 0.4, subject });
}

// ---------------------------------------------------------------- something is so, or is there

/** Draw something that is said of the subject, such as: is red; wasn't very tired; isn't sleeping. */
function drawPredicate(rng, subject, word) {
  const gradable = !isVerb(word) && !["fixed", "colour"].includes(word.sort);
  const degree = gradable && rng.random() < 0.3 ? "very" : "";
  const negated = rng.random() < 0.25;
  return predicate(subject, word, rng.choice(BEING), { negated, degree });
}

const findAdjectivesOf = (sorts) => [...ADJECTIVES.values()].filter((word) => sorts.includes(word.sort));

const DESCRIBING = [...findAdjectivesOf(WORDS.SAID), ...DECIDING_VERBS];

/** Draw a description, such as: the house is old; the dog was limping. */
function drawDescription(rng) {
  const word = rng.choice(DESCRIBING);
  const subject = drawPhrase(rng, drawNoun(rng, isVerb(word) ? word.subjects : word.suits), undefined, { plain: true });
  return joinPhrases(subject, drawPredicate(rng, subject, word));
}

/** Draw a noun that needs no possessive, to avoid "there is his brother" or "my sister that i saw". */
const drawUnowned = (rng, wanted) => drawNounUntil(rng, wanted, ({ kind }) => kind !== "family");

/** Draw a noun of something that may be somewhere. */
function drawLocated(rng) {
  const [, who] = rng.choice(SPOTS);
  return drawUnowned(rng, who);
}

/** Draw a location, such as: the key is under the table. */
function drawLocation(rng) {
  const noun = drawLocated(rng);
  const subject = drawPhrase(rng, noun);
  const there = copula(subject, rng.choice(BEING), { negated: rng.random() < 0.2 });
  return joinPhrases(subject, there, drawPlace(rng, noun));
}

/** Draw a sentence of existence, such as: there is a cat in the garden; there aren't any cats. */
function drawExistence(rng) {
  const noun = drawLocated(rng);
  const negated = rng.random() < 0.3;
  const what = drawPhrase(rng, noun, [negated ? "any" : "a"], { plain: negated });
  const tense = rng.choice(BEING);
  const [english] = copula(what, tense, { negated }).source;
  const has = tense === "present" ? "a" : "avait";
  const there = fixedPhrase(`there ${english}`, negated ? `il ne y ${has} pas` : `il y ${has}`);
  return joinPhrases(there, what, drawPlace(rng, noun));
}

/** Return all pairs of nouns of one kind that the adjective suits. */
const findPairs = remember((word) => {
  const suited = findNouns(word.suits);
  return suited.flatMap((a) => suited.filter((b) => a.kind === b.kind && a !== b).map((b) => [a, b]));
});

const COMPARED = [...ADJECTIVES.values()].filter((word) => word.comparative && findPairs(word).length);

/** Draw a comparison, such as: the house is older than the church. */
function drawComparison(rng) {
  const word = rng.choice(COMPARED);
  const [one, other] = rng.choice(findPairs(word));
  const subject = drawPhrase(rng, one, undefined, { plain: true });
  const than = drawPhrase(rng, other, WORDS.DEFINITE, { plain: true });
  // Nobody says "less old": what has a comparative of its own is not lessened.
  const ways = word.comparative === "more" ? ["more", "less", "as"] : ["more", "more", "as"];
  return joinPhrases(subject, comparisonPredicate(subject, word, rng.choice(ways), rng.choice(BEING), than));
}

const PASSING = findAdjectivesOf(["state", "fixed", "having"]).filter((word) => findPairs(word).length);

/** Draw a sentence about two nouns, such as: the boy and the girl are tired. */
function drawCoordination(rng) {
  const word = rng.choice(PASSING);
  const [one, other] = rng.choice(findPairs(word)).map((noun) => drawPhrase(rng, noun, WORDS.DEFINITE, { plain: true }));
  const both = coordinate(one, other);
  if (NOUNS.get(both.nouns[0]).tags.has("person") && rng.random() < 0.6) return drawMotion(rng, both);
  return joinPhrases(both, drawPredicate(rng, both, word));
}

/** Draw a relative clause with its noun as subject: the dog that is sleeping on the bed is black. */
function drawSubjectRelative(rng) {
  const verb = rng.choice(ACTIVITIES);
  const noun = drawUnowned(rng, verb.subjects);
  const first = drawPhrase(rng, noun, WORDS.DEFINITE, { plain: true });
  const who = fixedPhrase(noun.tags.has("person") ? "who" : "that", "qui");
  const head = extendNounPhrase(first, who, verbGroup(first, verb, "present"), drawPlace(rng, noun));
  const word = rng.choice(findAdjectives(noun, ["quality", "colour"]));
  return joinPhrases(head, predicate(head, word, "present"));
}

const RELATED = findVerbs(WORDS.RELATED);

/** Draw a relative clause with its noun as object, such as: the house that the cat saw was old. */
function drawObjectRelative(rng) {
  const verb = rng.choice(RELATED);
  const noun = drawUnowned(rng, verb.objects);
  const first = drawPhrase(rng, noun, ["the", "the", "this"], { plain: true });
  const subject = rng.random() < 0.3
    ? drawPersonalPronoun(rng)
    : drawPhrase(rng, drawNoun(rng, verb.subjects, noun), WORDS.DEFINITE, { plain: true });
  const group = verbGroup(subject, verb, "past", { preceding: first.agreement });
  const head = extendNounPhrase(first, fixedPhrase("that", "que"), subject, group);
  const word = rng.choice(findAdjectives(noun, ["quality", "colour"]));
  return joinPhrases(head, predicate(head, word, "background"));
}

/** Draw a yes-or-no question, such as: did the girl open the box? Is the dog tired? */
function drawQuestion(rng) {
  const verb = rng.choice([...HUMAN_EVENTS, ...ACTIVITIES]);
  const noun = drawNoun(rng, verb.subjects);
  const subject = drawPhrase(rng, noun);
  const words = findAdjectives(noun, ["state", "fixed", "having"]);
  if (words.length && rng.random() < 0.3) {
    const word = rng.choice(words);
    return joinPhrases(question(subject, predicate(subject, word, rng.choice(BEING))), ASK);
  }
  const tense = PUNCTUAL.includes(verb) ? "past" : rng.choice(["present", "past"]);
  const group = verbGroup(subject, verb, tense, { asked: true });
  const rest = verb.objects.size ? drawObject(rng, subject, verb) : drawPlace(rng, noun);
  return joinPhrases(question(subject, group), rest, ASK);
}

const WHERE = fixedPhrase(...WORDS.WHERE);
const WHEN_OR_WHY = WORDS.WHEN_OR_WHY.map((word) => fixedPhrase(...word));
const SOMEWHERE = findVerbs(WORDS.SOMEWHERE);

/** Draw a question with a question word, such as: where is the key? What did she buy? */
function drawWhQuestion(rng) {
  if (rng.random() < 0.3) {
    const subject = drawPhrase(rng, drawLocated(rng));
    return joinPhrases(WHERE, copula(subject, rng.choice(BEING)), subject, ASK);
  }
  const verb = rng.choice(HUMAN_EVENTS);
  const subject = drawPhrase(rng, drawNoun(rng, verb.subjects));
  const group = verbGroup(subject, verb, "past", { asked: true });
  // "What did she leave" could also be "laissé".
  if (rng.random() < 0.3 && verb.infinitive !== "quitter") {
    return joinPhrases(question(subject, group, fixedPhrase("what", "que")), ASK);
  }
  const words = SOMEWHERE.includes(verb) ? [...WHEN_OR_WHY, WHERE] : WHEN_OR_WHY;
  const asked = question(subject, group, rng.choice(words));
  return joinPhrases(asked, drawObject(rng, subject, verb), ASK);
}

/** The function that draws a sentence of each construction; their weights in the draw are in WORDS. */
export const CONSTRUCTIONS = {
  present: (rng) => drawEvent(rng, "present"),
  past: (rng) => drawEvent(rng, "past"),
  present_negation: (rng) => drawEvent(rng, "present", { negated: true }),
  past_negation: (rng) => drawEvent(rng, "past", { negated: true }),
  motion: (rng) => drawMotion(rng),
  possession: drawPossession,
  modal: (rng) => drawModal(rng),
  indirect_object: drawIndirectObject,
  habit: drawHabit,
  pronoun: drawPronoun,
  description: drawDescription,
  location: drawLocation,
  existence: drawExistence,
  comparison: drawComparison,
  coordination: drawCoordination,
  subject_relative: drawSubjectRelative,
  object_relative: drawObjectRelative,
  question: drawQuestion,
  wh_question: drawWhQuestion,
  because_last: (rng) => drawBecause(rng, false),
  because_first: (rng) => drawBecause(rng, true),
};
