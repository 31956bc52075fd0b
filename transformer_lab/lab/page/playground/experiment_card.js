// A guided experiment: a question, a prediction, one button, and what came of it.

import { action, make, OWN_KEYS } from "../elements.js";
import { formatPercent } from "../text.js";
import { EXPERIMENTS } from "./experiments.js";

const ENOUGH = 0.98;

/** When each of two runs had learned it, or nothing if neither did. */
function tellWhen(runs) {
  const steps = runs.map(({ moments }) => moments.find(({ written }) => written >= ENOUGH)?.step.toLocaleString("en"));
  const [first, second] = steps.map((step) => (step ? `after ${step} steps` : "never"));
  return steps.some(Boolean) && second ? ` Your model reached 98% ${first}, and the other one ${second}.` : "";
}

/** What one run or two came to, in a sentence. */
function tellResult([first, second]) {
  if (!second) return `It got ${formatPercent(first.written)} of the unseen examples right.`;
  const told = second.exact - second.written > 0.2 ? `, although ${formatPercent(second.exact)} are right when it's given the correct answer so far` : "";
  return `Your model got ${formatPercent(first.written)} of the unseen examples right, and the other one ${formatPercent(second.written)}${told}.`;
}

let cards = 0; // on the page, so that each has radio buttons of its own

export class ExperimentCard {
  /** `start()` trains, as the button does; where the page `isAlone`, all experiments are in sight. */
  constructor(choice, start, isAlone) {
    Object.assign(this, { choice, start, isAlone, guess: null, group: `guess ${++cards}` });
    this.element = make("section", { className: "experiment", "aria-label": "An experiment", tabIndex: -1 });
    this.outcome = make("div", { className: "result", role: "status" });
    const title = "Try one of these experiments";
    this.list = make(isAlone ? "section" : "details", { className: "experiments" }, isAlone ? make("h3", {}, title) : make("summary", {}, title),
      make("ol", {}, ...EXPERIMENTS.map((experiment) => make("li", {}, action(`experiment ${experiment.name}`, experiment.question, experiment.question, () => this.open(experiment))))));
  }

  open({ name, task, settings = {}, change = null }) {
    const { choice } = this;
    if (this.isAlone) history.pushState(null, "", location.href); // so that Back leads here again
    choice.setTask(task);
    choice.set({ settings: { ...choice.settings, ...settings }, change, experiment: name });
    this.element.scrollIntoView({ block: "nearest" });
    this.element.focus({ preventScroll: true });
  }

  get experiment() {
    return EXPERIMENTS.find(({ name }) => name === this.choice.experiment) ?? null;
  }

  /** `runs` are those of the last training, if there was one. */
  draw(runs) {
    const { experiment } = this;
    this.element.hidden = !experiment;
    if (!experiment) return;
    const isOwn = runs.length > 0 && runs.every(({ experiment: name }) => name === experiment.name);
    const isDone = isOwn && runs.every(({ state }) => state === "done");
    const state = `${experiment.name} ${isOwn} ${isDone}`;
    if (state === this.state) return;
    if (experiment.name !== this.state?.split(" ")[0]) this.guess = null;
    this.state = state;
    this.outcome.replaceChildren(...(isDone ? this.tellOutcome(experiment, runs) : []));
    this.element.replaceChildren(make("h3", {}, experiment.question), make("p", {}, experiment.setting),
      isOwn ? make("p", {}, this.guess === null ? "" : `You expected: ${experiment.options[this.guess]}`) : this.makeGuess(experiment),
      this.outcome);
    // Whoever has pressed the button and waited here sees the outcome, on a phone too.
    if (isDone && this.element.contains(document.activeElement)) this.outcome.scrollIntoView({ block: "nearest" });
  }

  tellOutcome({ options, usual, because }, runs) {
    const verdict = { [usual]: "You expected just that. ", null: "" }[this.guess] ?? "You expected something else. ";
    return [make("p", {}, tellResult(runs.map(({ result }) => result)), tellWhen(runs)),
      make("p", {}, verdict, "In our ten runs it came out like this: ", make("strong", {}, options[usual])), make("p", {}, because)];
  }

  makeGuess({ options }) {
    const choices = options.map((text, i) => {
      const input = make("input", { type: "radio", name: this.group, ...OWN_KEYS });
      input.addEventListener("change", () => (this.guess = i));
      return make("label", {}, input, make("span", {}, text));
    });
    return make("fieldset", {}, make("legend", {}, "What do you expect?"), ...choices, action("find out", "Find out", "Find out what happens", () => {
      this.start();
      this.element.focus({ preventScroll: true });
    }));
  }
}
