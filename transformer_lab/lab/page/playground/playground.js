// The playground: a Transformer that learns while you watch.

import { decodeBase64 } from "../bytes.js";
import { action, make, OWN_KEYS, word, writeText } from "../elements.js";
import { makePalettes } from "../painting.js";
import { followTheme } from "../theme.js";
import { DESCRIPTIONS } from "../tasks/descriptions.js";
import { Choice } from "./choice.js";
import { ExperimentCard } from "./experiment_card.js";
import { makeLearn } from "./learn.js";
import { OwnPairs } from "./own_pairs.js";
import { Run } from "./run.js";
import { RunPanel } from "./run_panel.js";
import { isPossible, listChanges, makeSpec, SETTINGS } from "./settings.js";
import { TryIt } from "./try_it.js";

const PATIENCE = 90; // seconds that a reader may like to wait
const SEEDS = 10; // from 0, as in our own runs
const CALM = 125; // milliseconds for which steps may go by unseen: eight pictures a second are enough for a curve
const SMALLEST = { width: 16, heads: 4, layers: 1 };

/** A menu; `choose` gets the number of the chosen option. */
function menu(label, control, choose) {
  const select = make("select", { "data-control": control, ...OWN_KEYS });
  select.addEventListener("change", () => choose(select.selectedIndex));
  const element = make("label", {}, make("span", {}, label), select);
  element.refresh = (options, chosen, isOpen = () => true) => {
    select.replaceChildren(...options.map((text, i) => make("option", { disabled: !isOpen(i) }, text)));
    select.selectedIndex = chosen;
  };
  return element;
}

/** Let a button say something else. */
function rename(button, text) {
  if (button.textContent !== text) Object.assign(button, { textContent: text, title: text, ariaLabel: text });
}

class Playground {
  constructor({ script, colours, address, isAlone }) {
    Object.assign(this, { script, isAlone });
    this.palettes = makePalettes(decodeBase64(colours));
    this.choice = new Choice(address);
    this.runs = [];
    this.resting = []; // runs that go on when the page is seen again
    this.moment = Infinity; // the latest
    this.head = { kind: "cross", layer: 0, head: 0 };
    this.shown = 0; // the number of the example whose maps are seen
    this.build();
    this.choice.watch(() => this.drawChoice());
    this.drawChoice();
  }

  build() {
    const { choice } = this;
    this.task = menu("Task", "task", (i) => choice.setTask(DESCRIPTIONS[i].name));
    this.example = make("p", { className: "example" });
    this.second = menu("Compare it with", "but", (i) => choice.set({ change: i ? this.changes[i - 1] : null }));
    this.train = action("train", "Train", "Train", () => this.start());
    this.train.className = "primary";
    this.hold = action("pause", "Pause", "Pause", () => this.togglePause());
    this.end = action("stop", "Stop", "Stop the training", () => this.runs.forEach((run) => run.stop()));
    this.settings = Object.entries(SETTINGS).map(([name, { label, about, options }]) => {
      const choices = menu(label, name, (i) => choice.setSetting(name, options[i][0]));
      return { name, options, choices, element: make("div", {}, choices, make("small", {}, about)) };
    });
    this.seed = menu("Seed of the random numbers", "seed", (seed) => choice.set({ seed, experiment: choice.experiment }));
    this.file = make("input", { type: "file", accept: ".safetensors" });
    this.file.addEventListener("change", async () => {
      const [file] = this.file.files;
      this.file.value = ""; // or the same file couldn't be chosen again
      if (file) this.start(await file.arrayBuffer());
    });
    this.slider = make("input", { type: "range", min: 0, step: 1, ...OWN_KEYS });
    this.slider.addEventListener("input", () => this.goTo(Number(this.slider.value)));
    this.back = make("label", { className: "back" }, "Go back in time ", this.slider);
    this.panels = make("div", { className: "runs" });
    this.own = new OwnPairs(() => this.runs.some(({ state }) => state === "failed") && this.forgetRuns());
    this.tryIt = new TryIt();
    this.saving = make("p", { className: "saving" }, action("save", "Save the model", "Save the model as a file", () => this.saveModel()),
      " You can open the file in the lab, with the button under “Go deeper”. Or open it in Python, with Translator.load.");
    this.problem = make("p", { className: "problem", role: "alert" });
    this.left = make("span", {});
    this.smallest = action("smallest", "Take the smallest model", "Take the smallest model, and train it", () => {
      choice.set({ settings: { ...choice.settings, ...SMALLEST }, change: null });
      this.start();
    });
    this.notice = make("p", { className: "notice" }, this.left, " ", this.smallest);
    this.outdated = make("p", { className: "notice", role: "status" });
    this.card = new ExperimentCard(choice, () => this.start(), this.isAlone);
    this.element = make("div", { className: "tl-page tl-playground" },
      make("header", {},
        this.isAlone ? make("h2", {}, "Teach a Transformer while you watch") : null,
        make("p", {}, "A Transformer has an encoder, which reads, and a decoder, which writes one letter or word at a time. Both have heads, and each head decides where to look. Choose a task and press Train: the model starts from random numbers, and everything happens on your device.")),
      make("div", { className: "ask" }, this.task, this.second, this.train, this.hold, this.end),
      this.example, this.own.element, this.notice,
      make("details", { className: "settings" }, make("summary", {}, "Change the model, its training or its data"),
        make("div", {}, ...this.settings.map(({ element }) => element), this.seed),
        make("label", {}, make("span", {}, "Go on with a model that you trained on this task and saved"), this.file)),
      this.card.element, this.back, this.outdated, this.panels, this.tryIt.element, this.saving, this.problem, this.card.list);
  }

