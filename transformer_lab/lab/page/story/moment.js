// A moment of the story, as the address keeps it: the screen, the last English word, and whether the wire is cut.

export const SCREENS = 6;

/** What an address asks for: { moment, problem }, where `problem` says in a sentence what the page doesn't have. */
export function readMoment(address, words) {
  const moment = { screen: 1, word: words[0], isCut: false };
  const fields = new URLSearchParams(address.replace(/^#/, ""));
  const problems = [];
  const take = (name, known, use) => {
    const value = fields.get(name);
    if (value == null) return;
    if (known.includes(value)) use(value);
    else problems.push(`The address asks for ${name} “${value.slice(0, 40)}”, but this page only knows ${known.join(", ")}, so we left that out.`);
  };
  take("screen", Array.from({ length: SCREENS }, (_, i) => String(i + 1)), (value) => (moment.screen = Number(value)));
  take("word", words, (value) => (moment.word = value));
  take("cut", ["0", "1"], (value) => (moment.isCut = value === "1"));
  return { moment, problem: problems.join(" ") };
}

/** Write the address of a moment: `#screen=4&word=wide&cut=1`. */
export const formatMoment = ({ screen, word: last, isCut }) =>
  `#screen=${screen}&word=${encodeURIComponent(last)}${isCut ? "&cut=1" : ""}`;

/** Keep the moment in the address, at most a few times a second: browsers refuse more. */
export class AddressKeeper {
  constructor() {
    this.timer = 0;
    this.wanted = "";
    this.isNew = false;
  }

  /** With `isNew` it becomes an entry of the browser's history, so that Back leads from it to the one before. */
  keep(moment, isNew = false) {
    this.wanted = formatMoment(moment);
    this.isNew ||= isNew;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), 250);
  }

  /** Forget what was to be written: the address itself has changed meanwhile. */
  drop() {
    clearTimeout(this.timer);
    this.wanted = "";
    this.isNew = false;
  }

  write() {
    if (this.wanted && this.wanted !== location.hash) history[this.isNew ? "pushState" : "replaceState"](null, "", this.wanted);
    this.drop();
  }
}
