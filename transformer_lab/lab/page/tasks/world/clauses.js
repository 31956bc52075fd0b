// Verbs with auxiliaries and negation, predicates, comparisons and questions, as in Python's `clauses`.

import { DECIDING_VERBS, isVerb } from "./lexicon.js";
import { EMPTY_PHRASE, fixedPhrase, inflectAdjective, joinPhrases } from "./phrases.js";
import { WORDS } from "./words.js";

/**
 * Build a verb with its auxiliaries, negation and adverb.
 *
 * The tense is "present" (is eating: mange), "habit" (eats: mange), "past" (ate: a mangé) or "background"
 * (was eating: mangeait). `asked` is for a question (did eat), and `preceding` is the agreement of an object
 * before the verb, which a participle with avoir agrees with.
 */
export function verbGroup(subject, verb, tense, { negated = false, asked = false, adverb = "", preceding = null } = {}) {
  const { plural, person } = subject.agreement;
  const progressive = tense === "background" || (tense === "present" && !WORDS.STATIVE.includes(verb.infinitive));
  let english;
  if (progressive) english = [inflectBe(subject, tense, negated), verb.ing];
  else if (negated || asked) english = [inflectDo(subject, tense, negated), verb.base];
  else if (tense === "past") english = [verb.past];
  else english = [inPerson(subject, verb.base, verb.third)];
  if (adverb) english.unshift(adverb);

  const after = [];
  let finite;
  if (tense === "past") {
    // With être the participle agrees with the subject, with avoir with what precedes.
    const withEtre = WORDS.WITH_ETRE.includes(verb.infinitive);
    finite = (withEtre ? WORDS.ETRE : WORDS.AVOIR)[person][plural ? 1 : 0];
    after.push(inflectParticiple(verb, withEtre ? subject.agreement : preceding));
  } else if (tense === "background") {
    finite = inflectImperfect(verb.imperfect, subject);
  } else {
    finite = plural ? verb.plural : verb.singular;
  }
  if (verb.infinitive in WORDS.LINKS) after.push(WORDS.LINKS[verb.infinitive]);

  let target = [finite];
  if (negated || adverb === "never") target = negate(finite, adverb ? "jamais" : "pas");
  else if (adverb) target.push(WORDS.ADVERBS[adverb]);
  return { source: english, target: [...target, ...after], combinations: combine(subject, verb) };
}

/** Build can, must or want with an infinitive; "must" has no past, and the past is the imperfect in French. */
export function modalGroup(subject, modal, verb, { past = false, negated = false } = {}) {
  const present = WORDS.MODALS[modal].slice(0, 4);
  const stem = WORDS.MODALS[modal][4];
  let english;
  if (modal !== "want") {
    const form = past ? "could" : modal;
    english = [negated ? `${form.replace(/n$/, "")}n't` : form, verb.base];
  } else if (negated) {
    english = [inflectDo(subject, past ? "past" : "habit", negated), "want", "to", verb.base];
  } else {
    english = [past ? "wanted" : inPerson(subject, "want", "wants"), "to", verb.base];
  }
  const { plural, person } = subject.agreement;
  const form = past ? inflectImperfect(stem, subject) : present[(person === 3 ? 1 : 0) + (plural ? 2 : 0)];
  const target = negated ? negate(form) : [form];
  target.push(verb.infinitive);
  if (verb.infinitive in WORDS.LINKS) target.push(WORDS.LINKS[verb.infinitive]);
  return { source: english, target, combinations: combine(subject, verb) };
}

/** Build a form of the verb be: is, weren't; est, n'étaient pas. With `having`, French uses avoir. */
export function copula(subject, tense, { negated = false, having = false } = {}) {
  const form = tense === "background"
    ? inflectImperfect(having ? "av" : "ét", subject)
    : (having ? WORDS.AVOIR : WORDS.ETRE)[3][subject.agreement.plural ? 1 : 0];
  return { source: [inflectBe(subject, tense, negated)], target: negated ? negate(form) : [form], combinations: [] };
}

/** Build what the subject is or is doing: is red, was too tired, wasn't hungry, is sleeping. */
export function predicate(subject, word, tense, { negated = false, degree = "" } = {}) {
  if (isVerb(word)) return verbGroup(subject, word, tense, { negated });
  const linking = copula(subject, tense, { negated, having: word.sort === "having" });
  const adjective = {
    source: [word.english],
    target: [inflectAdjective(word, subject.agreement)],
    combinations: subject.nouns.map((noun) => [noun, word.english]),
  };
  return joinPhrases(linking, degree ? fixedPhrase(...WORDS.DEGREES[degree]) : EMPTY_PHRASE, adjective);
}

/** Build a comparison by "more", "less" or "as": is older than, is as old as, is less expensive than. */
export function comparisonPredicate(subject, word, comparison, tense, other) {
  const isOneWord = comparison === "more" && word.comparative !== "more";
  const compared = {
    source: isOneWord ? [word.comparative] : [comparison, word.english],
    target: [WORDS.COMPARISONS[comparison], inflectAdjective(word, subject.agreement)],
    combinations: [...subject.nouns, ...other.nouns].map((noun) => [noun, word.english]),
  };
  const than = fixedPhrase(comparison === "as" ? "as" : "than", "que");
  return joinPhrases(copula(subject, tense), compared, than, other);
}

/**
 * Build a question from a statement's subject and verb group, perhaps with a question word in front.
 *
 * In English the first word of the group moves before the subject. The French begins with "est-ce que".
 */
export function question(subject, group, word = EMPTY_PHRASE) {
  const [helper, ...others] = group.source;
  return joinPhrases(word, fixedPhrase(helper, "est-ce que"), subject, { ...group, source: others });
}

/** Put ne … pas around the French verb. */
const negate = (finite, by = "pas") => ["ne", finite, by];

function inflectParticiple(verb, agreement) {
  if (!agreement) return verb.participle;
  return verb.participle + (agreement.gender === "f" ? "e" : "") + (agreement.plural ? "s" : "");
}

const inflectImperfect = (stem, subject) => stem + (subject.agreement.plural ? "aient" : "ait");

function inflectBe(subject, tense, negated) {
  const [singular, plural] = tense === "background" ? ["was", "were"] : ["is", "are"];
  return (subject.agreement.plural ? plural : singular) + (negated ? "n't" : "");
}

const inflectDo = (subject, tense, negated) =>
  (tense === "past" ? "did" : inPerson(subject, "do", "does")) + (negated ? "n't" : "");

const inPerson = ({ agreement: { person, plural } }, base, third) => (person === 3 && !plural ? third : base);

const combine = (subject, verb) =>
  DECIDING_VERBS.includes(verb) ? subject.nouns.map((noun) => [noun, verb.base]) : [];