  drawChoice() {
    const { choice } = this;
    const { task, settings, change } = choice;
    this.task.refresh(DESCRIPTIONS.map(({ title }) => title), DESCRIPTIONS.indexOf(task));
    this.changes = listChanges(settings);
    const chosen = this.changes.findIndex(({ name, value }) => name === change?.name && value === change.value);
    this.second.refresh(["nothing", ...this.changes.map(({ text }) => `the same model, ${text}`)], chosen + 1);
    for (const { name, options, choices } of this.settings) {
      const isOpen = (i) => options[i][0] === settings[name] || isPossible({ ...settings, [name]: options[i][0] });
      choices.refresh(options.map(([, text]) => text), options.findIndex(([value]) => value === settings[name]), isOpen);
    }
    const seeds = [...new Set([...Array(SEEDS).keys(), choice.seed])]; // an address may name a larger one
    this.seed.refresh(seeds.map(String), seeds.indexOf(choice.seed));
    this.drawExample();
    this.own.element.hidden = task.name !== "own";
    if (this.runs.some(({ spec }) => spec.task !== task.name)) this.forgetRuns();
    this.drawOutdated();
    this.drawRuns();
  }

  /** Say so where what's seen was trained with other settings than those that are chosen now. */
  drawOutdated() {
    const isOutdated = this.runs.length && this.trained !== this.wished;
    writeText(this.outdated, isOutdated ? "You have changed the settings since. Press “Train again” to see what they do." : "");
    this.outdated.hidden = !isOutdated;
  }

  /** What is chosen, as far as training depends on it. */
  get wished() {
    return JSON.stringify([this.choice.runs, this.choice.seed]);
  }

  drawExample() {
    const { question, example } = this.choice.task;
    this.example.replaceChildren(question, " For example: ", word(example.source), " → ", word(example.target));
  }

  /** What another task's models have done isn't shown any more. */
  forgetRuns() {
    this.runs.forEach((run) => run.end());
    this.runs = [];
    this.panels.replaceChildren();
    this.tryIt.follow([], this.choice.task.example);
  }

  /** Train from scratch, or go on with the model of a `file`. */
  start(file = null) {
    this.runs.forEach((run) => run.end());
    this.moment = Infinity;
    this.problem.textContent = "";
    const { choice } = this;
    const options = choice.task.name === "own" ? this.own.options : {};
    const settings = file ? [choice.settings] : choice.runs; // a saved model goes on alone
    this.runs = settings.map((one) => new Run(this.script, makeSpec(choice.task, one, { seed: choice.seed, options, file }), (kind) => this.plan(kind)));
    this.trained = this.wished;
    this.drawOutdated();
    this.head = { kind: this.card.experiment?.look ?? "cross", layer: 0, head: 0 };
    const text = choice.change && this.changes.find(({ name, value }) => name === choice.change.name && value === choice.change.value)?.text;
    const titles = this.runs.map((_, i) => (i ? `The same, ${text}` : "Your model"));
    for (const run of this.runs) run.experiment = file ? null : choice.experiment;
    this.views = this.runs.map((_, i) => new RunPanel(titles[i], this.palettes, (head) => this.open({ head }), (shown) => this.open({ shown })));
    this.panels.replaceChildren(...this.views.map(({ element }) => element));
    this.tryIt.follow(this.runs, choice.task.example);
    this.drawRuns();
    // On a phone the curve begins below the screen, so the button moves to the top and the curve into view.
    const isBelow = this.panels.getBoundingClientRect().top > innerHeight / 2;
    if (isBelow && this.card.element.hidden) this.train.scrollIntoView({ block: "start" });
  }

