// The site's search: of all sections those first whose title or bold terms are what is looked for.

const MOST_RESULTS = 40;
const SNIPPET = 220; // signs
const WORD = /[\p{L}\p{N}_√]+/gu;

const splitWords = (text) => text.toLowerCase().match(WORD) ?? [];

/** The beginning of a word that its forms have in common: mask of masks, smooth of smoothing. */
function stemWord(word) {
  const short = word.replace(/(?:ings?|al|ed|e?s)$/, "");
  return short.length > 3 ? short : word;
}

/** Which part of a text's words begin with a stem, 0 to 1. */
function measureShare(stemmed, text) {
  const all = splitWords(text);
  return all.length ? all.filter((word) => word.startsWith(stemmed)).length / all.length : 0;
}

/** How much of a lesson's own matter a section is: its exercises and its last sections repeat what others explain. */
function weighSection({ at, title }) {
  if (!/^notebooks\/\d/.test(at) || at.startsWith("notebooks/17")) return 0.4;
  if (/^(Where this sits|Quick checks|Pitfalls|Go further)/.test(title)) return 0.4;
  return title.startsWith("Exercise") ? 0.7 : 1;
}

/** How well a section fits: 0 if a word that is looked for is nowhere in it. */
function scoreSection(section, stems) {
  const body = splitWords(section.text);
  let sum = 0;
  for (const stemmed of stems) {
    const often = body.filter((word) => word.startsWith(stemmed)).length;
    const title = measureShare(stemmed, section.title);
    const bold = Math.max(0, ...section.bold.map((text) => measureShare(stemmed, text)));
    const page = measureShare(stemmed, section.page);
    if (!often && !title && !page) return 0;
    sum += 10 * title + 8 * bold + (often ? 5 * page : 1 * page) + (4 * often) / (often + 3);
  }
  return sum * weighSection(section);
}

/** Where a text has the words, as pieces of text, of which those that were found are marked. */
function buildSnippet({ text }, stems) {
  const isFound = (word) => stems.some((stemmed) => word.toLowerCase().startsWith(stemmed));
  const first = [...text.matchAll(WORD)].find(([word]) => isFound(word))?.index ?? 0;
  const sentence = Math.max(text.lastIndexOf(". ", first), text.lastIndexOf("? ", first)) + 1;
  const start = first - sentence < SNIPPET / 2 ? sentence : text.indexOf(" ", first - SNIPPET / 2);
  const shown = text.slice(start, start + SNIPPET).trim();
  const end = start + SNIPPET < text.length ? `${shown.replace(/\s+\S*$/, "")} …` : shown;
  return end.split(/([\p{L}\p{N}_√]+)/u).map((piece) => {
    if (!isFound(piece)) return piece;
    return Object.assign(document.createElement("mark"), { textContent: piece });
  });
}

function buildResult(section, stems) {
  const item = document.createElement("li");
  const link = Object.assign(document.createElement("a"), { href: section.at });
  link.textContent = section.title === section.page ? section.page : `${section.page} › ${section.title}`;
  const text = document.createElement("p");
  text.append(...buildSnippet(section, stems));
  item.append(link, text);
  return item;
}

function search(asked) {
  const place = document.getElementById("search-results");
  const stems = splitWords(asked).map(stemWord);
  const found = globalThis.SECTIONS.map((section) => ({ section, score: stems.length ? scoreSection(section, stems) : 0 }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  const most = found.length > MOST_RESULTS ? `, of which the best ${MOST_RESULTS} are shown` : "";
  said.textContent = found.length ? `${found.length} sections have it${most}.` : "No section has all of these words.";
  const list = document.createElement("ol");
  list.append(...found.slice(0, MOST_RESULTS).map(({ section }) => buildResult(section, stems)));
  place.replaceChildren(said, list);
}

const asked = new URLSearchParams(location.search).get("q") ?? "";
for (const box of document.querySelectorAll("input[name=q]")) box.value = asked;
if (asked.trim()) search(asked);
