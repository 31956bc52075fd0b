// The lab in a live widget: anywidget calls `render`, and Python answers through the model.

import { make } from "../elements.js";
import { KernelAnswerer } from "./answerers/kernel.js";
import { mountLab } from "./lab.js";
import { RecordScores } from "./record_scores.js";
import { State } from "./state.js";

export default {
  async render({ model, el }) {
    const answerer = new KernelAnswerer(model);
    const root = make("div", {});
    try {
      await answerer.receive();
      const data = model.get("data");
      const state = new State(answerer, data);
      state.adopt(data.question);
      answerer.onNews = (question) => state.adopt(question);
      const unshare = shareSelection(state, model);
      el.append(root);
      const unmount = mountLab(root, state, { data, scores: new RecordScores(state) });
      const seePictures = hidePictures(model, el);
      return () => {
        seePictures();
        unshare();
        unmount();
        answerer.close();
      };
    } catch (error) {
      answerer.close();
      root.remove();
      throw error; // the still picture beside the widget stays
    }
  },
};

const SHARED = ["kind", "layer", "head", "pinned"];

/** Keep the open head and the chosen cell the same here, in Python, and in other views of the widget. */
function shareSelection(state, model) {
  let isListening = true;
  const read = () => {
    const { kind, layer, head, pinned: [row, key = null] } = Object.fromEntries(SHARED.map((name) => [name, model.get(name)]));
    if (!isListening || !state.now.heads[kind]?.[layer]?.[head]) return; // Python sets one value after the other
    state.openHead({ kind, layer, head });
    if (row != null) state.choose(row, key);
    else if (!state.joinsPieces) Object.assign(state, { showsAll: true });
    state.stayInside();
    state.tell();
  };
  const write = () => {
    const { head, row, key, showsAll, joinsPieces } = state;
    const pinned = showsAll ? [] : [row, key];
    const values = { ...head, ...(joinsPieces ? {} : { pinned }) }; // Python counts pieces
    const changed = Object.entries(values).filter(([name, value]) => String(model.get(name)) !== String(value));
    if (!changed.length) return;
    isListening = false;
    for (const [name, value] of changed) model.set(name, value);
    isListening = true;
    model.save_changes();
  };
  for (const name of SHARED) model.on(`change:${name}`, read);
  read();
  state.watch(write);
  return () => SHARED.forEach((name) => model.off(`change:${name}`, read));
}

/** As long as the view is in the page, the still pictures beside it are not seen. */
function hidePictures(model, element) {
  const style = make("style");
  const write = () => {
    const names = model.get("stills").map((name) => `[data-still="${CSS.escape(name)}"]`);
    style.textContent = names.length ? `${names.join(", ")} { display: none }` : "";
  };
  model.on("change:stills", write);
  write();
  element.append(style);
  return () => {
    model.off("change:stills", write);
    style.remove();
  };
}
