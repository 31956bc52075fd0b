// The words of the bilingual world and which of them go together, as in Python's `lexicon`.

import { WORDS } from "./words.js";

const keyBy = (name, words) => new Map(words.map((word) => [word[name], word]));

/** The nouns by their English; `tags` are what verbs and adjectives ask for, and `kind` is the chief of them. */
export const NOUNS = keyBy("english", WORDS.NOUNS.map(([english, englishPlural, french, frenchPlural, gender, tags, kind]) =>
  ({ english, englishPlural, french, frenchPlural, gender, tags: new Set(tags), kind })));

/** The adjectives by their English; `french` are masculine, feminine, and both in the plural. */
export const ADJECTIVES = keyBy("english", WORDS.ADJECTIVES.map(([english, comparative, french, place, sort, suits]) =>
  ({ english, comparative, french, place, sort, suits: new Set(suits) })));

/** The verbs by their French infinitive, because English `leave` is both `quitter` and `partir`. */
export const VERBS = keyBy("infinitive", WORDS.VERBS.map(([base, third, past, ing, singular, plural, participle, infinitive, imperfect, subjects, objects]) =>
  ({ base, third, past, ing, singular, plural, participle, infinitive, imperfect, subjects: new Set(subjects), objects: new Set(objects) })));

export const findVerbs = (infinitives) => infinitives.map((name) => VERBS.get(name));

/** The verbs that describe, as an adjective does: it was limping, it was burning. */
export const DECIDING_VERBS = findVerbs(WORDS.DECIDING_VERBS);

export const isVerb = (word) => "infinitive" in word;

/** Return whether a noun has one of these tags, or is itself among them. */
export function hasAnyTag(wanted, noun) {
  if (wanted.has(noun.english)) return true;
  for (const tag of noun.tags) if (wanted.has(tag)) return true;
  return false;
}

/** Return whether an adjective or verb makes sense with a noun as its subject. */
export const canDescribe = (word, noun) => hasAnyTag(isVerb(word) ? word.subjects : word.suits, noun);

/** Return a function of one argument that remembers its answers. */
export function remember(answer) {
  const known = new Map();
  return (asked) => {
    if (!known.has(asked)) known.set(asked, answer(asked));
    return known.get(asked);
  };
}

/** Return the nouns that have one of these tags, or are themselves among them. */
export const findNouns = remember((wanted) => [...NOUNS.values()].filter((noun) => hasAnyTag(wanted, noun)));
