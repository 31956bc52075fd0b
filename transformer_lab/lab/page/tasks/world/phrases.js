// Phrases in English and French at once, and the rules of grammar that shape them, as in Python's `phrases`.
//
// A phrase has the English words (`source`), the French words (`target`) and the (noun, describing word)
// pairs that it states (`combinations`). A noun phrase also has the `agreement` that it imposes on others and
// the English lemmas of its `nouns`. Python's phrases have an alignment, too, which nothing here needs.

import { WORDS } from "./words.js";

export const EMPTY_PHRASE = { source: [], target: [], combinations: [] };

/** Join all the parts into one phrase, one after the other in both languages. */
export const joinPhrases = (...parts) => ({
  source: [].concat(...parts.map((part) => part.source)),
  target: [].concat(...parts.map((part) => part.target)),
  combinations: [].concat(...parts.map((part) => part.combinations)),
});

/** Return a noun phrase with more said about it, such as a place or a relative clause. */
export const extendNounPhrase = (head, ...parts) => ({ ...head, ...joinPhrases(head, ...parts) });

export const fixedPhrase = (english, french) =>
  ({ source: english.split(" "), target: french.split(" "), combinations: [] });

// ---------------------------------------------------------------- nouns and their company

/**
 * Build a noun with its determiner, number and adjectives, in the order of each language. The determiner
 * is "" for none, and the number is an English numeral or "".
 */
export function nounPhrase(determiner, noun, { plural = false, number = "", adjectives = [] } = {}) {
  const agreement = { gender: noun.gender, plural, person: 3 };
  const before = adjectives.filter((word) => word.place === "before");
  const after = adjectives.filter((word) => word.place === "after");
  const inflect = (word) => inflectAdjective(word, agreement);
  const french = [...before.map(inflect), plural ? noun.frenchPlural : noun.french];
  if (!plural) {
    for (let i = 0; i < before.length; i++) {
      if (startsWithVowel(french[i + 1])) french[i] = WORDS.BEFORE_VOWEL_NOUN[french[i]] ?? french[i];
    }
  }
  french.push(...after.map(inflect));
  const english = [...before, ...after].map((word) => word.english);
  english.push(plural ? noun.englishPlural : noun.english);
  if (number) {
    english.unshift(number);
    french.unshift(WORDS.NUMBERS[number]);
  }
  if (determiner) {
    const [one, many, masculine, feminine, plurals] = WORDS.DETERMINERS[determiner];
    english.unshift(plural ? many : one);
    const article = plural ? plurals : noun.gender === "f" ? feminine : masculine;
    // De petites maisons: "des" is "de" before an adjective.
    french.unshift(article === "des" && before.length ? "de" : article);
  }
  const combinations = adjectives.map((word) => [noun.english, word.english]);
  return { source: english, target: french, combinations, agreement, nouns: [noun.english] };
}

/** Return the French form of an adjective for this gender and number. */
export const inflectAdjective = (word, { gender, plural }) => word.french[(gender === "f" ? 1 : 0) + (plural ? 2 : 0)];

/** Join two noun phrases by "and"; the result is plural, and feminine only if both are. */
export function coordinate(first, second) {
  const bothFeminine = first.agreement.gender === "f" && second.agreement.gender === "f";
  return {
    ...joinPhrases(first, fixedPhrase("and", "et"), second),
    agreement: { gender: bothFeminine ? "f" : "m", plural: true, person: 3 },
    nouns: [...first.nouns, ...second.nouns],
  };
}

/** Return the phrase for "i", "we", "he" or "she". */
export function personalPronoun(english) {
  const [french, [gender, plural, person]] = WORDS.PRONOUNS[english];
  return { ...fixedPhrase(english, french), agreement: { gender, plural, person }, nouns: [] };
}

/** Return the pronoun for a noun phrase: it or they; il, elle, ils or elles. */
export function referringPronoun({ agreement, nouns }) {
  const { gender, plural } = agreement;
  const french = (gender === "f" ? "elle" : "il") + (plural ? "s" : "");
  return { ...fixedPhrase(plural ? "they" : "it", french), agreement, nouns };
}

// ---------------------------------------------------------------- what neighbours do to each other

/** Return whether a French word begins with a vowel sound; a silent h and the word y count. */
function startsWithVowel(word) {
  if (word[0] === "h") return !WORDS.ASPIRATED.some((beginning) => word.startsWith(beginning));
  return WORDS.VOWELS.includes(word[0]) || word === "y";
}

/** Return the final English words and French words, after elisions and contractions. */
export function realiseSurface({ source, target }) {
  const english = source.map((word, i) => (word === "a" && /^[aeiou]/.test(source[i + 1] ?? "") ? "an" : word));
  const french = [];
  target.forEach((full, i) => {
    const elided = WORDS.BEFORE_VOWEL[full];
    const word = elided && startsWithVowel(target[i + 1] ?? ".") ? elided : full;
    const contracted = WORDS.CONTRACTED[french.at(-1)]?.[word];
    if (contracted) french[french.length - 1] = contracted;
    else french.push(word);
  });
  return [english, french];
}
