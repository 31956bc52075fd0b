// The because-sentences: a pronoun, two nouns it could stand for, and a word that decides, as in Python's `because`.

import { ANIMATE, drawTime } from "./choices.js";
import { modalGroup, predicate, verbGroup } from "./clauses.js";
import { ADJECTIVES, canDescribe, findNouns, hasAnyTag, isVerb, remember, VERBS } from "./lexicon.js";
import { EMPTY_PHRASE, extendNounPhrase, fixedPhrase, joinPhrases, nounPhrase, referringPronoun } from "./phrases.js";
import { WORDS } from "./words.js";

const findReasons = (names) => names.map((name) => ADJECTIVES.get(name) ?? VERBS.get(name));

/** Each event, and the reasons that may be given for it, about its subject or about its object. */
const SCENES = WORDS.SCENES.map(([verb, subjects, objects, moods, subjectReasons, objectReasons]) => ({
  verb: VERBS.get(verb),
  subjects: new Set(subjects),
  objects: new Set(objects),
  moods,
  subjectReasons: findReasons(subjectReasons),
  objectReasons: findReasons(objectReasons),
}));

/**
 * Return every scene with its casts (subject, object, reason) in which the reason decides for its referent.
 *
 * The referent is the subject or not, and has this gender; both nouns are plural or not; the other noun has
 * the other gender or not (`differ`).
 */
function castScenes(ofSubject, gender, plural, differ) {
  const found = [];
  for (const scene of SCENES) {
    const fitting = [];
    for (const subject of findNouns(scene.subjects)) {
      for (const thing of findNouns(scene.objects)) {
        const [referent, other] = ofSubject ? [subject, thing] : [thing, subject];
        const kinds = [subject.kind, thing.kind];
        if (kinds.includes("family")) continue;
        if (kinds.includes("person") && !plural) continue; // one person is he or she: nothing is left to decide
        if (referent.gender !== gender || (other.gender !== gender) !== differ) continue;
        for (const word of ofSubject ? scene.subjectReasons : scene.objectReasons) {
          if (canDescribe(word, referent) && !canDescribe(word, other)) fitting.push([subject, thing, word]);
        }
      }
    }
    if (fitting.length) found.push([scene, fitting]);
  }
  return found;
}

const knownCasts = new Map();

/** Return what `castScenes` found for these arguments, which is worked out once. */
function findCasts(...asked) {
  const key = asked.join();
  if (!knownCasts.has(key)) knownCasts.set(key, castScenes(...asked));
  return knownCasts.get(key);
}

/**
 * Build a because-sentence, such as: the animal didn't cross the street because it was too tired.
 *
 * `group` is what the subject did or did not do to the thing, and `word` is what is said of the referent: of
 * the subject or of the thing. `tense` is that of the reason, which may come before what it explains.
 */
function becauseSentence(subject, group, thing, word, { ofSubject, degree, tense, time, reasonFirst }) {
  const pronoun = referringPronoun(ofSubject ? subject : thing);
  const reason = joinPhrases(fixedPhrase("because", "parce que"), pronoun, predicate(pronoun, word, tense, { degree }));
  const event = joinPhrases(subject, group, thing, time);
  return reasonFirst ? joinPhrases(reason, fixedPhrase(",", ","), event) : joinPhrases(event, reason);
}

// ---------------------------------------------------------------- drawing one

// Words beside the two nouns that could be no reason, and deny none.
const FOR_THE_LIVING = WORDS.FOR_THE_LIVING.map((name) => ADJECTIVES.get(name));
const FOR_THINGS = WORDS.FOR_THINGS.map((name) => ADJECTIVES.get(name));

// What may be told apart by a landmark, and the landmarks.
const FIRM = new Set(WORDS.FIRM);
const LANDMARKS = WORDS.LANDMARKS.map(([where, nouns]) => [fixedPhrase(...where), new Set(nouns)]);

const findEpithets = remember((noun) =>
  (hasAnyTag(ANIMATE, noun) ? FOR_THE_LIVING : FOR_THINGS).filter((word) => canDescribe(word, noun)));

function drawActor(rng, noun, plural) {
  const choice = findEpithets(noun);
  const adjectives = choice.length && rng.random() < 0.25 ? [rng.choice(choice)] : [];
  const determiner = rng.choice(["the", "the", "the", "this", "that"]);
  const number = plural && rng.random() < 0.1 ? rng.choice(["two", "three", "four"]) : "";
  return nounPhrase(determiner, noun, { plural, number, adjectives });
}

/** Draw a phrase such as "near the church", or nothing if the reason can be said of its noun or it doesn't fit. */
function drawLandmark(rng, [subject, thing, word]) {
  const [where, nouns] = rng.choice(LANDMARKS);
  const noun = rng.choice(findNouns(nouns));
  const onSeat = subject.tags.has("seat") || thing.tags.has("seat");
  if (noun === subject || noun === thing || canDescribe(word, noun) || onSeat) return EMPTY_PHRASE;
  return joinPhrases(where, nounPhrase("the", noun));
}

/** Draw a because-sentence; `reasonFirst` puts the reason before what it explains. */
export function drawBecause(rng, reasonFirst) {
  const ofSubject = rng.random() < 0.5;
  const gender = rng.choice("mf");
  const plural = rng.random() < 0.35;
  const differ = rng.random() < 0.9;
  const [scene, fitting] = rng.choice(findCasts(ofSubject, gender, plural, differ));
  const cast = rng.choice(fitting);
  const [subjectNoun, thingNoun, word] = cast;
  let subject = drawActor(rng, subjectNoun, plural);
  let thing = drawActor(rng, thingNoun, plural);
  if (rng.random() < 0.2) {
    // Who stands before a hotel cannot leave a castle.
    if (rng.random() < 0.5 && hasAnyTag(FIRM, subjectNoun) && scene.verb.infinitive !== "quitter") {
      subject = extendNounPhrase(subject, drawLandmark(rng, cast));
    } else if (hasAnyTag(FIRM, thingNoun)) {
      thing = extendNounPhrase(thing, drawLandmark(rng, cast));
    }
  }

  const past = rng.random() < 0.65;
  const mood = rng.choice(["plain", ...["can", "want"].filter((modal) => scene.moods.includes(modal))]);
  const group = mood === "plain"
    ? verbGroup(subject, scene.verb, past ? "past" : "present", { negated: scene.moods.includes("not") })
    : modalGroup(subject, mood, scene.verb, { past, negated: true });
  const degrees = scene.moods.includes("too") ? ["too", "too", "so", "very"] : ["so", "very", ""];
  const gradable = !isVerb(word) && word.sort !== "fixed";
  return becauseSentence(subject, group, thing, word, {
    ofSubject,
    degree: gradable ? rng.choice(degrees) : "",
    tense: past ? "background" : "present",
    time: drawTime(rng, past ? 0.2 : 0),
    reasonFirst,
  });
}
