// What the tasks are about, for the page; the worker that trains knows how their examples are made.

/** Each task's `name`, `title` and `question`, and an `example` of two texts. */
export const DESCRIPTIONS = [
  {
    name: "copy",
    title: "Copy",
    question: "Can it write down the letters that it reads?",
    example: { source: "gdkat", target: "gdkat" },
  },
  {
    name: "reverse",
    title: "Reverse",
    question: "Can it write the letters in reverse order?",
    example: { source: "gdkat", target: "takdg" },
  },
  {
    name: "sort",
    title: "Sort",
    question: "Can it put the letters in alphabetical order?",
    example: { source: "gdkat", target: "adgkt" },
  },
  {
    name: "partner",
    title: "Find the partner",
    question: "Each letter is paired with a digit. Can it find the digits for the letters after the question mark?",
    example: { source: "a3 f7 d1 b4 ? d a", target: "1 3" },
  },
  {
    name: "count",
    title: "Count",
    question: "Can it tell how often each letter occurs?",
    example: { source: "badabb", target: "a2 b3 d1" },
  },
  {
    name: "brackets",
    title: "Close the brackets",
    question: "Can it tell which brackets are still open, and close them in the right order?",
    example: { source: "([]{(", target: ")})" },
  },
  {
    name: "dates",
    title: "Dates",
    question: "Can it read a date as people write it, and write it as computers do?",
    example: { source: "sunday, 14 feb 2021", target: "2021-02-14" },
  },
  {
    name: "numbers_en",
    title: "Numbers in English",
    question: "How do you say a number in English?",
    example: { source: "7,083", target: "seven thousand eighty-three" },
  },
  {
    name: "numbers_fr",
    title: "Numbers in French",
    question: "How do you say a number in French?",
    example: { source: "7␣083", target: "sept mille quatre-vingt-trois" },
  },
  {
    name: "numbers_de",
    title: "Numbers in German",
    question: "How do you say a number in German?",
    example: { source: "7.083", target: "siebentausenddreiundachtzig" },
  },
  {
    name: "world",
    title: "English to French",
    question: "Can it translate sentences about people, animals and streets?",
    example: { source: "the animal is tired", target: "l'animal est fatigué" },
  },
  {
    name: "own",
    title: "Your own pairs",
    question: "What would you like to teach it?",
    example: { source: "hello", target: "bonjour" },
  },
];
