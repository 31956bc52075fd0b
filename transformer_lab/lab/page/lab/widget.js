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
      state.look(data.start);
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
  let [isReading, isAwaited] = [false, false];
  /** What is to be shared and isn't yet; the chosen cell is one of pieces, as Python counts them. */
  const findNews = () => {
    const { head, row, key, showsAll, joinsPieces } = state;
    const values = { ...head, ...(joinsPieces ? {} : { pinned: showsAll ? [] : [row, key] }) };
    return Object.entries(values).filter(([name, value]) => String(model.get(name)) !== String(value));
  };
  const read = () => {
    isAwaited = false;
    const [kind, layer, head, pinned] = SHARED.map((name) => model.get(name));
    // Python may set one value after the other: between them there may be no such head.
    if (!findNews().length || !state.now.heads[kind]?.[layer]?.[head]) return;
    isReading = true; // a row that isn't there in what this view shows may be there in another one
    if (state.joinsPieces) state.openHead({ kind, layer, head });
    else state.goTo({ kind, layer, head }, ...pinned);
    isReading = false;
  };
  // Another view sets one value after the other too: they are read together.
  const hear = () => {
    if (!isAwaited) queueMicrotask(read);
    isAwaited = true;
  };
  const write = () => {
    const news = isReading ? [] : findNews();
    for (const [name, value] of news) model.set(name, value);
    if (news.length) model.save_changes();
  };
  for (const name of SHARED) model.on(`change:${name}`, hear);
  read();
  state.watch(write);
  return () => SHARED.forEach((name) => model.off(`change:${name}`, hear));
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
