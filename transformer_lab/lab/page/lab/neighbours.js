// Words of a vocabulary that are written much like another word.

/** Count the letters to put in, take out or exchange to make b of a (Levenshtein 1966). */
function editDistance(a, b) {
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const line = [i];
    for (let j = 1; j <= b.length; j++) {
      line.push(Math.min(above[j] + 1, line[j - 1] + 1, above[j - 1] + Number(a[i - 1] !== b[j - 1])));
    }
    above = line;
  }
  return above[b.length];
}

/** Return the `most` words of a list that are spelt most like `unknown`, nearest first; none that has little in common with it. */
export function findNeighbours(unknown, list, most = 3) {
  const far = list.map((word) => editDistance(unknown, word));
  const isNear = (i) => far[i] <= Math.max(1, unknown.length / 3);
  return Array.from(list.keys()).filter(isNear).sort((a, b) => far[a] - far[b] || a - b).slice(0, most).map((i) => list[i]);
}
