// Tokens and numbers as they are read.

/** A token as it can be seen: an empty one, spaces at its ends and control characters get a sign. */
export function visible(token) {
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

/** Text of at most `most` signs, the last of which says that there is more. */
export const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + "…" : text);

export const number = (value, digits = 2) => (value == null ? "–" : value.toFixed(digits).replace("-", "−"));
export const probability = (value) => (value > 0 && value < 0.0005 ? "< 0.001" : number(value, 3));
export const headName = (layer, head) => `Layer ${layer + 1}, head ${head + 1}`;
