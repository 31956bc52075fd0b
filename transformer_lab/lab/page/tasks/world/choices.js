// Random choices for sentences: nouns with determiners, numbers and adjectives, places and times, as in Python's `choices`.

import { ADJECTIVES, canDescribe, findNouns, hasAnyTag, remember } from "./lexicon.js";
import { EMPTY_PHRASE, fixedPhrase, joinPhrases, nounPhrase } from "./phrases.js";
import { WORDS } from "./words.js";

export const PERSON = new Set(WORDS.PERSON);
export const ANIMATE = new Set(WORDS.ANIMATE);
const OWNABLE = new Set(WORDS.OWNABLE);
const NUMEROUS = new Set(WORDS.NUMEROUS);

/** Draw a noun that has one of these tags or is among them, but not the noun `but`. */
export const drawNoun = (rng, wanted, but = null) => rng.choice(findNouns(wanted).filter((noun) => noun !== but));

const findAllAdjectives = remember((noun) => [...ADJECTIVES.values()].filter((word) => canDescribe(word, noun)));

/** Return the adjectives of these sorts that make sense with the noun. */
export const findAdjectives = (noun, sorts) => findAllAdjectives(noun).filter((word) => sorts.includes(word.sort));

/** Draw adjectives to stand beside the noun, none that could deny what the sentence goes on to say. */
function drawAdjectives(rng, noun) {
  const animate = hasAnyTag(ANIMATE, noun);
  const choice = findAdjectives(noun, ["quality", "colour", "attribute", ...(animate ? [] : ["state"])]);
  if (!choice.length || rng.random() < (animate ? 0.8 : 0.6)) return [];
  const first = rng.choice(choice);
  const second = rng.choice(choice);
  return first.place === "before" && second.sort === "colour" ? [first, second] : [first];
}

/**
 * Draw a noun phrase: the noun with one of the determiners, and perhaps a number and adjectives.
 *
 * "my" stands for any possessive. Relatives always get one, and what nobody owns never does. `plural` is drawn
 * too, if it isn't given, and `plain` leaves out number and adjectives.
 */
export function drawPhrase(rng, noun, determiners = WORDS.SUBJECT, { plural = null, plain = false } = {}) {
  plural ??= rng.random() < 0.3;
  const possessives = WORDS.POSSESSIVES;
  let determiner = rng.choice(determiners);
  if (noun.kind === "family") {
    if (!possessives.slice(2).includes(determiner)) determiner = rng.choice(possessives);
  } else if (possessives.includes(determiner) && !hasAnyTag(OWNABLE, noun)) {
    determiner = "the";
  }
  if (plain) return nounPhrase(determiner, noun, { plural });
  let number = "";
  if (plural && determiner !== "any" && rng.random() < 0.3) {
    const numbers = Object.keys(WORDS.NUMBERS);
    number = rng.choice(hasAnyTag(NUMEROUS, noun) ? numbers : numbers.slice(0, 3));
    if (determiner === "a") determiner = "";
  }
  return nounPhrase(determiner, noun, { plural, number, adjectives: drawAdjectives(rng, noun) });
}

/** Return the English possessive that refers to the subject: my, our, his, her or their. */
export function possessiveDeterminer({ agreement: { gender, plural, person } }) {
  if (person === 1) return plural ? "our" : "my";
  if (plural) return "their";
  return gender === "f" ? "her" : "his";
}

/** Each preposition of place, the tags and nouns of what may be there, and those of the place. */
export const SPOTS = WORDS.SPOTS.map(([spot, who, where]) => [fixedPhrase(...spot), new Set(who), new Set(where)]);

const findSpots = remember((noun) => SPOTS.filter(([, who]) => hasAnyTag(who, noun)));

/** Draw a place where the noun may be, such as "under the table". */
export function drawPlace(rng, noun) {
  const [spot, , where] = rng.choice(findSpots(noun));
  return joinPhrases(spot, drawPhrase(rng, drawNoun(rng, where, noun), WORDS.PLACE, { plural: false }));
}

const TIMES = WORDS.TIMES.map((time) => fixedPhrase(...time));

/** Draw a time in the past with this chance, else an empty phrase. */
export const drawTime = (rng, chance) => (rng.random() < chance ? rng.choice(TIMES) : EMPTY_PHRASE);
