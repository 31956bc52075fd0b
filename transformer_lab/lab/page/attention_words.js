// A record of pieces as a record of words, as Python's attention_words.py joins them.

import { HeadMap } from "./head_map.js";

const INNER = ["'", "’", "-"]; // they belong to a word if letters stand on both sides
const LETTER = /^[\p{L}\p{M}\p{N}_\ufffd]$/u; // � is half a letter
const SPECIAL = /^(<\/?[\p{L}\p{N}_]+>|>>[\p{L}\p{N}_]+<<)$/u;

const isLetter = (sign) => LETTER.test(sign ?? "");
const stripSpaces = (piece) => piece.replace(/^[ \t\n▁]+|[ \t\n▁]+$/g, "");
const hasSpace = (piece) => /^[ \t\n▁]/.test(piece);
const hasPieces = (tokens) => tokens.some(hasSpace);
const standsAlone = (piece) => SPECIAL.test(stripSpaces(piece)) || ![...stripSpaces(piece)].some(isLetter);

/** Whether the token at this place is an apostrophe or a hyphen between two letters or digits. */
function isInner(tokens, place) {
  if (!INNER.includes(tokens[place]) || place < 1 || place > tokens.length - 2) return false;
  const [before, after] = [tokens[place - 1], tokens[place + 1]];
  if (SPECIAL.test(stripSpaces(before)) || SPECIAL.test(after)) return false;
  return isLetter([...before].at(-1)) && isLetter([...after][0]);
}

function beginsWord(tokens, place) {
  const [before, piece] = [tokens[place - 1], tokens[place]];
  if (before && !stripSpaces(before)) return false; // a space alone belongs to what follows it
  if (hasSpace(piece)) return true;
  if (isInner(tokens, place) || isInner(tokens, place - 1)) return false;
  return standsAlone(before) || standsAlone(piece);
}

/** Group pieces into words: return the places of the pieces of each word. Where no token begins with a space, each is a word. */
export function wordGroups(tokens) {
  const pieces = hasPieces(tokens);
  const groups = [];
  tokens.forEach((_, place) => {
    if (pieces && place && !beginsWord(tokens, place)) groups.at(-1).push(place);
    else groups.push([place]);
  });
  return groups;
}

/** Join the tokens of each group to a word, without the space before it. */
const joinTokens = (tokens, groups) =>
  hasPieces(tokens) ? groups.map((group) => stripSpaces(group.map((place) => tokens[place]).join(""))) : tokens;

/** The decoder's words as it reads them and as its steps write them: the first read and the last written stand alone. */
function stepGroups({ target }) {
  if (!target.length) return { read: [], written: [] };
  const words = wordGroups(target.slice(1));
  return {
    read: [[0], ...words.map((group) => group.map((place) => place + 1))],
    written: [...words, [target.length - 1]],
  };
}

/** Join a head's map by words: sum over the columns of a word, mean over those of its rows that see anything. */
function joinMap(map, rows, columns) {
  if (rows.length === map.rows && columns.length === map.columns) return map;
  const weights = new Float64Array(rows.length * columns.length);
  rows.forEach((group, r) => {
    const seen = group.map((query) => map.weights[query]);
    const seeing = Math.max(1, seen.filter((row) => row.some((weight) => weight > 0)).length);
    columns.forEach((keys, c) => {
      for (const row of seen) for (const key of keys) weights[r * columns.length + c] += row[key] / seeing;
    });
  });
  return HeadMap.of(rows.length, columns.length, weights);
}

/** Return the index of the word that has the piece at this place; behind the last piece, the number of words. */
function findWord(groups, place) {
  const word = groups.findIndex((group) => group.includes(place));
  return word < 0 ? groups.length : word;
}

/**
 * Return where a place { row, key, step } of a kind's maps is, once pieces are joined to words, or words are
 * parted again (`joins` is false): a piece is in its word, and a word begins with its first piece.
 */
export function followWords(groups, kind, { row, key, step }, joins) {
  const { queries, keys } = groups[kind];
  const move = (side, place) => (joins ? findWord(side, place) : side[place]?.[0] ?? 0);
  return { row: move(queries, row), key: key == null ? null : move(keys, key), step: move(groups.cross.queries, step) };
}

/**
 * Join the pieces of a record to words; a record without pieces is returned as it is. The result also has
 * `groups`, for each kind those of its queries and its keys, and `begun`, the piece that begins each
 * written word: of that piece are the probabilities.
 */
export function byWords(record) {
  if (!record.word_scores) return record;
  const source = wordGroups(record.source);
  const { read, written } = stepGroups(record);
  const groups = {
    encoder: { queries: source, keys: source },
    decoder: { queries: read, keys: read },
    cross: { queries: written, keys: source },
  };
  const maps = Object.entries(record.maps).map(([kind, layers]) => {
    const { queries, keys } = groups[kind];
    return [kind, layers.map((heads) => heads.map((map) => joinMap(map, queries, keys)))];
  });
  const { referent, next_tokens: next } = record;
  const links = (record.alignment ?? []).map(([i, j]) => String([findWord(source, i), findWord(written, j)]));
  const places = Object.entries(referent ?? {}).map(([name, place]) =>
    [name, findWord(name === "step" ? written : source, place)]);
  return {
    ...record,
    groups,
    begun: written.map(([first]) => record.written[first]),
    source: joinTokens(record.source, source),
    target: joinTokens(record.target, read),
    written: joinTokens(record.written, written),
    maps: Object.fromEntries(maps),
    scores: record.word_scores,
    next_tokens: next && written.map(([first]) => next[first]),
    alignment: record.alignment && [...new Set(links)].map((link) => link.split(",").map(Number)),
    referent: referent && Object.fromEntries(places),
  };
}