  /** Draw soon what a run has said: at the next frame, or a little later if it has only taken another step. */
  plan(kind) {
    if (kind === "step") this.later ??= setTimeout(() => this.planFrame(), CALM);
    else this.planFrame();
  }

  planFrame() {
    clearTimeout(this.later);
    this.later = null;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.drawRuns();
    });
  }

  goTo(moment) {
    this.moment = moment >= Number(this.slider.max) ? Infinity : moment;
    this.drawRuns();
  }

  /** Open another `head`, or the maps of another example, `shown`. */
  open(chosen) {
    Object.assign(this, chosen);
    this.drawRuns();
  }

  togglePause() {
    const isPaused = this.runs.some(({ state }) => state === "paused");
    this.runs.forEach((run) => (isPaused ? run.resume() : run.pause()));
  }

  /** While nobody can see the page, it rests; what the reader has paused stays so. */
  rest(isHidden) {
    if (isHidden) this.resting = this.runs.filter(({ state }) => state === "training");
    for (const run of this.resting) run[isHidden ? "pause" : "resume"]();
  }

  drawRuns() {
    const { runs } = this;
    const running = runs.filter((run) => run.isRunning);
    rename(this.train, runs.length ? "Train again" : "Train");
    this.hold.hidden = this.end.hidden = !running.length;
    rename(this.hold, running.some(({ state }) => state === "paused") ? "Go on" : "Pause");
    const last = Math.max(0, ...runs.map(({ moments }) => moments.length - 1));
    this.back.hidden = last < 1;
    const chosen = Math.min(this.moment, last);
    Object.assign(this.slider, { max: last, value: chosen });
    const seen = runs.find(({ moments }) => moments[chosen]);
    if (seen) this.slider.setAttribute("aria-valuetext", `step ${seen.moments[chosen].step.toLocaleString("en")}`);
    const most = Math.max(0.1, ...runs.flatMap(({ losses }) => losses.slice(0, 20).map(({ loss }) => loss)).filter(Number.isFinite));
    runs.forEach((run, i) => this.views[i].draw(run, { most, chosen: Math.min(this.moment, run.moments.length - 1), head: this.head, example: this.shown }));
    this.card.draw(runs);
    this.tryIt.draw(this.moment < last);
    this.saving.hidden = !runs[0]?.worker || runs[0].isRunning;
    this.drawNotice(running);
  }

  /** Save the first model, which Python opens by `Translator.load("reverse.safetensors")`. */
  async saveModel() {
    const [run] = this.runs;
    let file;
    try {
      file = await run.save();
    } catch (error) {
      this.problem.textContent = `It can't be saved: ${error.message}.`;
      return;
    }
    const address = URL.createObjectURL(new Blob([file]));
    make("a", { href: address, download: `${run.spec.task}.safetensors` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  /** On a slow device: how long it will take, and a smaller model. */
  drawNotice(running) {
    const left = Math.max(0, ...running.map((run) => (run.pace === null ? 0 : ((run.spec.steps - run.step) * run.pace) / 1000)));
    const isSlow = left > PATIENCE && running.every(({ step }) => step > 5);
    this.notice.hidden = !isSlow;
    if (isSlow) writeText(this.left, `This will take about ${Math.ceil(left / 60)} more minutes on your device.`);
  }
}

/** Put the playground into the place of a saved picture; `script` is the worker's, and `colours` are those of weights. */
export async function mountPlaygrounds(name, { script, colours }) {
  const { start, isAlone } = JSON.parse(document.querySelector(`script[data-of="${name}"]`).textContent);
  globalThis.transformerLab = { ...globalThis.transformerLab, learn: makeLearn(script, DESCRIPTIONS) };
  for (const place of document.querySelectorAll(`[data-playground="${name}"]`)) {
    if (place.dataset.mounted) continue;
    place.dataset.mounted = true;
    const playground = new Playground({ script, colours, isAlone, address: isAlone && location.hash ? location.hash : start });
    place.replaceChildren(playground.element);
    if (isAlone) {
      playground.choice.watch(() => history.replaceState(null, "", playground.choice.address));
      addEventListener("hashchange", () => {
        playground.choice.follow(location.hash);
        playground.drawChoice();
      });
    }
    document.addEventListener("visibilitychange", () => playground.rest(document.hidden));
    followTheme(playground.element);
    playground.element.dataset.ready = "true";
  }
}
