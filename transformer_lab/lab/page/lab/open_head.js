// The open head: what it's called, the switch that mutes it, and four ways to look at it.

import { action, make, OWN_KEYS, toggle, writeText } from "../elements.js";
import { LineView } from "./lines.js";
import { describeAxes, parseHead, TITLES, toCode } from "./names.js";
import { WeightMap } from "./weight_map.js";

const TABS = { lines: "Where it looks", map: "As a map", numbers: "The numbers", effect: "What it does" };

/** Write on a button what it does now. */
function writeLabel(button, text, title) {
  writeText(button, text);
  button.title = title;
  button.setAttribute("aria-label", title);
}

export class OpenHead {
  /**
   * For `palettes` and `paints` see WeightMap; `showEffect` brings what a change did into sight, and
   * `deeper` are the views that only an engine in the page can fill, by name.
   */
  constructor(state, palettes, paints, showEffect, deeper) {
    Object.assign(this, { state, showEffect });
    this.list = this.buildList();
    this.mute = action("mute", "", "", () => {
      state.toggleMute(state.head);
      showEffect();
    });
    this.look = action("point", "", "", () => this.pressPoint());
    this.views = { lines: new LineView(state), map: new WeightMap(state, palettes, paints, () => this.pressPoint()), ...deeper };
    this.tabs = Object.keys(this.views).map((view) => toggle(`view ${view}`, TABS[view], () => state.view === view, () => state.show(view)));
    this.axes = make("p", { className: "axes" });
    this.place = make("div", { className: "place" });
    this.fate = make("p", { className: "note" }); // below the picture, which stays where it is
    this.element = make("section", { className: "open", "aria-label": "The open head" },
      make("p", { className: "bar" }, make("label", {}, "Head ", this.list), this.mute, this.look),
      make("p", { className: "tabs", role: "group", "aria-label": "How to look at this head" }, ...this.tabs),
      this.axes, this.place, this.fate);
  }

  /** All heads by their names, in a list that a phone and a screen reader know. */
  buildList() {
    const { state } = this;
    const list = make("select", { "aria-label": "Open a head", "data-control": "heads", ...OWN_KEYS });
    for (const [kind, label] of Object.entries(TITLES)) {
      const options = state.answerer.heads.filter((head) => head.kind === kind).map((head) => make("option", { value: toCode(head) }, state.names.say(head)));
      if (options.length) list.append(make("optgroup", { label }, ...options));
    }
    list.addEventListener("change", () => state.openHead(parseHead(list.value)));
    return list;
  }

  draw() {
    const { state } = this;
    const { head } = state;
    const view = state.view in this.views ? state.view : "lines"; // an address may name one that isn't here
    const isMuted = state.isMuted(head);
    this.list.value = toCode(head);
    this.mute.hidden = !state.canChange;
    writeLabel(this.mute, isMuted ? "Unmute it" : "Mute it", isMuted ? "Unmute it: this head counts again" : "Mute it: set this head's output to 0");
    this.tabs.forEach((tab) => tab.refresh());
    this.drawLook();
    writeText(this.axes, this.describe(view));
    writeText(this.fate, isMuted ? "This head is muted: it still looks, but what it finds is thrown away." : "");
    const shown = this.views[view];
    if (this.place.firstChild !== shown.element) this.place.replaceChildren(shown.element);
    shown.draw();
  }

  /** What stands where in the view that is shown. */
  describe(view) {
    const { head: { kind }, languages } = this.state;
    const { rows, columns } = describeAxes(kind, languages);
    const { rows: words, keys } = this.state.getMapTokens(kind);
    const end = [...words, ...keys].includes("<eos>") ? " <eos> stands for the end of a sentence." : "";
    if (view === "lines") return `On the left are ${columns}, on the right ${rows}. The thicker the line, the larger the weight. Press a word on the right to see its lines.${end}`;
    if (view === "map") return `The rows are ${rows}, the columns ${columns}. Each row sums to 1. Dark means 0, and yellow means 1.${end}`;
    if (view === "numbers") return "Here you can follow one word as the head works out where to look: it compares what this word looks for with what each word offers, and then mixes what they have to give. Every number is the model's own.";
    return "A head may look at a word without the model using what it finds. So here you see what the translation would lose without this head, and which word the model has in mind after each layer.";
  }

  /** Whether the open row was told what to give to words. */
  get isSet() {
    return this.state.findPoints(this.state.head, this.state.row).length > 0;
  }

  pressPoint() {
    const { state } = this;
    if (this.isSet) state.unpoint({ ...state.chosen, key: null });
    else state.point(1);
    this.showEffect();
  }

  /** The button that makes the chosen row look at the chosen word alone, once there is such a word. */
  drawLook() {
    const { state } = this;
    this.look.hidden = !state.canShare;
    if (!state.canShare) return;
    const { rows, keys } = state.getMapTokens(state.head.kind);
    const text = this.isSet ? "Restore its own weights" : `Make “${rows[state.row]}” look only at “${keys[state.key]}”`;
    writeLabel(this.look, text, text);
  }
}
