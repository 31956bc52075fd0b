// What is chosen: a task, its settings, and one change for a second run. The page's address keeps it.

import { DESCRIPTIONS } from "../tasks/descriptions.js";
import { EXPERIMENTS } from "./experiments.js";
import { beginWith, SETTINGS } from "./settings.js";

const describe = (name) => DESCRIPTIONS.find((task) => task.name === name);
const read = (name, text) => (Object.hasOwn(SETTINGS, name) ? SETTINGS[name].options.find(([value]) => String(value) === text)?.[0] : undefined);

export class Choice {
  constructor(address = "") {
    this.watchers = [];
    this.follow(address);
  }

  /** Take up an address, such as "#task=sort&heads=1&but=mask:false&seed=3"; what it doesn't name, or names wrongly, is as at the beginning. */
  follow(address) {
    const fields = new URLSearchParams(address.replace(/^#/, ""));
    this.task = describe(fields.get("task")) ?? describe("reverse");
    this.settings = beginWith(this.task);
    for (const name of Object.keys(SETTINGS)) {
      const value = fields.has(name) ? read(name, fields.get(name)) : undefined;
      if (value !== undefined) this.settings[name] = value;
    }
    const [name, text] = (fields.get("but") ?? "").split(":");
    const value = read(name, text);
    this.change = value === undefined || value === this.settings[name] ? null : { name, value };
    this.seed = /^\d{1,6}$/.test(fields.get("seed") ?? "") ? Number(fields.get("seed")) : 0;
    this.experiment = this.findExperiment(fields.get("experiment"));
  }

  /** The name of an experiment, if it's one with this task and this change. */
  findExperiment(name) {
    const { task, change } = EXPERIMENTS.find((one) => one.name === name) ?? {};
    const isSame = task === this.task.name && change?.name === this.change?.name && change?.value === this.change?.value;
    return isSame ? name : null;
  }

  get address() {
    const usual = beginWith(this.task);
    const changed = Object.entries(this.settings).filter(([name, value]) => value !== usual[name]);
    const fields = { task: this.task.name, ...Object.fromEntries(changed) };
    if (this.change) fields.but = `${this.change.name}:${this.change.value}`;
    if (this.seed) fields.seed = this.seed;
    if (this.experiment) fields.experiment = this.experiment;
    return `#${new URLSearchParams(fields)}`;
  }

  watch(watcher) {
    this.watchers.push(watcher);
  }

  /** Change something, and tell who watches. An experiment ends when the reader goes their own way. */
  set(changes) {
    Object.assign(this, { experiment: null }, changes);
    if (this.change?.value === this.settings[this.change?.name]) this.change = null;
    for (const watcher of this.watchers) watcher();
  }

  setTask(name) {
    const task = describe(name);
    this.set({ task, settings: beginWith(task) });
  }

  setSetting(name, value) {
    this.set({ settings: { ...this.settings, [name]: value } });
  }

  /** The settings of each run: one, or two that differ in the change. */
  get runs() {
    const { settings, change } = this;
    return change ? [settings, { ...settings, [change.name]: change.value }] : [settings];
  }
}
