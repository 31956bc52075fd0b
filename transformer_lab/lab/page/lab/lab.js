// The lab: a page in which every head of a translator can be opened. Who answers is the engine in the page, a
// stored record, or a Python kernel; what only some of them can do is passed to it by their hosts.

import { decodeBase64 } from "../bytes.js";
import { makePaints } from "../cells.js";
import { make } from "../elements.js";
import { keepFocus } from "../focus.js";
import { makePalettes } from "../painting.js";
import { followTheme } from "../theme.js";
import { AllHeads } from "./all_heads.js";
import { Glossary } from "./glossary.js";
import { Guide } from "./guide.js";
import { Moments } from "./moments.js";
import { parseHead } from "./names.js";
import { NextWords } from "./next_words.js";
import { OpenHead } from "./open_head.js";
import { Saving } from "./saving.js";
import { Sentence } from "./sentence.js";

/** What is one step deeper. It's drawn only while it is open. */
class More {
  constructor(panels) {
    this.panels = panels;
    this.element = make("details", { className: "more" }, make("summary", {}, "Go deeper: all heads, and what the words mean"),
      ...panels.map(({ element }) => element));
    this.element.addEventListener("toggle", () => this.draw());
  }

  draw() {
    if (this.element.open) this.panels.forEach((panel) => panel.draw());
  }
}

/**
 * Put a lab into the element `root`, once the state has its first answer; returns what takes it away again.
 *
 * `data` may have `sentences` to choose from, `prompts` to try, and the `colours` of weights; `scores` is what
 * the heads can be coloured by. An engine in the page brings more: `views` of a head by name, panels that are
 * `deeper`, and what stands below the `next` word.
 */
export function mountLab(root, state, { data, scores, views = {}, deeper = [], next = null }) {
  const colours = decodeBase64(data.colours);
  const [paints, palettes] = [makePaints(colours), makePalettes(colours)];
  const nextWords = new NextWords(state, next);
  // After a change the reader should see what it did, on a phone too, where the next word stands further up.
  const showEffect = () => nextWords.element.scrollIntoView({ block: "nearest" });
  const openHead = new OpenHead(state, palettes, paints, showEffect, views);
  const allHeads = new AllHeads(state, scores, palettes, paints, () => openHead.element.scrollIntoView({ block: "nearest" }));
  const more = new More([allHeads, ...deeper, new Saving(state, palettes, openHead.views.lines), new Glossary(state)]);
  const [sentence, moments] = [new Sentence(state, data.sentences ?? []), new Moments(state)];
  sentence.element.append(moments.element);
  const panels = [new Guide(state, data.prompts ?? []), sentence, nextWords, openHead, more];
  const page = make("div", { className: "tl-page tl-lab" }, ...panels.map(({ element }) => element));
  page.addEventListener("keydown", (event) => {
    const isTyping = event.target.matches("textarea, select") || event.ctrlKey || event.metaKey || event.altKey;
    if (isTyping || event.key.toLowerCase() !== "m") return;
    const [, dot] = event.target.dataset.control?.match(/^head (.*)/) ?? [];
    state.toggleMute(dot ? parseHead(dot) : state.head);
    event.stopPropagation();
  });
  const draw = () => keepFocus(page, "heads", () => [moments, ...panels].forEach((panel) => panel.draw()));
  state.watch(draw);
  root.classList.add("tl-lab-frame");
  root.replaceChildren(page);
  const unfollow = followTheme(page);
  draw();
  page.dataset.ready = "true";
  return () => {
    unfollow();
    page.remove();
  };
}

/** Mount a saved page's data, by `mount(place, data)`, in each still picture that has its name. */
export async function mountSaved(kind, name, mount) {
  const text = document.querySelector(`script[data-of="${name}"]`).textContent;
  for (const place of document.querySelectorAll(`[data-${kind}="${name}"]`)) {
    if (!place.dataset.mounted) await mount(place, JSON.parse(text));
    place.dataset.mounted = true;
  }
}
