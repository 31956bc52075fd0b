// Numbers below a million in words. The same words as in Python's `data/own_task.py`, as lists of tokens.

import { checkWhole, drawBelow, drawBetween } from "./draws.js";
import { makeJoinedVocabulary, makeVocabulary, SPACE_SIGN } from "./vocabulary.js";

const ENGLISH_ONES = (
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen " +
  "eighteen nineteen"
).split(" ");
const ENGLISH_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const FRENCH_ONES = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize".split(" ");
const FRENCH_TENS = "- dix vingt trente quarante cinquante soixante soixante quatre-vingt quatre-vingt".split(" ");
const GERMAN_ONES = (
  "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn " +
  "achtzehn neunzehn"
).split(" ");
const GERMAN_TENS = "- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(" ");

/** Return how many there are of the largest of hundred and thousand, and what's left. */
function splitNumber(number) {
  const size = number < 1000 ? 100 : 1000;
  return { isHundred: size === 100, many: Math.floor(number / size), rest: number % size };
}

/** 483 is four, hundred, eighty-three. */
export function writeEnglish(number) {
  if (number < 20) return [ENGLISH_ONES[number]];
  if (number < 100) {
    const ones = number % 10;
    return [ENGLISH_TENS[Math.floor(number / 10)] + (ones ? `-${ENGLISH_ONES[ones]}` : "")];
  }
  const { isHundred, many, rest } = splitNumber(number);
  return [...writeEnglish(many), isHundred ? "hundred" : "thousand", ...(rest ? writeEnglish(rest) : [])];
}

/** 483 is quatre, cent, quatre-vingt-trois. `isLast` is false before mille, where cents and quatre-vingts lose their s. */
export function writeFrench(number, isLast = true) {
  if (number < 17) return [FRENCH_ONES[number]];
  if (number === 80) return [isLast ? "quatre-vingts" : "quatre-vingt"];
  if (number < 100) {
    const tens = Math.floor(number / 10);
    const start = FRENCH_TENS[tens];
    const rest = number % 10 + (tens === 7 || tens === 9 ? 10 : 0);
    if (!rest) return [start];
    const [word] = writeFrench(rest); // below 20, so one word
    return (rest === 1 || rest === 11) && tens < 8 ? [start, "et", word] : [`${start}-${word}`];
  }
  const { isHundred, many, rest } = splitNumber(number);
  const before = many === 1 ? [] : writeFrench(many, false);
  if (rest) return [...before, isHundred ? "cent" : "mille", ...writeFrench(rest, isLast)];
  return [...before, isHundred ? (many > 1 && isLast ? "cents" : "cent") : "mille"];
}

/** 483 is vier, hundert, drei, und, achtzig, written as one word. `isLast` is false before hundert and tausend, where one is ein and not eins. */
export function writeGerman(number, isLast = true) {
  if (number === 1 && isLast) return ["eins"];
  if (number < 20) return [GERMAN_ONES[number]];
  if (number < 100) {
    const ones = number % 10;
    return [...(ones ? [GERMAN_ONES[ones], "und"] : []), GERMAN_TENS[Math.floor(number / 10)]];
  }
  const { isHundred, many, rest } = splitNumber(number);
  return [...writeGerman(many, false), isHundred ? "hundert" : "tausend", ...(rest ? writeGerman(rest, isLast) : [])];
}

/** The words of all numbers below a million: above a thousand there are none but those of the thousands and of the rest. */
function listNumberWords(write) {
  const numbers = [...Array(1000).keys()];
  return [...new Set([...numbers, ...numbers.map((number) => 1000 * number)].flatMap((number) => write(number)))].sort();
}

/** `separator` stands between thousands and hundreds. */
function makeNumbersTask(description, write, separator, makeTargetVocabulary = makeVocabulary) {
  return {
    ...description,
    options: { digits: 6 },
    make({ digits }) {
      checkWhole("digits", digits, 2, 6);
      return {
        unit: "letters",
        source: makeJoinedVocabulary([..."0123456789", separator]),
        target: makeTargetVocabulary(listNumberWords(write)),
        // Short numbers come as often as long ones.
        draw(random) {
          const number = drawBelow(random, 10 ** drawBetween(random, 1, digits));
          const thousands = number < 1000 ? [] : [...String(Math.floor(number / 1000)), separator];
          const rest = String(number % 1000).padStart(thousands.length && 3, "0");
          return { source: [...thousands, ...rest], target: write(number) };
        },
      };
    },
  };
}

export const NUMBERS_EN = makeNumbersTask({
  name: "numbers_en",
}, writeEnglish, ",");

export const NUMBERS_FR = makeNumbersTask({
  name: "numbers_fr",
}, writeFrench, SPACE_SIGN);

export const NUMBERS_DE = makeNumbersTask({
  name: "numbers_de",
}, writeGerman, ".", makeJoinedVocabulary);
