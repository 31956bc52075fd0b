// Dates as people write them, and as computers do. The same forms as in Python's `data/own_task.py`.

import { drawBelow, drawFrom } from "./draws.js";
import { makeJoinedVocabulary, makeVocabulary, splitText } from "./vocabulary.js";

const WEEKDAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");
const MONTHS = "January February March April May June July August September October November December".split(" ");
/** As in Python: %A is the weekday, %B the month, %a and %b are their first three letters, %Y is the year, {0} the day, {1} the day with its ending, {2} the month's number. */
export const DATE_FORMS = (
  "%A, {0} %b %Y|%a {0} %B %Y|%B {0}, %Y|%b {0} %Y|{0} %B %Y|{0} %b %Y|the {1} of %B %Y" +
  "|%B {1}, %Y|%A, %B {1}, %Y|{0}.{2}.%Y|%Y/{2}/{0}"
).split("|");
const DAYS = 365 * 100;

function addEnding(day) {
  const ending = day > 10 && day < 20 ? undefined : { 1: "st", 2: "nd", 3: "rd" }[day % 10];
  return `${day}${ending ?? "th"}`;
}

/** Write a day, counted from 0 on 1 January 1950: first in one of the forms, then as in ISO 8601. */
export function writeDate(number, form) {
  const date = new Date(Date.UTC(1950, 0, 1 + number));
  const day = date.getUTCDate();
  const month = date.getUTCMonth();
  const weekday = WEEKDAYS[date.getUTCDay()];
  const parts = {
    "%A": weekday,
    "%a": weekday.slice(0, 3),
    "%B": MONTHS[month],
    "%b": MONTHS[month].slice(0, 3),
    "%Y": date.getUTCFullYear(),
    "{0}": day,
    "{1}": addEnding(day),
    "{2}": month + 1,
  };
  return [form.replace(/%\w|\{\d\}/g, (part) => parts[part]), date.toISOString().slice(0, 10)];
}

/** The words of all dates. */
function listDateWords() {
  const numbers = (least, most) => Array.from({ length: most - least + 1 }, (_, i) => least + i);
  const names = [...WEEKDAYS, ...MONTHS].flatMap((name) => [name, name.slice(0, 3)]);
  const days = numbers(1, 31);
  const years = numbers(1950, 2049).map(String);
  const twoDigits = days.map((day) => String(day).padStart(2, "0"));
  return {
    source: [...new Set([...names, "the", "of", ",", ".", "/", ...days, ...days.map(addEnding), ...years].map((word) => String(word).toLowerCase()))],
    target: [...years, "-", ...twoDigits],
  };
}

export const DATES = {
  name: "dates",
  title: "Dates",
  question: "Can it read a date as people write it, and write it as computers do?",
  example: { source: "sunday, 14 feb 2021", target: "2021-02-14" },
  options: {},
  make() {
    const words = listDateWords();
    return {
      unit: "words",
      source: makeVocabulary(words.source, [","]),
      target: makeJoinedVocabulary(words.target),
      draw(random) {
        const [written, iso] = writeDate(drawBelow(random, DAYS), drawFrom(random, DATE_FORMS));
        return { source: splitText(written, "words"), target: iso.split(/(-)/) };
      },
    };
  },
};
