// The first page: one sentence and one wire, told in six screens, on the translator that runs in the page.

import { make } from "../elements.js";
import { formatNumber } from "../text.js";
import { Answers } from "./answers.js";
import { Captions } from "./captions.js";
import { Experiment } from "./experiment.js";
import { Famous } from "./famous.js";
import { Hundred } from "./hundred.js";
import { loadModel } from "./load.js";
import { AddressKeeper, formatMoment, readMoment } from "./moment.js";
import { Sentence } from "./sentence.js";
import { Steps } from "./steps.js";
import { Wires } from "./wires.js";

class Story {
  constructor(data) {
    const story = document.querySelector(".story");
    const stage = story.querySelector(".stage");
    const scene = stage.querySelector(".scene");
    const { moment, problem } = readMoment(location.hash, data.words);
    Object.assign(this, { data, moment, withOthers: false, answers: new Answers(data), keeper: new AddressKeeper() });
    const flip = () => this.change({ word: this.other });
    const cut = () => this.change({ isCut: true });
    const mend = () => this.change({ isCut: false });
    const showOthers = () => ((this.withOthers = !this.withOthers), this.draw());
    this.captions = new Captions(story, stage.querySelector(".captions"));
    this.captions.problem.textContent = problem;
    this.sentence = new Sentence(stage, { flip, look: (only) => this.look(only) });
    this.wires = new Wires(scene, { cut: () => {
      cut();
      this.experiment.focus(); // the scissors are gone
    } });
    this.experiment = new Experiment(scene, this.captions.place, { cut, mend, showOthers });
    this.hundred = new Hundred(scene, data.examples, data.finder, { cut, mend, counted: () => this.draw() });
    this.famous = new Famous(scene, { places: data.places, heads: data.encoderHeads, flip });
    this.steps = new Steps(story, stage, {
      go: (screen, isPressed) => this.change({ screen }, isPressed),
      address: formatMoment,
    });
    document.documentElement.classList.add("live");
    new ResizeObserver(() => this.wires.draw(this.answer, this.wireOptions(true))).observe(scene);
    addEventListener("hashchange", () => this.followAddress());
    addEventListener("pagehide", () => this.keeper.write());
    this.draw();
    const [{ type } = {}] = performance.getEntriesByType("navigation");
    if (moment.screen > 1 && type === "navigate") this.steps.scrollTo(moment.screen);
    else this.steps.follow();
  }

  /** The word that the last English one can become. */
  get other() {
    return this.data.words.find((one) => one !== this.moment.word);
  }

  get answer() {
    return this.answers.ask(this.moment);
  }

  wireOptions(atOnce = false) {
    return { ...this.moment, withOthers: this.withOthers && !this.moment.isCut, places: this.data.places, atOnce };
  }

  /** Whether the address names a place below the story: scrolling there tells no moment of it. */
  get isBelow() {
    return location.hash.length > 1 && !location.hash.includes("=");
  }

  /** Change the moment; where a screen was pressed for, Back returns from it. */
  change(part, isPressed = false) {
    this.captions.problem.textContent = "";
    Object.assign(this.moment, part);
    this.draw();
    if (!this.isBelow) this.keeper.keep(this.moment, isPressed);
  }

  /** Go where the address says, after a link to another moment, Back or Forward. */
  followAddress() {
    this.keeper.drop();
    if (this.isBelow) return;
    const { moment, problem } = readMoment(location.hash, this.data.words);
    Object.assign(this.moment, moment);
    this.draw();
    this.captions.problem.textContent = problem;
    this.steps.scrollTo(moment.screen);
  }

  draw() {
    const { moment, answer, other, answers } = this;
    const { screen, isCut } = moment;
    const layout = screen === 1 ? "lines" : screen < 5 ? "columns" : "away";
    const [whole, cut] = [false, true].map((given) => (screen === 3 || screen === 4 ? answers.ask({ ...moment, isCut: given }) : answer));
    this.steps.draw(moment);
    const play = this.sentence.draw(answer, { screen, other, layout });
    this.experiment.draw(moment, { whole, cut, now: answer, withOthers: this.withOthers });
    this.hundred.draw(moment);
    this.famous.draw(moment, answer, other);
    const text = this.captions.draw(screen, this.listFacts(whole, cut), this.listWords(answer));
    this.wires.draw(answer, this.wireOptions());
    play();
    this.captions.speak(screen === 1 ? `${answer.written.join(" ").replaceAll("' ", "'")}. ${text}` : `Screen ${screen}. ${this.sayChances(answer)}${text}`);
    const { finder, places, sentences } = this.data;
    // The lab opens where the story ends: at the wire, and at the pronoun.
    const lab = new URLSearchParams({ s: sentences[moment.word], head: finder.name, row: places.decider, step: answer.step, ...(isCut ? { mute: finder.name } : {}) });
    document.querySelector("[data-door=lab]").href = `docs/lab.html#${lab}`;
  }

  /** What a screen reader hears of the bars. */
  sayChances({ chances }) {
    if (this.moment.screen !== 4 || !this.moment.isCut) return "";
    return Object.entries(chances).map(([pronoun, chance]) => `${pronoun} ${formatNumber(chance)}`).join(", ") + ". ";
  }

  /** What holds now, by the names that captions use. */
  listFacts(whole, cut) {
    const { word: last, isCut } = this.moment;
    const isCounted = this.hundred.countRight(isCut ? "cut" : "whole") != null && this.hundred.countRight("whole") != null;
    return new Set([
      last,
      isCut ? "cut" : "whole",
      whole.written[whole.step] === cut.written[cut.step] ? "kept" : "changed",
      isCounted ? "counted" : "counting",
    ]);
  }

  /** The words that stand in captions. */
  listWords({ source, written, step, noun }) {
    return {
      word: this.moment.word,
      asks: this.data.asks[this.moment.word],
      noun: source[noun],
      pronoun: written[step],
      right: this.hundred.countRight("whole"),
      "right-cut": this.hundred.countRight("cut"),
    };
  }

  /** Leave only the lines of the word that is pointed at. */
  look(only) {
    if (this.moment.screen !== 2) return;
    this.wires.light(only);
    if (only) this.captions.speak(this.wires.describe(only));
  }

  /** Ask for the model; then everything is computed. */
  async load() {
    const { status } = this.captions;
    const late = setTimeout(() => (status.textContent = `The model is on its way (${this.data.megabytes} MB). Until it’s here, you see stored answers.`), 1500);
    try {
      const model = await loadModel(this.data.model);
      await this.answers.compute(model.engine);
      this.hundred.use(model);
      this.draw();
      status.textContent = "";
      document.documentElement.dataset.ready = "true";
    } catch (error) {
      status.replaceChildren(make("span", {}, `The model couldn’t be loaded (${error.message}), so these are stored answers, and the hundred sentences have none.`));
    } finally {
      clearTimeout(late);
    }
  }
}

// With letters twice as large, a window may have no room for a stage that stands still.
const ROOM = "(min-width: 19rem) and (min-height: 24rem), (min-width: 46rem)";

/** Begin the story, and the model comes later. Without room for it, the page stays as it is without scripts. */
export function mountStory() {
  if (!matchMedia(ROOM).matches) return;
  const data = JSON.parse(document.getElementById("story-data").textContent);
  new Story(data).load();
}
