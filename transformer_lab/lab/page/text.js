// Tokens and numbers as they are read.

/** Return a token with signs for what cannot be seen: an empty one, spaces at its ends, control characters. */
export function makeVisible(token) {
  if (token === "") return "∅";
  const body = token.trim();
  const spaces = (s) => s.replaceAll(" ", "␣");
  const start = body === "" ? token.length : token.indexOf(body);
  const text = spaces(token.slice(0, start)) + body + spaces(token.slice(start + body.length));
  return text
    .replaceAll("\n", "⏎")
    .replaceAll("\t", "⇥")
    .replace(/[\u0000-\u001f]/g, (sign) => String.fromCharCode(0x2400 + sign.charCodeAt(0)))
    .replace(/[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "⇄") // what turns the direction of the text
    .replace(/[\u007f-\u009f\ufffe\uffff]|\p{Cs}/gu, "\ufffd"); // halves of pairs, and what XML refuses
}

/** Cut a text to at most `most` characters; the last one is then "…". */
export const shortenText = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

/** Write a number with so many digits behind its point, and "–" for null. */
export const formatNumber = (value, digits = 2) => (value == null ? "–" : value.toFixed(digits).replace("-", "−"));
/** Write a probability with three digits, and "< 0.001" for a smaller one. */
export const formatProbability = (value) => (value > 0 && value < 0.0005 ? "< 0.001" : formatNumber(value, 3));
/** Write a share as a whole number of percent. */
export const formatPercent = (share) => `${Math.round(100 * share)}%`;
